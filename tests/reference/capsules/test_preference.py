"""memory_preference: one capsule was chosen over another."""

from __future__ import annotations

from typing import Any

import pytest
from nmemory_reference.capsules.faults import ProtocolFault, ShapeFault
from nmemory_reference.capsules.lifecycle import forget
from nmemory_reference.capsules.structure import preference
from reference.capsules.inspection import audit, standing
from reference.capsules.stage import Stage


@pytest.fixture
def chosen(stage: Stage) -> dict[str, str]:
    stage.put("retry three times")
    stage.put("retry for ever")
    return {"preferred_id": "cap-1", "rejected_id": "cap-2", "context": "which retry rule", "actor": "ana"}


def note(stage: Stage, **fields: Any) -> dict[str, Any]:
    return stage.call(preference.TOOL, **fields)


def test_pre01_pre08_pre11_pre13_a_record_is_answered_as_it_is_stored(stage: Stage, chosen: dict[str, str]) -> None:
    answer = note(stage, **chosen)
    assert list(answer) == ["label", "framing", "advisory", "recorded"]
    assert "neither recall nor any rank" in answer["advisory"]
    assert list(answer["recorded"].items()) == [("id", "pref-1"), *chosen.items(), ("at", "2031-05-01T08:00:00Z")]


@pytest.mark.parametrize("missing", ["preferred_id", "rejected_id", "context", "actor"])
@pytest.mark.parametrize("instead", [None, "", "  "])
def test_pre02_all_four_are_taught_together(
    stage: Stage, chosen: dict[str, str], missing: str, instead: str | None
) -> None:
    with pytest.raises(ProtocolFault, match="preferred_id, rejected_id, context and actor") as fault:
        note(stage, **{**chosen, missing: instead})
    assert (fault.value.code, fault.value.data) == (-32602, None)
    assert note(stage)["total"] == 0


@pytest.mark.parametrize(
    ("sent", "unknown"),
    [
        ({"preferred_id": "cap-8"}, "cap-8"),
        ({"rejected_id": "cap-9"}, "cap-9"),
        ({"preferred_id": "cap-8", "rejected_id": "cap-9"}, "cap-8"),
    ],
    ids=["PRE-03", "PRE-04", "PRE-04-both"],
)
def test_unknown_capsules_are_named(stage: Stage, chosen: dict[str, str], sent: dict[str, str], unknown: str) -> None:
    with pytest.raises(ProtocolFault) as fault:
        note(stage, **(chosen | sent))
    assert (fault.value.code, fault.value.data) == (-32002, {"kind": "unknown_capsule", "id": unknown})
    assert not audit(stage)


@pytest.mark.parametrize("named", ["cap-1", "cap-9"])
def test_pre05_a_pair_of_one_is_refused_whether_it_is_stored_or_not(
    stage: Stage, chosen: dict[str, str], named: str
) -> None:
    with pytest.raises(ProtocolFault, match="two different capsules") as fault:
        note(stage, **(chosen | {"preferred_id": named, "rejected_id": named}))
    assert fault.value.code == -32602


def test_pre06_pre07_the_list_is_in_append_order_repeats_and_reversals_included(
    stage: Stage, chosen: dict[str, str]
) -> None:
    reverse = chosen | {"preferred_id": "cap-2", "rejected_id": "cap-1"}
    recorded = [note(stage, **each)["recorded"] for each in (chosen, chosen, reverse)]
    listed = note(stage)
    assert list(listed) == ["label", "framing", "advisory", "preferences", "total"]
    assert (listed["preferences"], listed["total"]) == (recorded, 3)


@pytest.mark.parametrize("sent", [{}, {"context": " "}, {"actor": None}])
def test_pre06_pre16_nothing_or_blanks_list(stage: Stage, sent: dict[str, Any]) -> None:
    answer = note(stage, **sent)
    assert (answer["preferences"], answer["total"]) == ([], 0)


def test_pre09_nothing_about_the_capsules_changes(stage: Stage, chosen: dict[str, str]) -> None:
    before = [standing(stage, capsule) for capsule in ("cap-1", "cap-2")]
    note(stage, **chosen)
    assert [standing(stage, capsule) for capsule in ("cap-1", "cap-2")] == before


def test_pre10_each_record_is_one_row_of_the_journal(stage: Stage, chosen: dict[str, str]) -> None:
    note(stage, **chosen)
    note(stage)
    assert audit(stage) == [("memory_preference", "pref-1")]


def test_pre12_forgotten_capsules_count(stage: Stage, chosen: dict[str, str]) -> None:
    for capsule in ("cap-1", "cap-2"):
        stage.call(forget.TOOL, id=capsule, mode="purged", reason="x")
    assert note(stage, **chosen)["recorded"]["id"] == "pref-1"


@pytest.mark.parametrize("sent", [{"score": 1}, {"context": 1}])
def test_pre14_other_shapes_are_refused_in_band(stage: Stage, sent: dict[str, Any]) -> None:
    with pytest.raises(ShapeFault):
        note(stage, **sent)
