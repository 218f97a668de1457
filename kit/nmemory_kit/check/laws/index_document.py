"""Reading a Markdown index of a store: a header that ends with a digest line, sections, and one line an entry."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from ..broken import Broken
from .places import Unfit

RELATIONS = "relations"
MARKERS = "superseded + tombstoned"
UNCLASSIFIED = "unclassified"
PROJECT = "project "

_DIGEST = re.compile(r"sha256\W{0,3}([0-9a-f]{64})(?![0-9a-f])")
_COUNT = re.compile(r"\b([a-z_]+)=(\d+)\b")
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"')
_ID = re.compile(r"(?<![\w-])[a-z]+-\d+(?![\w-])")


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under a heading ``## title``."""

    title: str
    #: Its subheadings, as often as they stand there.
    kinds: list[str] = field(default_factory=list)
    #: The rows by the subheading (``### kind``) that they stand under; those under none by the empty text.
    rows: dict[str, list[str]] = field(default_factory=dict)

    def all_rows(self) -> list[str]:
        """The rows under every subheading, in order."""
        return [row for rows in self.rows.values() for row in rows]


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """An index, taken apart."""

    #: The lines before the digest line.
    header: list[str]
    #: The numbers that the digest line gives, by name.
    counts: dict[str, int]
    sha256: str
    #: Every byte after the digest line.
    body: str
    sections: list[Section]
    #: Lines of the body that are neither headings, nor rows, nor blank.
    strange: list[str]

    def projects(self) -> list[Section]:
        """The sections of projects."""
        return [section for section in self.sections if section.title.startswith(PROJECT)]

    def rows_of(self, title: str) -> list[str]:
        """The rows of the sections with this title."""
        return [row for section in self.sections if section.title == title for row in section.all_rows()]


@lru_cache(maxsize=2)
def read_index(text: str) -> IndexDocument:
    """Take an index apart; lines end at LF only. Raises ``Unfit`` where no line names capsules and a SHA-256.

    The laws that judge one answer read the same document, or it and an earlier one, one after another.
    """
    lines = text.split("\n")
    for number, line in enumerate(lines):
        found = _DIGEST.search(line)
        counts = {name: int(value) for name, value in _COUNT.findall(line)}
        if found and "capsules" in counts:
            sections, strange = _sections(lines[number + 1 :])
            body = "\n".join(lines[number + 1 :])
            return IndexDocument(lines[:number], counts, found[1], body, sections, strange)
    raise Unfit(Broken("", "a line with capsules=<number> and a SHA-256 of 64 hexadecimal digits", "none"))


def unquoted(row: str) -> str:
    """A row without the texts between quotes."""
    return _QUOTED.sub('""', row)


def ids_in(row: str) -> list[str]:
    """The ids in a row outside of quotes, in order."""
    return _ID.findall(unquoted(row))


def subject(row: str) -> str | None:
    """The first id in a row outside of quotes: whose row it is."""
    return next(iter(ids_in(row)), None)


def _sections(lines: list[str]) -> tuple[list[Section], list[str]]:
    sections: list[Section] = []
    strange: list[str] = []
    rows: list[str] | None = None
    for line in lines:
        if line.startswith("## "):
            sections.append(Section(line.removeprefix("## ")))
            rows = None
        elif line.startswith("### ") and sections:
            sections[-1].kinds.append(line.removeprefix("### "))
            rows = sections[-1].rows.setdefault(sections[-1].kinds[-1], [])
        elif line.startswith(("- ", "* ")) and sections:
            rows = sections[-1].rows.setdefault("", []) if rows is None else rows
            rows.append(line)
        elif line.strip():
            strange.append(line)
    return sections, strange
