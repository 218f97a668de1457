"""memory_outcome: observations, and the weights that their scores move."""

from __future__ import annotations

import json
from typing import Any

import pytest
from nmemory_reference.capsules.faults import ProtocolFault, ShapeFault
from nmemory_reference.capsules.lifecycle import forget
from nmemory_reference.capsules.store import records
from nmemory_reference.capsules.structure import outcome
from reference.capsules.inspection import audit, rows, standing
from reference.capsules.stage import Stage


def note(stage: Stage, **fields: Any) -> dict[str, Any]:
    return stage.call(outcome.TOOL, **fields)


def a_receipt(stage: Stage, *seqs: int) -> str:
    """A receipt as a grounded recall leaves it."""
    with stage.store.writing() as db:
        inserted = db.execute(
            "INSERT INTO receipt (at, terms, returned) VALUES ('2031-05-01T08:00:00Z', '[]', ?)", (json.dumps(seqs),)
        )
        return f"rcpt-{inserted.lastrowid}"


def test_out01_out07_out11_a_record_is_answered_as_it_is_stored(stage: Stage) -> None:
    stage.put("the claim")
    answer = note(stage, description="nightly build red", actor="ci", evidence_ref="runs/7", capsule_id="cap-1")
    assert list(answer) == ["label", "framing", "advisory", "recorded"]
    assert "no witnessed close" in answer["advisory"]
    assert list(answer["recorded"].items()) == [
        ("id", "out-1"),
        ("description", "nightly build red"),
        ("actor", "ci"),
        ("evidence_ref", "runs/7"),
        ("capsule_id", "cap-1"),
        ("at", "2031-05-01T08:00:00Z"),
    ]
    plain = note(stage, description=" untrimmed ", actor="ana")["recorded"]
    assert list(plain) == ["id", "description", "actor", "at"]
    assert (plain["id"], plain["description"]) == ("out-2", " untrimmed ")


@pytest.mark.parametrize("sent", [{}, {"description": None}, {"description": " ", "actor": "", "receipt_id": "\t"}])
def test_out03_out25_nothing_or_blanks_list(stage: Stage, sent: dict[str, Any]) -> None:
    answer = note(stage, **sent)
    assert list(answer) == ["label", "framing", "advisory", "outcomes", "total"]
    assert (answer["outcomes"], answer["total"]) == ([], 0)


def test_out02_out08_the_list_is_in_append_order_and_repeats_stay(stage: Stage) -> None:
    recorded = [note(stage, description=what, actor="ci")["recorded"] for what in ("b", "a", "b")]
    listed = note(stage)
    assert listed["outcomes"] == recorded
    assert listed["total"] == 3
    assert [row["id"] for row in recorded] == ["out-1", "out-2", "out-3"]


@pytest.mark.parametrize(
    "sent",
    [
        {"description": "x"},
        {"actor": "ci"},
        {"evidence_ref": "x"},
        {"capsule_id": "cap-1"},
        {"description": "x", "actor": "  "},
        {"receipt_id": "rcpt-1", "score": 1, "actor": "ci"},
    ],
    ids=["OUT-04", "OUT-04-actor", "OUT-04-evidence", "OUT-04-capsule", "OUT-24", "OUT-15"],
)
def test_description_and_actor_are_taught_together(stage: Stage, sent: dict[str, Any]) -> None:
    with pytest.raises(ProtocolFault, match="description and actor") as fault:
        note(stage, **sent)
    assert (fault.value.code, fault.value.data) == (-32602, None)
    assert note(stage)["total"] == 0


def test_out06_an_unknown_capsule_is_named_and_nothing_stored(stage: Stage) -> None:
    with pytest.raises(ProtocolFault) as fault:
        note(stage, description="x", actor="ci", capsule_id="cap-4")
    assert (fault.value.code, fault.value.data) == (-32002, {"kind": "unknown_capsule", "id": "cap-4"})
    assert note(stage)["total"] == 0
    assert not audit(stage)


def test_a_forgotten_capsule_may_be_named(stage: Stage) -> None:
    stage.put("the claim")
    stage.call(forget.TOOL, id="cap-1", mode="purged", reason="x")
    assert note(stage, description="x", actor="ci", capsule_id="cap-1")["recorded"]["capsule_id"] == "cap-1"


def test_out09_out10_recording_changes_nothing_about_the_capsule(stage: Stage) -> None:
    stage.put("the claim")
    before = standing(stage, "cap-1")
    note(stage, description="it was wrong", actor="ci", capsule_id="cap-1")
    assert standing(stage, "cap-1") == before


def test_out13_each_record_is_one_row_of_the_journal(stage: Stage) -> None:
    note(stage, description="x", actor="somebody else")
    note(stage)
    assert rows(stage, "SELECT actor, action, subject FROM audit_events") == [("kit", "memory_outcome", "out-1")]


@pytest.mark.parametrize(
    "pair", [{"score": 1.0}, {"receipt_id": "rcpt-1"}, {"receipt_id": " ", "score": 0.5}, {"score": 7}]
)
def test_out14_half_a_scoring_pair_is_refused_first(stage: Stage, pair: dict[str, Any]) -> None:
    with pytest.raises(ProtocolFault, match="receipt_id and score") as fault:
        note(stage, **pair)
    assert (fault.value.code, fault.value.data) == (-32602, None)


@pytest.mark.parametrize("score", [-0.01, 1.01, -1, 2])
def test_out16_a_score_outside_is_refused(stage: Stage, score: float) -> None:
    with pytest.raises(ProtocolFault, match=r"between 0\.0 and 1\.0") as fault:
        note(stage, receipt_id=a_receipt(stage), score=score)
    assert fault.value.code == -32602


@pytest.mark.parametrize(("score", "weight"), [(0, 0.45), (1, 0.55), (0.25, 0.475), (0.5, 0.5)])
def test_out16_out18_out20_a_score_moves_the_weights_of_its_receipt_a_tenth_of_the_way(
    stage: Stage, score: float, weight: float
) -> None:
    for name in ("one", "two", "three"):
        stage.put(name)
    answer = note(stage, description="helped", actor="kit", receipt_id=a_receipt(stage, 3, 1), score=score)
    assert list(answer) == ["label", "framing", "advisory", "recorded", "weights_updated"]
    assert list(answer["recorded"]) == ["id", "description", "actor", "receipt_id", "score", "at"]
    assert repr(answer["recorded"]["score"]) == repr(float(score))
    assert answer["weights_updated"] == [
        {"capsule_id": "cap-3", "weight": weight},
        {"capsule_id": "cap-1", "weight": weight},
    ]
    with stage.store.reading() as db:
        assert records.feedback(db, [1, 2, 3])[2] == 0.5
    assert note(stage)["outcomes"] == [answer["recorded"]]


@pytest.mark.parametrize(("score", "weight"), [(1, 0.595), (0, 0.405)])
def test_c44_a_receipt_may_be_scored_again_and_moves_again(stage: Stage, score: float, weight: float) -> None:
    stage.put("one")
    receipt = a_receipt(stage, 1)
    for _ in range(2):
        answer = note(stage, description="helped", actor="kit", receipt_id=receipt, score=score)
    assert answer["weights_updated"] == [{"capsule_id": "cap-1", "weight": weight}]


def test_a_weight_stays_within_0_and_1(stage: Stage) -> None:
    stage.put("one")
    receipt = a_receipt(stage, 1)
    for _ in range(400):
        answer = note(stage, description="helped", actor="kit", receipt_id=receipt, score=1)
    assert answer["weights_updated"] == [{"capsule_id": "cap-1", "weight": 1.0}]


def test_a_capsule_that_was_forgotten_since_is_moved_too(stage: Stage) -> None:
    stage.put("one")
    receipt = a_receipt(stage, 1)
    stage.call(forget.TOOL, id="cap-1", mode="purged", reason="x")
    answer = note(stage, description="helped", actor="kit", receipt_id=receipt, score=1)
    assert answer["weights_updated"] == [{"capsule_id": "cap-1", "weight": 0.55}]


def test_the_receipt_of_an_empty_answer_updates_nothing(stage: Stage) -> None:
    answer = note(stage, description="helped", actor="kit", receipt_id=a_receipt(stage), score=1)
    assert answer["weights_updated"] == []


@pytest.mark.parametrize("receipt", ["rcpt-9", "cap-1", "rcpt-01"])
def test_out17_an_unknown_receipt_comes_before_an_unknown_capsule(stage: Stage, receipt: str) -> None:
    with pytest.raises(ProtocolFault) as fault:
        note(stage, description="x", actor="kit", receipt_id=receipt, score=1, capsule_id="cap-77")
    assert (fault.value.code, fault.value.data) == (-32002, {"kind": "receipt", "id": receipt})
    assert note(stage)["total"] == 0


def test_out19_an_unscored_answer_has_no_weights(stage: Stage) -> None:
    assert "weights_updated" not in note(stage, description="x", actor="kit")


@pytest.mark.parametrize("sent", [{"note": "x"}, {"score": "1"}, {"description": 1}, {"score": True}])
def test_out26_other_shapes_are_refused_in_band(stage: Stage, sent: dict[str, Any]) -> None:
    with pytest.raises(ShapeFault):
        note(stage, **sent)
