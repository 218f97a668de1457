"""Cutting a text into segments, one claim each: by line, then by sentence, without code and without dress.

Dress is what stands before a claim and is no part of it: list marks, headings, quotes, checkboxes, and the
stamp and name of a chat line.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import Final, NamedTuple

_FENCE: Final = "```"
_MARK = re.compile(r"(?:[-*+•]|#{1,6}|>|\d{1,9}[.)])(?:[ \t]+|$)|>[ \t]*")
_BOX = re.compile(r"\[([ xX])\][ \t]+")
_STAMP = re.compile(r"\[[^\[\]\d\n]{0,40}\d[^\[\]\n]{0,60}\][ \t]+")
_NAME = re.compile(r"([^\W\d][\w.@-]*(?: [\w.@-]+){0,2}):[ \t]+")
_DRESSED_INDENT = re.compile(r"[ \t]*(?:[-*+•][ \t]|#{1,6}[ \t]|>|\[[ xX]\][ \t]|\[[^\[\]\n]*\d|\d)")
_INDENT = re.compile(r"(?: {4}|\t| {1,3}\t)")
#: Of several marks only the first is tried, and nothing is tried again: a long run costs no more than its length.
_BREAK = re.compile(r";\s+|(?<![.!?])[.!?]++[\"')\]»”’]*+(\s+)")


class Segment(NamedTuple):
    """One claim, a piece of the text as it stands there; `open_box`: an unchecked checkbox came before it."""

    text: str
    open_box: bool = False


def segments(text: str, labels: Container[str]) -> Iterator[Segment]:
    """The segments of `text` in order.

    `labels` are words that mean something before a colon: they are never taken for a speaker's name.
    """
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith(_FENCE):
            fenced = not fenced
        elif line and not fenced and not (_INDENT.match(line) and not _DRESSED_INDENT.match(line)):
            bare, open_box = _undressed(line, labels)
            for sentence in _sentences(bare):
                yield Segment(sentence, open_box)
                open_box = False


def _undressed(line: str, labels: Container[str]) -> tuple[str, bool]:
    """The line without its dress, and whether an unchecked box was part of it."""
    bare, at, open_box = line.strip(), 0, False
    while True:  # by position, since cutting the line anew for each mark would take quadratic time
        if box := _BOX.match(bare, at):
            at, open_box = box.end(), box[1] == " "
        elif mark := _MARK.match(bare, at):
            at = mark.end()
        elif stamp := _STAMP.match(bare, at):
            at = stamp.end()
            name = _NAME.match(bare, at)
            if name and name[1].lower() not in labels:
                at = name.end()
        else:
            return bare[at:], open_box


def _sentences(line: str) -> Iterator[str]:
    """The sentences of a line; `; ` ends one always, a full stop only where the next begins with a capital."""
    start = looked = 0
    for found in _BREAK.finditer(line):
        at, then = found.span()
        if line[at] == ";":
            end = at
        elif line[then : then + 1].isupper() and not _is_abbreviation(line[looked:at]):
            end = found.start(1)
        else:
            looked = then
            continue
        if sentence := line[start:end].strip():
            yield sentence
        start = looked = then
    if sentence := line[start:].strip().rstrip(";").rstrip():
        yield sentence


def _is_abbreviation(before: str) -> bool:
    """Whether the last word before a full stop is one letter, or has a dot inside: `e.g`, `J`."""
    word = before[before.rfind(" ") + 1 :].strip("\"'([")
    return len(word) == 1 or "." in word
