"""memory_retrieve: the order of the term lane, and what weights may do to an order."""

from __future__ import annotations

import itertools
import json
import math
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nmemory_reference.capsules.instants import minted
from nmemory_reference.capsules.structure import outcome
from reference.capsules.acts import ask, nail
from reference.capsules.recalling import column, embed, fenced, ids
from reference.capsules.stage import Stage

BM25 = "SELECT rowid, bm25(capsule_words), words FROM capsule_words WHERE capsule_words MATCH '(relay) OR (turbine)'"


def put(stage: Stage, content: str, *, days: float = 0, confidence: float = 0.6, **fields: Any) -> str:
    """A capsule that has been valid for some days."""
    return stage.put(content, confidence=confidence, valid_from=minted(stage.now - timedelta(days=days)), **fields)


def score(stage: Stage, receipt: str, value: float) -> None:
    """Say how useful a recall was."""
    stage.call(outcome.TOOL, description="tried", actor="kit", receipt_id=receipt, score=value)


def test_ret22_coverage_outranks_bm25(stage: Stage) -> None:
    for number in range(20):
        stage.put(f"common filler {number}")
    stage.put("rare")
    stage.put("common rare " + "and many other words " * 40)
    answer = ask(stage, "rare", "common", token_budget=10**6)
    assert ids(answer)[:2] == ["cap-22", "cap-21"]
    first, second = column(answer, "bm25")[:2]
    assert second < first < 0


def test_ret23_of_equal_matches_the_higher_decayed_confidence_is_first(stage: Stage) -> None:
    put(stage, "relay a", confidence=0.5)
    put(stage, "relay b", confidence=0.9)
    put(stage, "relay c", confidence=0.9, days=90)
    put(stage, "relay d", confidence=0.0)
    put(stage, "relay e", confidence=0.44)
    answer = ask(stage, "relay")
    assert ids(answer) == ["cap-2", "cap-1", "cap-3", "cap-5", "cap-4"]
    assert column(answer, "decayed_weight") == [0.9, 0.5, 0.45, 0.44, 0.0]


def test_ret23_of_equal_weight_the_fresher_is_first_then_the_earlier_by_number(stage: Stage) -> None:
    """With confidence 0 all weights are equal, whatever the age."""
    for number in range(1, 12):
        put(stage, f"relay {number}", confidence=0, days=1 if number == 3 else 2)
    assert ids(ask(stage, "relay", token_budget=10**6)) == [
        "cap-3",
        *(f"cap-{number}" for number in range(1, 12) if number != 3),
    ]


def test_ret21_the_order_uses_the_weight_before_it_is_rounded(stage: Stage) -> None:
    put(stage, "relay a", confidence=0.6, days=2)
    put(stage, "relay b", confidence=0.6, days=1.9)
    answer = ask(stage, "relay")
    assert column(answer, "decayed_weight") == [0.59, 0.59]
    assert ids(answer) == ["cap-2", "cap-1"]


def test_ret24_use_decides_exact_ties_only(stage: Stage) -> None:
    for name in ("a", "b", "c"):
        put(stage, f"relay {name} {name * 3}")
    ask(stage, "ccc")
    assert ids(ask(stage, "relay")) == ["cap-3", "cap-1", "cap-2"]
    stage.later(seconds=1)
    ask(stage, "bbb")
    assert ids(ask(stage, "relay"))[0] == "cap-2"


def test_ret24_of_those_recalled_last_together_the_more_often_recalled_is_first(stage: Stage) -> None:
    for name in ("a", "b", "c"):
        put(stage, f"relay {name} {name * 3}")
    ask(stage, "bbb")
    stage.later(seconds=1)
    ask(stage, "relay")
    assert ids(ask(stage, "relay")) == ["cap-2", "cap-1", "cap-3"]


def test_ret24_use_never_beats_confidence(stage: Stage) -> None:
    put(stage, "relay a aaa", confidence=0.60)
    put(stage, "relay b bbb", confidence=0.61)
    for _ in range(5):
        stage.later(seconds=1)
        ask(stage, "aaa")
    assert ids(ask(stage, "relay")) == ["cap-2", "cap-1"]


@pytest.mark.parametrize(
    ("confidence", "days", "weight"),
    [(0.6, 0, 0.6), (0.6, 90, 0.3), (0.8, 180, 0.2), (1.0, 45, 0.71), (0.6, 3650, 0.0), (0.548992, 0, 0.55)],
)
def test_ret18_ret19_ret20_decay_shows_and_changes_no_confidence_and_removes_no_match(
    stage: Stage, confidence: float, days: float, weight: float
) -> None:
    put(stage, "relay", confidence=confidence, days=days)
    (row,) = ask(stage, "relay")["results"]
    assert (row["confidence"], row["decayed_weight"]) == (confidence, weight)


def test_a8_a_pin_keeps_the_full_weight_in_answer_and_order(stage: Stage) -> None:
    put(stage, "relay a", confidence=0.5, days=400)
    put(stage, "relay b", confidence=0.4)
    assert ids(ask(stage, "relay")) == ["cap-2", "cap-1"]
    nail(stage, "cap-1")
    answer = ask(stage, "relay")
    assert ids(answer) == ["cap-1", "cap-2"]
    assert column(answer, "decayed_weight") == [0.5, 0.4]
    nail(stage, "cap-1", pinned=False)
    assert ids(ask(stage, "relay")) == ["cap-2", "cap-1"]


def test_the_lexical_score_is_a_part_of_the_best_one(stage: Stage) -> None:
    for number in range(30):
        stage.put(f"filler {number}")
    stage.put("relay")
    stage.put("relay and " + "other words " * 30)
    answer = ask(stage, "relay")
    best, other = column(answer, "bm25")
    assert best < other < 0
    assert column(answer, "relevance") == [1.0, pytest.approx(other / best, abs=0.006)]
    assert all(value == float(f"{value:.3g}") for value in (best, other))


def test_relevance_never_leaves_its_range(stage: Stage) -> None:
    """Behind a capsule of higher coverage there may be a better bm25; it is cut to 1."""
    for number in range(30):
        stage.put(f"common {number}")
    stage.put("common rare " + "and many other words " * 20)
    stage.put("rare")
    answer = ask(stage, "common", "rare", token_budget=10**6)
    assert ids(answer)[:2] == ["cap-31", "cap-32"]
    assert column(answer, "bm25")[1] < column(answer, "bm25")[0]
    assert column(answer, "relevance")[:2] == [1.0, 1.0]
    assert all(0 <= value <= 1 for value in column(answer, "relevance"))


def test_fenced_capsules_take_no_place_in_an_order(stage: Stage) -> None:
    stage.put("relay one")
    fenced(stage, "relay relay relay", "superseded")
    stage.put("relay three")
    answer = ask(stage, "relay", limit=1)
    assert (answer["matched"], answer["trimmed_by_limit"]) == (2, 1)
    assert column(answer, "relevance") == [1.0]


def test_ret73_the_same_question_gets_the_same_order(stage: Stage) -> None:
    for number in range(30):
        stage.put(f"relay {number % 5} of {number}")
    first = ask(stage, "relay", "3", token_budget=10**6)
    with stage.store.writing() as db:
        db.execute("UPDATE standing SET recall_count = 0, last_recalled_us = NULL")
    again = ask(stage, "relay", "3", token_budget=10**6)
    assert first["returned"] == 30
    assert first["results"] == again["results"]


matches = st.tuples(
    st.lists(st.sampled_from(["relay", "turbine", "x", "y"]), min_size=1, max_size=6),
    st.sampled_from([0.0, 0.3, 0.6]),
    st.sampled_from([0, 0, 30]),
    st.sampled_from([None, 5, 9]),
    st.integers(0, 2),
)


def test_ret21_ret22_ret23_ret24_the_order_is_by_the_whole_list_of_keys(stage: Stage) -> None:
    """Against a sort of all matches by every key, for any limit."""
    projects = itertools.count(1)

    @settings(deadline=None, max_examples=40)
    @given(st.lists(matches, min_size=1, max_size=10), st.integers(1, 10))
    def holds(made: list[Any], limit: int) -> None:
        project = f"p{next(projects)}"
        late: dict[int, tuple[Any, ...]] = {}
        for number, (words, confidence, days, recalled, count) in enumerate(made):
            content = f"{' '.join(words)} {number} {project}"
            seq = int(put(stage, content, confidence=confidence, days=days, project_id=project)[4:])
            with stage.store.writing() as db:
                usage = (recalled, count, seq)
                db.execute("UPDATE standing SET last_recalled_us = ?, recall_count = ? WHERE seq = ?", usage)
            late[seq] = (-confidence * math.exp2(-days / 90), days, -(recalled or 0), -count, seq)
        expected = []
        with stage.store.reading() as db:
            for seq, bm25, words in db.execute(BM25):
                if seq in late:
                    covered = len({"relay", "turbine"}.intersection(words.split()))
                    expected.append((-covered, bm25, *late[seq]))
        asked = {"limit": limit, "token_budget": 10**6, "project_id": project}
        answer = ask(stage, "relay", "turbine", **asked)
        assert ids(answer if expected else {"results": []}) == [f"cap-{key[-1]}" for key in sorted(expected)[:limit]]

    holds()


def test_ret59_a_dormant_blend_shows_and_changes_nothing(stage: Stage) -> None:
    stage.put("relay")
    score(stage, ask(stage, "relay")["receipt_id"], 1)
    answers = [
        ask(stage, "relay", **more) for more in ({}, {"weight_blend": 0}, {"weight_blend": 0.0}, {"weight_blend": None})
    ]
    assert len({json.dumps({**answer, "receipt_id": ""}) for answer in answers}) == 1
    assert column(answers[0], "feedback_weight") == [None]


def test_ret60_a_blend_shows_the_weight_of_every_row(stage: Stage) -> None:
    stage.put("relay one")
    stage.put("relay two")
    score(stage, ask(stage, "one")["receipt_id"], 1)
    answer = ask(stage, "relay", weight_blend=0.5)
    assert column(answer, "feedback_weight") == [0.55, 0.5]
    assert list(answer["results"][0])[-1] == "feedback_weight"


def test_c44_a_score_of_0_lets_the_second_pass_and_fusion_rank_keeps_the_old_order(stage: Stage) -> None:
    embed(stage, stage.put("relay one"), 1, 0)
    embed(stage, stage.put("relay two"), 1, 1)
    fused: dict[str, Any] = {"query_embedding": [1, 0]}
    assert ids(ask(stage, "relay", **fused)) == ["cap-1", "cap-2"]
    score(stage, ask(stage, "relay", limit=1, **fused)["receipt_id"], 0)
    assert ids(ask(stage, "relay", weight_blend=0.32, **fused)) == ["cap-1", "cap-2"]
    answer = ask(stage, "relay", weight_blend=1, **fused)
    assert ids(answer) == ["cap-2", "cap-1"]
    assert column(answer, "fusion_rank") == [2, 1]
    assert column(answer, "feedback_weight") == [0.5, 0.45]


@pytest.mark.parametrize(("scores", "shown"), [([1, 1], 0.6), ([0, 0], 0.41), ([0.25], 0.48)])
def test_c44_weights_are_shown_with_halves_away_from_zero(stage: Stage, scores: list[float], shown: float) -> None:
    stage.put("relay")
    receipt = ask(stage, "relay")["receipt_id"]
    for each in scores:
        score(stage, receipt, each)
    assert column(ask(stage, "relay", weight_blend=1), "feedback_weight") == [shown]


def test_ret60_a_blend_looks_past_the_limit_and_adds_and_drops_nothing(stage: Stage) -> None:
    for number in range(20):
        stage.put(f"relay {number}")
    with stage.store.writing() as db:
        db.execute("INSERT INTO feedback VALUES (20, 1.0)")
        db.executemany("INSERT INTO feedback VALUES (?, 0.0)", [(seq,) for seq in range(1, 20)])
    plain = ask(stage, "relay", limit=1)
    blended = ask(stage, "relay", limit=1, weight_blend=1)
    assert ids(plain) == ["cap-1"]
    assert ids(blended) == ["cap-20"]
    counts = ("outcome", "matched", "returned", "trimmed", "trimmed_by_limit", "trimmed_by_budget")
    assert [plain[name] for name in counts] == [blended[name] for name in counts]


def test_ret60_a_blend_changes_no_empty_answer(stage: Stage) -> None:
    fenced(stage, "relay", "superseded")
    assert ask(stage, "relay", weight_blend=1) == ask(stage, "relay")
    assert ask(stage, "zzz", weight_blend=1) == ask(stage, "zzz")
