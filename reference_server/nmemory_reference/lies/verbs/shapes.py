"""Lies about the shape of answers that people would tell; `systematic` makes the others."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from nmemory_reference.lies.answers import Body
from nmemory_reference.lies.lie import Area
from nmemory_reference.serve.interceptor import ToolCall

area = Area("shape")

_ARMS = {
    "alias_hit": "alias",
    "exact_title_match": "exact",
    "high_vector_match": "vector",
    "keyword_exact": "bm25",
    "weak_semantic": "other",
}


@area.success("remember", clause="mv1/remember/shape")
def remember_speaks_camel_case(call: ToolCall, body: Body) -> Body:
    """remember's answer has its keys in camel case."""
    return {key if key == "protocol_version" else _camel(key): value for key, value in body.items()}


@area.success("remember", clause="mv1/remember/shape")
def remember_counts_seconds(call: ToolCall, body: Body) -> None:
    """remember's valid_until is a number of seconds."""
    if body["valid_until"] is not None:
        body["valid_until"] = datetime.fromisoformat(body["valid_until"]).timestamp()


@area.success("remember", clause="mv1/remember/shape")
def remember_dates_are_prose(call: ToolCall, body: Body) -> None:
    """remember's valid_until is a date for people."""
    if body["valid_until"] is not None:
        body["valid_until"] = datetime.fromisoformat(body["valid_until"]).strftime("%d %B %Y, %H:%M")


@area.success("remember", clause="mv1/remember/id-opaque-string")
def ids_are_numbers(call: ToolCall, body: Body) -> None:
    """remember's id is a number."""
    body["id"] = int(body["id"])


@area.success("remember", clause="mv1/remember/id-opaque-string", also={"mv1/recall/round-trip"})
def ids_are_empty(call: ToolCall, body: Body) -> None:
    """remember's id is an empty text."""
    body["id"] = ""


@area.success("remember", clause="mv1/remember/status-enum")
def status_is_created(call: ToolCall, body: Body) -> None:
    """A new fact's status is `created`."""
    if body["status"] == "inserted":
        body["status"] = "created"


@area.success("remember", clause="mv1/remember/status-enum", config={"embeddings": "hash"})
def status_is_updated(call: ToolCall, body: Body) -> None:
    """The status of a fact that supersedes is `updated`."""
    if body["status"] == "superseded":
        body["status"] = "updated"


@area.success("remember", clause="mv1/remember/status-text")
def status_text_is_empty(call: ToolCall, body: Body) -> None:
    """status_text is empty where nothing went wrong."""
    body["status_text"] = ""


@area.success("remember", clause="mv1/remember/status-text")
def status_text_is_an_object(call: ToolCall, body: Body) -> None:
    """status_text is an object of languages."""
    body["status_text"] = {"en": body["status_text"]}


@area.success("recall", clause="mv1/recall/shape")
def facts_are_keyed_by_id(call: ToolCall, body: Body) -> None:
    """facts is an object, keyed by fact_id."""
    body["facts"] = {fact["fact_id"]: fact for fact in body["facts"]}


@area.success("recall", clause="mv1/recall/shape")
def facts_are_texts(call: ToolCall, body: Body) -> None:
    """Facts are their texts alone."""
    body["facts"] = [fact["fact"] for fact in body["facts"]]


@area.success("recall", clause="mv1/recall/shape")
def older_id_is_a_text(call: ToolCall, body: Body) -> None:
    """The id for older consumers is a text."""
    for fact in body["facts"]:
        fact["id"] = str(fact["id"])


@area.success("recall", clause="mv1/recall/shape")
def facts_have_no_provenance(call: ToolCall, body: Body) -> None:
    """A fact comes without its provenance."""
    for fact in body["facts"]:
        del fact["provenance"]


@area.success("recall", clause="mv1/recall/evidence-enum")
def evidence_has_other_words(call: ToolCall, body: Body) -> None:
    """evidence names the search arm that found the page."""
    for result in body.get("results", ()):
        result["evidence"] = _ARMS[result["evidence"]]


@area.success("recall", clause="mv1/recall/evidence-enum")
def evidence_is_a_score(call: ToolCall, body: Body) -> None:
    """evidence is a number."""
    for result in body.get("results", ()):
        result["evidence"] = 0.93


@area.success("recall", clause="mv1/recall/create-safety-enum")
def create_safety_is_yes_or_no(call: ToolCall, body: Body) -> None:
    """create_safety is a boolean."""
    for result in body.get("results", ()):
        result["create_safety"] = result["create_safety"] == "exists"


@area.success("recall", clause="mv1/recall/create-safety-enum")
def create_safety_is_safe(call: ToolCall, body: Body) -> None:
    """create_safety has a value of its own for weak matches."""
    for result in body.get("results", ()):
        result["create_safety"] = "exists" if result["create_safety"] == "exists" else "safe"


@area.success("entity", clause="mv1/entity/shape")
def card_is_flat(call: ToolCall, body: Body) -> None:
    """The entity's slug, title and type stand in the card itself."""
    if body["found"]:
        body["card"] |= body["card"].pop("entity")


@area.success("entity", clause="mv1/entity/shape")
def no_aliases_are_null(call: ToolCall, body: Body) -> None:
    """Without aliases aka is null."""
    if body["found"]:
        body["card"]["aka"] = body["card"]["aka"] or None


@area.success("entity", clause="mv1/entity/shape")
def edges_are_outgoing_and_incoming(call: ToolCall, body: Body) -> None:
    """An edge's direction is `outgoing` or `incoming`."""
    for edge in body["card"]["edges"] if body["found"] else ():
        edge["direction"] += "going" if edge["direction"] == "out" else "coming"


@area.success("entity", clause="mv1/entity/shape")
def threads_are_texts(call: ToolCall, body: Body) -> None:
    """Open threads are their texts alone."""
    if body["found"]:
        body["card"]["open_threads"] = [thread["text"] for thread in body["card"]["open_threads"]]


@area.success("entity", clause="mv1/entity/latency-integer")
def latency_has_a_unit(call: ToolCall, body: Body) -> None:
    """latency_ms is a text with its unit."""
    body["latency_ms"] = f"{body['latency_ms']} ms"


@area.success("delta", clause="mv1/delta/shape")
def cursor_is_a_text(call: ToolCall, body: Body) -> None:
    """next_cursor is one text."""
    body["next_cursor"] = f"{body['next_cursor']['since']}|{body['next_cursor']['slug']}"


@area.success("delta", clause="mv1/delta/shape")
def has_more_is_a_number(call: ToolCall, body: Body) -> None:
    """has_more tells how many more there are."""
    body["has_more"] = int(body["has_more"])


@area.success("context_pack", clause="mv1/context-pack/shape")
def text_is_left_out(call: ToolCall, body: Body) -> None:
    """The bundle has no text."""
    del body["text"]


def _camel(key: str) -> Any:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), key)
