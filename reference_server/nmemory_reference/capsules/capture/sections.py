"""Splitting a Markdown file into the blocks that an import captures, one by one.

A file with headings is cut before every heading of one level: the smallest that stands there twice or more, else
the smallest there is. A file without is cut into paragraphs. Fenced code is opaque: nothing in it is a heading
or a blank line.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

_BOM: Final = "\ufeff"
_FRONT_MATTER: Final = "---"
_FRONT_MATTER_ENDS: Final = frozenset({"---", "..."})
_HEADING = re.compile(r"(#{1,6})(?:[ \t]|$)")
#: Backticks after an opening fence would make it code in a line.
_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})(.*)")


class Block(NamedTuple):
    """One piece of a file; `line` is where it begins, counted from 1."""

    text: str
    line: int


class _Line(NamedTuple):
    """A line of the file; `level` of a heading, 0 for all else."""

    number: int
    text: str
    fenced: bool
    level: int

    @property
    def blank(self) -> bool:
        """Whether nothing shows on it; in a fence, nothing counts as blank."""
        return not self.fenced and (not self.text or self.text.isspace())


def blocks(document: str) -> list[Block]:
    """The blocks of a file in order, without blank lines around them; lines end in LF, the last one in nothing."""
    lines = list(_lines(document.removeprefix(_BOM)))
    levels = Counter(line.level for line in lines if line.level)
    if levels:
        repeated = [level for level, times in levels.items() if times > 1]
        level = min(repeated or levels)
        cuts = [place for place, line in enumerate(lines) if line.level == level]
    else:
        cuts = [place for place, line in enumerate(lines) if line.blank]
    edges = [0, *cuts, len(lines)]
    pieces = (_block(lines[start:end]) for start, end in itertools.pairwise(edges))
    return [piece for piece in pieces if piece is not None]


def _block(lines: list[_Line]) -> Block | None:
    """These lines as a block, None if nothing shows on any of them."""
    shown = [place for place, line in enumerate(lines) if line.text and not line.text.isspace()]
    if not shown:
        return None
    kept = lines[shown[0] : shown[-1] + 1]
    return Block("\n".join(line.text for line in kept), kept[0].number)


def _lines(document: str) -> Iterator[_Line]:
    """The lines after the front matter, numbered as in the file."""
    texts = [text.removesuffix("\r") for text in document.split("\n")]
    first = _after_front_matter(texts)
    fence: str | None = None
    for number, text in enumerate(texts[first:], first + 1):
        mark = _FENCE.fullmatch(text) if text else None
        if fence is not None:
            closes = mark is not None and mark[1].startswith(fence) and not mark[2].strip()
            yield _Line(number, text, True, 0)
            fence = None if closes else fence
        elif mark is not None:
            yield _Line(number, text, True, 0)
            fence = mark[1]
        else:
            heading = _HEADING.match(text)
            yield _Line(number, text, False, len(heading[1]) if heading else 0)


def _after_front_matter(texts: list[str]) -> int:
    """The place of the first line that is content; front matter that is never closed is content."""
    if texts[0].rstrip() != _FRONT_MATTER:
        return 0
    ends = (place for place, text in enumerate(texts[1:], 1) if text.rstrip() in _FRONT_MATTER_ENDS)
    return next(ends, -1) + 1
