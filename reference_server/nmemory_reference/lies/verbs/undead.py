"""Lies about facts that were forgotten and come back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import UTC, datetime

from nmemory_reference.instant import iso
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
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("undead")


class _Risen(Interceptor, ABC):
    """Shows some facts in the default recall that were forgotten."""

    @abstractmethod
    def risen(self, fact: Body) -> bool:
        """Whether a forgotten fact is shown all the same."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != "recall" or call.arguments.get("include_expired"):
            return await honest(call)
        result = await honest(asking(call, include_expired=True))
        if is_error(result):
            return result
        now = iso(datetime.now(UTC))
        body = body_of(result)
        body["facts"] = [
            fact
            for fact in body["facts"]
            if (fact["expired_at"] is None or self.risen(fact)) and (fact["valid_until"] or now) >= now
        ]
        body["total"] = len(body["facts"])
        return with_body(result, body)


@area.liar("remember", "recall", clause="mv1/recall/forgotten-hidden")
class ForgottenComeBackWithTheNextFact(_Risen):
    """A forgotten fact is shown again once its entity has a new one."""

    def __init__(self) -> None:
        self._written: dict[str | None, str] = {}

    def risen(self, fact: Body) -> bool:
        return fact["superseded_by"] is None and fact["expired_at"] < self._written.get(fact["entity_slug"], "")

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await super().call_tool(call, honest)
        if call.name == "remember" and not is_error(result):
            self._written[body_of(result)["entity_slug"]] = iso(datetime.now(UTC))
        return result


@area.liar("recall", clause="mv1/recall/forgotten-hidden")
class ForgottenComeBackAfterARestart(_Risen):
    """What was forgotten before a restart is shown after it."""

    def __init__(self) -> None:
        self._began = iso(datetime.now(UTC))

    def risen(self, fact: Body) -> bool:
        return fact["superseded_by"] is None and bool(fact["expired_at"] < self._began)


@area.answer("recall", clause="mv1/recall/forgotten-hidden")
async def forgotten_facts_are_results(call: ToolCall, honest: Honest) -> Result:
    """A query finds forgotten facts as if they were pages."""
    result = await honest(call)
    query = text_argument(call, "query")
    if is_error(result) or not query or not query.strip():
        return result
    body = body_of(result)
    words = set(query.casefold().split())
    for fact in (await ask(honest, call, "recall", limit=100, include_expired=True))["facts"]:
        if fact["expired_at"] is not None and words & set(fact["fact"].casefold().split()):
            slug = fact["entity_slug"] or "facts"
            body["results"].append(
                {
                    "slug": slug,
                    "title": None,
                    "chunk": fact["fact"],
                    "evidence": "keyword_exact",
                    "create_safety": "unknown",
                    "provenance": slug,
                }
            )
    return with_body(result, body)
