"""The pure rules: durations, budgets, vectors, words, slugs."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_reference.instant import iso, normalise, parse_instant
from nmemory_reference.store.slug import slugify
from nmemory_reference.store.words import query_words, words
from nmemory_reference.tools.failure import VerbFailure
from nmemory_reference.verbs.budget import pack, tokens
from nmemory_reference.verbs.embedding import cosine, hash_vector
from nmemory_reference.verbs.ttl import valid_until

NOW = datetime(2026, 6, 12, 8, 30, tzinfo=UTC)
COSTS = st.lists(st.integers(0, 50), max_size=12)


@given(st.integers(1, 10_000), st.sampled_from(["minutes", "hours", "days"]))
def test_a_duration_counts_from_now(amount: int, unit: str) -> None:
    assert valid_until(f"{amount}{unit[0]}", NOW) == NOW + timedelta(**{unit: amount})


@given(st.timedeltas(timedelta(days=-700_000), timedelta(days=2_900_000)), st.integers(-14 * 60, 14 * 60))
def test_an_instant_is_itself_whatever_its_offset(away: timedelta, minutes: int) -> None:
    moment = NOW + away
    shifted = moment + timedelta(minutes=minutes)
    sign, ahead = ("+", minutes) if minutes >= 0 else ("-", -minutes)
    text = shifted.replace(tzinfo=None).isoformat() + f"{sign}{ahead // 60:02}:{ahead % 60:02}"
    assert valid_until(text, NOW) == moment
    assert parse_instant(iso(moment)) == moment


@pytest.mark.parametrize(
    "ttl",
    [
        *("P30D", "PT12H", "P1Y2M", "p30d", "-P1D", "soon", "30 parsecs", "-5d", "+5d", "5", "d", "5 d", "5w", "1.5h"),
        *("0m", "999999999d", "", " ", "٣d", "5d5h", "2026-13-01", "2026-06-12T25:00:00Z", "0001-01-01T00:00:00+14:00"),
    ],
)
def test_any_other_ttl_is_refused_with_an_example(ttl: str) -> None:
    with pytest.raises(VerbFailure) as refused:
        valid_until(ttl, NOW)
    assert refused.value.code == "invalid_params"
    assert "30d" in refused.value.suggestion


@given(st.text())
def test_no_text_is_a_surprise_to_a_ttl(text: str) -> None:
    with contextlib.suppress(VerbFailure):
        assert valid_until(text, NOW).tzinfo is UTC


@pytest.mark.parametrize(
    ("sent", "normal"),
    [
        ("2026-06-12", "2026-06-12T00:00:00.000000Z"),
        ("2026-06-12T10:30+02:00", "2026-06-12T08:30:00.000000Z"),
        ("2026-06-12T08:30:00.5Z", "2026-06-12T08:30:00.500000Z"),
        ("2026-06-12T08:30:00.123456789Z", "2026-06-12T08:30:00.123456789Z"),
    ],
)
def test_an_instant_is_normalised_without_losing_digits(sent: str, normal: str) -> None:
    assert normalise(sent) == normal


@given(st.integers(0, 200), COSTS, COSTS)
def test_packing_keeps_a_prefix_within_the_budget(budget: int, first: list[int], second: list[int]) -> None:
    packed = pack(budget, first, second)
    kept_first, kept_second = packed.kept
    assert packed.used == sum(first[:kept_first]) + sum(second[:kept_second]) <= budget
    assert packed.dropped == len(first) + len(second) - kept_first - kept_second
    assert kept_second == 0 or kept_first == len(first)
    if packed.dropped:
        assert packed.used + [*first, *second][kept_first + kept_second] > budget


@given(st.integers(0, 200), COSTS, COSTS)
def test_a_larger_budget_never_keeps_less(budget: int, first: list[int], second: list[int]) -> None:
    assert sum(pack(budget, first, second).kept) <= sum(pack(budget + 1, first, second).kept)


def test_four_characters_are_a_token() -> None:
    assert [tokens("x" * n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert tokens("ab", None, "cd") == 1


@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [
        ("Alice works at Acme in Berlin", "alice works at Acme, in Berlin!", True),
        ("Alice works at Acme in Berlin", "Bob sails a boat to Skagen", False),
        ("The meeting is on the 3rd", "The meeting is on the 4th", False),
        *((f"alice says {n}", f"alice says {n + 1}", False) for n in range(50)),
        ("今天讨论了部署方案", "今天讨论了部署方案。", True),
    ],
)
def test_vectors_of_texts_that_say_the_same_are_alike(a: str, b: str, alike: bool) -> None:
    assert (cosine(hash_vector(a), hash_vector(b)) >= 0.95) is alike


@given(st.text())
def test_a_vector_has_length_one_or_nothing_to_say(text: str) -> None:
    vector = hash_vector(text)
    assert cosine(vector, vector) == pytest.approx(1, abs=1e-5) or not any(vector)


@given(st.text())
def test_a_text_is_found_by_its_own_words(text: str) -> None:
    assert set(query_words(text)) <= set(words(text))


@given(st.text())
def test_a_slug_is_its_own_slug(text: str) -> None:
    slug = slugify(text)
    assert slugify(slug) == slug
    assert not slug.startswith("/")
    assert "//" not in slug
