"""memory_relate: which edges may be recorded, and what they do."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from nmemory_reference.capsules.faults import ProtocolFault, ShapeFault
from nmemory_reference.capsules.structure import outcome, relate
from nmemory_reference.capsules.vocabulary import KINDS, RELATION_KINDS
from reference.capsules.inspection import audit, edges, standing
from reference.capsules.stage import Stage


@pytest.fixture
def pair(stage: Stage) -> tuple[str, str]:
    return stage.put("the first of two"), stage.put("the second of two")


def record(stage: Stage, kind: str, from_id: str, to_id: str) -> dict[str, Any]:
    return stage.call(relate.TOOL, **{"kind": kind, "from": from_id, "to": to_id})


def label(stage: Stage, capsule: str, kind: str) -> None:
    with stage.store.writing() as db:
        seq = int(capsule.removeprefix("cap-"))
        db.execute("INSERT INTO classification VALUES (?, ?, 'project', '2031-05-01T08:00:00Z')", (seq, kind))


@pytest.mark.parametrize("kind", [kind for kind in RELATION_KINDS if kind != "part_of"])
def test_rel01_rel02_rel04_rel06_an_edge_between_live_capsules_is_recorded(
    stage: Stage, pair: tuple[str, str], kind: str
) -> None:
    one, other = pair
    answer = record(stage, kind, one, other)
    assert answer == {"kind": kind, "from": one, "to": other, "recorded": True, "already_recorded": False}
    assert list(answer) == ["kind", "from", "to", "recorded", "already_recorded"]
    assert [edge.row() for edge in edges(stage)] == [
        {"kind": kind, "from": one, "to": other, "at": "2031-05-01T08:00:00Z"}
    ]


@pytest.mark.parametrize("container", ["epic", "task"])
def test_rel03_a_container_takes_parts(stage: Stage, pair: tuple[str, str], container: str) -> None:
    part, whole = pair
    label(stage, whole, container)
    assert record(stage, "part_of", part, whole)["recorded"] is True


@pytest.mark.parametrize("kind", ["Blocks", " blocks", "about-nothing", ""])
def test_rel05_another_kind_is_refused_in_band_and_named(stage: Stage, pair: tuple[str, str], kind: str) -> None:
    with pytest.raises(ShapeFault, match="kind: unknown variant"):
        record(stage, kind, *pair)
    assert not edges(stage)


def test_rel07_rel08_rel09_recording_again_changes_nothing_and_says_so(stage: Stage, pair: tuple[str, str]) -> None:
    record(stage, "blocks", *pair)
    before = edges(stage)
    stage.later(hours=1)
    assert record(stage, "blocks", *pair)["already_recorded"] is True
    assert edges(stage) == before


def test_rel10_rel11_direction_and_kind_make_an_edge(stage: Stage, pair: tuple[str, str]) -> None:
    one, other = pair
    for kind, from_id, to_id in (("blocks", one, other), ("blocks", other, one), ("derived_from", one, other)):
        assert record(stage, kind, from_id, to_id)["already_recorded"] is False
    assert len(edges(stage)) == 3


@pytest.mark.parametrize("kind", RELATION_KINDS)
@pytest.mark.parametrize("named", ["cap-1", "cap-99"])
def test_rel12_rel13_an_edge_to_itself_is_refused_and_writes_nothing(stage: Stage, kind: str, named: str) -> None:
    stage.put("alone")
    with pytest.raises(ProtocolFault) as fault:
        record(stage, kind, named, named)
    assert (fault.value.code, fault.value.data) == (-32602, None)
    assert not edges(stage)
    assert not audit(stage)


@pytest.mark.parametrize(
    ("from_id", "to_id", "unknown"),
    [
        ("cap-1", "cap-9", "cap-9"),
        ("cap-9", "cap-1", "cap-9"),
        ("cap-8", "cap-9", "cap-8"),
        ("cap-1", "cap-02", "cap-02"),
    ],
    ids=["REL-14", "REL-15", "REL-15-both", "REL-14-no-id"],
)
def test_unknown_ends_are_named(stage: Stage, pair: tuple[str, str], from_id: str, to_id: str, unknown: str) -> None:
    with pytest.raises(ProtocolFault) as fault:
        record(stage, "blocks", from_id, to_id)
    assert (fault.value.code, fault.value.data) == (-32002, {"kind": "unknown_capsule", "id": unknown})
    assert not audit(stage)


def test_rel16_rel41_a_forgotten_capsule_is_an_end_like_any_other(stage: Stage, pair: tuple[str, str]) -> None:
    from nmemory_reference.capsules.lifecycle import forget

    one, other = pair
    record(stage, "derived_from", one, other)
    marker = stage.call(forget.TOOL, id=one, mode="purged", reason="test")
    assert [edge["kind"] for edge in marker["relations"]] == ["derived_from"]
    assert record(stage, "blocks", one, other)["recorded"] is True
    assert record(stage, "blocks", other, one)["recorded"] is True


def test_rel17_rel18_rel19_rel20_an_outcome_may_falsify_and_nothing_else(stage: Stage, pair: tuple[str, str]) -> None:
    capsule, _ = pair
    stage.call(outcome.TOOL, description="it broke", actor="ci")
    assert record(stage, "falsifies", "out-1", capsule)["recorded"] is True
    refused = [("falsifies", "out-2", capsule, "out-2")]
    refused += [(kind, "out-1", capsule, "out-1") for kind in RELATION_KINDS if kind not in ("falsifies", "part_of")]
    refused += [(kind, capsule, "out-1", "out-1") for kind in RELATION_KINDS]
    for kind, from_id, to_id, unknown in refused:
        with pytest.raises(ProtocolFault) as fault:
            record(stage, kind, from_id, to_id)
        assert (fault.value.code, fault.value.data) == (-32002, {"kind": "unknown_capsule", "id": unknown}), kind


@pytest.mark.parametrize(
    ("kind", "column"),
    [("supersedes", "superseded"), ("falsifies", "falsified"), ("witnesses", "witnessed")],
    ids=["REL-25", "REL-26", "REL-32"],
)
def test_an_edge_shows_in_the_standing_of_its_target_only(
    stage: Stage, pair: tuple[str, str], kind: str, column: str
) -> None:
    one, other = pair
    record(stage, kind, one, other)
    assert (standing(stage, one)[column], standing(stage, other)[column]) == (0, 1)


@pytest.mark.parametrize("kind", [None, *(kind for kind in KINDS if kind not in ("epic", "task"))])
def test_rel33_part_of_needs_a_container(stage: Stage, pair: tuple[str, str], kind: str | None) -> None:
    part, whole = pair
    if kind is not None:
        label(stage, whole, kind)
    with pytest.raises(ProtocolFault, match=r"`to`.*epic or task") as fault:
        record(stage, "part_of", part, whole)
    assert (fault.value.code, fault.value.data) == (-32602, None)
    assert not edges(stage)


def test_rel33_the_container_is_looked_at_before_the_part(stage: Stage, pair: tuple[str, str]) -> None:
    _, whole = pair
    with pytest.raises(ProtocolFault) as fault:
        record(stage, "part_of", "cap-77", whole)
    assert fault.value.code == -32602
    with pytest.raises(ProtocolFault) as fault:
        record(stage, "part_of", "cap-77", "cap-78")
    assert fault.value.data == {"kind": "unknown_capsule", "id": "cap-77"}


def test_rel34_rel35_rel36_membership_and_proposals_fence_nothing(stage: Stage, pair: tuple[str, str]) -> None:
    one, other = pair
    label(stage, other, "epic")
    before = standing(stage, other)
    for kind in ("part_of", "proposes", "grounded_in", "derived_from", "blocks"):
        record(stage, kind, one, other)
    assert standing(stage, other) == before


def test_rel40_superseding_the_superseder_revives_nobody(stage: Stage, pair: tuple[str, str]) -> None:
    old, new = pair
    newest = stage.put("the third")
    record(stage, "supersedes", new, old)
    record(stage, "supersedes", newest, new)
    assert standing(stage, old)["superseded"] == 1


def test_rel42_each_success_is_audited_under_from(stage: Stage, pair: tuple[str, str]) -> None:
    record(stage, "blocks", *pair)
    record(stage, "blocks", *pair)
    assert audit(stage) == [("memory_relate", "cap-1")] * 2


@pytest.mark.parametrize("left", list(itertools.combinations(("kind", "from", "to"), 2)))
def test_rel43_every_field_is_needed(stage: Stage, pair: tuple[str, str], left: tuple[str, ...]) -> None:
    sent = {name: value for name, value in {"kind": "blocks", "from": "cap-1", "to": "cap-2"}.items() if name in left}
    (missing,) = {"kind", "from", "to"} - set(left)
    with pytest.raises(ShapeFault, match=f"missing field `{missing}`"):
        stage.call(relate.TOOL, **sent)


@pytest.mark.parametrize("name", ["note", "from_"])
def test_rel44_an_argument_that_nobody_knows_is_refused(stage: Stage, pair: tuple[str, str], name: str) -> None:
    with pytest.raises(ShapeFault, match=f"unknown field `{name}`, expected one of `kind`, `from`, `to`"):
        stage.call(relate.TOOL, **{"kind": "blocks", "from": "cap-1", "to": "cap-2", name: "x"})
    assert not edges(stage)
