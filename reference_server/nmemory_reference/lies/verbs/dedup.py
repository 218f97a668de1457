"""Lies about duplicates and superseded facts."""

from __future__ import annotations

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    ask,
    asking,
    body_of,
    is_error,
    text_argument,
    with_body,
    without,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.verbs.answers import success
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("dedup")


@area.success("remember", clause="mv1/remember/duplicate-same-id", config={"embeddings": "hash"})
def duplicate_has_an_id_of_its_own(call: ToolCall, body: Body) -> None:
    """A duplicate is answered with an id that was never given."""
    if body["status"] == "duplicate":
        body["id"] += "000"


@area.liar("remember", clause="mv1/remember/duplicate-same-id", config={"embeddings": "hash"})
class DuplicateIsKeptTwice(Interceptor):
    """A duplicate is answered as one, and stored all the same."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name == "remember" and not is_error(result) and body_of(result)["status"] == "duplicate":
            # Of another kind the same text is another fact, and so it is stored.
            other = "belief" if call.arguments.get("kind") != "belief" else "event"
            await honest(asking(call, kind=other))
        return result


@area.success("remember", clause="mv1/remember/identical-is-duplicate", config={"embeddings": "hash"})
def duplicates_are_inserted(call: ToolCall, body: Body) -> None:
    """A duplicate is answered as inserted."""
    if body["status"] == "duplicate":
        body["status"] = "inserted"


@area.success("remember", clause="mv1/remember/identical-is-duplicate", config={"embeddings": "hash"})
def duplicates_are_superseded(call: ToolCall, body: Body) -> None:
    """A duplicate is answered as superseded."""
    if body["status"] == "duplicate":
        body["status"] = "superseded"


@area.answer("remember", clause="mv1/wire/serial-read-your-write", config={"embeddings": "hash"})
async def every_fact_of_an_entity_is_a_duplicate(call: ToolCall, honest: Honest) -> Result:
    """The second fact about an entity is taken for a duplicate of the first, and dropped."""
    entity = text_argument(call, "entity")
    known = await ask(honest, call, "recall", entity=entity, limit=1) if entity and entity.strip() else {}
    if not known.get("facts") or not (text_argument(call, "fact") or "").strip():
        return await honest(call)
    fact = known["facts"][0]
    return success(
        id=fact["fact_id"],
        status="duplicate",
        status_text="Known.",
        entity_slug=fact["entity_slug"],
        valid_until=None,
    )


@area.liar("remember", "recall", clause="mv1/remember/superseded-retires-old", config={"embeddings": "hash"})
class SupersededStaysCurrent(Interceptor):
    """A superseded fact is still recalled beside the one that took its place."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != "recall" or call.arguments.get("include_expired"):
            return await honest(call)
        result = await honest(asking(call, include_expired=True))
        if is_error(result):
            return result
        body = body_of(result)
        body["facts"] = [fact for fact in body["facts"] if fact["expired_at"] is None or fact["superseded_by"]]
        body["total"] = len(body["facts"])
        return with_body(result, body)


@area.liar("remember", "recall", clause="mv1/remember/superseded-retires-old", config={"embeddings": "hash"})
class SupersededIsErased(Interceptor):
    """A superseded fact is gone for good, even with include_expired."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "recall" or is_error(result):
            return result
        body = body_of(result)
        body["facts"] = [fact for fact in body["facts"] if fact["superseded_by"] is None]
        body["total"] = len(body["facts"])
        return with_body(result, body)


@area.liar("remember", clause="mv1/remember/superseded-retires-old", config={"embeddings": "hash"})
class SupersedingKeepsTheOldId(Interceptor):
    """A fact that supersedes is answered with the id of the one that it replaces."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        before = {}
        if call.name == "remember" and (text_argument(call, "entity") or "").strip():
            before = await ask(honest, call, "recall", entity=call.arguments["entity"], limit=100)
        result = await honest(call)
        if call.name != "remember" or is_error(result) or not before.get("facts"):
            return result
        body = body_of(result)
        if body["status"] == "superseded":
            after = await ask(honest, call, "recall", entity=call.arguments["entity"], limit=100)
            kept = {fact["fact_id"] for fact in after["facts"]}
            gone = [fact["fact_id"] for fact in before["facts"] if fact["fact_id"] not in kept]
            body["id"] = gone[0] if gone else body["id"]
        return with_body(result, body)


@area.liar("remember", "recall", clause="mv1/remember/provenance-verbatim", config={"embeddings": "hash"})
class SupersedingKeepsTheOldProvenance(Interceptor):
    """A fact that supersedes is shown with the provenance of the one that it replaced."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "recall" or is_error(result):
            return result
        everything = body_of(await honest(asking(without(call, "budget_tokens"), include_expired=True, limit=100)))
        before = {fact["superseded_by"]: fact["provenance"] for fact in everything["facts"] if fact["superseded_by"]}
        body = body_of(result)
        for fact in body["facts"]:
            fact["provenance"] = fact["source"] = before.get(fact["id"], fact["provenance"])
        return with_body(result, body)
