"""Variants in substance: other ids and slugs, less than the reference does, other sums."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    ask,
    asking,
    body_of,
    dumped,
    is_error,
    text_argument,
    with_body,
    without,
)
from nmemory_reference.lies.forms import instants, seconds
from nmemory_reference.lies.variant import Lists, Variant
from nmemory_reference.lies.verbs.answers import FACT_TOOLS, LATER_VERBS, success
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

Json = Any


class OtherIds(Interceptor):
    """The ids of facts look otherwise, everywhere; ids that look like ours are unknown."""

    def __init__(self, outward: Callable[[str], str], inward: Callable[[str], str | None]) -> None:
        self._outward, self._inward = outward, inward

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == "forget" and (sent := text_argument(call, "id")) and sent.strip():
            result = await honest(asking(call, id=self._inward(sent) or "unknown"))
            body = body_of(result)
            return with_body(result, {**body, "id": sent} if "id" in body else body)
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "remember":
            body["id"] = self._outward(body["id"])
        elif call.name in FACT_TOOLS:
            for fact in body["facts"]:
                fact["fact_id"] = self._outward(fact["fact_id"])
        return with_body(result, body)


_UUID = re.compile(r"0{8}-feed-4bee-8fee-([0-9a-f]{12})")


def _uuid(fact_id: str) -> str:
    return f"00000000-feed-4bee-8fee-{int(fact_id):012x}"


def _from_uuid(shown: str) -> str | None:
    match = _UUID.fullmatch(shown)
    return str(int(match[1], 16)) if match else None


_LONG = "mem://Gedächtnis/" + "a/b?c=%20&" * 20


def _long(fact_id: str) -> str:
    return f"{_LONG}{fact_id}=="


def _from_long(shown: str) -> str | None:
    return shown[len(_LONG) : -2] if shown.startswith(_LONG) and shown.endswith("==") else None


class OtherSlugs(Interceptor):
    """Entities are canonicalised another way: the slug of a fact is not what was sent."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        entity = text_argument(call, "entity")
        if entity and entity.startswith("kb:"):
            call = asking(call, entity=entity.removeprefix("kb:"))
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        for one in [body] if call.name == "remember" else body["facts"] if call.name == "recall" else []:
            one["entity_slug"] = one["entity_slug"] and f"kb:{one['entity_slug']}"
        return with_body(result, body)


class WithoutLaterVerbs(Lists):
    """context_pack and delta are not there."""

    def __init__(self) -> None:
        super().__init__(lambda tools: [tool for tool in tools if tool["name"] not in LATER_VERBS])

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name in LATER_VERBS:
            raise RpcFault(-32602, f"Unknown tool: {call.name}")
        return await honest(call)


class OnlyRequiredKeys(Interceptor):
    """Facts and results have the keys that are required, and no others."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name not in FACT_TOOLS or is_error(result):
            return result
        body = body_of(result)
        keep = ("id", "fact_id", "fact", "kind", "provenance")
        body["facts"] = [{key: fact[key] for key in keep} for fact in body["facts"]]
        for found in body.get("results", ()):
            del found["chunk"]
        return with_body(result, body)


class Sparse(Interceptor):
    """What may be null or empty is: titles, chunks, summaries, suggestions beside a card."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name not in ("recall", "entity") or is_error(result):
            return result
        body = body_of(result)
        for found in body.get("results", ()):
            found |= {"chunk": None, "evidence": "weak_semantic", "create_safety": "unknown"}
        if "card" in body:
            body["card"]["summary"] = ""
            body["card"]["last_touched"] |= {"last_retrieved_at": None, "last_timeline_date": None}
            body["card"]["entity"]["type"] = None
            for edge in body["card"]["edges"]:
                edge["context"] = None
        return with_body(result, body)


class Untold(Interceptor):
    """last_touched has nulls only."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "entity" or is_error(result) or not body_of(result)["found"]:
            return result
        body = body_of(result)
        body["card"]["last_touched"] = dict.fromkeys(body["card"]["last_touched"])
        return with_body(result, body)


class NoThreads(Interceptor):
    """A card has no open threads: they are best effort."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "entity" or is_error(result) or not body_of(result)["found"]:
            return result
        body = body_of(result)
        body["card"]["open_threads"] = []
        return with_body(result, body)


class ForgottenIsErased(Interceptor):
    """A forgotten fact leaves no trace: that it should is no more than a SHOULD."""

    def __init__(self) -> None:
        self._forgotten: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "forget":
            self._forgotten.add(body["id"])
        if call.name != "recall":
            return result
        body["facts"] = [fact for fact in body["facts"] if fact["fact_id"] not in self._forgotten]
        body["total"] = len(body["facts"])
        return with_body(result, body)


class OtherEstimates(Interceptor):
    """Tokens are estimated by the letters of what is answered, keys and all."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        budget = call.arguments.get("budget_tokens")
        if call.name != "recall" or is_error(result) or not isinstance(budget, int):
            return result
        whole = body_of(await honest(without(call, "budget_tokens")))
        kept: dict[str, list[Body]] = {"facts": [], "results": []}
        used, full = 0, False
        for kind in kept:
            for item in whole.get(kind, []):
                cost = len(dumped({key: item[key] for key in ("fact", "chunk", "title") if key in item})) // 3 + 1
                full = full or used + cost > budget
                if not full:
                    used += cost
                    kept[kind].append(item)
        body = {**body_of(result), "facts": kept["facts"], "total": len(kept["facts"]), "budget_used": used}
        if "results" in body:
            body["results"] = kept["results"]
        everything = sum(len(whole.get(kind, [])) for kind in kept)
        body["dropped_count"] = everything - sum(map(len, kept.values()))
        return with_body(result, body)


class WholeSeconds(Interceptor):
    """The clock has whole seconds: facts of one second differ only by their order."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name not in ("recall", "entity", "remember") or is_error(result):
            return result
        return with_body(result, instants(seconds)(body_of(result)))


class SameTextOnce(Interceptor):
    """Without embeddings the very same text is still noticed: it is a duplicate."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        text, entity = text_argument(call, "fact"), text_argument(call, "entity")
        if call.name != "remember" or not text or not text.strip() or not entity or not entity.strip():
            return await honest(call)
        kind, visibility = call.arguments.get("kind", "fact"), call.arguments.get("visibility", "world")
        known = (await ask(honest, call, "recall", entity=entity, limit=100)).get("facts", [])
        same = [fact for fact in known if fact["fact"] == text and fact["kind"] == kind]
        provenance = text_argument(call, "provenance") or ""
        if not same or visibility != "world" or not 0 < len(provenance.strip()) <= 500 or "ttl" in call.arguments:
            return await honest(call)
        return success(
            id=same[0]["fact_id"],
            status="duplicate",
            status_text="Known already.",
            entity_slug=same[0]["entity_slug"],
            valid_until=same[0]["valid_until"],
            degraded_dedup=True,
        )


class GenerousSearch(Interceptor):
    """A query finds every page, the unlikely ones last, as a search by meaning does."""

    def __init__(self) -> None:
        self._pages: dict[tuple[str, str], str] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "put_page":
            page = await ask(honest, call, "entity", name=body["slug"])
            self._pages[call.caller.tenant, body["slug"]] = page["card"]["entity"]["title"]
        if call.name != "recall" or "results" not in body:
            return result
        limit = call.arguments.get("limit")
        whole = body_of(await honest(without(call, "budget_tokens")))
        room = (min(limit, 20) if isinstance(limit, int) and limit > 0 else 10) - len(whole["results"])
        for more in self._others(call, whole)[: max(0, room)]:
            cost = len(more["title"]) // 4 + 1
            if "budget_used" not in body:
                body["results"].append(more)
            elif body["dropped_count"] or body["budget_used"] + cost > body["budget_tokens"]:
                body["dropped_count"] += 1
            else:
                body["budget_used"] += cost
                body["results"].append(more)
        return with_body(result, body)

    def _others(self, call: ToolCall, whole: Body) -> list[Body]:
        """The caller's pages that are not among the results, the newest first."""
        found = {one["slug"] for one in whole["results"]}
        return [
            {
                "slug": slug,
                "title": title,
                "chunk": None,
                "evidence": "weak_semantic",
                "create_safety": "unknown",
                "provenance": slug,
            }
            for (tenant, slug), title in reversed(self._pages.items())
            if tenant == call.caller.tenant and slug not in found
        ]


#: Every variant in substance.
FREEDOMS = (
    Variant(
        "whole-seconds",
        "Instants have whole seconds.",
        WholeSeconds,
        gaps="of two pages made in one second none can be said to be touched last",
    ),
    Variant(
        "untold-touches",
        "A card does not tell when its page was touched.",
        Untold,
        gaps="of two pages none can be said to be touched last",
    ),
    Variant("uuids", "Facts have UUIDs for ids.", lambda: OtherIds(_uuid, _from_uuid)),
    Variant("long-ids", "Facts have long ids with odd letters.", lambda: OtherIds(_long, _from_long)),
    Variant("other-slugs", "The slug of a fact's entity is not what was sent.", OtherSlugs),
    Variant("without-later-verbs", "context_pack and delta are not there.", WithoutLaterVerbs),
    Variant("only-required-keys", "Facts have only the keys that are required.", OnlyRequiredKeys),
    Variant("sparse", "What may be null or empty is.", Sparse),
    Variant(
        "no-threads", "A card has no open threads.", NoThreads, gaps="without open threads there is none to look at"
    ),
    Variant("forgotten-is-erased", "A forgotten fact leaves no trace.", ForgottenIsErased),
    Variant("generous-search", "A query finds every page, likely or not.", GenerousSearch),
    Variant("other-estimates", "Tokens are estimated another way.", OtherEstimates),
    Variant("same-text-once", "Without embeddings the very same text is a duplicate.", SameTextOnce),
)
