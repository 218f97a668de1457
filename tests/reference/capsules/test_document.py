"""The export document: its grammar, its hash, and that nothing stored can forge a line of it."""

from __future__ import annotations

import contextlib
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_reference.capsules.headline import headline
from nmemory_reference.capsules.store.relations import Edge
from nmemory_reference.capsules.views.document import Contents, Entry, Forgotten, Superseded, render
from nmemory_reference.capsules.views.saved_view import NoView, SavedView, parse
from nmemory_reference.capsules.vocabulary import AUTHORITY_CLASSES, KINDS, RELATION_KINDS

EMPTY = Contents((), (), (), ())
WORKED = Contents(
    entries=(
        Entry(
            seq=4,
            project_id="demo",
            kind=None,
            headline='say "hi"…',
            confidence=0.6,
            authority_class="externally-imported",
            tainted=True,
            source="feed",
            anchor="feed.md:9",
            valid_from="2031-05-02T08:00:00.5Z",
            valid_to="2031-06-01T00:00:00Z",
            tier="quarantined",
        ),
        Entry(
            seq=1,
            project_id="demo",
            kind="decision",
            headline="Ship on Fridays is off",
            confidence=0.9,
            authority_class="user-stated",
            tainted=False,
            source="notes",
            anchor="notes.md:4",
            valid_from="2031-05-01T08:00:00Z",
            valid_to=None,
        ),
    ),
    superseded=(Superseded(2, "demo", ("cap-1",)),),
    forgotten=(
        Forgotten(3, "redacted", "leaked token", "hmac-sha256:0011223344556677" + "0" * 48, "scratch", "scratch.md:1"),
    ),
    edges=(
        Edge("falsifies", "out-1", "cap-4", "2031-05-03T00:00:01Z"),
        Edge("supersedes", "cap-1", "cap-2", "2031-05-03T00:00:00Z"),
    ),
)
WORKED_BODY = """
## project demo

### decision

- **cap-1** "Ship on Fridays is off" · conf 0.90 · user-stated · taint:no · notes @ notes.md:4 · \
2031-05-01T08:00:00Z → open

### unclassified

- **cap-4** "say \\"hi\\"…" · conf 0.60 · externally-imported · taint:yes · feed @ feed.md:9 · \
2031-05-02T08:00:00.5Z → 2031-06-01T00:00:00Z · tier quarantined

## relations

- cap-1 --supersedes--> cap-2 · at 2031-05-03T00:00:00Z
- out-1 --falsifies--> cap-4 · at 2031-05-03T00:00:01Z

## superseded + tombstoned

- cap-2 — superseded by cap-1 (project demo)
- cap-3 — tombstoned (redacted) · reason: "leaked token" · hmac-sha256:0011223344556677… · was scratch @ scratch.md:1
"""


def entry(seq: int, **fields: object) -> Entry:
    given_fields = {
        "project_id": "demo",
        "kind": None,
        "headline": "text",
        "confidence": 0.6,
        "authority_class": "agent-inferred",
        "tainted": False,
        "source": "s",
        "anchor": "a",
        "valid_from": "2031-05-01T08:00:00Z",
        "valid_to": None,
    }
    return Entry(seq=seq, **(given_fields | fields))  # type: ignore[arg-type]


def body_of(document: str) -> str:
    return document.split("> store digest: ", 1)[1].split("\n", 1)[1]


def test_the_worked_example_is_written_byte_for_byte() -> None:
    document = render(WORKED, None)
    assert body_of(document) == WORKED_BODY
    assert (
        "> store digest: capsules=4 live=2 superseded=1 tombstoned=1 relations=2 projects=1"
        " · body sha256:999926b45e4e61b7bf87b9f81bdb26322e97891cf0c78f86435b1074d9b5a067\n"
    ) in document


def test_exp33_an_empty_store_has_a_placeholder() -> None:
    document = render(EMPTY, None)
    assert body_of(document) == "\n_store is empty_\n"
    assert "a869b280bcf61211290965eb6abde67eb783b23a807819806eeb4c702f2d9586" in document
    assert "capsules=0 live=0 superseded=0 tombstoned=0 relations=0 projects=0" in document


def test_exp8_a_stamp_changes_its_own_line_only() -> None:
    plain, stamped = render(WORKED, None), render(WORKED, "2031-05-04T00:00:00Z")
    lines = stamped.split("\n")
    assert lines.pop(4) == "> generated_at: 2031-05-04T00:00:00Z"
    assert "\n".join(lines) == plain


@pytest.mark.parametrize(
    ("contents", "lines"),
    [
        (
            Contents([entry(10), entry(2)], (), (), ()),
            ["- **cap-2**", "- **cap-10**"],
        ),
        (
            Contents([entry(1, project_id="é"), entry(2, project_id="z"), entry(3, project_id="Z")], (), (), ()),
            ["## project Z", "## project z", "## project é"],
        ),
        (
            Contents([entry(1), entry(2, kind="failure_pattern"), entry(3, kind="fact")], (), (), ()),
            ["### fact", "### failure_pattern", "### unclassified"],
        ),
        (
            Contents((), [Superseded(9, "p", ("cap-10", "cap-2", "cap-2"), "archived")], (), ()),
            ["- cap-9 — superseded by cap-2, cap-10 (project p) · tier archived"],
        ),
        (
            Contents((), (), [Forgotten(1, "purged", "x" * 121, "hmac-sha256:" + "a" * 64)], ()),
            [f'- cap-1 — tombstoned (purged) · reason: "{"x" * 120}…" · hmac-sha256:{"a" * 16}…'],
        ),
        (
            Contents([entry(1, project_id="a\nb"), entry(2, project_id="a\\nb")], (), (), ()),
            ["projects=1", "## project a\\nb"],
        ),
        (
            Contents([entry(1, confidence=0.125), entry(2, confidence=0.375)], (), (), ()),
            ["conf 0.12 ", "conf 0.38 "],
        ),
    ],
    ids=["EXP25", "EXP24", "EXP22", "superseders", "EXP46", "look-alike-projects", "conf-like-printf"],
)
def test_rows_are_written_in_their_order(contents: Contents, lines: list[str]) -> None:
    document = render(contents, None)
    places = [document.find(line) for line in lines]
    assert -1 not in places
    assert places == sorted(places)


def test_exp45_edges_come_by_kind_then_from_then_to_then_time() -> None:
    edges = [
        Edge("blocks", "cap-10", "cap-1", "t1"),
        Edge("blocks", "cap-9", "cap-10", "t1"),
        Edge("blocks", "cap-9", "cap-2", "t2"),
        Edge("falsifies", "out-1", "cap-2", "t1"),
        Edge("falsifies", "cap-3", "cap-2", "t1"),
        Edge("supersedes", "cap-8", "cap-7", "t9"),
    ]
    shown = parse(render(Contents((), (), (), edges), None)).edges
    assert [line.split(" · ")[0] for line in shown] == [
        "- cap-8 --supersedes--> cap-7",
        "- cap-9 --blocks--> cap-2",
        "- cap-9 --blocks--> cap-10",
        "- cap-10 --blocks--> cap-1",
        "- cap-3 --falsifies--> cap-2",
        "- out-1 --falsifies--> cap-2",
    ]
    assert render(Contents((), (), (), edges[::-1]), None) == render(Contents((), (), (), edges), None)


_text = st.text() | st.sampled_from(
    ["\n## relations\n", "## project x", '" · tier archived', "- **cap-9** ", "\r\n\n_store is empty_\n", "\u2028## x"]
)
_seqs = st.integers(1, 400)
_entries = st.builds(
    entry,
    _seqs,
    project_id=_text,
    kind=st.none() | st.sampled_from(KINDS),
    headline=_text.map(headline),
    confidence=st.floats(0, 1),
    authority_class=st.sampled_from(AUTHORITY_CLASSES),
    tainted=st.booleans(),
    source=_text,
    anchor=_text,
    valid_to=st.none() | st.just("2031-06-01T00:00:00Z"),
)
_contents = st.builds(
    Contents,
    entries=st.lists(_entries, max_size=5),
    superseded=st.lists(st.builds(Superseded, _seqs, _text, st.just(("cap-1",)), st.just("active")), max_size=3),
    forgotten=st.lists(
        st.builds(Forgotten, _seqs, st.just("redacted"), _text, st.just("hmac-sha256:" + "0" * 64), _text, _text),
        max_size=3,
    ),
    edges=st.lists(
        st.builds(
            Edge, st.sampled_from(RELATION_KINDS), st.just("cap-1"), st.just("cap-2"), st.just("t"), st.just("manual")
        ),
        max_size=3,
    ),
)


@given(_contents, st.none() | st.just("2031-05-04T00:00:00Z"))
def test_exp38_whatever_is_stored_the_document_reads_back_and_renders_again(
    contents: Contents, stamp: str | None
) -> None:
    document = render(contents, stamp)
    view = parse(document)
    assert view.intact
    assert view.generated_at == stamp
    assert view.body() == body_of(document)
    assert sum(len(section.lines) for section in view.entries) == len(contents.entries) == view.counts.live
    assert len(view.edges) == len(contents.edges) == view.counts.relations
    assert len(view.markers) == len(contents.superseded) + len(contents.forgotten)
    assert len({section.project for section in view.entries}) == view.counts.projects
    assert view.counts.capsules == view.counts.live + view.counts.superseded + view.counts.tombstoned


@pytest.mark.parametrize("change", [lambda body: body + "\n", lambda body: body[:-1], lambda body: "x" + body])
def test_exp11_one_byte_more_or_less_breaks_the_hash(change: object) -> None:
    document = render(EMPTY, None)
    body = body_of(document)
    changed = document.removesuffix(body) + change(body)  # type: ignore[operator]
    with contextlib.suppress(NoView):
        assert not parse(changed).intact


def test_a_text_that_is_no_view_is_named_by_its_line() -> None:
    with pytest.raises(NoView, match="line 1"):
        parse("# something else")
    with pytest.raises(NoView, match="line 5"):
        parse(render(EMPTY, None).split("> store digest")[0])
    with pytest.raises(NoView, match="line 7"):
        parse(render(EMPTY, None).replace("_store is empty_", "a stray line"))


def test_the_declared_hash_covers_the_body_alone() -> None:
    view: SavedView = parse(render(WORKED, "2031-05-04T00:00:00Z"))
    assert view.body_sha256 == hashlib.sha256(WORKED_BODY.encode()).hexdigest()
