"""What a recall leaves behind: receipts, usage, misses, lanes chosen by hand; and nothing else."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import pytest
from nmemory_reference.capsules.structure import outcome
from nmemory_reference.capsules.views import digest, visual
from reference.capsules.acts import ask, begin, capture, drop
from reference.capsules.inspection import audit, rows
from reference.capsules.recalling import embed, fenced, ids, refused, teach
from reference.capsules.stage import Stage

AT = "2031-05-01T08:00:00Z"


def misses(stage: Stage) -> list[tuple[Any, ...]]:
    """(term, outcome) of the ledger, oldest first."""
    return rows(stage, "SELECT term, outcome FROM recall_miss ORDER BY id")


def told(stage: Stage, key: str) -> Any:
    """What the digest says."""
    return stage.call(digest.TOOL).get(key)


def test_a1_every_grounded_answer_has_a_receipt_numbered_from_1(stage: Stage) -> None:
    stage.put("the relay")
    answers = [ask(stage, "relay", **more) for more in ({}, {"limit": 0}, {"token_budget": 0}, {"limit": 1})]
    assert [answer["receipt_id"] for answer in answers] == ["rcpt-1", "rcpt-2", "rcpt-3", "rcpt-4"]
    assert [len(ids(answer)) for answer in answers] == [1, 0, 0, 1]


def test_a1_empty_answers_and_refusals_have_none(stage: Stage) -> None:
    fenced(stage, "the relay", "expired")
    for answer in (ask(stage, "relay"), ask(stage, "zzz")):
        assert "receipt_id" not in answer
    refused(stage, "!")
    assert not rows(stage, "SELECT * FROM receipt")


def test_a1_a_receipt_keeps_the_question_as_it_was_asked_and_what_was_returned(stage: Stage) -> None:
    for content in ("relay one", "relay two", "relay three"):
        stage.put(content, project_id="lab/x", session_id="sess-1")
    scope = {"project_id": "lab/x", "project_prefix": "lab", "session_id": "sess-1"}
    answer = ask(stage, " Relay ", "Ünser", " Relay ", limit=2, **scope)
    ((receipt, at, terms, *fences, returned),) = rows(stage, "SELECT * FROM receipt")
    assert (receipt, at, fences) == (1, AT, ["lab/x", "lab", "sess-1"])
    assert json.loads(terms) == [" Relay ", "Ünser", " Relay "]
    assert [f"cap-{seq}" for seq in json.loads(returned)] == ids(answer)


def test_a_receipt_can_be_scored_and_moves_what_it_returned(stage: Stage) -> None:
    for content in ("relay one", "relay two", "relay three"):
        stage.put(content)
    answer = ask(stage, "relay", limit=2)
    scored = stage.call(outcome.TOOL, description="ok", actor="kit", receipt_id=answer["receipt_id"], score=1)
    assert scored["weights_updated"] == [{"capsule_id": capsule, "weight": 0.55} for capsule in ids(answer)]
    empty = ask(stage, "relay", limit=0)
    scored = stage.call(outcome.TOOL, description="ok", actor="kit", receipt_id=empty["receipt_id"], score=1)
    assert scored["weights_updated"] == []


def test_a_receipt_counts_under_the_label_that_was_asked_for(stage: Stage) -> None:
    session = begin(stage)
    capture(stage, "the relay", session_id=session)
    ask(stage, "relay")
    ask(stage, "relay", session_id=session)
    ask(stage, "relay", session_id=session, limit=0)
    ask(stage, "zzz", session_id=session)
    assert "1 saves · 2 recalls · open" in stage.call(visual.TOOL, view="sessions")["mermaid"]


def test_ret61_only_what_was_returned_counts_as_recalled(stage: Stage) -> None:
    for content in ("relay one", "relay two", "relay three"):
        stage.put(content)
    ask(stage, "relay", limit=1)
    stage.later(hours=1)
    ask(stage, "relay", limit=2)
    ask(stage, "relay", limit=0)
    seen = [(row["id"], row["recall_count"], row["last_recalled_at"]) for row in told(stage, "most_recalled")]
    assert seen == [("cap-1", 2, "2031-05-01T09:00:00Z"), ("cap-2", 1, "2031-05-01T09:00:00Z")]
    assert told(stage, "most_recalled_total") == 2


def test_ret62_a_miss_adds_a_row_for_each_distinct_folded_term(stage: Stage) -> None:
    fenced(stage, "the relay", "archived")
    ask(stage, "Turbine", "turbine ", "CAFÉ au Lait", "cafe\u0301 au lait")
    ask(stage, "relay", "zzz")
    assert misses(stage) == [
        ("turbine", "abstain"),
        ("cafe au lait", "abstain"),
        ("relay", "missing_evidence"),
        ("zzz", "missing_evidence"),
    ]
    assert told(stage, "recall_misses") == 4


def test_ret62_a_forgotten_id_alone_is_missing_evidence(stage: Stage) -> None:
    drop(stage, stage.put("the relay"))
    ask(stage, "cap-1")
    assert misses(stage) == [("cap-1", "missing_evidence")]


def test_ret62_an_alias_that_helped_makes_no_miss_and_one_that_did_not_is_not_noted(stage: Stage) -> None:
    stage.put("the rotor")
    teach(stage, "turbine", "rotor")
    ask(stage, "turbine")
    teach(stage, "relay", "zzz")
    ask(stage, "relay")
    assert misses(stage) == [("relay", "abstain")]


@pytest.mark.parametrize("more", [{}, {"limit": 0}, {"token_budget": 0}, {"limit": 0, "token_budget": 0}])
def test_ret63_a_hit_adds_none_whatever_was_trimmed(stage: Stage, more: dict[str, int]) -> None:
    stage.put("the relay")
    ask(stage, "relay", "zzz", **more)
    assert misses(stage) == []


def test_ret64_lane_vector_adds_none(stage: Stage) -> None:
    embed(stage, stage.put("the relay"), 1, 0)
    drop(stage, stage.put("gone"))
    for numbers in ([1, 0], [-1, 0]):
        ask(stage, "zzz", "cap-2", lane="vector", query_embedding=numbers)
    assert misses(stage) == []


def test_ret65_words_that_found_nothing_are_noted_though_a_vector_did(stage: Stage) -> None:
    embed(stage, stage.put("the relay"), 1, 0)
    assert ask(stage, "turbine", query_embedding=[1, 0])["outcome"] == "grounded"
    assert misses(stage) == [("turbine", "abstain")]


def test_ret65_words_that_found_only_what_is_fenced_are_noted_as_such(stage: Stage) -> None:
    fenced(stage, "the relay", "archived")
    embed(stage, stage.put("something"), 1, 0)
    assert ask(stage, "relay", query_embedding=[1, 0])["outcome"] == "grounded"
    assert misses(stage) == [("relay", "missing_evidence")]


def test_ret66_a19_a_recall_is_no_act_and_leaves_no_row_in_the_journal(stage: Stage) -> None:
    stage.put("the relay")
    ask(stage, "relay")
    ask(stage, "zzz")
    assert audit(stage) == []


@pytest.mark.parametrize(
    ("lane", "embedded", "overridden"),
    [
        (None, True, 0),
        ("auto", True, 0),
        ("term", True, 1),
        ("vector", True, 1),
        ("fused", True, 0),
        (None, False, 0),
        ("auto", False, 0),
        ("term", False, 0),
    ],
)
@pytest.mark.parametrize("stored", ["evidence", "fenced", "nothing"])
def test_c43_a_lane_that_auto_would_not_take_counts_whatever_comes_of_it(
    stage: Stage, lane: str | None, embedded: bool, overridden: int, stored: str
) -> None:
    if stored != "nothing":
        embed(stage, fenced(stage, "the relay", *(["expired"] if stored == "fenced" else [])), 1, 0)
    ask(stage, "relay", lane=lane, **({"query_embedding": [1, 0]} if embedded else {}))
    assert told(stage, "lane_overrides_total") == (overridden or None)


def test_c43_a_refused_lane_counts_nothing(stage: Stage) -> None:
    for lane in ("vector", "fused"):
        refused(stage, "relay", lane=lane)
    refused(stage, "relay", lane="term", query_embedding=[0])
    assert told(stage, "lane_overrides_total") is None


def test_a_ledger_that_can_take_nothing_spoils_no_answer(stage: Stage) -> None:
    """Telemetry fails open; only a receipt is a part of the answer."""
    embed(stage, stage.put("the relay"), 1, 0)
    with stage.store.writing() as db:
        for table in ("recall_miss", "counter"):
            act = "INSERT" if table == "recall_miss" else "UPDATE"
            db.execute(f"CREATE TRIGGER no_{table} BEFORE {act} ON {table} BEGIN SELECT raise(ABORT, 'no'); END")
    assert ask(stage, "zzz")["outcome"] == "abstain"
    assert ask(stage, "zzz", query_embedding=[1, 0])["receipt_id"] == "rcpt-1"
    assert ask(stage, "relay", lane="vector", query_embedding=[1, 0])["receipt_id"] == "rcpt-2"
    assert misses(stage) == []


def test_a_receipt_that_can_not_be_kept_is_never_promised(stage: Stage) -> None:
    stage.put("the relay")
    with stage.store.writing() as db:
        db.execute("CREATE TRIGGER no_receipt BEFORE INSERT ON receipt BEGIN SELECT raise(ABORT, 'no'); END")
    with pytest.raises(sqlite3.Error):
        ask(stage, "relay")
    assert rows(stage, "SELECT recall_count FROM standing") == [(0,)]
