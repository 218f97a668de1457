"""What an edge changes in the answers of the reading tools."""

from __future__ import annotations

import pytest
from nmemory_reference.capsules.structure import outcome
from reference.capsules.acts import capture, drop, edge, label
from reference.capsules.looks import dag, digested, excluded, exported, found, got, listed
from reference.capsules.stage import Stage


@pytest.fixture
def tasks(stage: Stage) -> tuple[str, str, str]:
    return capture(stage, "draw the relay"), capture(stage, "build the relay"), capture(stage, "a photo as evidence")


def witness_away(stage: Stage, member: str, other: str) -> None:
    edge(stage, other, "witnesses", member)


def supersede_away(stage: Stage, member: str, other: str) -> None:
    edge(stage, other, "supersedes", member)


def forget_away(stage: Stage, member: str, other: str) -> None:
    drop(stage, member)


def test_rel21_rel26_ing40_a_falsified_capsule_stays_readable_and_grounds_nothing(
    stage: Stage, tasks: tuple[str, str, str]
) -> None:
    before = got(stage, tasks[0])["capsule"]
    edge(stage, tasks[1], "falsifies", tasks[0])
    assert excluded(stage, "draw") == {"falsified": 1}
    assert got(stage, tasks[0])["capsule"] == before
    assert tasks[0] in listed(stage)


def test_rel25_ing40_a_superseded_capsule_stays_readable_and_grounds_nothing(
    stage: Stage, tasks: tuple[str, str, str]
) -> None:
    newer = capture(stage, "draw the relay anew", supersedes=tasks[0])
    assert found(stage, "draw") == [newer]
    assert excluded(stage, "draw") == {"superseded": 1}
    assert got(stage, tasks[0])["capsule"]["content"] == "draw the relay"
    assert listed(stage)[tasks[0]]["superseded"] is True
    assert "superseded" not in listed(stage)[newer]


def test_rel22_rel23_rel24_an_edge_shows_at_both_ends_and_in_the_export(
    stage: Stage, tasks: tuple[str, str, str]
) -> None:
    one, other, _ = tasks
    edge(stage, one, "derived_from", other)
    row = {"kind": "derived_from", "from": one, "to": other, "at": "2031-05-01T08:00:00Z"}
    assert got(stage, one)["relations"] == got(stage, other)["relations"] == [row]
    assert f"- {one} --derived_from--> {other} · at 2031-05-01T08:00:00Z\n" in exported(stage)


def test_rel27_out23_an_outcome_alone_excludes_nothing(stage: Stage, tasks: tuple[str, str, str]) -> None:
    stage.call(outcome.TOOL, description="it broke", actor="ci", capsule_id=tasks[0])
    assert found(stage, "draw") == [tasks[0]]
    edge(stage, "out-1", "falsifies", tasks[0])
    assert excluded(stage, "draw") == {"falsified": 1}


@pytest.mark.parametrize("kind", ["falsifies", "proposes", "grounded_in", "derived_from", "part_of"])
def test_rel28_rel34_rel35_rel36_only_blocks_makes_a_dag(stage: Stage, tasks: tuple[str, str, str], kind: str) -> None:
    label(stage, tasks[1], "task")
    edge(stage, tasks[0], kind, tasks[1])
    assert dag(stage) == ([], [], [])


def test_rel29_who_blocks_is_ready_and_who_is_blocked_waits(stage: Stage, tasks: tuple[str, str, str]) -> None:
    edge(stage, tasks[0], "blocks", tasks[1])
    assert dag(stage) == ([tasks[0]], [tasks[1]], [])


def test_rel32_a_witnessed_task_is_done_frees_the_next_and_still_grounds(
    stage: Stage, tasks: tuple[str, str, str]
) -> None:
    edge(stage, tasks[0], "blocks", tasks[1])
    edge(stage, tasks[2], "witnesses", tasks[0])
    assert dag(stage) == ([tasks[1]], [], [tasks[0]])
    assert found(stage, "draw") == [tasks[0]]


@pytest.mark.parametrize("repair", [witness_away, supersede_away, forget_away])
def test_rel30_rel31_for20_a_cycle_is_recorded_shown_and_repaired(
    stage: Stage, tasks: tuple[str, str, str], repair: object
) -> None:
    edge(stage, tasks[0], "blocks", tasks[1])
    edge(stage, tasks[1], "blocks", tasks[0])
    assert digested(stage)["dag"] == {"status": "cycle", "cycle": list(tasks[:2]), "entangled_total": 2}
    assert callable(repair)
    repair(stage, tasks[0], tasks[2])
    assert digested(stage)["dag"]["status"] == "ok"
    assert dag(stage)[0] == ([tasks[1]])


def test_rel37_a_grounded_child_counts_under_its_root(stage: Stage, tasks: tuple[str, str, str]) -> None:
    label(stage, tasks[0], "epic")
    assert digested(stage)["mission"]["roots"][0]["children"] == 0
    edge(stage, tasks[1], "grounded_in", tasks[0])
    assert digested(stage)["mission"]["roots"][0]["children"] == 1


def test_rel38_a_grounding_cycle_fails_the_mission_alone(stage: Stage, tasks: tuple[str, str, str]) -> None:
    edge(stage, tasks[0], "grounded_in", tasks[1])
    edge(stage, tasks[1], "grounded_in", tasks[0])
    edge(stage, tasks[0], "blocks", tasks[1])
    assert digested(stage)["mission"] == {"status": "cycle", "cycle": list(tasks[:2]), "entangled_total": 2}
    assert dag(stage) == ([tasks[0]], [tasks[1]], [])


def test_rel39_superseded_and_witnessed_is_dead_not_done(stage: Stage, tasks: tuple[str, str, str]) -> None:
    edge(stage, tasks[0], "blocks", tasks[1])
    edge(stage, tasks[2], "witnesses", tasks[0])
    edge(stage, tasks[2], "supersedes", tasks[0])
    assert dag(stage) == ([tasks[1]], [], [])
