"""memory_list: which capsules are listed, in which order, and what a row shows of them."""

from __future__ import annotations

from typing import Any

import pytest
from nmemory_reference.capsules.faults import ProtocolFault, ShapeFault
from nmemory_reference.capsules.views import list as listing
from reference.capsules.acts import capture, drop, edge, label, nail, retier
from reference.capsules.inspection import audit, rows
from reference.capsules.stage import Stage


def entries(stage: Stage, **filters: Any) -> list[dict[str, Any]]:
    answer = stage.call(listing.TOOL, **filters)
    assert list(answer) == ["label", "framing", "returned", "entries"]
    assert answer["returned"] == len(answer["entries"])
    found: list[dict[str, Any]] = answer["entries"]
    return found


def ids(stage: Stage, **filters: Any) -> list[str]:
    return [row["id"] for row in entries(stage, **filters)]


def fill(stage: Stage, count: int, **fields: Any) -> list[str]:
    return [capture(stage, f"number {number} of {fields}", **fields) for number in range(count)]


def test_a_row_is_the_worked_one(stage: Stage) -> None:
    capsule = capture(stage, "rotate the certificate", project_id="lab")
    label(stage, capsule, "task")
    assert stage.call(listing.TOOL) == {
        "label": "ADVISORY_NOT_AUTHORITY",
        "framing": "DATA",
        "returned": 1,
        "entries": [
            {
                "id": "cap-1",
                "project_id": "lab",
                "instruction_taint": False,
                "created_at": "2031-05-01T08:00:00Z",
                "headline": "rotate the certificate",
                "kind": "task",
            }
        ],
    }


def test_the_keys_of_a_row_that_has_everything(stage: Stage) -> None:
    capsule = capture(stage, "x", valid_to="2031-05-01T08:00:00Z")
    label(stage, capsule, "task")
    edge(stage, capture(stage, "y"), "supersedes", capsule)
    retier(stage, capsule, "archived")
    nail(stage, capsule)
    stage.later(seconds=1)
    (row, _) = entries(stage)
    assert list(row) == [
        *("id", "project_id", "instruction_taint", "created_at", "headline"),
        *("tier", "expired", "kind", "superseded", "pinned"),
    ]


def test_lst1_lst15_everything_but_the_forgotten_in_append_order(stage: Stage) -> None:
    capsules = fill(stage, 12)
    edge(stage, capsules[1], "supersedes", capsules[0])
    drop(stage, capsules[5])
    assert ids(stage) == [capsule for capsule in capsules if capsule != capsules[5]]


@pytest.mark.parametrize(("limit", "shown"), [(0, []), (2, [4, 5]), (5, [1, 2, 3, 4, 5]), (9, [1, 2, 3, 4, 5])])
def test_lst2_lst3_lst5_a_limit_keeps_the_newest_and_reads_oldest_first(
    stage: Stage, limit: int, shown: list[int]
) -> None:
    fill(stage, 5)
    assert ids(stage, limit=limit) == [f"cap-{number}" for number in shown]


def test_lst4_the_limit_counts_what_passed_the_filters(stage: Stage) -> None:
    capsules = fill(stage, 6)
    for capsule in capsules[:3]:
        label(stage, capsule, "task")
        retier(stage, capsule, "archived")
    assert ids(stage, kind="task", limit=2) == capsules[1:3]
    assert ids(stage, tier="archived", limit=2) == capsules[1:3]
    assert ids(stage, expired=False, limit=2) == capsules[4:]


def test_lst6_lst21_all_filters_have_to_hold(stage: Stage) -> None:
    inside = capture(stage, "a", project_id="lab/x")
    for content, project in (("b", "lab/x"), ("c", "lab"), ("d", "other")):
        capture(stage, content, project_id=project)
    for capsule in (inside, "cap-3", "cap-4"):
        label(stage, capsule, "task")
    assert ids(stage, project_prefix="lab", kind="task") == [inside, "cap-3"]
    assert ids(stage, project_prefix="lab", project_id="lab/x", kind="task", tier="active", expired=False) == [inside]
    assert ids(stage, project_prefix="lab", project_id="other") == []


def test_lst7_lst8_lst9_a_kind_is_the_stored_label(stage: Stage) -> None:
    decision, task, nothing = (
        capture(stage, content) for content in ("decision: ship it", "todo: rotate the key", "plain words")
    )
    label(stage, decision, "decision")
    label(stage, task, "task")
    assert [(row["id"], row.get("kind")) for row in entries(stage)] == [
        (decision, "decision"),
        (task, "task"),
        (nothing, None),
    ]
    assert [(row["id"], row["kind"]) for row in entries(stage, kind="task")] == [(task, "task")]
    assert entries(stage, kind="epic") == []


def test_lst10_lst11_a_tier_shows_unless_it_is_active(stage: Stage) -> None:
    active, archived, quarantined = (capture(stage, content) for content in "abc")
    retier(stage, archived, "archived")
    retier(stage, quarantined, "quarantined")
    assert [(row["id"], row.get("tier")) for row in entries(stage)] == [
        (active, None),
        (archived, "archived"),
        (quarantined, "quarantined"),
    ]
    for tier, capsule in (("active", active), ("archived", archived), ("quarantined", quarantined)):
        assert ids(stage, tier=tier) == [capsule]


def test_lst12_lst13_lst22_expired_parts_the_list_in_two(stage: Stage) -> None:
    past = capture(stage, "a", valid_to="2031-05-01T08:00:00Z")
    edge_case = capture(stage, "b", valid_to="2031-05-01T08:00:01Z")
    forever = capture(stage, "c")
    future = capture(stage, "d", valid_from="2032-01-01T00:00:00Z")
    stage.later(seconds=1)
    assert ids(stage, expired=True) == [past]
    assert ids(stage, expired=False) == [edge_case, forever, future]
    assert [row["id"] for row in entries(stage) if row.get("expired")] == [past]
    assert {row.get("expired") for row in entries(stage, expired=False)} == {None}


def test_lst14_lst16_superseded_shows_and_falsified_does_not(stage: Stage) -> None:
    old, wrong, other = (capture(stage, content) for content in "abc")
    edge(stage, other, "supersedes", old)
    edge(stage, other, "falsifies", wrong)
    assert [row.get("superseded") for row in entries(stage)] == [True, None, None]
    assert "falsified" not in str(entries(stage))


def test_lst17_lst18_a_row_shows_a_headline_and_no_content(stage: Stage) -> None:
    for content in ("one\ntwo", "x\n", "é" * 141, "  led by blanks", "\nfirst line is empty"):
        capture(stage, content)
    assert [row["headline"] for row in entries(stage)] == [
        "one…",
        "x",
        "é" * 140 + "…",
        "  led by blanks",
        "…",
    ]


def test_lst19_a_prefix_covers_a_subtree_and_no_neighbour(stage: Stage) -> None:
    for number, project in enumerate(["nott", "nott/x", "nott/x/y", "nottx", "nott0", "NOTT", "not", "nott%", "nott_"]):
        capture(stage, f"number {number}", project_id=project)
    assert ids(stage, project_prefix="nott") == ["cap-1", "cap-2", "cap-3"]
    assert ids(stage, project_prefix="nott/x") == ["cap-2", "cap-3"]
    assert ids(stage, project_prefix="nott%") == ["cap-8"]
    assert ids(stage, project_id="nott") == ["cap-1"]
    assert ids(stage, project_id="") == []


@pytest.mark.parametrize("prefix", ["", "  ", "nott/", "/", "\u3000"])
def test_lst20_a_prefix_that_can_match_nothing_is_refused(stage: Stage, prefix: str) -> None:
    with pytest.raises(ProtocolFault, match="project_prefix") as fault:
        stage.call(listing.TOOL, project_prefix=prefix)
    assert (fault.value.code, fault.value.data) == (-32602, None)


def test_lst23_lst24_a_look_leaves_no_trace(stage: Stage) -> None:
    fill(stage, 3)
    before = audit(stage)
    assert entries(stage) == entries(stage)
    assert audit(stage) == before
    assert rows(stage, "SELECT sum(recall_count) FROM standing") == [(0,)]


def test_lst25_a_pin_shows_while_it_holds(stage: Stage) -> None:
    one, other = (capture(stage, content) for content in "ab")
    nail(stage, one)
    nail(stage, other)
    nail(stage, other, pinned=False)
    assert [row.get("pinned") for row in entries(stage)] == [True, None]


@pytest.mark.parametrize(
    "sent",
    [{"kind": "note"}, {"kind": "Task"}, {"tier": "gone"}, {"limit": -1}, {"limit": 1.5}, {"expired": "yes"}, {"x": 1}],
)
def test_arguments_of_another_shape_are_refused_in_band(stage: Stage, sent: dict[str, Any]) -> None:
    with pytest.raises(ShapeFault):
        stage.call(listing.TOOL, **sent)


def test_null_is_the_same_as_nothing(stage: Stage) -> None:
    fill(stage, 2)
    nothing = dict.fromkeys(("project_id", "project_prefix", "kind", "tier", "expired", "limit"))
    assert ids(stage, **nothing) == ["cap-1", "cap-2"]
