"""Laws about a Markdown index of a store: that it can be verified, its layout, and what it shows of one thing.

``at`` leads to the document.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..answer import Answer
from ..broken import Broken
from ..vocabulary import parse_instant, show
from . import law
from .index_document import (
    MARKERS,
    PROJECT,
    RELATIONS,
    UNCLASSIFIED,
    IndexDocument,
    Section,
    read_index,
    subject,
    unquoted,
)
from .places import fitting, text_at
from .ranking import CLOCKS_APART

_STAMPED = "generated_at"
_STAMP = re.compile(rf"{_STAMPED}\W+(\d{{4}}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d))")


@law("export-digest")
@fitting
def export_digest(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The digest line's SHA-256 is that of every byte after this line."""
    document = read_index(text_at(answer.body, args["at"]))
    found = hashlib.sha256(document.body.encode(errors="surrogatepass")).hexdigest()
    if document.sha256 != found:
        yield Broken(args["at"], f"{found}, the SHA-256 of what follows the digest line", document.sha256)


@law("export-stamp")
@fitting
def export_stamp(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The header has one line with generated_at and an instant, or none where ``stamped`` is false.

    With ``now`` the instant is that one, but for what two clocks may be apart.
    """
    document = read_index(text_at(answer.body, args["at"]))
    stamps = [line for line in document.header if _STAMPED in line]
    if len(stamps) != bool(args["stamped"]):
        yield Broken(args["at"], "one line generated_at" if args["stamped"] else "no line generated_at", show(stamps))
    now = parse_instant(args.get("now"))
    for line in stamps:
        found = _STAMP.search(line)
        moment = parse_instant(found[1]) if found else None
        if moment is None:
            yield Broken(args["at"], f"{_STAMPED} with a date-time of RFC 3339", show(line))
        elif now is not None and abs(moment - now) > CLOCKS_APART:
            yield Broken(args["at"], f"{_STAMPED} with the instant of the call, {args['now']}", show(line))


@law("export-layout")
@fitting
def export_layout(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """Projects with their kinds (unclassified last), then relations, then markers; no section twice or empty."""
    document = read_index(text_at(answer.body, args["at"]))
    titles = [section.title for section in document.sections]
    tail = [title for title in (RELATIONS, MARKERS) if title in titles]
    head = titles[: len(titles) - len(tail)]
    if titles != [*head, *tail] or not all(title.startswith(PROJECT) for title in head):
        yield Broken(args["at"], "sections of projects, then relations, then markers", show(titles))
    for title in sorted({title for title in titles if titles.count(title) > 1}):
        yield Broken(args["at"], f"one section {title!r}", "several")
    for section in document.sections:
        if not section.all_rows():
            yield Broken(args["at"], f"no section {section.title!r} without rows", "one")
        yield from _kinds(section, args["at"])
    if document.sections:
        yield from (Broken(args["at"], "only headings and rows in the body", show(one)) for one in document.strange[:3])


@law("export-counts")
@fitting
def export_counts(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The digest line's counts add up, and are those of the rows.

    capsules = live + superseded + tombstoned; as many entries as live ones, as many markers as the others.
    ``are`` gives numbers that some of them have to be, or with ``since``, a saved index, how many more than there.
    """
    document = read_index(text_at(answer.body, args["at"]))
    counts = document.counts
    for name in ("live", "superseded", "tombstoned"):
        if name not in counts:
            yield Broken(args["at"], f"{name}=<number> in the digest line", show(counts))
            return
    parts = counts["live"] + counts["superseded"] + counts["tombstoned"]
    markers = len(document.rows_of(MARKERS))
    for told, expected, what in (
        (counts["capsules"], parts, "live, superseded and tombstoned together"),
        (counts["live"], sum(len(project.all_rows()) for project in document.projects()), "entries"),
        (counts["superseded"] + counts["tombstoned"], markers, "markers"),
        (counts.get("relations", edges := len(document.rows_of(RELATIONS))), edges, "edges"),
    ):
        if told != expected:
            yield Broken(args["at"], f"{expected} {what}", f"{told}, by the digest line {show(counts)}")
    before = read_index(text_at(args["since"], "")).counts if "since" in args else {}
    for name, number in args.get("are", {}).items():
        if counts.get(name) != before.get(name, 0) + number:
            yield Broken(args["at"], f"{name}={before.get(name, 0) + number} in the digest line", show(counts))


@law("export-same-body")
@fitting
def export_same_body(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """What follows the digest line, and the SHA-256 in it, are those of the saved document ``as``.

    So are the counts and every line of the header but the stamp.
    """
    document = read_index(text_at(answer.body, args["at"]))
    earlier = read_index(text_at(args["as"], ""))
    if document.sha256 != earlier.sha256:
        yield Broken(args["at"], f"the SHA-256 of the earlier document, {earlier.sha256}", document.sha256)
    if document.body != earlier.body:
        yield Broken(args["at"], "the body of the earlier document", "another one")
    if (document.counts, _unstamped(document)) != (earlier.counts, _unstamped(earlier)):
        yield Broken(args["at"], f"but for {_STAMPED} the header of the earlier document", show(document.header))


@law("export-entry")
@fitting
def export_entry(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The capsule ``id`` has one entry, under the headings of its ``project`` and ``kind``, and no marker.

    ``matches``: regular expressions for the row; ``tier``: the tier that it names, or null where it names none.
    """
    document = read_index(text_at(answer.body, args["at"]))
    found = list(_entries(document, args["id"]))
    expected = f"one entry for {args['id']} under {args['project']!r}, {args.get('kind', UNCLASSIFIED)!r}"
    if [place for place, _ in found] != [(PROJECT + args["project"], args.get("kind", UNCLASSIFIED))]:
        yield Broken(args["at"], expected, show([place for place, _ in found]))
        return
    if any(subject(row) == args["id"] for row in document.rows_of(MARKERS)):
        yield Broken(args["at"], f"no marker for {args['id']}", "one")
    yield from _row(found[0][1], args)


@law("export-marker")
@fitting
def export_marker(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The capsule ``id`` has one marker in the last section, and no entry.

    ``matches``: regular expressions for the row; ``tier``: the tier that it names, or null where it names none.
    """
    document = read_index(text_at(answer.body, args["at"]))
    rows = [row for row in document.rows_of(MARKERS) if subject(row) == args["id"]]
    if any(_entries(document, args["id"])):
        yield Broken(args["at"], f"no entry for {args['id']}", "one")
    if len(rows) != 1:
        yield Broken(args["at"], f"one marker for {args['id']}", str(len(rows)))
        return
    yield from _row(rows[0], args)


@law("export-edges")
@fitting
def export_edges(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """Each of ``edges`` ([from, kind, to]) is one row of the section of relations; they stand in this order."""
    document = read_index(text_at(answer.body, args["at"]))
    rows = document.rows_of(RELATIONS)
    places: list[int] = []
    for edge in args["edges"]:
        pattern = re.compile(r"\W(?:.*\W)?".join(rf"(?<!\w){re.escape(part)}(?!\w)" for part in edge))
        found = [place for place, row in enumerate(rows) if pattern.search(row) and subject(row) == edge[0]]
        if len(found) != 1:
            yield Broken(args["at"], f"one row for the edge {' '.join(edge)}", f"{len(found)} in {show(rows)}")
        places += found[:1]
    if places != sorted(places):
        yield Broken(args["at"], f"the edges in the order {show(args['edges'])}", f"in rows {show(places)}")


def _unstamped(document: IndexDocument) -> list[str]:
    """What the header says besides when it was made."""
    return [line for line in document.header if line.strip() and _STAMPED not in line]


def _kinds(section: Section, place: str) -> Iterator[Broken]:
    if section.title.startswith(PROJECT) and "" in section.rows:
        yield Broken(place, f"every entry of {section.title!r} under a kind", show(section.rows[""][:1]))
    if UNCLASSIFIED in section.kinds[:-1] or len(set(section.kinds)) < len(section.kinds):
        yield Broken(place, f"each kind of {section.title!r} once, unclassified last", show(section.kinds))
    for kind in section.kinds:
        if not section.rows[kind]:
            yield Broken(place, f"no heading {kind!r} without rows under {section.title!r}", "one")


def _entries(document: IndexDocument, capsule: str) -> Iterator[tuple[tuple[str, str], str]]:
    """The entries of a capsule: the headings that each stands under, and the row."""
    for section in document.projects():
        for kind, rows in section.rows.items():
            yield from (((section.title, kind), row) for row in rows if subject(row) == capsule)


def _row(row: str, args: Mapping[str, Any]) -> Iterator[Broken]:
    for pattern in args.get("matches", ()):
        if not re.search(pattern, row):
            yield Broken(args["at"], f"a row that matches {pattern!r}", show(row))
    if "tier" in args:
        found = re.search(r"· tier (\w+)", unquoted(row))
        if (found and found[1]) != args["tier"]:
            yield Broken(args["at"], f"the tier {show(args['tier'])} in the row", show(row))
