"""Lies about what recall hides: private facts, and forgotten ones."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

from nmemory_reference.lies.answers import (
    Honest,
    Result,
    as_local,
    ask,
    asking,
    body_of,
    is_error,
    text_argument,
    with_body,
    without,
)
from nmemory_reference.lies.lie import Area, Lie
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("hidden")


def _leak(name: str, says: str, when: Callable[[ToolCall], object]) -> None:
    """Private facts are shown to a remote caller, on one path."""

    class Leak(Interceptor):
        async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
            return await honest(as_local(call) if call.name == "recall" and when(call) else call)

    area.add(
        Lie(
            id=f"hidden/private-leaks-{name}",
            clause="mv1/recall/private-hidden",
            says=says,
            make=Leak,
            tools=frozenset({"recall"}),
        )
    )


_leak("everywhere", "Every recall shows private facts.", lambda call: True)
_leak("by-entity", "An entity's recall shows its private facts.", lambda call: call.arguments.get("entity"))
_leak(
    "without-entity", "A recall without an entity shows private facts.", lambda call: not call.arguments.get("entity")
)
_leak("through-grep", "grep finds private facts.", lambda call: call.arguments.get("grep"))
_leak(
    "through-include-expired",
    "include_expired shows private facts.",
    lambda call: call.arguments.get("include_expired"),
)
_leak("through-query", "With a query private facts are shown.", lambda call: call.arguments.get("query"))
_leak("through-since", "With since private facts are shown.", lambda call: call.arguments.get("since"))
_leak(
    "through-include-pending",
    "include_pending shows private facts.",
    lambda call: call.arguments.get("include_pending"),
)
_leak("through-limit", "With a limit private facts are shown.", lambda call: call.arguments.get("limit"))
_leak("through-budget", "With a budget private facts are shown.", lambda call: "budget_tokens" in call.arguments)


@area.answer("recall", clause="mv1/recall/private-hidden")
async def private_leaks_as_a_result(call: ToolCall, honest: Honest) -> Result:
    """A query finds private facts as if they were pages."""
    result = await honest(call)
    query = text_argument(call, "query")
    if is_error(result) or not query:
        return result
    body = body_of(result)
    words = set(query.casefold().split())
    for fact in (await ask(honest, as_local(call), "recall", limit=100))["facts"]:
        if fact["visibility"] == "private" and words & set(fact["fact"].casefold().split()):
            body["results"].append(
                {
                    "slug": fact["entity_slug"] or "facts",
                    "title": None,
                    "chunk": fact["fact"],
                    "evidence": "weak_semantic",
                    "create_safety": "unknown",
                    "provenance": fact["entity_slug"] or "facts",
                }
            )
    return with_body(result, body)


@area.answer("recall", clause="mv1/recall/private-hidden")
async def private_leaks_in_a_side_field(call: ToolCall, honest: Honest) -> Result:
    """Private facts stand in a field of their own, for debugging."""
    result = await honest(call)
    everything = await honest(as_local(call))
    if is_error(result) or is_error(everything):
        return result
    hidden = [fact["fact"] for fact in body_of(everything)["facts"] if fact["visibility"] == "private"]
    return with_body(result, {**body_of(result), "_debug": {"withheld": hidden}})


@area.answer("recall", clause="mv1/recall/private-hidden", also={"mv1/recall/total"})
async def private_facts_are_counted(call: ToolCall, honest: Honest) -> Result:
    """total counts the private facts that are not shown."""
    result = await honest(call)
    everything = await honest(as_local(call))
    if is_error(result) or is_error(everything):
        return result
    return with_body(result, {**body_of(result), "total": body_of(everything)["total"]})


@area.answer("recall", clause="mv1/recall/private-hidden")
async def private_facts_are_blanked(call: ToolCall, honest: Honest) -> Result:
    """A private fact is shown without its text."""
    result = await honest(as_local(call))
    if is_error(result):
        return result
    body = body_of(result)
    for fact in body["facts"]:
        if fact["visibility"] == "private":
            fact["fact"] = fact["provenance"] = fact["source"] = "(private)"
    return with_body(result, body)


@area.answer("recall", clause="mv1/recall/private-hidden")
async def private_leaks_through_supersessions(call: ToolCall, honest: Honest) -> Result:
    """supersessions shows private facts, whatever became of them."""
    if not call.arguments.get("supersessions"):
        return await honest(call)
    return await honest(without(as_local(call), "supersessions"))


@area.answer("recall", clause="mv1/recall/private-hidden", also={"mv1/recall/budget-accounting"})
async def private_facts_are_dropped_by_the_budget(call: ToolCall, honest: Honest) -> Result:
    """dropped_count counts private facts."""
    result = await honest(call)
    if is_error(result) or "budget_tokens" not in call.arguments:
        return result
    body = body_of(result)
    shown = body_of(await honest(without(call, "budget_tokens")))
    everything = body_of(await honest(without(as_local(call), "budget_tokens")))
    body["dropped_count"] += everything["total"] - shown["total"]
    return with_body(result, body)


@area.liar("recall", clause="mv1/recall/forgotten-hidden")
class RecallIsCached(Interceptor):
    """recall answers an earlier answer again until something new is remembered."""

    def __init__(self) -> None:
        self._cache: dict[str, Result] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == "remember":
            self._cache.clear()
        if call.name != "recall":
            return await honest(call)
        key = repr((call.caller.tenant, sorted(call.arguments.items(), key=repr)))
        if key not in self._cache:
            self._cache[key] = await honest(call)
        return deepcopy(self._cache[key])


def _still_there(name: str, says: str, when: Callable[[ToolCall], object]) -> None:
    """Forgotten facts are still shown, on one path."""

    def make() -> Interceptor:
        return _Undead(when)

    area.add(
        Lie(
            id=f"hidden/forgotten-stays-{name}",
            clause="mv1/recall/forgotten-hidden",
            says=says,
            make=make,
            tools=frozenset({"recall"}),
        )
    )


class _Undead(Interceptor):
    """Shows forgotten facts where `when` says so."""

    def __init__(self, when: Callable[[ToolCall], object]) -> None:
        self._when = when

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        shows = call.name == "recall" and self._when(call)
        return await honest(asking(call, include_expired=True) if shows else call)


_still_there(
    "by-entity", "An entity's recall still shows its forgotten facts.", lambda call: call.arguments.get("entity")
)
_still_there("in-grep", "grep still finds forgotten facts.", lambda call: call.arguments.get("grep"))
_still_there(
    "without-entity",
    "A recall without an entity still shows forgotten facts.",
    lambda call: "entity" not in call.arguments,
)
_still_there("with-query", "With a query forgotten facts are still shown.", lambda call: call.arguments.get("query"))
_still_there("with-limit", "With a limit forgotten facts are still shown.", lambda call: call.arguments.get("limit"))
_still_there("with-since", "With since forgotten facts are still shown.", lambda call: call.arguments.get("since"))
_still_there(
    "with-budget", "With a budget forgotten facts are still shown.", lambda call: "budget_tokens" in call.arguments
)


@area.asking("recall", clause="mv1/recall/forgotten-hidden")
def forgotten_stays_with_include_pending(call: ToolCall) -> ToolCall:
    """Who asks for pending facts is shown forgotten ones too."""
    return asking(call, include_expired=True) if call.arguments.get("include_pending") is True else call
