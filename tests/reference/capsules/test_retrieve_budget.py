"""memory_retrieve: limit and token budget."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nmemory_reference.capsules.recall.evidence import LEAST_COST
from nmemory_reference.capsules.wire import dumps
from reference.capsules.acts import ask
from reference.capsules.recalling import embed, ids
from reference.capsules.stage import Stage


def estimate(row: dict[str, Any]) -> int:
    """What the contract says that a row costs: a quarter of its characters, rounded up."""
    return -(-len(dumps(row)) // 4)


@pytest.fixture
def shelf(stage: Stage) -> Stage:
    """Twelve matches of different size."""
    for number in range(12):
        stage.put(f"relay {number} " + "é" * (11 * number), source="s" * (number % 3 + 1))
    return stage


def test_ret53_a_limit_keeps_the_best_and_the_rest_is_counted_under_it(shelf: Stage) -> None:
    whole = ask(shelf, "relay", token_budget=10**6)
    assert whole["returned"] == 12
    few = ask(shelf, "relay", token_budget=10**6, limit=5)
    assert few["results"] == whole["results"][:5]
    assert (few["matched"], few["returned"], few["trimmed"]) == (12, 5, 7)
    assert (few["trimmed_by_limit"], few["trimmed_by_budget"]) == (7, 0)
    assert ask(shelf, "relay", token_budget=10**6, limit=12)["trimmed"] == 0
    assert ask(shelf, "relay", token_budget=10**6, limit=2**63)["trimmed"] == 0


@pytest.mark.parametrize(
    ("more", "by_limit", "by_budget"),
    [
        ({"limit": 0}, 12, 0),
        ({"token_budget": 0}, 0, 12),
        ({"limit": 0, "token_budget": 0}, 12, 0),
        ({"limit": 3, "token_budget": 0}, 0, 12),
        ({"limit": 1, "token_budget": 1}, 11, 0),
        ({"limit": 2, "token_budget": 1}, 0, 11),
    ],
)
def test_ret54_which_of_the_two_cut_is_told(shelf: Stage, more: dict[str, int], by_limit: int, by_budget: int) -> None:
    answer = ask(shelf, "relay", **more)
    assert (answer["outcome"], answer["matched"]) == ("grounded", 12)
    assert (answer["trimmed_by_limit"], answer["trimmed_by_budget"]) == (by_limit, by_budget)
    assert answer["trimmed"] == by_limit + by_budget == 12 - answer["returned"]
    assert "receipt_id" in answer


def test_ret55_a_budget_of_one_token_still_shows_the_first(shelf: Stage) -> None:
    answer = ask(shelf, "relay", token_budget=1)
    assert answer["returned"] == 1
    assert answer["results"] == ask(shelf, "relay", limit=1)["results"]
    assert answer["token_budget"] == 1


def test_the_default_budget_is_told(shelf: Stage) -> None:
    assert ask(shelf, "relay")["token_budget"] == 1500


def test_ret56_ret57_ret58_the_budget_is_spent_from_the_top_to_the_token(shelf: Stage) -> None:
    """For every budget: the longest prefix that fits, but never less than one row; once a row misses, all do."""
    whole = ask(shelf, "relay", token_budget=10**6)["results"]
    costs = [estimate(row) for row in whole]

    @settings(deadline=None)
    @given(st.integers(1, sum(costs) + 5), st.one_of(st.none(), st.integers(1, 14)))
    def holds(budget: int, limit: int | None) -> None:
        answer = ask(shelf, "relay", token_budget=budget, limit=limit)
        fitting = max(1, max(kept for kept in range(13) if sum(costs[:kept]) <= budget))
        kept = fitting if limit is None else min(fitting, limit)
        assert answer["results"] == whole[:kept]
        assert answer["returned"] == kept
        assert answer["matched"] == answer["returned"] + answer["trimmed"] == 12
        assert answer["trimmed"] == answer["trimmed_by_limit"] + answer["trimmed_by_budget"]
        assert answer["trimmed_by_limit"] == (12 - kept if limit == kept else 0)

    holds()


def test_ret57_a_small_row_behind_one_that_missed_is_not_taken(stage: Stage) -> None:
    stage.put("relay one", confidence=0.9)
    stage.put("relay two", confidence=0.8, source="s" * 400)
    stage.put("relay three", confidence=0.7)
    small, big, last = map(estimate, ask(stage, "relay", token_budget=10**6)["results"])
    assert small + last < small + big - 1
    assert ids(ask(stage, "relay", token_budget=small + big - 1)) == ["cap-1"]
    assert ids(ask(stage, "relay", token_budget=small + big)) == ["cap-1", "cap-2"]


def test_no_envelope_costs_less_than_is_believed(stage: Stage) -> None:
    """The smallest that there can be: it says how far down a budget can reach."""
    embed(stage, stage.put("a", source="a", anchor="b", authority_class="user-stated", confidence=0.0), 1)
    for more in ({}, {"query_embedding": [1], "lane": "vector"}):
        (row,) = ask(stage, "a", **more)["results"]
        assert estimate(row) >= LEAST_COST


def test_a_fused_answer_is_cut_alike(shelf: Stage) -> None:
    for number in range(1, 13):
        embed(shelf, f"cap-{number}", 1, number)
    whole = ask(shelf, "relay", query_embedding=[1, 0], vector_k=12, token_budget=10**6)
    for budget in (1, 300, 700, 1_200):
        answer = ask(shelf, "relay", query_embedding=[1, 0], vector_k=12, token_budget=budget)
        assert answer["results"] == whole["results"][: answer["returned"]]
        assert answer["matched"] == 12
    assert ids(ask(shelf, "relay", query_embedding=[1, 0], vector_k=12, limit=2)) == ids(whole)[:2]
