"""What is left of a forgotten capsule in the answers of every tool, and in the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from nmemory_reference.capsules.capture import classify, imports, ingest
from nmemory_reference.capsules.faults import ProtocolFault
from nmemory_reference.capsules.lifecycle import consolidate
from nmemory_reference.capsules.recall import alias, vector
from nmemory_reference.capsules.structure import outcome, preference
from reference.capsules.acts import ask, begin, capture, drop, edge, end, label, nail
from reference.capsules.looks import dag, digested, drawn, excluded, exported, found, got, listed, packed
from reference.capsules.stage import Stage

SECRET = "ACTIVE(zugzwang): Xylóphone-quetzal, vowel kwijibo\nand more zugzwang"
#: Its words, as they stand there, in lower case and folded.
TRACES = ("ylóphone", "ylophone", "quetzal", "kwijibo", "zugzwang")


def traces(text: str) -> list[str]:
    return [trace for trace in TRACES if trace in text.lower()]


def test_for08_for16_for17_for18_the_counts_say_what_is_left(stage: Stage) -> None:
    capsule, other = capture(stage, SECRET), capture(stage, "another note")
    before = digested(stage)
    drop(stage, capsule)
    after = digested(stage)
    assert list(listed(stage)) == [other]
    assert (before["total"], after["total"]) == (2, 1)
    assert after["tiers"] == {"active": 1, "archived": 0, "quarantined": 0}
    view = exported(stage)
    assert "capsules=2 live=1 superseded=0 tombstoned=1" in view
    assert f"- {capsule} — tombstoned (purged)" in view
    assert not traces(view)


def test_for10_for11_only_its_id_still_names_it(stage: Stage) -> None:
    session, other = begin(stage), begin(stage)
    capsule = capture(stage, SECRET, session_id=session)
    drop(stage, capsule)
    assert ask(stage, "quetzal")["outcome"] == "abstain"
    assert ask(stage, capsule)["outcome"] == "missing_evidence"
    assert excluded(stage, capsule) == {"tombstoned": 1}
    assert excluded(stage, capsule, session_id=session) == {"tombstoned": 1}
    assert ask(stage, capsule, session_id=other)["outcome"] == "abstain"


def test_for13_other_bytes_may_be_captured(stage: Stage) -> None:
    drop(stage, capture(stage, SECRET))
    assert capture(stage, SECRET + ".") == "cap-2"


def test_for19_it_leaves_the_dag_and_frees_what_it_blocked(stage: Stage) -> None:
    one, other, witness = (capture(stage, text) for text in ("draw it", "build it", "seen"))
    edge(stage, one, "blocks", other)
    edge(stage, witness, "witnesses", one)
    assert dag(stage) == ([other], [], [one])
    drop(stage, one)
    assert dag(stage) == ([other], [], [])
    drop(stage, other)
    assert dag(stage) == ([], [], [])


@pytest.mark.parametrize("end_of_edge", ["from", "to"])
def test_for21_for35_a_forgotten_capsule_may_be_an_end_of_a_new_edge(stage: Stage, end_of_edge: str) -> None:
    gone, other = capture(stage, SECRET), capture(stage, "another note")
    drop(stage, gone)
    ends = (gone, other) if end_of_edge == "from" else (other, gone)
    edge(stage, ends[0], "derived_from", ends[1])
    assert [(row["from"], row["to"]) for row in got(stage, gone)["relations"]] == [ends]
    assert got(stage, other)["relations"] == got(stage, gone)["relations"]
    assert f"{ends[0]} --derived_from--> {ends[1]}" in exported(stage)
    assert "-->|derived_from|" in drawn(stage, "relations")


def test_for40_its_session_still_counts_it_as_a_save(stage: Stage) -> None:
    session = begin(stage)
    capsule = capture(stage, SECRET, session_id=session)
    before = drawn(stage, "sessions")
    assert "1 saves" in before
    drop(stage, capsule)
    assert drawn(stage, "sessions") == before


def _as_it_comes(stage: Stage) -> str:
    return capture(stage, SECRET)


def _by_hand_over(stage: Stage) -> str:
    return str(end(stage, begin(stage), handoff=SECRET)["handoff_capsule"])


def _imported(stage: Stage) -> str:
    (stage.settings.anchor_root / "CLAUDE.md").write_text(SECRET)
    return str(stage.call(imports.TOOL, source="project-claude-md")["outcomes"][0]["id"])


def _with_everything_beside_it(stage: Stage) -> str:
    capsule = capture(
        stage,
        SECRET,
        kind="task",
        session_id=begin(stage),
        evidence_state="observed",
        proof_hint="grep quetzal",
        stale_if="kwijibo is gone",
        event_at="2031-01-01T00:00:00Z",
    )
    other = capture(stage, "another note")
    stage.call(vector.TOOL, capsule_id=capsule, embedding=[1.0, 2.0], model_tag="toy")
    for kind in ("blocks", "supersedes", "falsifies", "witnesses", "grounded_in", "derived_from"):
        edge(stage, capsule, kind, other)
    nail(stage, capsule)
    stage.call(outcome.TOOL, description="seen", actor="ci", capsule_id=capsule)
    stage.call(preference.TOOL, preferred_id=capsule, rejected_id=other, context="c", actor="a")
    return capsule


def _of_many_alike(stage: Stage) -> str:
    for number in range(30):
        capture(stage, f"note {number} about lamps and relays")
    capsule = capture(stage, SECRET)
    for number in range(30, 60):
        capture(stage, f"note {number} about lamps and relays")
    return capsule


def every_answer(stage: Stage) -> dict[str, Any]:
    """What every tool that shows something answers now."""
    answers: dict[str, Any] = {
        "digest": digested(stage, headlines=1000),
        "list": listed(stage),
        "export": exported(stage),
        "bootstrap": packed(stage),
        "relations": drawn(stage, "relations"),
        "dag": drawn(stage, "dag"),
        "tiers": drawn(stage, "tiers"),
        "sessions": drawn(stage, "sessions"),
        "consolidate": stage.call(consolidate.TOOL),
        "aliases": stage.call(alias.TOOL),
        "vectors": stage.call(vector.TOOL),
        "outcomes": stage.call(outcome.TOOL),
        "preferences": stage.call(preference.TOOL),
        "near": stage.call(ingest.TOOL, content="vowel quartz lamps relays", source="s", anchor="a"),
    }
    return answers


@pytest.mark.parametrize("mode", ["purged", "redacted"])
@pytest.mark.parametrize("make", [_as_it_comes, _by_hand_over, _imported, _with_everything_beside_it, _of_many_alike])
def test_for03_for31_no_tool_and_no_file_holds_a_word_of_it(stage: Stage, tmp_path: Path, make: Any, mode: str) -> None:
    capsule = make(stage)
    assert traces(json.dumps(every_answer(stage), ensure_ascii=False))
    drop(stage, capsule, mode)
    answers = {**every_answer(stage), "marker": got(stage, capsule), "its id": ask(stage, capsule)}
    assert {name: traces(json.dumps(body, ensure_ascii=False)) for name, body in answers.items()} == {
        name: [] for name in answers
    }
    for file in tmp_path.glob("memory.sqlite3*"):
        held = file.read_bytes().lower()
        assert not [trace for trace in TRACES if trace.encode() in held], file.name


def test_for12_every_door_refuses_it(stage: Stage, tmp_path: Path) -> None:
    drop(stage, capture(stage, SECRET))
    session = begin(stage)
    (tmp_path / "CLAUDE.md").write_text(SECRET)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text(SECRET + "\n")
    by_import = stage.call(imports.TOOL, source="project-claude-md")
    by_folder = stage.call(imports.TOOL, source="memory-dir", dir="notes")
    assert [(one["captured"], one["rejected"]) for one in (by_import, by_folder)] == [(0, 1)] * 2
    assert stage.call(ingest.TOOL, content=SECRET, source="s", anchor="a")["rejected"] == 1
    with pytest.raises(ProtocolFault, match="handoff"):
        end(stage, session, handoff=SECRET)
    assert listed(stage) == {}
    assert found(stage, "quetzal") == []


def test_cls17_a_label_on_its_marker_brings_nothing_back(stage: Stage) -> None:
    capsule = capture(stage, SECRET)
    drop(stage, capsule)
    stage.call(classify.TOOL, content=SECRET, kind="epic", capsule_id=capsule, proof_hint="h")
    label(stage, capsule, "task")
    shown = digested(stage)
    assert "mission" not in shown
    assert "unanchored" not in shown
    assert list(listed(stage, kind="task")) == []
    assert "epistemics" not in got(stage, capsule)
