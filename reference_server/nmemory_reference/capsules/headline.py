"""The headline: what lists and views show of a content."""

from __future__ import annotations

from typing import Final

MAX_CHARACTERS: Final = 140
ELLIPSIS: Final = "…"


def headline(content: str) -> str:
    """The first line of `content`, at most 140 characters, with `…` if anything was left out.

    One final line break is ignored. Lines end at LF or CR LF only.
    """
    text = content[:-1].removesuffix("\r") if content.endswith("\n") else content
    first, more, _ = text.partition("\n")
    if more:
        first = first.removesuffix("\r")
    if len(first) > MAX_CHARACTERS:
        return first[:MAX_CHARACTERS] + ELLIPSIS
    return first + ELLIPSIS if more else first


def thread_of(content: str) -> str | None:
    """The label of a content that opens as a thread's handoff, `ACTIVE(<label>)`; it may be empty."""
    if not content.startswith("ACTIVE("):
        return None
    label, closed, _ = content.removeprefix("ACTIVE(").partition(")")
    return label if closed else None
