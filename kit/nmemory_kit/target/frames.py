"""Cutting a stream of bytes into lines, whatever the pieces in which it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class FrameTooLarge(Exception):
    """A line grew past the limit; ``start`` is how it began."""

    def __init__(self, start: bytes) -> None:
        super().__init__("frame too large")
        self.start = start


class FrameSplitter:
    """Splits what is fed to it at newlines; linear in the bytes fed, however small the pieces.

    A carriage return before the newline goes with it. ``limit`` is the size of one line in bytes.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._line = bytearray()

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the lines that ``chunk`` completes, without their ends. Raises ``FrameTooLarge``."""
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            self._keep(chunk[start:end])
            yield self.rest()
            start = end + 1
        self._keep(chunk[start:])

    def rest(self) -> bytes:
        """The unfinished line, which is then forgotten."""
        line = bytes(self._line.removesuffix(b"\r"))
        self._line.clear()
        return line

    def _keep(self, piece: bytes) -> None:
        self._line += piece
        if len(self._line) > self._limit:
            raise FrameTooLarge(bytes(self._line[:1000]))
