"""Laws about a list that repeats what stands elsewhere in the same answer."""

from __future__ import annotations

import pytest
from nmemory_kit.check import Answer
from nmemory_kit.check.laws import laws

WHERE = {"items": "/handles", "of": ["/first", "/next", "/rest"], "by": "/id"}


def broken(body, **args):
    found = laws()["in-order-of-appearance"](Answer.of_document(body), {**WHERE, **args})
    return [one.pointer for one in found]


def pack(*handles):
    return {
        "first": [{"id": "a"}, {"id": "b"}],
        "next": {"id": "c"},
        "rest": [{"id": "a"}, {"id": "d"}],
        "handles": list(handles),
    }


def test_each_stands_once_in_the_order_of_its_first_appearance():
    assert not broken(pack("a", "b", "c", "d"))


def test_what_is_not_there_has_no_rows():
    assert not broken({"first": [{"id": "a"}], "handles": ["a"]})


@pytest.mark.parametrize("handles", ["acbd", "abcda", "abc", "abcde", "bcd", ""])
def test_another_order_a_repetition_a_gap_or_a_stranger_breaks_the_law(handles):
    assert broken(pack(*handles)) == ["/handles"]


def test_a_list_that_is_cut_may_end_early():
    assert not broken(pack("a", "b"), cut=True)
    assert broken(pack("a", "c"), cut=True)
    assert broken(pack("a", "b", "c", "d", "e"), cut=True)


def test_a_section_that_nobody_named_may_have_its_own():
    later = [{"id": "x"}, {"id": "a"}]
    assert not broken({**pack("a", "b", "c", "x", "d"), "later": later})
    assert not broken({**pack("a", "x", "b"), "later": {"rows": later}}, cut=True)
    assert broken({**pack("a", "b", "c", "y", "d"), "later": later}) == ["/handles"]


@pytest.mark.parametrize("body", [{}, None, {"handles": "ab"}])
def test_what_is_no_list_breaks_the_law(body):
    assert broken(body) == ["/handles"]


def test_a_row_without_the_member_is_named():
    assert broken({"handles": [], "first": [{"no": 1}]}) == ["/first/0/id"]


def law(name, body, **args):
    return [one.pointer for one in laws()[name](Answer.of_document(body), args)]


def rows(*ids):
    return {"rows": [{"id": one} for one in ids]}


def test_values_in_order_may_have_others_between_them_but_no_other_order():
    asked = {"items": "/rows", "by": "/id", "are": ["a", "b"]}
    assert law("in-order", rows("x", "a", "y", "b"), **asked) == []
    for ids in (("b", "a"), ("a",), ("a", "b", "a"), ()):
        assert law("in-order", rows(*ids), **asked) == ["/rows"]
    assert law("in-order", {"rows": [{}]}, **asked) == ["/rows/0/id"]


def test_a_piece_occurs_only_if_it_stands_there_character_by_character():
    asked = {"items": "/rows", "at": "/id", "text": "The API is slow"}
    assert law("occurs-in", rows("API", "The API is slow"), **asked) == []
    assert law("occurs-in", rows("API", "the API", 7), **asked) == ["/rows/1/id", "/rows/2/id"]
    assert law("occurs-in", {}, **asked) == ["/rows"]
