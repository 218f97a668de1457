"""The small pure rules: headlines, folding, instants, decay, budgets, projects, rounding, ids."""

from __future__ import annotations

import math
import re
import sqlite3
import unicodedata
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_reference.capsules import decay, wire
from nmemory_reference.capsules.budget import Budget, Trim, trim
from nmemory_reference.capsules.faults import ProtocolFault
from nmemory_reference.capsules.fold import MAX_WORD, fold, words
from nmemory_reference.capsules.headline import headline, thread_of
from nmemory_reference.capsules.instants import DAY_US, from_us, minted, parse
from nmemory_reference.capsules.project import check_prefix, covers, default_project, fence_sql, slug
from nmemory_reference.capsules.similarity import words_of
from nmemory_reference.capsules.store.ids import number_of, order_key, seq_of


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("x", "x"),
        ("x\n", "x"),
        ("x\r\n", "x"),
        ("a\nb", "a…"),
        ("a\r\nb", "a…"),
        ("a\n\n", "a…"),
        ("\nbody", "…"),
        ("  led by spaces", "  led by spaces"),
        ("é" * 140, "é" * 140),
        ("é" * 141, "é" * 140 + "…"),
        ("x" * 140 + "\n", "x" * 140),
        ("x" * 140 + "\ny", "x" * 140 + "…"),
        ("a\rb", "a\rb"),
        ("", ""),
    ],
)
def test_a_headline_is_the_first_line_cut_to_140_characters(content: str, expected: str) -> None:
    assert headline(content) == expected


@given(st.text())
def test_a_headline_is_one_line_of_141_characters_at_most(content: str) -> None:
    shown = headline(content)
    assert "\n" not in shown
    assert len(shown) <= 141
    assert content.startswith(shown.removesuffix("…"))


@pytest.mark.parametrize(
    ("content", "label"),
    [
        ("ACTIVE(alpha): next is b", "alpha"),
        ("ACTIVE(): nothing", ""),
        ("ACTIVE(a b) no colon", "a b"),
        ("ACTIVE(never closed", None),
        (" ACTIVE(x): led by a space", None),
        ("active(x): lower case", None),
    ],
)
def test_dig17_a_thread_is_opened_by_its_exact_convention(content: str, label: str | None) -> None:
    assert thread_of(content) == label


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Configuração", "configuracao"),
        ("  Café ", "cafe"),
        ("cafe\u0301", "cafe"),
        ("PG Server", "pg server"),
        ("日本", "日本"),
        ("Ωμέγα", "ωμέγα"),
        ("й", "й"),
    ],
)
def test_folding_drops_latin_diacritics_only(text: str, folded: str) -> None:
    assert fold(text) == unicodedata.normalize("NFC", folded)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pin tokio at 1.38", ["pin", "tokio", "at", "1", "38"]),
        ("Configuração-nova", ["configuracao", "nova"]),
        ("日本語テスト mais", ["日本語テスト", "mais"]),
        ("snake_case", ["snake", "case"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("— … !", []),
        ("\u0301", []),
        ("O'Neill", ["o", "neill"]),
    ],
)
def test_words_are_runs_of_letters_digits_and_their_marks(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text())
def test_what_two_contents_share_the_index_finds(text: str) -> None:
    assert {word for shared in words_of(text) for word in words(shared)} == set(words(text))


def test_a_word_too_long_for_the_index_stands_by_its_beginning_and_its_hash() -> None:
    longest = "漢" * MAX_WORD
    assert words(longest) == [longest]
    one, other = words(f"{longest}x {longest}y")
    assert one != other
    assert one.startswith("漢漢漢漢")
    assert words(one) == [one]
    assert len(one.encode()) < 32_768


@given(st.text())
def test_words_hold_nothing_that_could_part_them(text: str) -> None:
    for word in words(text):
        assert words(word) == [word]
        assert re.search(r"[\s_\"'\x00-\x2f]", word) is None


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (datetime(2031, 5, 1, 8, tzinfo=UTC), "2031-05-01T08:00:00Z"),
        (datetime(2031, 5, 1, 8, 0, 0, 500_000, UTC), "2031-05-01T08:00:00.5Z"),
        (datetime(2031, 5, 1, 8, 0, 0, 1, UTC), "2031-05-01T08:00:00.000001Z"),
        (datetime(2031, 5, 1, 10, tzinfo=timezone(timedelta(hours=2))), "2031-05-01T08:00:00Z"),
    ],
)
def test_the_clock_is_written_in_utc_without_trailing_zeros(moment: datetime, written: str) -> None:
    assert minted(moment).text == written


@pytest.mark.parametrize(
    "text",
    [
        *("2031-05-01", "2031-05-01T08:00:00", "2031-13-01T00:00:00Z", "2031-02-30T00:00:00Z", "yesterday"),
        *("2031-05-01T24:00:00Z", "2031-05-01T08:00:00+24:00", "2031-05-01T08:00Z", " 2031-05-01T08:00:00Z"),
        "2031-05-01T08:00:00.Z",
    ],
)
def test_an_instant_is_rfc_3339_with_its_offset(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        parse(text)


def test_an_instant_keeps_its_offset_and_compares_by_time() -> None:
    assert parse("2031-05-01t08:00:00.25+02:00").text == "2031-05-01T08:00:00.25+02:00"
    assert parse("2031-05-01T08:00:00+02:00").us == parse("2031-05-01T06:00:00Z").us
    assert parse("2030-12-31T23:59:60Z").us == parse("2031-01-01T00:00:00Z").us
    assert parse("1969-12-31T23:59:59Z").us == -1_000_000


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_minted_instant_reads_back(moment: datetime) -> None:
    written = minted(moment)
    assert parse(written.text) == written
    assert from_us(written.us) == written


@pytest.mark.parametrize(
    ("days", "confidence", "shown"), [(0, 0.6, 0.6), (90, 0.8, 0.4), (180, 0.8, 0.2), (-5, 0.7, 0.7), (10, 0, 0)]
)
def test_ret19_a_claim_weighs_half_after_ninety_days(days: int, confidence: float, shown: float) -> None:
    assert wire.rounded(decay.weight(confidence, 0, days * DAY_US), 2) == shown
    assert decay.weight(confidence, 0, days * DAY_US, pinned=True) == confidence


@given(
    st.lists(st.tuples(st.floats(0.01, 1), st.integers(0, 10**14)), min_size=2, max_size=2),
    st.integers(10**14, 10**15),
)
def test_the_logarithm_of_a_weight_sorts_as_the_weight(claims: list[tuple[float, int]], now: int) -> None:
    (one, other) = [decay.weight(confidence, start, now) for confidence, start in claims]
    logs = [(decay.log_confidence(confidence) or 0.0) + start / decay.HALF_LIFE_US for confidence, start in claims]
    if not math.isclose(one, other, rel_tol=1e-9):
        assert (one < other) == (logs[0] < logs[1])


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [(0.548992, 2, 0.55), (0.595, 2, 0.6), (0.405, 2, 0.41), (0.475, 2, 0.48), (-0.405, 2, -0.41), (6 / 7, 2, 0.86)],
)
def test_numbers_round_half_away_from_zero_as_they_read(value: float, digits: int, expected: float) -> None:
    assert wire.rounded(value, digits) == expected


@pytest.mark.parametrize(("value", "expected"), [(-0.41234, -0.412), (-1.2345e-6, -1.23e-06), (-12.349, -12.3)])
def test_bm25_has_three_significant_digits(value: float, expected: float) -> None:
    assert wire.significant(value, 3) == expected


def test_an_answer_costs_a_quarter_of_its_characters() -> None:
    assert wire.dumps({"a": "é", "b": 1.0, "c": None}) == '{"a":"é","b":1.0,"c":null}'
    assert wire.cost_of_text("日本語日本") == 2
    assert wire.cost_of_text("") == 0


@pytest.mark.parametrize(
    ("costs", "limit", "budget", "expected"),
    [
        ([10, 10, 10], None, 20, Trim(2, 0, 1)),
        ([50, 1], None, 20, Trim(1, 0, 1)),
        ([10, 50, 1], None, 20, Trim(1, 0, 2)),
        ([10, 10, 10], 1, 1000, Trim(1, 2, 0)),
        ([10, 10], None, 0, Trim(0, 0, 2)),
        ([10, 10], 0, 0, Trim(0, 2, 0)),
        ([10, 10, 10, 10], 3, 20, Trim(2, 0, 2)),
        ([], None, 10, Trim(0, 0, 0)),
    ],
    ids=["fits", "RET55-floor-of-one", "RET57-prefix", "RET53-limit", "RET54-budget-0", "limit-0", "both", "none"],
)
def test_a_ranked_list_is_trimmed_to_a_prefix(costs: list[int], limit: int | None, budget: int, expected: Trim) -> None:
    assert trim(costs, len(costs), limit=limit, token_budget=budget) == expected


@given(st.lists(st.integers(1, 50), max_size=12), st.none() | st.integers(0, 12), st.integers(0, 300))
def test_ret58_what_is_matched_is_kept_or_trimmed(costs: list[int], limit: int | None, budget: int) -> None:
    cut = trim(costs, len(costs), limit=limit, token_budget=budget)
    assert cut.kept + cut.by_limit + cut.by_budget == len(costs)
    if cut.kept > 1:
        assert sum(costs[: cut.kept]) <= budget


def test_bst33_a_closed_budget_takes_nothing_more() -> None:
    budget = Budget(10)
    assert budget.floor(8)
    assert not budget.take(5)
    assert not budget.take(1)
    assert not budget.take(1, counted=False)
    assert (budget.used, budget.refused) == (8, 2)


@pytest.mark.parametrize(
    ("client", "project"),
    [
        ("Kit Runner 3", "kit-runner-3"),
        ("kit.runner/1.0", "kit-runner-1-0"),
        ("a--b", "a-b"),
        ("__x__", "x"),
        ("  Édith  ", "dith"),
        ("a" * 40, "a" * 32),
        ("a" * 31 + " bbbb", "a" * 31),
        ("é", "default"),
        ("日本", "default"),
        ("DEFAULT", "default"),
        ("", "default"),
    ],
)
def test_srv73_the_default_project_is_the_clients_slug(client: str, project: str) -> None:
    assert slug(client) == project
    assert default_project(None, client) == project
    assert default_project("default", client) == project
    assert default_project("house", client) == "house"


@pytest.mark.parametrize("prefix", ["", "  ", "lab/", "/"])
def test_lst20_a_fence_that_can_match_nothing_is_refused(prefix: str) -> None:
    with pytest.raises(ProtocolFault, match="project_prefix") as refused:
        check_prefix(prefix)
    assert (refused.value.code, refused.value.data) == (-32602, None)


def test_lst19_a_prefix_covers_itself_and_what_hangs_from_it() -> None:
    assert [project for project in ("nott", "nott/x", "nottx", "not", "a/nott") if covers("nott", project)] == [
        "nott",
        "nott/x",
    ]


@given(st.text("nx/-0!~.\0é", max_size=6), st.text("nx/-0!~.\0é", min_size=1, max_size=4))
def test_the_fence_in_sql_covers_what_the_fence_covers(project: str, prefix: str) -> None:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE t (project_id TEXT)")
    db.execute("INSERT INTO t VALUES (?)", (project,))
    values = {"project_id": project, "project_prefix": prefix}
    found = db.execute(f"SELECT 1 FROM t WHERE {fence_sql(None, prefix)}", values).fetchone()
    both = db.execute(f"SELECT 1 FROM t WHERE {fence_sql(project, prefix)}", values).fetchone()
    every = db.execute(f"SELECT 1 FROM t WHERE {fence_sql(None, None)}", values).fetchone()
    db.close()
    assert bool(found) == bool(both) == covers(prefix, project)
    assert every


@pytest.mark.parametrize("text", ["CAP-1", " cap-1", "1", "cap-01", "cap-0", "cap-", "cap-1\n", "cap-١", "out-1", ""])
def test_get24_ids_are_exact(text: str) -> None:
    assert seq_of(text) is None


def test_ids_sort_by_number_and_others_after_them() -> None:
    assert sorted(["out-2", "cap-10", "cap-9", "out-10"], key=order_key) == ["cap-9", "cap-10", "out-10", "out-2"]
    assert number_of("out", "out-7") == 7
