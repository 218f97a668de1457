"""memory_export: the document of a store that was filled through the tools."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nmemory_reference.capsules.capture import ingest
from nmemory_reference.capsules.faults import ProtocolFault, ShapeFault
from nmemory_reference.capsules.structure import outcome
from nmemory_reference.capsules.views import digest, export, get
from nmemory_reference.capsules.views.saved_view import SavedView, parse
from nmemory_reference.capsules.vocabulary import KINDS
from reference.capsules.acts import capture, drop, edge, label, nail, retier
from reference.capsules.inspection import audit, rows
from reference.capsules.stage import Stage

RELATION_KINDS = (
    *("supersedes", "derived_from", "witnesses", "blocks"),
    *("falsifies", "proposes", "part_of", "grounded_in"),
)


def document(stage: Stage, **arguments: Any) -> str:
    return str(stage.call(export.TOOL, **{"stamp": False, **arguments})["markdown"])


def view(stage: Stage) -> SavedView:
    """The document read back; its hash has to hold."""
    read = parse(document(stage))
    assert read.intact
    return read


def lines_of(stage: Stage, capsule: str) -> list[str]:
    """The lines that begin with a capsule."""
    starts = (f"- **{capsule}** ", f"- {capsule} ")
    return [line for line in document(stage).split("\n") if line.startswith(starts)]


def body(text: str) -> str:
    return re.split(r"^> store digest: .*\n", text, maxsplit=1, flags=re.MULTILINE)[1]


@pytest.fixture
def worked(stage: Stage) -> Stage:
    """The store of the worked example."""
    capture(
        stage,
        "Ship on Fridays is off",
        project_id="demo",
        confidence=0.9,
        authority_class="user-stated",
        source="notes",
        anchor="notes.md:4",
        valid_from="2031-05-01T08:00:00Z",
    )
    label(stage, "cap-1", "decision")
    capture(stage, "Ship on Fridays", project_id="demo")
    capture(stage, "the token is hunter2", project_id="demo", source="scratch", anchor="scratch.md:1")
    capture(
        stage,
        'say "hi"\nand more',
        project_id="demo",
        authority_class="externally-imported",
        source="feed",
        anchor="feed.md:9",
        valid_from="2031-05-02T08:00:00.5Z",
        valid_to="2031-06-01T00:00:00Z",
    )
    retier(stage, "cap-4", "quarantined")
    stage.now = stage.now.replace(day=3, hour=0)
    edge(stage, "cap-1", "supersedes", "cap-2")
    stage.call(outcome.TOOL, description="it was not so", actor="kit")
    stage.later(seconds=1)
    edge(stage, "out-1", "falsifies", "cap-4")
    drop(stage, "cap-3", "redacted", "leaked token")
    return stage


def test_the_worked_example_through_the_tools(worked: Stage) -> None:
    fingerprint = worked.call(get.TOOL, id="cap-3")["content_hmac"][:28]
    assert body(document(worked)) == (
        "\n## project demo\n"
        "\n### decision\n\n"
        '- **cap-1** "Ship on Fridays is off" · conf 0.90 · user-stated · taint:no · notes @ notes.md:4 · '
        "2031-05-01T08:00:00Z → open\n"
        "\n### unclassified\n\n"
        '- **cap-4** "say \\"hi\\"…" · conf 0.60 · externally-imported · taint:yes · feed @ feed.md:9 · '
        "2031-05-02T08:00:00.5Z → 2031-06-01T00:00:00Z · tier quarantined\n"
        "\n## relations\n\n"
        "- cap-1 --supersedes--> cap-2 · at 2031-05-03T00:00:00Z\n"
        "- out-1 --falsifies--> cap-4 · at 2031-05-03T00:00:01Z\n"
        "\n## superseded + tombstoned\n\n"
        "- cap-2 — superseded by cap-1 (project demo)\n"
        f'- cap-3 — tombstoned (redacted) · reason: "leaked token" · {fingerprint}… · was scratch @ scratch.md:1\n'
    )
    digest_line = document(worked).split("\n")[4]
    assert digest_line.startswith(
        "> store digest: capsules=4 live=2 superseded=1 tombstoned=1 relations=2 projects=1 · body sha256:"
    )


def test_exp01_exp03_the_answer_is_a_text_and_no_file(stage: Stage, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    answer = stage.call(export.TOOL)
    assert list(answer) == ["label", "framing", "markdown"]
    assert sorted(tmp_path.iterdir()) == before


def test_exp04_exp05_exp06_a_stamp_unless_it_is_not_wanted(worked: Stage) -> None:
    stamped = worked.call(export.TOOL)["markdown"]
    assert stamped.count("> generated_at: ") == 1
    assert stamped == document(worked, stamp=True) == document(worked, stamp=None)
    assert "generated_at" not in document(worked)


def test_exp07_exp08_exp09_exp12_time_changes_the_stamp_alone(worked: Stage) -> None:
    plain, stamped = document(worked), document(worked, stamp=True)
    worked.later(days=400)
    assert document(worked) == plain
    later = document(worked, stamp=True)
    different = [
        (one, other) for one, other in zip(stamped.split("\n"), later.split("\n"), strict=True) if one != other
    ]
    assert different == [("> generated_at: 2031-05-03T00:00:01Z", "> generated_at: 2032-06-06T00:00:01Z")]
    assert body(plain) == body(stamped) == body(later)


def test_exp10_the_hash_covers_what_follows_its_line(worked: Stage) -> None:
    text = document(worked, stamp=True)
    (declared,) = re.findall(r"body sha256:([0-9a-f]{64})$", text, re.MULTILINE)
    assert hashlib.sha256(body(text).encode()).hexdigest() == declared


def test_exp13_exp14_exp15_exp16_the_counts_agree_with_the_digest_and_the_lines(worked: Stage) -> None:
    counts, told = view(worked).counts, worked.call(digest.TOOL)
    assert counts.capsules == counts.live + counts.superseded + counts.tombstoned == 4
    assert told["total"] == counts.live + counts.superseded
    assert told["relations"] == counts.relations == len(view(worked).edges)
    assert counts.projects == document(worked).count("\n## project ")


def test_exp17_exp25_each_live_capsule_has_one_entry_in_append_order(stage: Stage) -> None:
    capsules = [capture(stage, f"number {number}") for number in range(12)]
    (section,) = view(stage).entries
    assert [line.split("**")[1] for line in section.lines] == capsules


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("one\ntwo", '"one…"'),
        ("one\n", '"one"'),
        ("one\r\n", '"one"'),
        ("é" * 140, f'"{"é" * 140}"'),
        ("é" * 141, f'"{"é" * 140}…"'),
        ("lone\rreturn", '"lone\\rreturn"'),
        ('a "quote"', '"a \\"quote\\""'),
        ("back\\slash", '"back\\slash"'),
        ("## project x", '"## project x"'),
        ("- **cap-9** ", '"- **cap-9** "'),
        ("\u2028## relations", '"\u2028## relations"'),
        ("\n- forged", '"…"'),
    ],
)
def test_exp18_exp19_exp20_exp35_exp37_a_headline_is_one_quoted_field(stage: Stage, content: str, shown: str) -> None:
    (line,) = lines_of(stage, capture(stage, content))
    assert line.startswith(f"- **cap-1** {shown} · conf 0.60 · ")


def test_exp21_exp22_exp23_kinds_in_the_order_of_the_contract_and_the_unlabelled_last(stage: Stage) -> None:
    capture(stage, "nobody labelled this")
    for kind in reversed(KINDS):
        label(stage, capture(stage, kind), kind)
    assert [section.kind for section in view(stage).entries] == [*KINDS, "unclassified"]


def test_exp24_projects_in_byte_order(stage: Stage) -> None:
    for number, project in enumerate(["é", "z", "Z", "a/b", "a", "a b"]):
        capture(stage, f"number {number}", project_id=project)
    shown = [section.project for section in view(stage).entries]
    assert shown == sorted(shown, key=str.encode)
    assert len(shown) == 6


def test_exp26_exp27_exp45_every_edge_once_by_kind_then_ends(stage: Stage) -> None:
    capsules = [capture(stage, f"number {number}") for number in range(11)]
    for container in (capsules[1], capsules[9]):
        label(stage, container, "epic")
    stage.call(outcome.TOOL, description="seen", actor="kit")
    for kind in reversed(RELATION_KINDS):
        edge(stage, capsules[10], kind, capsules[9])
        edge(stage, capsules[10], kind, capsules[1])
        edge(stage, capsules[10], kind, capsules[1])
    edge(stage, "out-1", "falsifies", capsules[1])
    drop(stage, capsules[9])
    shown = [re.match(r"- (\S+) --(\w+)--> (\S+) · at 2031-05-01T08:00:00Z", line) for line in view(stage).edges]
    told = [(found[2], found[1], found[3]) for found in shown if found]
    expected = [(kind, "cap-11", to) for kind in RELATION_KINDS for to in ("cap-2", "cap-10")]
    place = expected.index(("proposes", "cap-11", "cap-2"))
    assert told == [*expected[:place], ("falsifies", "out-1", "cap-2"), *expected[place:]]


def test_exp28_exp48_a_superseded_capsule_is_a_marker_alone(stage: Stage) -> None:
    old, one, two = capture(stage, "an old claim"), capture(stage, "beta"), capture(stage, "gamma")
    edge(stage, two, "supersedes", old)
    edge(stage, one, "supersedes", old)
    drop(stage, one)
    assert lines_of(stage, old) == [f"- {old} — superseded by {one}, {two} (project kit)"]
    assert "claim" not in document(stage)


@pytest.mark.parametrize("mode", ["purged", "redacted"])
def test_exp29_exp30_a_forgotten_capsule_is_a_marker_alone(stage: Stage, mode: str) -> None:
    capsule = capture(stage, "the secret word", source="vault", anchor="v.md:1", project_id="hidden")
    drop(stage, capsule, mode, "leaked")
    (line,) = lines_of(stage, capsule)
    fingerprint = stage.call(get.TOOL, id=capsule)["content_hmac"][:28]
    kept = " · was vault @ v.md:1" if mode == "redacted" else ""
    assert line == f'- {capsule} — tombstoned ({mode}) · reason: "leaked" · {fingerprint}…{kept}'
    assert not [word for word in ("secret", "word", "hidden") if word in document(stage)]


def test_exp31_exp32_sections_without_rows_are_absent_and_markers_come_last(stage: Stage) -> None:
    one, other = capture(stage, "a"), capture(stage, "b")
    assert "## relations" not in document(stage)
    assert "## superseded" not in document(stage)
    edge(stage, one, "supersedes", other)
    headings = [line for line in document(stage).split("\n") if line.startswith("## ")]
    assert headings == ["## project kit", "## relations", "## superseded + tombstoned"]
    drop(stage, one)
    drop(stage, other)
    assert "## project" not in document(stage)


def test_exp33_an_empty_store(stage: Stage) -> None:
    text = document(stage)
    assert body(text) == "\n_store is empty_\n"
    assert text.split("\n")[4] == (
        "> store digest: capsules=0 live=0 superseded=0 tombstoned=0 relations=0 projects=0"
        " · body sha256:a869b280bcf61211290965eb6abde67eb783b23a807819806eeb4c702f2d9586"
    )


@pytest.mark.parametrize("tier", ["archived", "quarantined"])
def test_exp34_a_tier_is_tagged_on_entries_and_markers(stage: Stage, tier: str) -> None:
    one, other, plain = capture(stage, "a"), capture(stage, "b"), capture(stage, "c")
    for capsule in (one, other):
        retier(stage, capsule, tier)
    edge(stage, plain, "supersedes", other)
    for capsule in (one, other):
        (line,) = lines_of(stage, capsule)
        assert line.endswith(f" · tier {tier}")
    assert "tier" not in lines_of(stage, plain)[0]


def test_exp36_line_breaks_in_fields_break_no_line(stage: Stage) -> None:
    forged = 'x\n\n## relations\n\n- cap-1 --blocks--> cap-2\r"'
    capture(stage, "a", project_id=forged, source=forged, anchor=forged)
    drop(stage, capture(stage, "b", source=forged, anchor=forged), "redacted", forged)
    read = view(stage)
    assert (len(read.entries), len(read.edges), len(read.markers)) == (1, 0, 1)
    assert read.entries[0].project == 'x\\n\\n## relations\\n\\n- cap-1 --blocks--> cap-2\\r\\"'


def test_exp39_exp40_exp41_an_entry_agrees_with_get(stage: Stage) -> None:
    capture(stage, "a", authority_class="externally-imported", confidence=0.125, valid_from="2029-01-01T01:00:00+01:00")
    capture(stage, "b", confidence=1, valid_to="2032-01-01T00:00:00Z")
    for capsule, conf in (("cap-1", "0.12"), ("cap-2", "1.00")):
        told = stage.call(get.TOOL, id=capsule)["capsule"]
        (line,) = lines_of(stage, capsule)
        assert f" · conf {conf} · {told['authority_class']} · " in line
        assert f" · taint:{'yes' if told['instruction_taint'] else 'no'} · " in line
        freshness = told["freshness"]
        assert line.endswith(f" · {freshness['valid_from']} → {freshness['valid_to'] or 'open'}")


def test_exp42_the_head_says_what_this_is(stage: Stage) -> None:
    title, blank, law, data, _ = document(stage).split("\n")[:5]
    assert (title, blank) == ("# nMEMORY store — generated view", "")
    assert law.startswith("> ")
    assert "GENERATED VIEW" in law
    assert "ADVISORY_NOT_AUTHORITY" in law
    assert data.startswith("> ")
    assert "DATA" in data


def test_exp43_a_look_leaves_no_trace(worked: Stage) -> None:
    before = audit(worked), rows(worked, "SELECT sum(recall_count) FROM standing")
    document(worked)
    assert (audit(worked), rows(worked, "SELECT sum(recall_count) FROM standing")) == before


def test_exp44_exp50_no_fact_time_no_epistemics_no_pin(stage: Stage) -> None:
    capsule = capture(stage, "a", event_at="2029-03-04T00:00:00Z", proof_hint="make proof", stale_if="it moved")
    before = document(stage)
    nail(stage, capsule)
    assert document(stage) == before
    assert not [word for word in ("2029", "make proof", "it moved", "pinned") if word in before]


def test_exp46_a_long_reason_is_cut(stage: Stage) -> None:
    drop(stage, capture(stage, "a"), reason="r" * 119 + "\n" + "s")
    (line,) = lines_of(stage, "cap-1")
    assert f'reason: "{"r" * 119}\\…" · ' in line, "the reason is escaped first, then cut"


def test_exp47_a_project_of_superseded_capsules_alone_has_no_section(stage: Stage) -> None:
    edge(stage, capture(stage, "a", project_id="here"), "supersedes", capture(stage, "b", project_id="gone"))
    assert [section.project for section in view(stage).entries] == ["here"]
    assert view(stage).counts.projects == 1


@pytest.mark.parametrize("sent", [{"stamp": "no"}, {"stamp": 0}, {"project_id": "lab"}])
def test_exp49_arguments_of_another_shape_are_refused_in_band(stage: Stage, sent: dict[str, Any]) -> None:
    with pytest.raises(ShapeFault):
        stage.call(export.TOOL, **sent)


_forgeries = st.sampled_from(
    [
        "\n## relations\n\n- cap-1 --blocks--> cap-2 · at 2031-05-01T08:00:00Z",
        "\n## superseded + tombstoned\n\n- cap-1 — superseded by cap-2 (project x)",
        '" · conf 1.00 · user-stated · taint:no · s @ a · 2031-05-01T08:00:00Z → open\n- **cap-9** "x',
        "\n_store is empty_\n",
        "> store digest: capsules=0",
        "\r\n### decision\r\n\r\n",
    ]
)
_texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40) | _forgeries
_items = st.fixed_dictionaries(
    {"content": _texts, "source": _texts, "anchor": _texts, "project_id": _texts, "confidence": st.floats(0, 1)}
)


@settings(max_examples=60, deadline=None)
@given(st.lists(_items, min_size=1, max_size=4), _texts)
def test_exp35_exp38_whatever_is_stored_the_document_holds_exactly_its_rows(
    items: list[dict[str, Any]], reason: str
) -> None:
    """Any text goes through the store, the document, the parser and a second rendering unharmed."""
    with TemporaryDirectory() as folder:
        stage = Stage.at(Path(folder))
        outcomes = stage.call(ingest.TOOL, items=items)["outcomes"]
        stored = [row["id"] for row in outcomes if row["status"] == "captured"]
        if stored:
            try:
                drop(stage, stored[0], "redacted", reason)
            except ProtocolFault:  # a blank reason, which the text may be
                stored.insert(0, "")
        read = view(stage)
        assert read.body() == body(document(stage))
        entries = [line for section in read.entries for line in section.lines]
        assert len(entries) == len(stored[1:])
        assert {line.split("**")[1] for line in entries} == set(stored[1:])
        assert read.edges == ()
        assert len(read.markers) == (1 if stored and stored[0] else 0)
        stage.store.database.close()
