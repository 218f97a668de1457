"""Laws about the members that each item of an array has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_kit.check import Answer
from nmemory_kit.check.laws import laws

ORIGIN = {"items": "/results", "members": ["/slug", "/provenance"]}


def broken(body, **args):
    return list(laws()["members-equal"](Answer.of_document(body), args))


def results(*pairs):
    return {"results": [{"slug": slug, "provenance": provenance} for slug, provenance in pairs]}


@given(st.lists(st.text()))
def test_items_whose_members_are_equal_keep_the_law(slugs):
    assert not broken(results(*((slug, slug) for slug in slugs)), **ORIGIN)


def test_each_item_that_differs_is_named_with_both_values():
    (one,) = broken(results(("people/a", "people/a"), ("people/b", "people/a")), **ORIGIN)
    assert (one.pointer, one.expected, one.got) == ("/results/1/provenance", '"people/b", as at /slug', '"people/a"')


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/results"),
        (None, "/results"),
        ({"results": {"slug": "a"}}, "/results"),
        ({"results": [{"slug": "a"}]}, "/results/0/provenance"),
        ({"results": [None]}, "/results/0/slug"),
    ],
)
def test_what_is_missing_or_of_another_type_breaks_the_law(body, pointer):
    assert [one.pointer for one in broken(body, **ORIGIN)] == [pointer]


def test_true_is_not_1():
    assert broken({"results": [{"slug": 1, "provenance": True}]}, **ORIGIN)
