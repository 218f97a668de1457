"""memory-verbs/v1: the published schemas and the standing checks say the same, and one deviation costs one clause."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from nmemory_kit.check import Answer, Judges
from nmemory_kit.check.vocabulary import compile_schema
from nmemory_kit.contract.pack import load_pack

PACK = load_pack("memory-verbs/v1")
JUDGES = Judges(PACK)
#: What a schema cannot say.
ARITHMETIC = {standing.clause for standing in PACK.standing if standing.law is not None}

FACT = {
    "id": 7,
    "fact_id": "7",
    "fact": "The mill is for sale",
    "kind": "fact",
    "entity_slug": "projects/mill",
    "provenance": "the gazette",
    "valid_until": "2061-01-02T03:04:05Z",
    "visibility": "world",
}
RESULT = {
    "slug": "projects/mill",
    "title": "Mill",
    "chunk": "for sale",
    "evidence": "keyword_exact",
    "create_safety": "exists",
    "provenance": "projects/mill",
}
ANSWERS: dict[str, dict[str, Any]] = {
    "recall": {
        "facts": [FACT],
        "total": 1,
        "results": [RESULT],
        "search_degraded": "by keyword only",
        "budget_tokens": 100,
        "budget_used": 9,
        "dropped_count": 0,
    },
    "remember": {
        "id": "7",
        "status": "inserted",
        "status_text": "kept",
        "entity_slug": None,
        "valid_until": "2061-01-02T03:04:05+01:00",
        "degraded_dedup": True,
    },
    "entity": {
        "found": True,
        "latency_ms": 3,
        "card": {
            "entity": {"slug": "projects/mill", "title": "Mill", "type": "project"},
            "aka": ["the old mill"],
            "summary": "A mill.",
            "last_touched": {"updated_at": None, "last_retrieved_at": None, "last_timeline_date": "2061-01-02"},
            "open_threads": [{"kind": "commitment", "text": "to be sold", "date": None}],
            "edges": [{"type": "owned_by", "direction": "out", "slug": "people/ida", "context": None}],
            "backlink_count": 0,
            "active_fact_count": 1,
        },
        "suggestions": [{"slug": "projects/mills", "title": None, "create_safety": "exists"}],
    },
    "synthesize": {
        "answer": "It is for sale.",
        "sources": ["projects/mill"],
        "gaps": ["since when"],
        "cost": {"model": "m", "input_tokens": 10, "output_tokens": None, "usd_estimate": 0.1},
    },
    "forget": {"id": "7", "expired": True, "reason": None},
    "context_pack": {
        "entities": ["projects/mill"],
        "cards": [{}],
        "open_threads": [{}],
        "facts": [{}],
        "text": "It is for sale.",
        "budget_tokens": 100,
        "budget_used": 9,
        "dropped_count": 0,
    },
    "delta": {
        "since": "2061-01-02T03:04:05Z",
        "pages": [{}],
        "facts": [{}],
        "threads": [{}],
        "text": "It is for sale.",
        "has_more": True,
        "next_cursor": {"since": "2061-01-02T03:04:05Z", "slug": "projects/mill"},
    },
}
ERROR = {"error": "not_found", "message": "there is none", "suggestion": "recall gives ids", "detail": "7"}


def whole(body: dict[str, Any]) -> dict[str, Any]:
    return {"protocol_version": 1, **copy.deepcopy(body)}


def answer(body: Any, *, error: bool = False) -> Answer:
    return Answer.of_result({"content": [{"type": "text", "text": json.dumps(body)}], "isError": error})


def blamed(tool: str, body: Any, *, error: bool = False) -> set[str]:
    return {judgement.clause for judgement in JUDGES.standing(tool, answer(body, error=error))}


def valid(schema: Any, body: Any) -> bool:
    return not any(True for _ in compile_schema(schema).iter_errors(body))


def changed(value: Any, place: tuple[Any, ...], change: Any) -> Any:
    """A copy of a document with ``change`` applied to the holder and key at a place."""
    document = copy.deepcopy(value)
    holder = document
    for key in place[:-1]:
        holder = holder[key]
    change(holder, place[-1])
    return document


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*place, key))
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*place, index))


def deviations(body: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """A body with one member dropped, or one value of another type, or one text or number that nobody expects."""
    for place in places(body):
        where = "/".join(map(str, place))
        if isinstance(place[-1], str):
            yield f"without {where}", changed(body, place, lambda holder, key: holder.pop(key))
        for other in ("?", -1, 2.5, False, None, [], {}, ""):
            yield (
                f"{where}={json.dumps(other)}",
                changed(
                    body,
                    place,
                    lambda holder, key, o=other: (
                        holder.update({key: o}) if isinstance(holder, dict) else holder.__setitem__(key, o)
                    ),
                ),
            )


@pytest.mark.parametrize("tool", ANSWERS)
def test_a_right_answer_breaks_nothing(tool):
    assert not blamed(tool, whole(ANSWERS[tool]))
    assert valid(PACK.tools[tool].response, whole(ANSWERS[tool]))


@pytest.mark.parametrize("tool", ANSWERS)
def test_what_is_not_known_may_be_added_at_any_depth(tool):
    body = whole(ANSWERS[tool])
    for place in [(), *places(body)]:
        holder = body
        for key in place:
            holder = holder[key]
        if isinstance(holder, dict) and "a new member" not in place:
            holder["a new member"] = {"of": ["any", None, 7]}
    assert not blamed(tool, body)


@pytest.mark.parametrize("tool", ANSWERS)
def test_the_published_schema_and_the_standing_checks_agree_on_every_deviation(tool):
    schema = PACK.tools[tool].response
    for name, body in deviations(whole(ANSWERS[tool])):
        found = blamed(tool, body)
        if valid(schema, body):
            assert found <= ARITHMETIC, name
        else:
            assert found, name


@pytest.mark.parametrize("tool", ANSWERS)
def test_one_deviation_costs_one_clause(tool):
    for name, body in deviations(whole(ANSWERS[tool])):
        assert len(blamed(tool, body)) <= 1, (name, blamed(tool, body))


def test_an_error_deviation_costs_one_clause_and_breaks_the_published_schema():
    assert not blamed("forget", whole(ERROR), error=True)
    for name, body in deviations(whole(ERROR)):
        found = blamed("forget", body, error=True)
        assert len(found) <= 1, (name, found)
        assert valid(PACK.error_schema, body) == (not found), name


@pytest.mark.parametrize("code", ["budget_unsatisfiable", "unknown_tool", "internal", "NOT_FOUND"])
def test_a_code_outside_of_what_v1_returns_costs_one_clause(code):
    assert len(blamed("forget", whole({**ERROR, "error": code}), error=True)) == 1


@pytest.mark.parametrize(("error", "clause"), [(False, "mv1/wire/json-body"), (True, "mv1/error/envelope")])
@pytest.mark.parametrize("text", ["it is done", "", "[]", "null", '"{}"'])
def test_prose_for_an_object_costs_one_clause(text, error, clause):
    prose = Answer.of_result({"content": [{"type": "text", "text": text}], "isError": error})
    assert {judgement.clause for judgement in JUDGES.standing("forget", prose)} == {clause}
