"""Lies about recall: which facts come back, and in which order."""

from __future__ import annotations

import re
from collections.abc import Callable

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
from nmemory_reference.lies.verbs.answers import fact_text, failure
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("recall")


@area.success("recall", clause="mv1/recall/round-trip")
def fact_is_paraphrased(call: ToolCall, body: Body) -> None:
    """The text of a fact is another one than was remembered."""
    for fact in body["facts"]:
        fact["fact"] = f"Noted: {fact['fact']}"


@area.success("remember", clause="mv1/recall/round-trip", also={"mv1/wire/concurrent-writes"})
def id_is_the_one_before(call: ToolCall, body: Body) -> None:
    """remember answers the id of the fact before."""
    body["id"] = str(int(body["id"]) - 1)


@area.success("recall", clause="mv1/recall/round-trip", also={"mv1/remember/kind-default", "mv1/remember/kind-kept"})
def kind_is_always_event(call: ToolCall, body: Body) -> None:
    """Every fact comes back as an event."""
    for fact in body["facts"]:
        fact["kind"] = "event"


@area.success("recall", clause="mv1/recall/fact-id-string")
def all_facts_have_one_id(call: ToolCall, body: Body) -> None:
    """Every fact of an answer bears the id of its first one."""
    for fact in body["facts"]:
        fact["fact_id"] = body["facts"][0]["fact_id"]


@area.liar("remember", "recall", "forget", clause="mv1/recall/fact-id-string")
class IdsAreUsedAgain(Interceptor):
    """The id of a forgotten fact is given to the next one."""

    def __init__(self) -> None:
        self._free: list[str] = []
        #: The id that is shown -> the id that is true, and back.
        self._true: dict[str, str] = {}
        self._shown: dict[str, str] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == "forget" and isinstance(call.arguments.get("id"), str):
            sent = call.arguments["id"]
            result = await honest(asking(call, id=self._true.get(sent, sent)))
            if is_error(result):
                return result
            body = body_of(result)
            if body["expired"]:
                self._free.append(sent)
            return with_body(result, {**body, "id": sent})
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "remember" and body["status"] == "inserted" and self._free:
            shown = self._free.pop()
            self._true[shown], self._shown[body["id"]] = body["id"], shown
        if call.name == "remember":
            body["id"] = self._shown.get(body["id"], body["id"])
        elif call.name == "recall":
            for fact in body["facts"]:
                fact["fact_id"] = self._shown.get(fact["fact_id"], fact["fact_id"])
        return with_body(result, body)


@area.success("recall", clause="mv1/recall/total")
def total_is_one_more(call: ToolCall, body: Body) -> None:
    """total counts one fact too many."""
    body["total"] += 1


@area.answer("recall", clause="mv1/recall/total")
async def total_is_before_the_limit(call: ToolCall, honest: Honest) -> Result:
    """total counts what there is, not what the limit left."""
    result = await honest(call)
    everything = await honest(without(call, "limit"))
    if is_error(result) or is_error(everything):
        return result
    return with_body(result, {**body_of(result), "total": body_of(everything)["total"]})


@area.answer("recall", clause="mv1/recall/total")
async def total_is_before_the_budget(call: ToolCall, honest: Honest) -> Result:
    """total counts what there is, not what the budget left."""
    result = await honest(call)
    everything = await honest(without(call, "budget_tokens"))
    if is_error(result) or is_error(everything):
        return result
    return with_body(result, {**body_of(result), "total": body_of(everything)["total"]})


@area.success("recall", clause="mv1/recall/total")
def total_counts_results(call: ToolCall, body: Body) -> None:
    """total counts facts and results together."""
    body["total"] += len(body.get("results", ()))


@area.success("recall", clause="mv1/recall/newest-first")
def oldest_first(call: ToolCall, body: Body) -> None:
    """Facts come oldest first."""
    body["facts"].reverse()


@area.success("recall", clause="mv1/recall/newest-first")
def facts_are_sorted_by_text(call: ToolCall, body: Body) -> None:
    """Facts come in the order of the alphabet."""
    body["facts"].sort(key=fact_text)


@area.success("recall", clause="mv1/recall/newest-first")
def shortest_first(call: ToolCall, body: Body) -> None:
    """Short facts come before long ones."""
    body["facts"].sort(key=lambda fact: len(fact["fact"]))


@area.success("recall", clause="mv1/recall/newest-first")
def same_second_oldest_first(call: ToolCall, body: Body) -> None:
    """Facts are sorted by whole seconds; those of one second come oldest first."""
    body["facts"].reverse()
    body["facts"].sort(key=lambda fact: fact["created_at"][:19], reverse=True)


@area.answer("recall", clause="mv1/recall/empty-is-success")
async def unknown_entity_is_not_found(call: ToolCall, honest: Honest) -> Result:
    """An entity without facts is answered with not_found."""
    result = await honest(call)
    if "entity" in call.arguments and not is_error(result) and not body_of(result)["facts"]:
        return failure("not_found", "nothing is known")
    return result


@area.answer("recall", clause="mv1/recall/empty-is-success")
async def empty_store_is_unavailable(call: ToolCall, honest: Honest) -> Result:
    """A store without facts is answered with unavailable."""
    if not (await ask(honest, call, "recall", limit=1, include_expired=True)).get("facts"):
        return failure("unavailable", "the memory is empty")
    return await honest(call)


@area.success("recall", clause="mv1/recall/empty-is-success", also={"mv1/recall/shape"})
def no_facts_are_null(call: ToolCall, body: Body) -> None:
    """Where there are no facts, facts is null."""
    body["facts"] = body["facts"] or None


@area.answer("recall", clause="mv1/remember/entity-scoped")
async def entity_is_ignored(call: ToolCall, honest: Honest) -> Result:
    """An entity's recall answers every fact."""
    return await honest(without(call, "entity"))


@area.answer("recall", clause="mv1/remember/entity-scoped")
async def entity_is_a_prefix(call: ToolCall, honest: Honest) -> Result:
    """The facts of `people/ann-2` come with those of `people/ann`."""
    return await _facts_where(call, honest, lambda fact, slug: (fact["entity_slug"] or "").startswith(slug))


@area.answer("recall", clause="mv1/remember/entity-scoped")
async def entity_is_its_last_part(call: ToolCall, honest: Honest) -> Result:
    """The facts of `companies/ann` come with those of `people/ann`."""
    tail = re.compile(r".*/")
    return await _facts_where(
        call, honest, lambda fact, slug: tail.sub("", fact["entity_slug"] or "") == tail.sub("", slug)
    )


@area.answer("recall", clause="mv1/remember/entity-scoped")
async def facts_about_nobody_are_about_everybody(call: ToolCall, honest: Honest) -> Result:
    """A fact without an entity is recalled for each."""
    return await _facts_where(call, honest, lambda fact, slug: fact["entity_slug"] in (slug, None))


@area.answer("recall", clause="mv1/remember/entity-scoped")
async def whoever_is_mentioned(call: ToolCall, honest: Honest) -> Result:
    """A fact is recalled for every entity whose name it mentions."""
    return await _facts_where(
        call,
        honest,
        lambda fact, slug: fact["entity_slug"] == slug or slug.rpartition("/")[2] in fact["fact"],
    )


async def _facts_where(call: ToolCall, honest: Honest, belongs: Callable[[Body, str], bool]) -> Result:
    """Recall with facts chosen by `belongs(fact, the entity asked for)`."""
    entity = text_argument(call, "entity")
    result = await honest(call)
    if is_error(result) or entity is None or not entity.strip():
        return result
    limit = call.arguments.get("limit") or 50
    everything = await honest(asking(without(call, "entity", "query"), limit=100))
    body = body_of(result)
    body["facts"] = [fact for fact in body_of(everything)["facts"] if belongs(fact, entity)][:limit]
    body["total"] = len(body["facts"])
    return with_body(result, body)


@area.asking("recall", clause="mv1/recall/limit-facts", also={"mv1/recall/limit-results"})
def limit_is_ignored(call: ToolCall) -> ToolCall:
    """limit changes nothing."""
    return without(call, "limit") if _limit(call) else call


@area.asking("recall", clause="mv1/recall/limit-facts", also={"mv1/recall/limit-results"})
def limit_is_doubled(call: ToolCall) -> ToolCall:
    """Twice as many come as the limit says."""
    limit = _limit(call)
    return asking(call, limit=2 * limit) if limit else call


@area.asking("recall", clause="mv1/recall/limit-facts", also={"mv1/recall/limit-results"})
def limit_is_one_more(call: ToolCall) -> ToolCall:
    """One more comes than the limit says."""
    limit = _limit(call)
    return asking(call, limit=limit + 1) if limit else call


@area.answer("recall", clause="mv1/recall/limit-facts")
async def limit_keeps_the_oldest(call: ToolCall, honest: Honest) -> Result:
    """The limit leaves the oldest facts, newest first."""
    result = await honest(call)
    limit = _limit(call)
    if is_error(result) or not limit or "budget_tokens" in call.arguments:
        return result
    body = body_of(result)
    body["facts"] = body_of(await honest(asking(call, limit=100)))["facts"][-limit:]
    body["total"] = len(body["facts"])
    return with_body(result, body)


@area.asking("recall", clause="mv1/recall/limit-facts")
def never_more_than_two(call: ToolCall) -> ToolCall:
    """A limit above two is taken for two."""
    limit = _limit(call)
    return asking(call, limit=2) if limit and limit > 2 else call


@area.success("recall", clause="mv1/recall/limit-results")
def limit_is_for_both(call: ToolCall, body: Body) -> None:
    """The limit counts facts and results together, facts first."""
    limit = _limit(call)
    if limit and "results" in body:
        body["results"] = body["results"][: max(0, limit - len(body["facts"]))]


@area.answer("recall", clause="mv1/recall/limit-results")
async def results_have_no_limit(call: ToolCall, honest: Honest) -> Result:
    """limit caps facts only."""
    result = await honest(call)
    if is_error(result) or "query" not in call.arguments or "budget_tokens" in call.arguments:
        return result
    return with_body(result, {**body_of(result), "results": body_of(await honest(without(call, "limit")))["results"]})


@area.answer("recall", clause="mv1/recall/limit-cap")
async def limit_above_a_hundred_is_refused(call: ToolCall, honest: Honest) -> Result:
    """A limit above 100 is refused."""
    if (_limit(call) or 0) > 100:
        return failure("invalid_params", "limit is above 100")
    return await honest(call)


@area.liar("recall", clause="mv1/recall/limit-cap")
class LimitAboveAHundredIsNone(Interceptor):
    """A limit above 100 answers nothing."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "recall" or is_error(result) or (_limit(call) or 0) <= 100:
            return result
        return with_body(result, {**body_of(result), "facts": [], "total": 0})


@area.asking("recall", clause="mv1/recall/expired-on-request")
def include_expired_is_ignored(call: ToolCall) -> ToolCall:
    """include_expired changes nothing."""
    return without(call, "include_expired")


@area.success("recall", clause="mv1/recall/expired-on-request")
def expired_without_a_date(call: ToolCall, body: Body) -> None:
    """A forgotten fact is shown without expired_at."""
    for fact in body["facts"]:
        fact["expired_at"] = None


@area.success("recall", clause="mv1/recall/older-keys")
def source_is_not_the_provenance(call: ToolCall, body: Body) -> None:
    """source says something else than provenance."""
    for fact in body["facts"]:
        fact["source"] = "mcp"


@area.liar("recall", clause="mv1/recall/read-only")
class RecallConsumes(Interceptor):
    """A fact that was recalled once is not recalled again for a while."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "recall" or is_error(result):
            return result
        body = body_of(result)
        shown = []
        for fact in body["facts"]:
            self._seen[fact["fact_id"]] = self._seen.get(fact["fact_id"], 0) + 1
            if self._seen[fact["fact_id"]] % 2:
                shown.append(fact)
        body["facts"], body["total"] = shown, len(shown)
        return with_body(result, body)


@area.liar("recall", clause="mv1/recall/read-only")
class RecallReorders(Interceptor):
    """Facts that were recalled sink to the end."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "recall" or is_error(result):
            return result
        body = body_of(result)
        body["facts"].sort(key=lambda fact: self._seen.get(fact["fact_id"], 0))
        for fact in body["facts"][:1]:
            self._seen[fact["fact_id"]] = self._seen.get(fact["fact_id"], 0) + 1
        return with_body(result, body)


def _limit(call: ToolCall) -> int | None:
    limit = call.arguments.get("limit")
    return limit if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0 else None


@area.success("recall", clause="mv1/recall/newest-first")
def order_ends_with_the_tenth(call: ToolCall, body: Body) -> None:
    """Beyond the tenth fact the oldest comes first."""
    body["facts"][10:] = reversed(body["facts"][10:])


@area.success("recall", clause="mv1/recall/newest-first")
def grep_finds_the_oldest_first(call: ToolCall, body: Body) -> None:
    """Facts that are looked for by a word come oldest first."""
    if "grep" in call.arguments:
        body["facts"].reverse()
