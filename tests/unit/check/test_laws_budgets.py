"""Laws about what an answer says that it cost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_kit.check import Answer
from nmemory_kit.check.laws import laws

CAP = {"used": "/used", "cap": "/cap"}
CLOSE = {"used": "/used", "items": "/facts", "texts": ["/fact"], "share": 0.15}


def broken(law, body, **args):
    return list(laws()[law](Answer.of_document(body), args))


@given(st.integers(-10, 100), st.integers(-10, 100))
def test_a_budget_is_a_ceiling_and_what_is_used_never_negative(used, cap):
    kept = 0 <= used <= cap
    assert bool(broken("budget-cap", {"used": used, "cap": cap}, **CAP)) != kept
    assert bool(broken("budget-cap", {"used": used}, used="/used", cap=cap)) != kept


@pytest.mark.parametrize("body", [{}, {"used": 1}, {"cap": 1}, {"used": "1", "cap": 1}, {"used": True, "cap": 1}, 7])
def test_a_budget_that_is_not_stated_breaks_the_law_unless_it_may_be_left_out(body):
    assert broken("budget-cap", body, **CAP)
    assert not broken("budget-cap", body, **CAP, if_present=True)


@given(st.lists(st.text(max_size=400), max_size=8))
def test_rounding_each_item_up_is_close(texts):
    used = sum(-(-len(text) // 4) for text in texts)
    assert not broken("estimate-close", {"used": used, "facts": [{"fact": text} for text in texts]}, **CLOSE)


@given(st.lists(st.text(min_size=100, max_size=400), min_size=1, max_size=8))
def test_characters_taken_for_tokens_or_words_are_not_close(texts):
    facts = [{"fact": text} for text in texts]
    characters = sum(map(len, texts))
    for used in (characters, characters // 8, 0):
        assert [one.pointer for one in broken("estimate-close", {"used": used, "facts": facts}, **CLOSE)] == ["/used"]


def test_an_item_without_its_text_costs_nothing():
    assert not broken("estimate-close", {"used": 0, "facts": [{"fact": 7}, {}, None]}, **CLOSE)
