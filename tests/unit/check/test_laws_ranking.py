"""Laws about ranked rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_kit.check import Answer
from nmemory_kit.check.laws import laws

NOW = "2031-05-01T00:00:00Z"


def broken(law, body, **args):
    return [(one.pointer, one.expected) for one in laws()[law](Answer.of_document(body), args)]


# --- half-life ------------------------------------------------------------------------------------------------------


def decayed(*rows):
    body = {"rows": [{"w": weight, "c": full, "t": since} for weight, full, since in rows]}
    args = {"items": "/rows", "weight": "/w", "full": "/c", "since": "/t", "days": 90, "digits": 2, "now": NOW}
    return broken("half-life", body, **args)


@pytest.mark.parametrize(
    "row",
    [
        (0.8, 0.8, NOW),
        (0.4, 0.8, "2031-01-31T00:00:00Z"),
        (0.4, 0.8, "2031-01-30T13:00:00.25-11:00"),
        (0.2, 0.8, "2030-11-02T00:00:00Z"),
        (0.8, 0.8, "2031-06-01T00:00:00Z"),
        (0, 0, "2001-01-01T00:00:00Z"),
        (1, 1.0, NOW),
    ],
)
def test_a_weight_is_halved_every_ninety_days_and_never_grows(row):
    assert decayed(row) == []


@pytest.mark.parametrize("weight", [0.8, 0.41, 0.39, 0.4001, 0])
def test_another_weight_is_broken(weight):
    ((pointer, expected),) = decayed((weight, 0.8, "2031-01-31T00:00:00Z"))
    assert pointer == "/rows/0/w"
    assert expected.startswith("0.400000, rounded to 2")


def test_on_the_edge_of_rounding_either_neighbour_is_right():
    # 1 * 2^(-days/90) = 0.715 after 43.56 days: within the clocks' distance it is 0.71 as well as 0.72
    edge = "2031-03-18T10:35:33Z"
    assert decayed((0.71, 1, edge), (0.72, 1, edge)) == []
    assert len(decayed((0.7, 1, edge), (0.73, 1, edge))) == 2


@pytest.mark.parametrize("row", [("0.8", 0.8, NOW), (0.8, True, NOW), (0.8, 0.8, "yesterday"), (None, 0.8, NOW)])
def test_what_is_no_number_and_no_instant_is_broken(row):
    assert decayed(row)[0][1] == "two numbers and an instant"


# --- rank-fusion ----------------------------------------------------------------------------------------------------


def rows(ids):
    return [{"id": one} for one in ids]


def fused(ids, *lanes, ties="abcdef"):
    args = {"items": "/rows", "by": "/id", "k": 60, "lanes": [rows(lane) for lane in lanes], "ties": list(ties)}
    return broken("rank-fusion", {"rows": rows(ids)}, **args)


def test_two_lanes_weigh_more_than_a_first_place_in_one():
    assert fused("cab", "ac", "bc") == []
    assert fused("acb", "ac", "bc") != []


def test_equal_sums_stand_in_the_given_order():
    assert fused("ab", "ab", "ba") == []
    assert fused("ba", "ab", "ba", ties="ba") == []
    assert fused("ba", "ab", "ba") != []


@pytest.mark.parametrize("ids", ["a", "abc", "abx", "ba", ""])
def test_a_row_too_few_or_too_many_or_in_another_place_is_broken(ids):
    assert fused(ids, "ab") != []


@given(st.permutations("abcd"), st.permutations("abcd"))
def test_the_order_is_that_of_the_sums(one, two):
    sums = {key: 1 / (61 + one.index(key)) + 1 / (61 + two.index(key)) for key in "abcd"}
    order = sorted("abcd", key=lambda key: (-round(sums[key], 12), key))
    assert fused(order, one, two) == []


# --- rows-fit and ranks-count ---------------------------------------------------------------------------------------


def test_rows_fit_into_their_tokens():
    row = {"text": "x" * 87}  # 98 characters, 25 tokens
    args = {"items": "/rows", "tokens": 50, "share": 0.2, "members": ["text"]}
    assert broken("rows-fit", {"rows": [row, row]}, **args) == []
    assert broken("rows-fit", {"rows": [row, row, row]}, **args) != []


def test_what_a_server_adds_to_its_rows_costs_nothing():
    row = {"text": {"text": "x" * 78, "more": "x" * 90}, "more": ["x" * 90]}
    args = {"items": "/rows", "tokens": 50, "share": 0, "members": ["text"]}
    assert broken("rows-fit", {"rows": [row, row]}, **args) == []
    assert broken("rows-fit", {"rows": [row, row]}, **{**args, "members": ["text", "more"]}) != []


def test_one_row_alone_may_cost_what_it_will():
    assert broken("rows-fit", {"rows": [{"text": "x" * 900}]}, items="/rows", tokens=1, share=0, members=["text"]) == []


@pytest.mark.parametrize(("ranks", "wrong"), [([1, 2.0, 3], 0), ([], 0), ([2, 1], 2), ([1, None], 1), ([1, "2"], 1)])
def test_ranks_count_from_one(ranks, wrong):
    body = {"rows": [{"r": rank} if rank is not None else {} for rank in ranks]}
    assert len(broken("ranks-count", body, items="/rows", rank="/r")) == wrong


@pytest.mark.parametrize("law", ["half-life", "rank-fusion", "rows-fit", "ranks-count"])
@pytest.mark.parametrize("body", [None, {}, [], {"rows": 3}])
def test_without_rows_each_of_them_is_broken(law, body):
    args = {"items": "/rows", "by": "/id", "k": 60, "lanes": [], "ties": [], "weight": "/w", "full": "/c"}
    more = {"since": "/t", "days": 90, "digits": 2, "now": NOW, "tokens": 1, "share": 0, "rank": "/r", "members": []}
    assert [pointer for pointer, _ in broken(law, body, **args, **more)] == ["/rows"]
