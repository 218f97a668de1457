"""memory_retrieve: which lanes run, and how their ranks become one."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.capsules.acts import ask, drop
from reference.capsules.recalling import ACTS, column, embed, fenced, happened, ids, teach
from reference.capsules.stage import Stage

WINDOW = {"from": "2030-06-01T00:00:00Z", "to": "2030-06-30T00:00:00Z"}


@pytest.fixture
def mixed(stage: Stage) -> Stage:
    """By words only, by both, by a vector only, and an opposite vector."""
    stage.put("relay alone")
    embed(stage, stage.put("relay here"), 1, 1)
    embed(stage, stage.put("something else"), 1, 0)
    embed(stage, stage.put("turned away"), -1, 0)
    return stage


def body(answer: dict[str, Any]) -> str:
    """The answer without its receipt."""
    return json.dumps({**answer, "receipt_id": ""})


def test_ret42_auto_is_term_without_an_embedding_and_fused_with_one(mixed: Stage) -> None:
    assert body(ask(mixed, "relay")) == body(ask(mixed, "relay", lane="auto")) == body(ask(mixed, "relay", lane="term"))
    fused = [ask(mixed, "relay", query_embedding=[1, 0], **lane) for lane in ({}, {"lane": "auto"}, {"lane": "fused"})]
    assert len(set(map(body, fused))) == 1
    assert body(fused[0]) != body(ask(mixed, "relay"))


def test_ret43_vec23_lane_term_answers_as_if_no_embedding_was_sent_or_stored(mixed: Stage) -> None:
    term = ask(mixed, "relay", lane="term", query_embedding=[1, 0])
    assert body(term) == body(ask(mixed, "relay"))
    assert ids(term) == ["cap-1", "cap-2"]
    assert not {"vector_similarity", "fusion_rank"} & set(term["results"][1])


def test_ret44_a6_lane_vector_looks_for_no_words(mixed: Stage) -> None:
    teach(mixed, "relay", "alone")
    answer = ask(mixed, "relay", lane="vector", query_embedding=[1, 0])
    assert ids(answer) == ["cap-3", "cap-2"]
    assert column(answer, "matched_terms") == [[], []]
    assert column(answer, "relevance") == column(answer, "bm25") == [None, None]
    assert column(answer, "vector_similarity") == [1.0, 0.7071]
    assert column(answer, "fusion_rank") == [1, 2]


def test_ret45_ret46_ret50_in_lane_fused_each_lane_speaks_for_itself(mixed: Stage) -> None:
    answer = ask(mixed, "relay", query_embedding=[1, 0])
    assert ids(answer) == ["cap-2", "cap-1", "cap-3"]
    assert column(answer, "fusion_rank") == [1, 2, 3]
    assert column(answer, "vector_similarity") == [0.7071, None, 1.0]
    assert [relevance is None for relevance in column(answer, "relevance")] == [False, False, True]
    assert [bm25 is None for bm25 in column(answer, "bm25")] == [False, False, True]
    assert column(answer, "matched_terms") == [["relay"], ["relay"], []]


def test_ret47_vec27_a_cosine_that_is_not_above_0_is_no_match(mixed: Stage) -> None:
    assert ids(ask(mixed, "zzz", query_embedding=[-1, 1])) == ["cap-4"]
    embed(mixed, mixed.put("square"), 0, 5)
    assert "cap-5" not in ids(ask(mixed, "zzz", query_embedding=[1, 0]))
    assert ask(mixed, "zzz", lane="vector", query_embedding=[0, -1])["outcome"] == "abstain"
    assert ask(mixed, "zzz", query_embedding=[0, -1])["outcome"] == "abstain"


def test_ret47_a_word_hit_with_a_negative_cosine_is_grounded_by_its_word(mixed: Stage) -> None:
    (row,) = ask(mixed, "turned", lane="fused", query_embedding=[1, 0], vector_k=0)["results"]
    assert (row["id"], "vector_similarity" in row, row["fusion_rank"]) == ("cap-4", False, 1)


@pytest.mark.parametrize("fence", [*ACTS, "expired", "not_yet_valid"])
@pytest.mark.parametrize("lane", ["vector", "fused"])
def test_ret48_vec28_fences_hold_in_every_lane_and_count_a_capsule_once(stage: Stage, fence: str, lane: str) -> None:
    embed(stage, fenced(stage, "the relay", fence), 1, 0)
    answer = ask(stage, "relay", lane=lane, query_embedding=[1, 0])
    assert (answer["outcome"], answer["excluded"]) == ("missing_evidence", {fence: 1})


@pytest.mark.parametrize("lane", ["vector", "fused"])
def test_ret40_vec29_a_window_comes_before_vector_k_picks(stage: Stage, lane: str) -> None:
    for number in range(30):
        embed(stage, stage.put(f"undated {number}"), 1, 0)
    outside = happened(stage, "outside", "2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z")
    inside = happened(stage, "inside", "2030-06-02T00:00:00Z", "2030-06-02T00:00:00Z")
    embed(stage, outside, 1, 0.1)
    embed(stage, inside, 1, 0.2)
    answer = ask(stage, "zzz", lane=lane, query_embedding=[1, 0], vector_k=1, time_window=WINDOW)
    assert ids(answer) == [inside]
    assert answer["excluded"] == {"outside_time_window": 1, "undated": 30}


def test_ret40_what_lies_behind_the_last_pick_is_not_counted(stage: Stage) -> None:
    for angle, fence in ((0, "superseded"), (1, None), (2, "archived"), (3, None)):
        capsule = stage.put(f"number {angle}")
        if fence:
            ACTS[fence](stage, capsule)
        embed(stage, capsule, 10, angle)
    one = ask(stage, "zzz", lane="vector", query_embedding=[1, 0], vector_k=1)
    assert (len(ids(one)), one["excluded"]) == (1, {"superseded": 1})
    two = ask(stage, "zzz", lane="vector", query_embedding=[1, 0], vector_k=2)
    assert (len(ids(two)), two["excluded"]) == (2, {"superseded": 1, "archived": 1})


def test_a9_a_scope_comes_before_vector_k_too(stage: Stage) -> None:
    for number in range(30):
        embed(stage, stage.put(f"there {number}", project_id="there"), 1, 0)
    embed(stage, stage.put("here", project_id="here", session_id="sess-1"), 1, 0.5)
    for scope in ({"project_id": "here"}, {"project_prefix": "here"}, {"session_id": "sess-1"}):
        assert ids(ask(stage, "zzz", lane="vector", query_embedding=[1, 0], vector_k=1, **scope)) == ["cap-31"]


def test_ret51_vector_k_0_empties_the_lane(mixed: Stage) -> None:
    assert ask(mixed, "relay", lane="vector", query_embedding=[1, 0], vector_k=0)["outcome"] == "abstain"
    answer = ask(mixed, "relay", query_embedding=[1, 0], vector_k=0)
    assert ids(answer) == ["cap-1", "cap-2"]
    assert column(answer, "fusion_rank") == [1, 2]


def test_vector_k_is_how_many_the_lane_may_bring(stage: Stage) -> None:
    for number in range(15):
        embed(stage, stage.put(f"number {number}"), 20, number)
    assert ids(ask(stage, "zzz", lane="vector", query_embedding=[1, 0], token_budget=10**6)) == [
        f"cap-{number}" for number in range(1, 11)
    ]
    for most in (1, 14, 15, 16, 2**64 - 1):
        answer = ask(stage, "zzz", lane="vector", query_embedding=[1, 0], vector_k=most, limit=0)
        assert answer["matched"] == min(most, 15)
    assert ask(stage, "number", vector_k=3)["matched"] == 15


@pytest.mark.parametrize(("one", "query"), [((3, 4), [1, 2]), ((1, 2), [1, 0]), ((1, 2, 3), [0.1, 0.7, 0.3])])
def test_one_direction_is_one_cosine_whatever_the_length_and_goes_by_append_order(
    stage: Stage, one: tuple[int, ...], query: list[float]
) -> None:
    """Floats give 3·(1, 2) another cosine than (1, 2); the ranks don't."""
    for number in range(12):
        stage.put(f"number {number}")
    for number in reversed(range(1, 13)):
        embed(stage, f"cap-{number}", *(number * component for component in one))
    asked = {"lane": "vector", "query_embedding": query, "vector_k": 12, "token_budget": 10**6}
    assert ids(ask(stage, "zzz", **asked)) == [f"cap-{number}" for number in range(1, 13)]


def test_vec26_a_capsule_that_only_a_vector_finds(mixed: Stage) -> None:
    for lane, found in (("vector", True), ("fused", True), ("term", False)):
        answer = ask(mixed, "zzz", lane=lane, query_embedding=[1, 0])
        assert "cap-3" in ids(answer) if found else answer["outcome"] == "abstain"


def test_a_forgotten_capsule_leaves_the_vector_lane_and_cannot_be_put_back(mixed: Stage) -> None:
    drop(mixed, "cap-3")
    assert ids(ask(mixed, "zzz", lane="vector", query_embedding=[1, 0])) == ["cap-2"]
    embed(mixed, "cap-3", 1, 0)
    answer = ask(mixed, "zzz", lane="vector", query_embedding=[1, 0])
    assert ids(answer) == ["cap-2"]
    assert "excluded" not in answer
    assert ask(mixed, "cap-3", lane="vector", query_embedding=[0, -1])["excluded"] == {"tombstoned": 1}


def test_vectors_that_are_put_replaced_and_forgotten_are_seen_at_once(stage: Stage) -> None:
    for number in range(4):
        embed(stage, stage.put(f"number {number}"), 1, number)

    def nearest() -> list[str]:
        return ids(ask(stage, "zzz", lane="vector", query_embedding=[1, 0]))

    assert nearest() == ["cap-1", "cap-2", "cap-3", "cap-4"]
    embed(stage, "cap-1", 1, 9)
    assert nearest() == ["cap-2", "cap-3", "cap-4", "cap-1"]
    drop(stage, "cap-2")
    assert nearest() == ["cap-3", "cap-4", "cap-1"]
    embed(stage, stage.put("another"), 1, 0)
    embed(stage, "cap-3", 1, 0, 1)
    with pytest.raises(Exception, match="cap-3"):
        nearest()
    embed(stage, "cap-3", 1, 8)
    assert nearest() == ["cap-5", "cap-4", "cap-3", "cap-1"]


capsules = st.lists(
    st.tuples(st.integers(0, 3), st.one_of(st.none(), st.tuples(st.integers(-3, 9), st.integers(0, 9)))),
    min_size=1,
    max_size=14,
)


def test_ret49_ret50_the_fused_order_is_that_of_the_sums(stage: Stage) -> None:
    """The ranks of the two lanes alone give the fused order, for any vector_k and limit."""
    projects = itertools.count(1)

    @settings(deadline=None, max_examples=40)
    @given(capsules, st.integers(0, 15), st.integers(1, 15))
    def holds(made: list[tuple[int, tuple[int, int] | None]], vector_k: int, limit: int) -> None:
        project = f"p{next(projects)}"
        for number, (times, numbers) in enumerate(made):
            capsule = stage.put(f"{'relay ' * times} {number} of {project}", project_id=project)
            if numbers is not None and any(numbers):
                embed(stage, capsule, *numbers)
        more: dict[str, Any] = {"project_id": project, "token_budget": 10**6}
        vector = {"query_embedding": [3, 1], "vector_k": vector_k}

        def lane(name: str) -> list[str]:
            answer = ask(stage, "relay", lane=name, **more, **vector)
            with stage.store.writing() as db:
                db.execute("UPDATE standing SET recall_count = 0, last_recalled_us = NULL")
            return ids(answer) if answer["outcome"] == "grounded" else []

        worth: dict[str, Fraction] = {}
        for ranked in (lane("term"), lane("vector")):
            for rank, capsule in enumerate(ranked, 1):
                worth[capsule] = worth.get(capsule, Fraction(0)) + Fraction(1, 60 + rank)
        expected = sorted(worth, key=lambda capsule: (-worth[capsule], int(capsule[4:])))
        assert lane("fused") == expected
        answer = ask(stage, "relay", limit=limit, **more, **vector)
        assert answer.get("matched", 0) == len(expected)
        if expected:
            assert ids(answer) == expected[:limit]
            assert column(answer, "fusion_rank") == list(range(1, len(ids(answer)) + 1))

    holds()
