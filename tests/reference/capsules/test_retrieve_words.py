"""memory_retrieve: which words find what, and what a term may never do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_reference.capsules import fold
from reference.capsules.acts import ask
from reference.capsules.recalling import column, ids, refused, teach
from reference.capsules.stage import Stage


def test_ret06_words_match_whole_and_unstemmed(stage: Stage) -> None:
    stage.put("counts tokens")
    assert ask(stage, "token")["outcome"] == "abstain"
    assert ask(stage, "oken")["outcome"] == "abstain"
    assert ids(ask(stage, "tokens")) == ["cap-1"]
    assert ids(ask(stage, "token", "tokens")) == ["cap-1"]


def test_ret07_terms_are_or_and_words_within_a_term_are_and_in_any_order_and_distance(stage: Stage) -> None:
    stage.put("pin tokio at 1.38")
    stage.put("tokio alone")
    stage.put("a pin " + "and more " * 50 + "before tokio")
    assert set(ids(ask(stage, "tokio pin"))) == {"cap-1", "cap-3"}
    assert set(ids(ask(stage, "tokio pin", "alone"))) == {"cap-1", "cap-2", "cap-3"}
    assert set(ids(ask(stage, "1.38 tokio"))) == {"cap-1"}
    assert ask(stage, "pin alone")["outcome"] == "abstain"


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("a configuração nova", "configuracao"),
        ("a configuracao nova", "CONFIGURAÇÃO"),
        ("CAFÉ at noon", "café"),
        ("cafe\u0301 at noon", "CAFE"),
        ("Ünïcödé", "unicode"),
        ("ПРИВЕТ", "привет"),
    ],
)
def test_ret08_case_and_latin_diacritics_fold_both_ways(stage: Stage, stored: str, asked: str) -> None:
    stage.put(stored)
    assert ids(ask(stage, asked)) == ["cap-1"]


def test_ret08_a_term_is_shown_as_it_was_asked_not_as_it_was_folded(stage: Stage) -> None:
    stage.put("a configuração nova")
    assert column(ask(stage, "  CONFIGURACAO "), "matched_terms") == [["CONFIGURACAO"]]


@pytest.mark.parametrize(
    "term",
    [
        "one OR two",
        "one NOT two",
        "one AND zzz",
        "NEAR(one two)",
        "on*",
        '"one two"zzz',
        'one" OR "two',
        "words:one zzz",
        "^one zzz",
        "one - zzz",
        "one + zzz",
        "zzz) OR (one",
        "one;DROP TABLE capsule",
        "one\0zzz",
        "{one} zzz",
    ],
)
def test_ret09_operators_in_a_term_are_literal_words(stage: Stage, term: str) -> None:
    """Each would match the stored words if it were read as syntax; as words, some word of it is missing."""
    stage.put("one two")
    assert ask(stage, term)["outcome"] == "abstain"


@pytest.mark.parametrize("term", ['"one', "one*", "(one", "one AND", "-one", "^one", "one:", "'one'", "one\\", "one--"])
def test_ret09_marks_around_a_word_are_no_part_of_it(stage: Stage, term: str) -> None:
    stage.put("one and two")
    assert ids(ask(stage, term)) == ["cap-1"]


alphabet = st.sampled_from("abé ñ日本ß١ \t\n\"'*()-:^+{}[]<>=;,.\\/%_#\0\u0301\u200b\u3000AND OR NOT NEAR")
texts = st.text(st.one_of(alphabet, st.characters(exclude_categories=["Cs"])), max_size=30)


def test_ret09_text_is_never_read_as_search_syntax(stage: Stage) -> None:
    """Any text finds exactly the capsules that hold all its words, and never fails."""
    stored: dict[str, str] = {}

    @given(st.lists(texts, min_size=1, max_size=3), texts)
    def holds(terms: list[str], content: str) -> None:
        if content.strip() and content not in stored.values():
            stored[stage.put(content)] = content
        asked = [term for term in terms if fold.words(term)]
        if not asked:
            return
        answer = ask(stage, *asked, token_budget=10**9)
        expected = {
            capsule
            for capsule, held in stored.items()
            if any(set(fold.words(term)) <= set(fold.words(held)) for term in asked)
        }
        assert {row["id"] for row in answer.get("results", [])} == expected
        assert answer["outcome"] == ("grounded" if expected else "abstain")

    holds()


def test_ret10_a_run_without_spaces_matches_whole_or_by_an_alias(stage: Stage) -> None:
    stage.put("会議は金曜日です と 決めた")
    assert ask(stage, "金曜日")["outcome"] == "abstain"
    assert ids(ask(stage, "会議は金曜日です")) == ["cap-1"]
    teach(stage, "金曜日", "会議は金曜日です")
    answer = ask(stage, "金曜日")
    assert column(answer, "matched_terms") == [["alias:金曜日"]]


def test_ret11_ret12_ret14_direct_terms_are_shown_verbatim_and_alias_hits_by_the_callers_term(stage: Stage) -> None:
    stage.put("the database is down")
    stage.put("db and nothing else")
    teach(stage, "DB", "database")
    answer = ask(stage, "Down", "Db", "the")
    assert dict(zip(ids(answer), column(answer, "matched_terms"), strict=True)) == {
        "cap-1": ["Down", "alias:Db", "the"],
        "cap-2": ["Db"],
    }
    assert ids(ask(stage, "database")) == ["cap-1"]


def test_ret13_a_direct_hit_suppresses_the_alias_entry(stage: Stage) -> None:
    stage.put("db means database")
    teach(stage, "db", "database")
    assert column(ask(stage, "db"), "matched_terms") == [["db"]]


def test_an_alias_of_several_words_and_several_aliases_each_ground_their_term(stage: Stage) -> None:
    stage.put("a relational store of rows")
    stage.put("the postgres box")
    stage.put("only relational")
    teach(stage, "db", "relational store")
    teach(stage, "db", "postgres")
    answer = ask(stage, "db")
    assert set(ids(answer)) == {"cap-1", "cap-2"}
    assert column(answer, "matched_terms") == [["alias:db"]] * 2


def test_an_alias_without_a_word_finds_nothing_and_hurts_nothing(stage: Stage) -> None:
    stage.put("db")
    teach(stage, "db", "???")
    assert column(ask(stage, "db"), "matched_terms") == [["db"]]
    assert ask(stage, "zzz")["outcome"] == "abstain"


def test_an_alias_counts_for_its_term_once(stage: Stage) -> None:
    """Coverage counts the caller's terms: three aliases of one term are worth one."""
    for other in ("x", "y", "z"):
        teach(stage, "db", other)
    stage.put("x y z")
    stage.put("db disk")
    assert ids(ask(stage, "db", "disk")) == ["cap-2", "cap-1"]


@pytest.mark.parametrize("bad", ["", "   ", "!?", "_", "—", "🙂", "\u0301"])
@pytest.mark.parametrize("place", [0, 1])
def test_ret15_one_term_without_a_letter_or_digit_refuses_the_whole_call(stage: Stage, bad: str, place: int) -> None:
    stage.put("good")
    terms = ["good"]
    terms.insert(place, bad)
    assert "no letter and no digit" in refused(stage, *terms)


def test_ret15_no_term_at_all_is_refused(stage: Stage) -> None:
    assert "terms is empty" in refused(stage)


def test_terms_are_trimmed_and_exact_duplicates_collapse(stage: Stage) -> None:
    stage.put("good day")
    assert column(ask(stage, " good", "good", "good\n", "Good"), "matched_terms") == [["good", "Good"]]


def test_thousands_of_terms_are_answered(stage: Stage) -> None:
    stage.put("word1999 stands alone")
    answer = ask(stage, *(f"word{number}" for number in range(3_000)), "stands alone")
    assert column(answer, "matched_terms") == [["word1999", "stands alone"]]
