"""What came from a target and belongs to no request, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .reply import Noise

if TYPE_CHECKING:
    from .secrets import Redactor

#: How many pieces of noise are kept; the rest is counted.
NOISE_KEPT = 200


class NoiseLog:
    """The noise on one connection, without secrets."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._kept: list[Noise] = []
        self._more = 0

    def add(self, kind: str, received: bytes | str) -> None:
        """Note one piece."""
        if len(self._kept) < NOISE_KEPT:
            self._kept.append(Noise(kind, self._redactor.excerpt(received)))
        else:
            self._more += 1

    def all(self) -> tuple[Noise, ...]:
        """What was noted; the last piece says how much was only counted."""
        return (*self._kept, Noise("omitted", f"{self._more} more")) if self._more else tuple(self._kept)
