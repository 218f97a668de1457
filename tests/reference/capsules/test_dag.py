"""What follows from edges: ready, blocked, done, cycles, missions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from nmemory_reference.capsules.structure.dag import Cycle, find_cycle, project_blocks, project_grounding


def sets(blocks: list[tuple[str, str]], dead: str = "", done: str = "") -> tuple[str, str, str]:
    dag = project_blocks(blocks, set(dead), set(done))
    return " ".join(dag.ready), " ".join(dag.blocked), " ".join(dag.done)


def test_dig27_the_blocker_is_ready_and_the_blocked_waits() -> None:
    assert sets([("a", "b")]) == ("a", "b", "")


def test_dig28_a_witnessed_blocker_is_done_and_frees() -> None:
    assert sets([("a", "b")], done="a") == ("b", "", "a")


def test_dig29_a_dead_end_vanishes_and_frees() -> None:
    assert sets([("a", "b")], dead="a") == ("b", "", "")
    assert sets([("a", "b")], dead="b") == ("a", "", "")


def test_dig30_dead_beats_done() -> None:
    assert sets([("a", "b")], dead="a", done="a") == ("b", "", "")


def test_dig34_members_are_sorted_by_text() -> None:
    assert sets([("cap-9", "cap-1"), ("cap-10", "cap-1")])[0] == "cap-10 cap-9"


def test_dig31_a_cycle_leaves_nothing_but_itself() -> None:
    dag = project_blocks([("b", "c"), ("c", "b"), ("c", "d"), ("x", "y")], set(), set())
    assert (dag.ready, dag.blocked, dag.done, dag.edges) == ((), (), (), ())
    assert dag.cycle == Cycle(("b", "c"), 3)


def test_dig33_a_dead_or_witnessed_member_repairs_a_cycle() -> None:
    ring = [("a", "b"), ("b", "a")]
    assert sets(ring, dead="a") == ("b", "", "")
    assert sets(ring, done="a") == ("b", "", "a")


def test_the_cycle_is_walked_back_along_the_smallest_blockers() -> None:
    edges = [("p", "q"), ("q", "p"), ("a", "b"), ("b", "c"), ("c", "a"), ("p", "a")]
    assert find_cycle(edges) == Cycle(("a", "b", "c"), 5)
    assert find_cycle([("z", "m"), ("m", "z"), ("z", "a")]) == Cycle(("m", "z"), 3)
    assert find_cycle([("a", "b")]) is None


def test_dig36_an_edge_anchors_while_its_parent_lives() -> None:
    grounding = project_grounding([("t1", "e"), ("t2", "e"), ("e", "top"), ("dead", "e")], {"top", "dead"})
    assert grounding.anchored == {"t1", "t2"}
    assert grounding.children == {"e": 2}
    assert grounding.cycle is None


def test_dig40_a_grounding_cycle_runs_from_child_to_parent() -> None:
    grounding = project_grounding([("b", "a"), ("a", "c"), ("c", "b"), ("c", "p"), ("q", "a")], set())
    assert grounding.cycle == Cycle(("a", "c", "b"), 4)


_pairs = st.lists(st.tuples(*[st.sampled_from("abcdefg")] * 2).filter(lambda pair: pair[0] != pair[1]), max_size=14)
_some = st.frozensets(st.sampled_from("abcdefg"), max_size=3)


@given(_pairs, _some, _some)
def test_every_live_end_has_one_place(
    blocks: list[tuple[str, str]], dead: frozenset[str], witnessed: frozenset[str]
) -> None:
    dag = project_blocks(blocks, dead, witnessed)
    ends = {end for pair in blocks for end in pair} - dead
    if dag.cycle is None:
        assert sorted((*dag.ready, *dag.blocked, *dag.done)) == sorted(ends)
        for node in dag.blocked:
            assert any(other == node and one in ends - witnessed for one, other in blocks)
        assert bool(dag.ready) == bool(ends - witnessed)
    else:
        ring = dag.cycle.ids
        assert all((one, other) in blocks for one, other in zip(ring, (*ring[1:], ring[0]), strict=True))
        assert not {*ring} & (dead | witnessed)
        assert ring[0] == min(ring)
        assert dag.cycle.entangled >= len(ring)
        assert dag == project_blocks(blocks[::-1], dead, witnessed)
