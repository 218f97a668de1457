"""memory_pin: a capsule that keeps its weight."""

from __future__ import annotations

from typing import Any

import pytest
from nmemory_reference.capsules.faults import ProtocolFault, ShapeFault
from nmemory_reference.capsules.lifecycle import forget, pin
from reference.capsules.inspection import audit, rows, standing
from reference.capsules.stage import Stage


@pytest.fixture
def capsule(stage: Stage) -> str:
    return stage.put("house rule: no deploys on friday")


def set_pin(stage: Stage, capsule: str, pinned: bool, reason: str = "house rule") -> dict[str, Any]:
    return stage.call(pin.TOOL, id=capsule, pinned=pinned, reason=reason)


def test_pin01_the_answer_is_the_state_with_reason_and_instant(stage: Stage, capsule: str) -> None:
    answer = stage.call(pin.TOOL, id=f" {capsule} ", pinned=True, reason="  house rule\n")
    assert list(answer.items()) == [
        ("label", "ADVISORY_NOT_AUTHORITY"),
        ("framing", "DATA"),
        ("id", capsule),
        ("pinned", True),
        ("reason", "house rule"),
        ("at", "2031-05-01T08:00:00Z"),
    ]


@pytest.mark.parametrize("reason", ["", "  \t", "\u3000"])
def test_pin02_a_reason_is_needed(stage: Stage, capsule: str, reason: str) -> None:
    with pytest.raises(ProtocolFault, match="reason is blank") as fault:
        set_pin(stage, capsule, True, reason)
    assert (fault.value.code, fault.value.data) == (-32602, None)
    assert standing(stage, capsule)["pinned"] == 0
    assert not audit(stage)


@pytest.mark.parametrize("named", ["cap-9", "out-1", "CAP-1", "cap-01"])
def test_pin03_an_unknown_id_is_named(stage: Stage, capsule: str, named: str) -> None:
    with pytest.raises(ProtocolFault) as fault:
        set_pin(stage, named, True)
    assert (fault.value.code, fault.value.data) == (-32002, {"kind": "unknown_capsule", "id": named})


def test_pin04_for38_a_forgotten_capsule_is_refused_with_invalid_params(stage: Stage, capsule: str) -> None:
    stage.call(forget.TOOL, id=capsule, mode="purged", reason="test")
    with pytest.raises(ProtocolFault, match="forgotten") as fault:
        set_pin(stage, capsule, True)
    assert (fault.value.code, fault.value.data) == (-32602, None)


def test_the_id_is_looked_at_before_the_reason(stage: Stage) -> None:
    with pytest.raises(ProtocolFault, match="id is blank"):
        set_pin(stage, " ", True, " ")


def test_pin10_pin13_pin14_the_latest_event_is_the_state_and_confidence_stays(stage: Stage, capsule: str) -> None:
    before = standing(stage, capsule)
    for pinned in (True, True, False, True):
        set_pin(stage, capsule, pinned)
    assert standing(stage, capsule) == {**before, "pinned": 1}
    assert rows(stage, "SELECT pinned FROM pin_event ORDER BY id") == [(1,), (1,), (0,), (1,)]


def test_unpinning_what_was_never_pinned_succeeds(stage: Stage, capsule: str) -> None:
    assert set_pin(stage, capsule, False)["pinned"] is False


def test_pin15_each_success_is_one_row_with_the_reason(stage: Stage, capsule: str) -> None:
    set_pin(stage, capsule, True, "because")
    set_pin(stage, capsule, False, "no more")
    assert rows(stage, "SELECT action, subject, reason FROM audit_events") == [
        ("memory_pin", capsule, "because"),
        ("memory_pin", capsule, "no more"),
    ]


@pytest.mark.parametrize("missing", ["id", "pinned", "reason"])
def test_every_field_is_needed(stage: Stage, capsule: str, missing: str) -> None:
    sent = {"id": capsule, "pinned": True, "reason": "x"}
    del sent[missing]
    with pytest.raises(ShapeFault, match=f"missing field `{missing}`"):
        stage.call(pin.TOOL, **sent)


@pytest.mark.parametrize("sent", [{"pinned": "true"}, {"pinned": 1}, {"why": "x"}])
def test_other_shapes_are_refused_in_band(stage: Stage, capsule: str, sent: dict[str, Any]) -> None:
    with pytest.raises(ShapeFault):
        stage.call(pin.TOOL, **({"id": capsule, "pinned": True, "reason": "x"} | sent))
