"""Lies about what the card of an entity says."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    as_local,
    ask,
    body_of,
    is_error,
    text_argument,
    with_body,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("card")


@area.answer("entity", clause="mv1/entity/private-fence")
async def card_is_for_everybody(call: ToolCall, honest: Honest) -> Result:
    """The card shows private facts and counts them."""
    return await honest(as_local(call))


@area.answer("entity", clause="mv1/entity/private-fence")
async def private_facts_are_counted(call: ToolCall, honest: Honest) -> Result:
    """active_fact_count counts private facts."""
    return await _from_a_local_card(call, honest, "active_fact_count")


@area.answer("entity", clause="mv1/entity/private-fence")
async def private_commitments_are_open_threads(call: ToolCall, honest: Honest) -> Result:
    """A private commitment is among the open threads."""
    return await _from_a_local_card(call, honest, "open_threads")


@area.answer("entity", clause="mv1/entity/private-fence")
async def summary_is_made_of_private_facts(call: ToolCall, honest: Honest) -> Result:
    """The summary is written from all facts, private ones too."""
    result = await honest(call)
    if is_error(result) or not body_of(result)["found"]:
        return result
    body = body_of(result)
    known = await ask(honest, as_local(call), "recall", entity=_slug(body), limit=5)
    body["card"]["summary"] += " " + " ".join(fact["fact"] for fact in known["facts"])
    return with_body(result, body)


@area.answer("entity", clause="mv1/entity/private-fence")
async def suggestions_are_private_facts(call: ToolCall, honest: Honest) -> Result:
    """Suggestions quote private facts."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    slug = _slug(body) if body["found"] else _name(call) or "nobody"
    known = await ask(honest, as_local(call), "recall", entity=slug, limit=5)
    body["suggestions"] += [
        {"slug": slug, "title": fact["fact"], "create_safety": "unknown"}
        for fact in known["facts"]
        if fact["visibility"] == "private"
    ]
    return with_body(result, body)


@area.success("entity", clause="mv1/entity/threads-cap")
def recent_events_first(call: ToolCall, body: Body) -> None:
    """Recent events come before commitments."""
    if body["found"]:
        body["card"]["open_threads"].sort(key=lambda thread: thread["kind"] != "recent_event")


@area.answer("entity", clause="mv1/entity/threads-cap")
async def four_threads(call: ToolCall, honest: Honest) -> Result:
    """A card has four open threads where there are so many commitments."""
    result = await honest(call)
    if is_error(result) or not body_of(result)["found"]:
        return result
    body = body_of(result)
    threads = body["card"]["open_threads"]
    known = await ask(honest, call, "recall", entity=_slug(body), limit=100)
    shown = {thread["text"] for thread in threads}
    threads += [
        {"kind": "commitment", "text": fact["fact"], "date": fact["created_at"]}
        for fact in known["facts"]
        if fact["kind"] == "commitment" and fact["fact"] not in shown
    ]
    del threads[4:]
    return with_body(result, body)


@area.answer("entity", clause="mv1/entity/threads-cap")
async def forgotten_commitments_stay(call: ToolCall, honest: Honest) -> Result:
    """A forgotten commitment is still an open thread."""
    result = await honest(call)
    if is_error(result) or not body_of(result)["found"]:
        return result
    body = body_of(result)
    known = await ask(honest, call, "recall", entity=_slug(body), include_expired=True, limit=100)
    gone = [
        {"kind": "commitment", "text": fact["fact"], "date": fact["created_at"]}
        for fact in known["facts"]
        if fact["kind"] == "commitment" and fact["expired_at"]
    ]
    body["card"]["open_threads"] = [*gone, *body["card"]["open_threads"]][:3]
    return with_body(result, body)


@area.success("entity", clause="mv1/entity/edges-cap")
def incoming_edges_first(call: ToolCall, body: Body) -> None:
    """Incoming edges come before outgoing ones."""
    if body["found"]:
        body["card"]["edges"].sort(key=lambda edge: edge["direction"])


@area.liar("entity", clause="mv1/entity/edges-cap")
class EdgesHaveNoCap(Interceptor):
    """Every outgoing link of a page is an edge."""

    def __init__(self) -> None:
        self._links: dict[str, list[tuple[str, str]]] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        if call.name == "put_page":
            found = re.findall(r'to: "?([\w/-]+)"?, type: "?(\w+)', str(call.arguments["content"]))
            known = self._links.setdefault(str(call.arguments["slug"]), [])
            known += [link for link in found if link not in known]
        if call.name != "entity" or not body_of(result)["found"]:
            return result
        body = body_of(result)
        edges = body["card"]["edges"]
        if len(edges) == 10:
            shown = {edge["slug"] for edge in edges if edge["direction"] == "out"}
            edges += [
                {"type": kind, "direction": "out", "slug": to, "context": None}
                for to, kind in self._links.get(_slug(body), ())
                if to not in shown
            ] or edges[-1:]
        return with_body(result, body)


class _Mentions(Interceptor, ABC):
    """Knows which pages mention which, by what is put."""

    def __init__(self) -> None:
        self._mentions: dict[str, set[str]] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        if call.name == "put_page":
            content = str(call.arguments["content"])
            found = re.findall(r'\[\[([^\]|]+)|to: "?([\w/-]+)"?, type: "?mentions', content)
            self._mentions[str(call.arguments["slug"])] = {one or other for one, other in found}
        if call.name != "entity" or not body_of(result)["found"]:
            return result
        body = body_of(result)
        self.add(body["card"], _slug(body))
        return with_body(result, body)

    @abstractmethod
    def add(self, card: Body, slug: str) -> None:
        """Put what is known into a card."""


@area.liar("entity", clause="mv1/entity/edges-cap")
class MentionsAreEdges(_Mentions):
    """A mention of another page is an edge."""

    def add(self, card: Body, slug: str) -> None:
        outgoing = [("out", to) for to in sorted(self._mentions.get(slug, ()))]
        incoming = [("in", by) for by, found in sorted(self._mentions.items()) if slug in found]
        mentions = [
            {"type": "mentions", "direction": direction, "slug": other, "context": None}
            for direction, other in (*outgoing, *incoming)
        ]
        card["edges"] = [*card["edges"][: 10 - len(mentions)], *mentions]


@area.liar("entity", clause="mv1/entity/backlinks")
class MentionsAreBacklinks(_Mentions):
    """backlink_count counts mentions."""

    def add(self, card: Body, slug: str) -> None:
        card["backlink_count"] += sum(slug in found for found in self._mentions.values())


@area.success("entity", clause="mv1/entity/backlinks")
def backlinks_are_outgoing(call: ToolCall, body: Body) -> None:
    """backlink_count counts outgoing links."""
    if body["found"]:
        card = body["card"]
        card["backlink_count"] = sum(edge["direction"] == "out" for edge in card["edges"])


@area.success("entity", clause="mv1/entity/backlinks")
def backlinks_are_all_edges(call: ToolCall, body: Body) -> None:
    """backlink_count counts links of both directions."""
    if body["found"]:
        body["card"]["backlink_count"] += sum(edge["direction"] == "out" for edge in body["card"]["edges"])


@area.success("entity", clause="mv1/entity/backlinks")
def backlinks_are_yes_or_no(call: ToolCall, body: Body) -> None:
    """backlink_count is 1 if there is any."""
    if body["found"]:
        body["card"]["backlink_count"] = min(1, body["card"]["backlink_count"])


@area.success("entity", clause="mv1/entity/fact-count")
def fact_count_is_zero(call: ToolCall, body: Body) -> None:
    """active_fact_count is always 0."""
    if body["found"]:
        body["card"]["active_fact_count"] = 0


@area.answer("entity", clause="mv1/entity/fact-count")
async def fact_count_counts_forgotten(call: ToolCall, honest: Honest) -> Result:
    """active_fact_count counts forgotten facts."""
    result = await honest(call)
    if is_error(result) or not body_of(result)["found"]:
        return result
    body = body_of(result)
    known = await ask(honest, call, "recall", entity=_slug(body), include_expired=True, limit=100)
    body["card"]["active_fact_count"] = known["total"]
    return with_body(result, body)


@area.success("entity", clause="mv1/entity/fact-count")
def fact_count_counts_twice(call: ToolCall, body: Body) -> None:
    """active_fact_count counts every fact twice."""
    if body["found"]:
        body["card"]["active_fact_count"] *= 2


@area.liar("entity", clause="mv1/entity/fact-count")
class CardIsCached(Interceptor):
    """A card is made once for each name, and never again."""

    def __init__(self) -> None:
        self._cards: dict[tuple[str, str], Result] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name == "entity" and not is_error(result) and body_of(result)["found"]:
            return self._cards.setdefault((call.caller.tenant, str(_name(call))), result)
        return result


@area.liar("entity", clause="mv1/entity/read-only")
class LookingIsLinking(Interceptor):
    """Each look at a card counts as a link to it."""

    def __init__(self) -> None:
        self._looks = 0

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "entity" or is_error(result) or not body_of(result)["found"]:
            return result
        self._looks += 1
        body = body_of(result)
        body["card"]["backlink_count"] += self._looks
        return with_body(result, body)


@area.liar("entity", clause="mv1/entity/read-only")
class LookingIsTouching(Interceptor):
    """Each look at a card writes a fact about it."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name == "entity" and not is_error(result) and body_of(result)["found"]:
            slug = _slug(body_of(result))
            await ask(honest, call, "remember", fact=f"{slug} was looked up", provenance="usage", entity=slug)
        return result


def _name(call: ToolCall) -> str | None:
    name = text_argument(call, "name")
    return name if name and name.strip() else None


def _slug(body: Body) -> str:
    return str(body["card"]["entity"]["slug"])


async def _from_a_local_card(call: ToolCall, honest: Honest, member: str) -> Result:
    """The remote card, with one member as a local caller would see it."""
    result = await honest(call)
    if is_error(result) or not body_of(result)["found"]:
        return result
    body, local = body_of(result), body_of(await honest(as_local(call)))
    body["card"][member] = local["card"][member]
    return with_body(result, body)


@area.success("entity", clause="mv1/entity/fact-count")
def fact_count_ends_at_three(call: ToolCall, body: Body) -> None:
    """A card counts three facts at most, as many as it has threads."""
    if "card" in body:
        body["card"]["active_fact_count"] = min(3, body["card"]["active_fact_count"])
