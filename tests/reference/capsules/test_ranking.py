"""Fusing two lanes, and the nudge of feedback."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_reference.capsules.recall.ranking import fuse, moved, reweighted
from nmemory_reference.capsules.wire import rounded


def test_ret49_equal_ranks_tie_and_go_by_append_order() -> None:
    assert fuse([7, 3], [3, 7]) == [3, 7]
    assert fuse([5, 2], [2, 9]) == [2, 5, 9]
    assert fuse([4, 1, 9]) == [4, 1, 9]
    assert fuse([], []) == []


@pytest.mark.parametrize(
    ("scores", "weight"), [([1], 0.55), ([0], 0.45), ([1, 1], 0.595), ([0, 0], 0.405), ([0.25], 0.475)]
)
def test_out20_a_score_moves_a_weight_a_tenth_of_the_way(scores: list[float], weight: float) -> None:
    moving = 0.5
    for score in scores:
        moving = moved(moving, score)
    assert rounded(moving, 4) == weight


def test_c44_a_low_weight_lets_the_second_pass() -> None:
    weights = {1: 0.45, 2: 0.5}
    assert reweighted([1, 2], 1.0, weights.__getitem__) == [2, 1]
    assert reweighted([1, 2], 0.32, weights.__getitem__) == [1, 2]
    assert reweighted([1, 2], 0.33, weights.__getitem__) == [2, 1]


@given(st.lists(st.integers(1, 99), unique=True), st.floats(0, 1))
def test_equal_weights_change_no_order(ranked: list[int], blend: float) -> None:
    assert reweighted(ranked, blend, lambda _: 0.5) == ranked


@given(st.lists(st.integers(1, 99), unique=True), st.lists(st.integers(1, 99), unique=True))
def test_fusing_keeps_everything_once_and_does_not_mind_the_lanes_order(one: list[int], other: list[int]) -> None:
    assert sorted(fuse(one, other)) == sorted({*one, *other})
    assert fuse(one, other) == fuse(other, one)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_weight_stays_between_zero_and_one(weight: float, score: float) -> None:
    assert 0 <= moved(weight, score) <= 1
