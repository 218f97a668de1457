"""The start of what was received, fit to be shown to people."""

from __future__ import annotations

#: Characters that are shown.
SHOWN = 300


def excerpt(received: bytes | str, size: int = SHOWN) -> str:
    """The first ``size`` characters on one printable line; an ellipsis says that there was more."""
    cut = received[: size * 4]
    text = cut.decode(errors="replace") if isinstance(cut, bytes) else cut
    line = "".join(char if char.isprintable() else " " for char in text).strip()
    return line if len(line) <= size and len(cut) == len(received) else line[:size] + "…"
