"""Laws about how a number has moved since an earlier answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_kit.check import Answer
from nmemory_kit.check.laws import laws


def broken(body, **args):
    return list(laws()["moved-by"](Answer.of_document(body), args))


@given(st.integers(), st.integers(-9, 9), st.integers(-2, 2))
def test_a_number_has_moved_by_exactly_what_is_said(before, by, off):
    found = broken({"card": {"count": before + by + off}}, **{"at": "/card/count", "from": before, "by": by})
    assert [one.pointer for one in found] == (["/card/count"] if off else [])


@pytest.mark.parametrize("body", [{}, None, [], {"count": "3"}, {"count": True}, {"count": None}, {"count": 3.5}])
def test_what_is_no_number_has_not_moved(body):
    assert [one.pointer for one in broken(body, **{"at": "/count", "from": 2, "by": 1})] == ["/count"]


@pytest.mark.parametrize("before", ["2", None, True, [2]])
def test_from_what_was_no_number_nothing_moves(before):
    assert [one.expected for one in broken({"count": 3}, **{"at": "/count", "from": before, "by": 1})] == [
        "an integer in the earlier answer"
    ]
