"""Reading a saved export back: is it as it was written, and what stands in it?"""

from __future__ import annotations

import hashlib
import re
from typing import Final, NamedTuple

from nmemory_reference.capsules.views.document import (
    DATA,
    EMPTY_BODY,
    KIND_HEADING,
    LAW,
    MARKERS_HEADING,
    PROJECT_HEADING,
    RELATIONS_HEADING,
    STAMP,
    TITLE,
)

_DIGEST = re.compile(
    r"> store digest: capsules=(\d+) live=(\d+) superseded=(\d+) tombstoned=(\d+) relations=(\d+) projects=(\d+)"
    r" · body sha256:([0-9a-f]{64})",
    re.ASCII,
)
_ENTRY_START: Final = "- **cap-"
_ITEM_START: Final = "- "


class NoView(ValueError):
    """The text is no export document; the message says in which line it stops being one."""


class Counts(NamedTuple):
    """The counts of the digest line."""

    capsules: int
    live: int
    superseded: int
    tombstoned: int
    relations: int
    projects: int


class KindSection(NamedTuple):
    """The entry lines of one kind in one project (by its escaped key)."""

    project: str
    kind: str
    lines: tuple[str, ...]


class SavedView(NamedTuple):
    """A document in its parts. `intact`: its hash covers its body, byte for byte."""

    generated_at: str | None
    counts: Counts
    body_sha256: str
    intact: bool
    entries: tuple[KindSection, ...]
    edges: tuple[str, ...]
    markers: tuple[str, ...]

    def body(self) -> str:
        """The body that these parts make."""
        written: list[str] = []
        project = None
        for section in self.entries:
            if section.project != project:
                written.append(f"\n{PROJECT_HEADING}{section.project}\n")
                project = section.project
            written.append(_lines(KIND_HEADING + section.kind, section.lines))
        written += [_lines(RELATIONS_HEADING, self.edges)] if self.edges else []
        written += [_lines(MARKERS_HEADING, self.markers)] if self.markers else []
        return "".join(written) or EMPTY_BODY


def parse(document: str) -> SavedView:
    """Read a document. Raises NoView for a text that is none; a changed one is read, and is not `intact`."""
    head = [TITLE, "", LAW, DATA]
    lines = document.split("\n")
    if lines[: len(head)] != head:
        raise NoView("line 1: this is no view that memory_export wrote")
    at = len(head)
    generated_at = None
    if lines[at : at + 1] and lines[at].startswith(STAMP):
        generated_at = lines[at].removeprefix(STAMP)
        at += 1
    digest = _DIGEST.fullmatch(lines[at]) if at < len(lines) else None
    if digest is None:
        raise NoView(f"line {at + 1}: the store digest is missing")
    body = "\n".join(lines[at + 1 :])
    *counts, declared = digest.groups()
    entries, edges, markers = _sections(body, at + 2)
    return SavedView(
        generated_at=generated_at,
        counts=Counts(*map(int, counts)),
        body_sha256=declared,
        intact=hashlib.sha256(body.encode()).hexdigest() == declared,
        entries=entries,
        edges=edges,
        markers=markers,
    )


def _sections(body: str, first_line: int) -> tuple[tuple[KindSection, ...], tuple[str, ...], tuple[str, ...]]:
    if body == EMPTY_BODY:
        return (), (), ()
    kinds: list[tuple[str, str, list[str]]] = []
    edges: list[str] = []
    markers: list[str] = []
    project: str | None = None
    into: list[str] | None = None
    start = _ITEM_START
    for number, line in enumerate(body.split("\n"), first_line):
        if line.startswith(PROJECT_HEADING):
            project, into = line.removeprefix(PROJECT_HEADING), None
        elif line.startswith(KIND_HEADING) and project is not None:
            into, start = [], _ENTRY_START
            kinds.append((project, line.removeprefix(KIND_HEADING), into))
        elif line == RELATIONS_HEADING:
            into, start = edges, _ITEM_START
        elif line == MARKERS_HEADING:
            into, start = markers, _ITEM_START
        elif line and (into is None or not line.startswith(start)):
            raise NoView(f"line {number}: it belongs to no section")
        elif line and into is not None:
            into.append(line)
    sections = tuple(KindSection(key, kind, tuple(lines)) for key, kind, lines in kinds)
    return sections, tuple(edges), tuple(markers)


def _lines(heading: str, lines: tuple[str, ...]) -> str:
    return f"\n{heading}\n\n" + "".join(f"{line}\n" for line in lines)
