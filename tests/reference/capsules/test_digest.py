"""memory_digest: what is counted, what is listed, what a fence narrows, and what is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from nmemory_reference.capsules.capture import ingest
from nmemory_reference.capsules.faults import ProtocolFault, ShapeFault
from nmemory_reference.capsules.lifecycle import consolidate
from nmemory_reference.capsules.recall import retrieve, vector
from nmemory_reference.capsules.structure import outcome
from nmemory_reference.capsules.views import digest
from nmemory_reference.capsules.views import list as listing
from reference.capsules.acts import ask, begin, capture, drop, edge, end, label, nail, retier
from reference.capsules.inspection import audit, rows
from reference.capsules.stage import Stage

NO_DAG = {"status": "ok", "ready": [], "ready_total": 0, "blocked": [], "blocked_total": 0, "done": [], "done_total": 0}
LONG_AGO = {"valid_from": "2030-01-01T00:00:00Z", "valid_to": "2030-02-01T00:00:00Z"}


def told(stage: Stage, **arguments: Any) -> dict[str, Any]:
    return stage.call(digest.TOOL, **arguments)


def ids(rows_shown: list[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows_shown]


def several(stage: Stage, count: int, **fields: Any) -> list[str]:
    return [capture(stage, f"number {number} of {fields}", **fields) for number in range(count)]


def test_dig55_an_empty_store(stage: Stage) -> None:
    assert told(stage) == {
        "label": "ADVISORY_NOT_AUTHORITY",
        "framing": "DATA",
        "total": 0,
        "by_project": [],
        "newest": [],
        "most_recalled": [],
        "relations": 0,
        "open_sessions": 0,
        "open_session_ids": [],
        "audit_events": 0,
        "recall_misses": 0,
        "dag": NO_DAG,
        "tiers": {"active": 0, "archived": 0, "quarantined": 0},
        "journal": {"chain": "ok", "verified": 0, "out_of_band": 0},
        "archive_candidates": 0,
    }


def test_one_capture_is_the_worked_answer(stage: Stage) -> None:
    capture(stage, "relay keeps one writer", project_id="lab")
    row = {
        "id": "cap-1",
        "project_id": "lab",
        "instruction_taint": False,
        "created_at": "2031-05-01T08:00:00Z",
        "headline": "relay keeps one writer",
    }
    assert list(told(stage).items())[2:7] == [
        ("total", 1),
        ("by_project", [{"project_id": "lab", "count": 1, "live": 1}]),
        ("newest", [row]),
        ("newest_total", 1),
        ("most_recalled", []),
    ]


def test_all_keys_come_in_the_order_of_the_contract(stage: Stage) -> None:
    epic = capture(stage, "epic: the lab")
    label(stage, epic, "epic")
    task = capture(stage, "ACTIVE(cutover): move the relay")
    label(stage, task, "task")
    nail(stage, task)
    ask(stage, "relay")
    ask(stage, "unheard")
    stage.call(vector.TOOL, capsule_id=task, embedding=[1.0, 0.0], model_tag="m")
    stage.call(retrieve.TOOL, terms=["relay"], query_embedding=[1.0, 0.0], lane="term")
    assert list(told(stage)) == [
        *("label", "framing", "total", "by_project", "handoff", "handoff_total", "newest", "newest_total"),
        *("most_recalled", "most_recalled_total", "relations", "open_sessions", "open_session_ids", "audit_events"),
        *("recall_misses", "recent_failures", "lane_overrides_total", "dag", "mission", "unanchored", "tiers"),
        *("journal", "archive_candidates", "pinned", "pinned_total"),
    ]


def test_dig1_dig2_what_total_counts(stage: Stage) -> None:
    one, other, third = several(stage, 3, project_id="lab")
    edge(stage, other, "supersedes", one)
    edge(stage, third, "supersedes", one)
    assert told(stage)["total"] == 3
    assert told(stage)["by_project"] == [{"project_id": "lab", "count": 3, "live": 2}]
    drop(stage, third)
    assert told(stage)["total"] == 2
    assert told(stage)["by_project"] == [{"project_id": "lab", "count": 2, "live": 1}]


def test_dig3_projects_are_sorted_and_never_capped(stage: Stage) -> None:
    projects = [f"p{number}" for number in range(14)] + ["é", "Z", "a/b"]
    for number, project in enumerate(projects):
        capture(stage, f"number {number}", project_id=project)
    shown = told(stage, headlines=1)["by_project"]
    assert [row["project_id"] for row in shown] == sorted(projects, key=str.encode)
    assert sum(row["count"] for row in shown) == told(stage)["total"]


def test_dig4_dig5_dig6_dig7_the_newest_and_their_total(stage: Stage) -> None:
    capsules = several(stage, 12)
    assert ids(told(stage)["newest"]) == capsules[:1:-1]
    assert told(stage)["newest_total"] == 12
    assert ids(told(stage, headlines=3)["newest"]) == capsules[:-4:-1]
    assert ids(told(stage, headlines=50)["newest"]) == capsules[::-1]


def test_dig8_headlines_0_keeps_counts_and_what_has_a_cap_of_its_own(stage: Stage) -> None:
    epic, one, other = capture(stage, "ACTIVE(a): epic"), capture(stage, "beta"), capture(stage, "gamma")
    label(stage, epic, "epic")
    nail(stage, one)
    edge(stage, one, "blocks", other)
    begin(stage)
    ask(stage, "beta")
    ask(stage, "unheard")
    told_0 = told(stage, headlines=0)
    for name in ("newest", "most_recalled", "open_session_ids"):
        assert told_0[name] == []
    assert "handoff" not in told_0
    assert "mission" not in told_0
    assert (told_0["handoff_total"], told_0["newest_total"], told_0["most_recalled_total"]) == (1, 3, 1)
    assert told_0["dag"] == {**NO_DAG, "ready_total": 1, "blocked_total": 1}
    assert ids(told_0["pinned"]) == [one]
    assert told_0["recent_failures"]["recall_misses"]
    assert told_0["open_sessions"] == 1


def test_dig9_dig10_dig11_the_most_recalled_by_count_then_by_how_lately(stage: Stage) -> None:
    for word in ("alpha", "beta", "gamma", "delta"):
        capture(stage, f"{word} word")
    for words in (["gamma"], ["gamma"], ["beta"], ["alpha"]):
        stage.later(seconds=1)
        ask(stage, *words)
    stage.later(seconds=1)
    ask(stage, "alpha", limit=0)  # it matched, and was not returned
    shown = told(stage)["most_recalled"]
    assert [(row["id"], row["recall_count"], row["last_recalled_at"]) for row in shown] == [
        ("cap-3", 2, "2031-05-01T08:00:02Z"),
        ("cap-1", 1, "2031-05-01T08:00:04Z"),
        ("cap-2", 1, "2031-05-01T08:00:03Z"),
    ]
    assert list(shown[0])[-2:] == ["recall_count", "last_recalled_at"]
    assert told(stage, headlines=1)["most_recalled_total"] == 3


def test_dig10_a_tie_is_told_in_append_order(stage: Stage) -> None:
    several(stage, 3)
    ask(stage, "number")
    assert ids(told(stage)["most_recalled"]) == ["cap-1", "cap-2", "cap-3"]


def test_dig12_dig52_rows_show_how_they_stand(stage: Stage) -> None:
    old, new = capture(stage, "alpha", valid_to="2031-05-01T08:00:00Z"), capture(stage, "beta")
    ask(stage, "alpha")
    edge(stage, new, "supersedes", old)
    label(stage, old, "decision")
    retier(stage, old, "archived")
    stage.later(seconds=1)
    for row in (told(stage)["most_recalled"][0], told(stage)["newest"][1]):
        assert (row["superseded"], row["tier"], row["kind"], row["expired"]) == (True, "archived", "decision", True)


def test_dig13_dig14_what_there_is_none_of_has_no_total(stage: Stage) -> None:
    capture(stage, "x")
    assert {name for name in told(stage) if name.endswith("_total")} == {"newest_total"}
    assert "handoff" not in told(stage)


def test_dig15_dig16_the_newest_bracket_handoff_of_each_project_superseded_or_not(stage: Stage) -> None:
    one = end(stage, begin(stage), handoff="first handoff")["handoff_capsule"]
    other = end(stage, begin(stage), handoff="second handoff")["handoff_capsule"]
    by_hand = capture(stage, "told by hand", source="memory_session_finish", project_id="elsewhere")
    later = capture(stage, "it is done")
    assert one != other
    assert ids(told(stage)["handoff"]) == [by_hand, other]
    edge(stage, later, "supersedes", other)
    shown = told(stage)["handoff"]
    assert [(row["id"], row.get("superseded")) for row in shown] == [(by_hand, None), (other, True)]
    assert told(stage)["handoff_total"] == 2


@pytest.mark.parametrize(
    ("content", "leads"),
    [
        ("ACTIVE(cutover): move it", True),
        ("ACTIVE(): move it", True),
        ("ACTIVE(cutover: move it", False),
        (" ACTIVE(cutover): move it", False),
        ("active(cutover): move it", False),
        ("ACTIVE (cutover): move it", False),
        ("say ACTIVE(cutover): now", False),
    ],
)
def test_dig17_how_a_thread_opens(stage: Stage, content: str, leads: bool) -> None:
    capture(stage, content)
    assert ("handoff" in told(stage)) is leads


def test_dig18_dig19_threads_stand_side_by_side_and_retire_when_superseded(stage: Stage) -> None:
    older = capture(stage, "ACTIVE(a): an older line")
    newer = capture(stage, "ACTIVE(a): a newer line")
    other = capture(stage, "ACTIVE(b): of another thread")
    elsewhere = capture(stage, "ACTIVE(a): of another project", project_id="elsewhere")
    assert ids(told(stage)["handoff"]) == [elsewhere, other, newer]
    closing = capture(stage, "thread a is over")
    edge(stage, closing, "supersedes", newer)
    assert ids(told(stage)["handoff"]) == [elsewhere, other, older]
    edge(stage, closing, "supersedes", older)
    assert ids(told(stage)["handoff"]) == [elsewhere, other]


def test_a_capture_with_both_marks_takes_the_threads_key_and_the_brackets_mercy(stage: Stage) -> None:
    plain = capture(stage, "plain handoff", source="memory_session_finish")
    both = capture(stage, "ACTIVE(a): and a bracket's", source="memory_session_finish")
    edge(stage, capture(stage, "over"), "supersedes", both)
    assert [(row["id"], row.get("superseded")) for row in told(stage)["handoff"]] == [(both, True), (plain, None)]


def test_dig20_handoffs_are_capped_and_fenced(stage: Stage) -> None:
    for number in range(4):
        capture(stage, f"ACTIVE({number}): go on", project_id="lab" if number % 2 else "lab/x")
    capture(stage, "ACTIVE(9): go on elsewhere", project_id="labs")
    shown = told(stage, headlines=2, project_prefix="lab")
    assert ids(shown["handoff"]) == ["cap-4", "cap-3"]
    assert shown["handoff_total"] == 4


@pytest.fixture
def two_projects(stage: Stage) -> Stage:
    """A store in which every section has something to say, in lab and elsewhere."""
    for project in ("lab", "elsewhere"):
        fields = {"project_id": project}
        epic = capture(stage, f"epic of {project}", **fields)
        label(stage, epic, "epic")
        task = capture(stage, f"ACTIVE(t): task of {project}", **fields)
        label(stage, task, "task")
        nail(stage, task)
        edge(stage, epic, "blocks", task)
        stage.call(vector.TOOL, capsule_id=task, embedding=[1.0, 0.0], model_tag="m")
        begin(stage)
    stage.call(retrieve.TOOL, terms=["task"], query_embedding=[1.0, 0.0], lane="term")
    ask(stage, "unheard")
    return stage


def test_dig21_what_a_prefix_fences(two_projects: Stage) -> None:
    shown = told(two_projects, project_prefix="lab")
    assert shown["total"] == shown["newest_total"] == 2
    assert shown["by_project"] == [{"project_id": "lab", "count": 2, "live": 2}]
    assert (shown["handoff_total"], shown["most_recalled_total"], shown["pinned_total"], shown["unanchored"]) == (
        *(1, 1, 1),
        1,
    )
    for name in ("handoff", "newest", "most_recalled", "pinned"):
        assert {row["project_id"] for row in shown[name]} == {"lab"}
    assert ids(shown["mission"]["roots"]) == ["cap-1"]


def test_dig22_dig23_what_a_prefix_does_not_fence(two_projects: Stage) -> None:
    whole, shown = told(two_projects), told(two_projects, project_prefix="lab")
    for name in (
        *("relations", "open_sessions", "open_session_ids", "audit_events", "recall_misses"),
        *("lane_overrides_total", "dag", "tiers", "journal", "archive_candidates"),
    ):
        assert shown[name] == whole[name]
    assert "recent_failures" in whole
    assert "recent_failures" not in shown


def test_a_prefix_that_holds_nothing_leaves_the_store_wide_sections(two_projects: Stage) -> None:
    shown = told(two_projects, project_prefix="nowhere")
    assert (shown["total"], shown["by_project"], shown["newest"], shown["most_recalled"]) == (0, [], [], [])
    assert not {"handoff", "mission", "unanchored", "pinned", "newest_total"} & set(shown)
    assert shown["relations"] == 2


@pytest.mark.parametrize("prefix", ["", " ", "lab/", "/"])
def test_a_prefix_that_can_match_nothing_is_refused(stage: Stage, prefix: str) -> None:
    with pytest.raises(ProtocolFault, match="project_prefix") as fault:
        told(stage, project_prefix=prefix)
    assert (fault.value.code, fault.value.data) == (-32602, None)


def test_dig24_dig25_open_sessions(stage: Stage) -> None:
    opened = [begin(stage) for _ in range(12)]
    end(stage, opened.pop(3))
    assert told(stage)["open_sessions"] == 11
    assert told(stage)["open_session_ids"] == opened[:10]
    assert told(stage, headlines=2)["open_session_ids"] == opened[:2]


def test_dig26_dig27_dig28_dig35_who_is_ready(stage: Stage) -> None:
    first, then, last, bystander, proof = several(stage, 5)
    edge(stage, first, "blocks", then)
    edge(stage, then, "blocks", last)
    for kind in ("derived_from", "proposes", "grounded_in", "falsifies"):
        edge(stage, bystander, kind, first)
    assert told(stage)["dag"] == {
        "status": "ok",
        "ready": [first],
        "ready_total": 1,
        "blocked": [then, last],
        "blocked_total": 2,
        "done": [],
        "done_total": 0,
    }
    edge(stage, proof, "witnesses", first)
    dag = told(stage)["dag"]
    assert (dag["ready"], dag["blocked"], dag["done"]) == ([then], [last], [first])


def test_dig28_what_is_witnessed_is_still_recalled(stage: Stage) -> None:
    task, other = capture(stage, "rotate the key"), capture(stage, "beta")
    edge(stage, task, "blocks", other)
    edge(stage, other, "witnesses", task)
    assert ids(ask(stage, "rotate")["results"]) == [task]


@pytest.mark.parametrize("end_it", ["supersede", "forget"])
def test_dig29_dig30_the_dead_are_in_no_list_and_hold_nobody_up(stage: Stage, end_it: str) -> None:
    first, then, other = several(stage, 3)
    edge(stage, first, "blocks", then)
    edge(stage, other, "witnesses", first)
    if end_it == "forget":
        drop(stage, first)
    else:
        edge(stage, other, "supersedes", first)
    dag = told(stage)["dag"]
    assert (dag["ready"], dag["blocked"], dag["done"]) == ([then], [], [])


def test_dig31_dig32_dig33_a_cycle_is_named_until_it_is_repaired(stage: Stage) -> None:
    capsules = several(stage, 11)
    one, two, ten, behind = capsules[0], capsules[1], capsules[9], capsules[4]
    for from_id, to_id in ((two, ten), (ten, one), (one, two), (two, behind)):
        edge(stage, from_id, "blocks", to_id)
    assert told(stage)["dag"] == {"status": "cycle", "cycle": [one, two, ten], "entangled_total": 4}
    assert told(stage, headlines=1)["dag"]["cycle"] == [one, two, ten]
    edge(stage, capsules[5], "witnesses", ten)
    dag = told(stage)["dag"]
    assert (dag["ready"], dag["blocked"], dag["done"]) == ([one], [two, behind], [ten])


def test_dig34_ids_are_sorted_as_strings_then_capped(stage: Stage) -> None:
    capsules = several(stage, 12)
    for capsule in capsules[:-1]:
        edge(stage, capsule, "blocks", capsules[-1])
    dag = told(stage, headlines=3)["dag"]
    assert (dag["ready"], dag["ready_total"]) == (["cap-1", "cap-10", "cap-11"], 11)


def epics(stage: Stage, count: int) -> list[str]:
    found = several(stage, count)
    for capsule in found:
        label(stage, capsule, "epic")
    return found


def test_dig36_dig38_dig39_mission_roots_and_their_children(stage: Stage) -> None:
    root, middle, other = epics(stage, 3)
    children = several(stage, 3, project_id="elsewhere")
    edge(stage, middle, "grounded_in", root)
    for child in children:
        edge(stage, child, "grounded_in", root)
    edge(stage, children[0], "supersedes", children[1])
    drop(stage, children[2])
    mission = told(stage, project_prefix="kit")["mission"]
    assert mission["status"] == "ok"
    assert [(row["id"], row["children"]) for row in mission["roots"]] == [(other, 0), (root, 2)]
    assert list(mission["roots"][0])[-2:] == ["kind", "children"]
    assert ids(told(stage, headlines=1)["mission"]["roots"]) == [other]


@pytest.mark.parametrize("end_it", ["supersede", "forget"])
def test_dig37_an_epic_whose_only_parent_dies_is_a_root_again(stage: Stage, end_it: str) -> None:
    root, child = epics(stage, 2)
    edge(stage, child, "grounded_in", root)
    assert ids(told(stage)["mission"]["roots"]) == [root]
    if end_it == "forget":
        drop(stage, root)
    else:
        edge(stage, capture(stage, "instead"), "supersedes", root)
    assert ids(told(stage)["mission"]["roots"]) == [child]


def test_dig40_a_cycle_of_missions_is_store_wide_and_nothing_else_fails(stage: Stage) -> None:
    one, two, parent, bystander = several(stage, 4)
    edge(stage, one, "grounded_in", two)
    edge(stage, two, "grounded_in", one)
    edge(stage, one, "grounded_in", parent)
    edge(stage, bystander, "blocks", one)
    for shown in (told(stage), told(stage, project_prefix="nowhere"), told(stage, headlines=0)):
        assert shown["mission"] == {"status": "cycle", "cycle": [one, two], "entangled_total": 3}
        assert shown["dag"]["ready_total"] == 1
    edge(stage, bystander, "supersedes", two)
    assert "mission" not in told(stage)


def test_dig41_without_a_root_there_is_no_mission(stage: Stage) -> None:
    assert "mission" not in told(stage)
    label(stage, capture(stage, "x"), "task")
    assert "mission" not in told(stage)


def test_dig42_tasks_and_threads_that_hang_off_nothing(stage: Stage) -> None:
    root, thread_epic = epics(stage, 1)[0], capture(stage, "ACTIVE(e): an epic of a thread")
    label(stage, thread_epic, "epic")
    task, thread, done = capture(stage, "todo: a task"), capture(stage, "ACTIVE(t): go on"), capture(stage, "old task")
    for capsule in (task, done):
        label(stage, capsule, "task")
    assert told(stage)["unanchored"] == 3
    edge(stage, task, "grounded_in", root)
    edge(stage, thread, "supersedes", done)
    assert told(stage)["unanchored"] == 1
    edge(stage, thread, "grounded_in", root)
    assert "unanchored" not in told(stage)
    drop(stage, root)
    assert told(stage)["unanchored"] == 2


def test_dig43_tiers_are_counted_store_wide_without_the_forgotten(stage: Stage) -> None:
    capsules = several(stage, 5)
    retier(stage, capsules[0], "archived")
    retier(stage, capsules[1], "quarantined")
    retier(stage, capsules[2], "archived")
    edge(stage, capsules[3], "supersedes", capsules[2])
    drop(stage, capsules[0])
    assert told(stage)["tiers"] == {"active": 2, "archived": 1, "quarantined": 1}


def test_dig44_the_journal_is_verified(stage: Stage) -> None:
    several(stage, 3)
    shown = told(stage)
    assert shown["journal"] == {"chain": "ok", "verified": 3, "out_of_band": 0}
    assert shown["audit_events"] == 3


def test_dig45_a_broken_journal_is_told_by_its_row(stage: Stage) -> None:
    several(stage, 3)
    with stage.store.writing() as db:
        for (name,) in db.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'audit_events'"
        ):
            db.execute(f"DROP TRIGGER {name}")
        db.execute("UPDATE audit_events SET actor = 'somebody else' WHERE seq = 2")
    assert told(stage)["journal"] == {"chain": "broken", "broken_seq": 2, "out_of_band": 0}


def test_dig46_dig47_archive_candidates_are_what_the_planner_would_move(stage: Stage) -> None:
    old, pinned, fresh = (
        capture(stage, f"the {name} claim", **fields)
        for name, fields in {"old": LONG_AGO, "pinned": LONG_AGO, "fresh": {}}.items()
    )
    capture(stage, "what nobody replaced", **LONG_AGO)
    other = capture(stage, "what replaced them")
    for capsule in (old, pinned, fresh):
        edge(stage, other, "supersedes", capsule)
    nail(stage, pinned)
    assert told(stage)["archive_candidates"] == 1
    moves = stage.call(consolidate.TOOL)["plan"]["tier_moves"]
    assert ids(moves) == [old]
    assert told(stage)["tiers"]["active"] == 5


def test_dig48_dig49_misses_are_counted_by_term_and_the_newest_five_are_shown(stage: Stage) -> None:
    capture(stage, "alpha")
    ask(stage, "Ünheard", "unknown", "ÜNHEARD")
    stage.later(seconds=1)
    for number in range(3):
        ask(stage, f"term{number}")
    stage.later(seconds=1)
    ask(stage, "x " * 100)
    shown = told(stage)
    assert shown["recall_misses"] == 6
    failures = shown["recent_failures"]
    assert list(failures) == ["recall_misses"]
    assert [list(row) for row in failures["recall_misses"]] == [["term", "outcome", "at"]] * 5
    assert [row["term"] for row in failures["recall_misses"]] == [
        ("x " * 100)[:140] + "…",
        *("term2", "term1", "term0", "unknown"),
    ]
    assert failures["recall_misses"][1] == {"term": "term2", "outcome": "abstain", "at": "2031-05-01T08:00:01Z"}


def test_dig50_lanes_that_were_overridden_are_counted(stage: Stage) -> None:
    capsule = capture(stage, "alpha")
    stage.call(vector.TOOL, capsule_id=capsule, embedding=[1.0, 0.0], model_tag="m")
    for more in ({"lane": "auto"}, {"lane": "fused"}, {}):
        ask(stage, "alpha", query_embedding=[1.0, 0.0], **more)
    ask(stage, "alpha", lane="term")
    assert "lane_overrides_total" not in told(stage)
    for lane in ("term", "vector"):
        ask(stage, "alpha", query_embedding=[1.0, 0.0], lane=lane)
    assert told(stage)["lane_overrides_total"] == 2


def test_dig51_a_store_that_was_never_scanned_has_no_sources(stage: Stage) -> None:
    assert "sources" not in told(stage)


def test_dig53_a_look_leaves_no_trace(stage: Stage) -> None:
    several(stage, 3)
    ask(stage, "number")
    before = audit(stage), rows(stage, "SELECT sum(recall_count) FROM standing")
    assert told(stage) == told(stage)
    assert (audit(stage), rows(stage, "SELECT sum(recall_count) FROM standing")) == before


def test_dig54_every_edge_counts(stage: Stage) -> None:
    one, other = several(stage, 2)
    stage.call(outcome.TOOL, description="seen", actor="kit")
    for number, kind in enumerate(("supersedes", "derived_from", "witnesses", "blocks", "proposes", "grounded_in"), 1):
        edge(stage, one, kind, other)
        assert told(stage)["relations"] == number
    edge(stage, "out-1", "falsifies", other)
    drop(stage, other)
    assert told(stage)["relations"] == 7


def test_pinned_capsules_have_a_cap_of_their_own(stage: Stage) -> None:
    capsules = several(stage, 23)
    for capsule in capsules:
        nail(stage, capsule)
    nail(stage, capsules[-1], pinned=False)
    drop(stage, capsules[-2])
    shown = told(stage, headlines=1)
    assert ids(shown["pinned"]) == capsules[-3:-23:-1]
    assert shown["pinned_total"] == 21
    assert all(row["pinned"] for row in shown["pinned"])


def test_telemetry_that_is_lost_spoils_no_digest(stage: Stage) -> None:
    capture(stage, "alpha")
    ask(stage, "unheard")
    with stage.store.writing() as db:
        db.execute("DROP TABLE recall_miss")
    shown = told(stage)
    assert shown["total"] == 1
    assert (shown["recall_misses"], "recent_failures" in shown) == (0, False)


def test_a_digest_is_the_same_from_another_connection(stage: Stage, tmp_path: Path) -> None:
    two = Stage.at(tmp_path)
    several(stage, 3)
    assert told(two) == told(stage)
    capture(two, "from the other side")
    assert told(stage)["total"] == 4
    two.store.database.close()


@pytest.mark.parametrize("sent", [{"headlines": -1}, {"headlines": "3"}, {"project_prefix": 1}, {"project_id": "x"}])
def test_arguments_of_another_shape_are_refused_in_band(stage: Stage, sent: dict[str, Any]) -> None:
    with pytest.raises(ShapeFault):
        stage.call(digest.TOOL, **sent)


def test_a_batch_is_listed_in_its_order(stage: Stage) -> None:
    items = [{"content": f"item {number}", "source": "s", "anchor": "a"} for number in range(3)]
    stage.call(ingest.TOOL, items=items)
    assert ids(told(stage)["newest"]) == ids(stage.call(listing.TOOL)["entries"])[::-1]
