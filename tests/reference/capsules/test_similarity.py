"""How alike two contents are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_reference.capsules.similarity import reported, score, shared_at_least, words_of


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("wave A ships on monday after review", "wave B ships on monday after review", 0.86),
        ("wave A ships on monday after review", "review after monday on ships A wave", 0.99),
        ("red blue green", "red blue green now", None),
        ("alpha beta gamma delta", "alpha beta gamma delta " + "x1 x2 x3 x4", 0.5),
        ("alpha beta gamma delta", "alpha beta gamma delta " + "x1 x2 x3 x4 x5", None),
        ("café menu price list", "cafe menu price list", 0.75),
        ("", "", None),
    ],
    ids=["worked", "ING58-ceiling", "ING59-too-few", "threshold-inclusive", "below", "accents-count", "empty"],
)
def test_contents_are_alike_by_their_shared_words(one: str, other: str, expected: float | None) -> None:
    raw = score(words_of(one), words_of(other))
    assert (None if raw is None else reported(raw)) == expected


_words = st.frozensets(st.text("abcdefg", min_size=1, max_size=5), max_size=12)


@given(_words, _words)
def test_likeness_is_mutual_and_between_the_threshold_and_one(one: frozenset[str], other: frozenset[str]) -> None:
    raw = score(one, other)
    assert raw == score(other, one)
    if raw is not None:
        assert 0.5 <= raw <= 1
        assert 0.5 <= reported(raw) <= 0.99
        assert len(one & other) >= shared_at_least(max(len(one), len(other)))
