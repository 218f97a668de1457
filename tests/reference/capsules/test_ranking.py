"""Fusing two lanes, and the nudge of feedback: the arithmetic alone."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_reference.capsules.recall.ranking import fuse, reach, reweighted

lanes = st.lists(st.integers(1, 99), unique=True)


def ranks(lane: list[int]) -> dict[int, int]:
    """The rank of each, from 1."""
    return {seq: rank for rank, seq in enumerate(lane, 1)}


@pytest.mark.parametrize(
    ("one", "other", "fused"),
    [
        ([7, 3], [3, 7], [3, 7]),
        ([5, 2], [2, 9], [2, 5, 9]),
        ([5, 3], [9, 3], [3, 5, 9]),
        ([4, 1, 9], [], [4, 1, 9]),
        ([], [], []),
    ],
)
def test_ret49_equal_ranks_tie_and_go_by_append_order(one: list[int], other: list[int], fused: list[int]) -> None:
    assert fuse(ranks(one), ranks(other)) == fused


@pytest.mark.parametrize(("one", "other"), [((24, 30), (3, 80)), ((3, 150), (30, 45)), ((5, 250), (2, 343))])
@pytest.mark.parametrize("swap", [False, True])
def test_ret49_sums_that_are_equal_tie_although_floats_would_not(
    one: tuple[int, int], other: tuple[int, int], swap: bool
) -> None:
    """1/84 + 1/90 is 1/63 + 1/140; two capsules at such ranks go by append order, whichever stands where."""
    if swap:
        one, other = other, one
    assert fuse({1: one[0], 2: other[0]}, {1: one[1], 2: other[1]}) == [1, 2]


@given(lanes, lanes)
def test_ret49_fusing_is_what_the_formula_says(one: list[int], other: list[int]) -> None:
    def worth(seq: int) -> Fraction:
        return sum((Fraction(1, 60 + lane.index(seq) + 1) for lane in (one, other) if seq in lane), Fraction(0))

    assert fuse(ranks(one), ranks(other)) == sorted({*one, *other}, key=lambda seq: (-worth(seq), seq))
    assert fuse(ranks(one), ranks(other)) == fuse(ranks(other), ranks(one))


def test_c44_a_low_weight_lets_the_second_pass() -> None:
    weights = {1: 0.45, 2: 0.5}
    assert reweighted([1, 2], 1.0, weights.__getitem__) == [2, 1]
    assert reweighted([1, 2], 0.32, weights.__getitem__) == [1, 2]
    assert reweighted([1, 2], 0.33, weights.__getitem__) == [2, 1]


@given(lanes, st.floats(0, 1))
def test_equal_weights_change_no_order(ranked: list[int], blend: float) -> None:
    assert reweighted(ranked, blend, lambda _: 0.5) == ranked


@given(st.integers(1, 40), st.floats(0, 1), st.integers())
def test_ret60_no_weight_lifts_anything_from_out_of_reach(most: int, blend: float, seed: int) -> None:
    ranked = list(range(400))
    chance = random.Random(seed)
    weights = [chance.choice((0.0, chance.random(), 1.0)) for _ in ranked]
    whole = reweighted(ranked, blend, weights.__getitem__)
    assert reweighted(ranked[: reach(most, blend)], blend, weights.__getitem__)[:most] == whole[:most]


def test_ret60_reach_is_no_further_than_it_has_to_be() -> None:
    assert (reach(10, 0), reach(0, 1)) == (10, 0)
    weights = dict.fromkeys(range(1, 11), 0.0) | dict.fromkeys(range(11, 1000), 1.0)
    lifted = max(reweighted(list(weights), 1.0, weights.__getitem__)[:10])
    assert lifted <= reach(10, 1.0) <= 3 * 70 - 60 + 2
