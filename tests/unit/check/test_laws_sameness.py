"""Laws that compare an answer with an earlier one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_kit.check import Answer
from nmemory_kit.check.laws import laws

WORDS = st.lists(st.text(max_size=3), unique=True, max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


def broken(law, body, **args):
    return list(laws()[law](Answer.of_document(body), args))


def facts(ids):
    return [{"fact_id": one} for one in ids]


@given(WORDS, st.integers(0, 6))
def test_the_first_ones_are_a_prefix(ids, kept):
    args = {"items": "/facts", "by": "/fact_id", "whole": facts(ids)}
    assert not broken("prefix-of", {"facts": facts(ids[:kept])}, **args)


@pytest.mark.parametrize(
    ("ids", "pointer"),
    [(["b"], "/facts/0/fact_id"), (["a", "c"], "/facts/1/fact_id"), (["a", "b", "c", "d"], "/facts")],
)
def test_a_gap_another_order_or_one_too_many_is_no_prefix(ids, pointer):
    found = broken("prefix-of", {"facts": facts(ids)}, items="/facts", by="/fact_id", whole=facts("abc"))
    assert [one.pointer for one in found] == [pointer]


@given(WORDS, st.randoms())
def test_the_same_items_in_any_order(ids, random):
    shuffled = list(ids)
    random.shuffle(shuffled)
    args = {"items": "/facts", "by": "/fact_id", "whole": ids, "whole_by": ""}
    assert not broken("same-items", {"facts": facts(shuffled)}, **args)
    assert bool(broken("same-items", {"facts": facts(shuffled)}, **args, ordered=True)) != (shuffled == ids)


@pytest.mark.parametrize("ids", ["a", "abc", "aab", "aa", ""])
def test_an_item_lost_doubled_or_added_is_not_the_same(ids):
    assert broken("same-items", {"facts": facts(ids)}, items="/facts", by="/fact_id", whole=facts("ab"))


def test_numbers_and_truth_are_told_apart():
    assert broken("same-items", {"facts": facts([True])}, items="/facts", by="/fact_id", whole=facts([1]))


@pytest.mark.parametrize("body", [{}, {"facts": None}, {"facts": [{}]}, {"facts": ["a"]}, []])
def test_an_answer_without_such_items_breaks_the_laws(body):
    for law in ("prefix-of", "same-items"):
        assert broken(law, body, items="/facts", by="/fact_id", whole=facts("a"))


@pytest.mark.parametrize("earlier", [None, "a", {}, ["a"]])
def test_an_earlier_answer_without_such_items_breaks_the_laws(earlier):
    for law in ("prefix-of", "same-items"):
        assert broken(law, {"facts": []}, items="/facts", by="/fact_id", whole=earlier)


@given(JSON, JSON)
def test_a_value_equals_itself_and_nothing_else(one, two):
    assert not broken("equal-but", one, to=one)
    if repr(one) != repr(two):
        assert broken("equal-but", one, to=two)


CARD = {"card": {"title": "A", "last": {"read": "yesterday", "written": None}}, "took": 3}


def test_a_member_that_may_differ_is_passed_over_and_others_are_named():
    but = ["/took", "/card/last/read"]
    later = {"card": {"title": "A", "last": {"read": "now", "written": None}}, "took": 4}
    assert not broken("equal-but", later, to=CARD, but=but)
    del later["took"]
    assert not broken("equal-but", later, to=CARD, but=but)
    later["card"]["title"] = "B"
    assert [one.pointer for one in broken("equal-but", later, to=CARD, but=but)] == ["/card/title"]


def test_a_member_gone_or_new_and_null_differ():
    found = broken("equal-but", {"card": CARD["card"], "new": None}, to=CARD)
    assert [(one.pointer, one.expected, one.got) for one in found] == [
        ("/new", "nothing", "null"),
        ("/took", "3", "nothing"),
    ]


def test_a_part_can_be_compared_alone():
    later = {"card": {"title": "A", "last": {"read": "now", "written": None}}}
    assert not broken("equal-but", later, at="/card", to=CARD["card"], but=["/last/read"])
    assert [one.pointer for one in broken("equal-but", later, at="/card", to=CARD["card"])] == ["/card/last/read"]
    assert [one.pointer for one in broken("equal-but", {}, at="/card", to=CARD["card"])] == ["/card"]
