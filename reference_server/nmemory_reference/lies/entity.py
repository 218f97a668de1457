"""Lies about entity: which page a name finds, and what its card says."""

from __future__ import annotations

import re

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    as_local,
    ask,
    asking,
    body_of,
    failure,
    is_error,
    success,
    text_argument,
    with_body,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("entity")

_MISS = {"found": False, "latency_ms": 0, "suggestions": []}


# --- finding --------------------------------------------------------------------------------------------------------


@area.answer("entity", clause="mv1/entity/miss-is-success")
async def miss_is_not_found(call: ToolCall, honest: Honest) -> Result:
    """An unknown name is answered with the error not_found."""
    result = await honest(call)
    if not is_error(result) and not body_of(result)["found"]:
        return failure("not_found", "nobody is called that")
    return result


@area.success("entity", clause="mv1/entity/miss-is-success")
def miss_has_a_null_card(call: ToolCall, body: Body) -> None:
    """For an unknown name card is null, not absent."""
    body.setdefault("card", None)


@area.success("entity", clause="mv1/entity/miss-is-success")
def miss_has_an_empty_card(call: ToolCall, body: Body) -> None:
    """For an unknown name there is a card, of a page that is not there."""
    if not body["found"]:
        body["card"] = _made_up_card("people/nobody")


@area.success("entity", clause="mv1/entity/miss-is-success")
def miss_has_no_suggestions(call: ToolCall, body: Body) -> None:
    """For an unknown name suggestions is left out."""
    if not body["found"]:
        del body["suggestions"]


@area.success("entity", clause="mv1/entity/miss-is-success")
def everybody_is_known(call: ToolCall, body: Body) -> None:
    """An unknown name finds a page that is made up."""
    if not body["found"]:
        name = text_argument(call, "name") or ""
        body |= {"found": True, "card": _made_up_card(name)}


@area.answer("entity", clause="mv1/entity/name-blank")
async def blank_name_is_a_miss(call: ToolCall, honest: Honest) -> Result:
    """A blank name is answered with found: false."""
    return success(**_MISS) if _name(call) is None else await honest(call)


@area.answer("entity", clause="mv1/entity/name-blank")
async def white_space_is_a_miss(call: ToolCall, honest: Honest) -> Result:
    """A name of white space is answered with found: false."""
    return success(**_MISS) if text_argument(call, "name") and _name(call) is None else await honest(call)


@area.answer("entity", clause="mv1/entity/name-blank")
async def blank_name_is_not_found(call: ToolCall, honest: Honest) -> Result:
    """A blank name is refused with not_found."""
    return failure("not_found", "no name") if _name(call) is None else await honest(call)


@area.success("entity", clause="mv1/entity/latency-integer")
def latency_has_a_fraction(call: ToolCall, body: Body) -> None:
    """latency_ms has a fraction."""
    body["latency_ms"] += 0.25


@area.success("entity", clause="mv1/entity/by-slug")
def slug_finds_nothing(call: ToolCall, body: Body) -> Body | None:
    """A page's slug does not find it."""
    return _missed() if body["found"] and _slug(body) == _name(call) else None


@area.success("entity", clause="mv1/entity/by-title")
def title_finds_nothing(call: ToolCall, body: Body) -> Body | None:
    """A page's title does not find it."""
    return _missed() if body["found"] and _folded(body["card"]["entity"]["title"]) == _folded(_name(call)) else None


@area.success("entity", clause="mv1/entity/by-title")
def case_counts_in_titles(call: ToolCall, body: Body) -> Body | None:
    """A title in other case finds nothing."""
    title = body["card"]["entity"]["title"] if body["found"] else ""
    return _missed() if title != _name(call) and _folded(title) == _folded(_name(call)) else None


@area.success("entity", clause="mv1/entity/by-suffix")
def suffix_finds_nothing(call: ToolCall, body: Body) -> Body | None:
    """The end of a slug finds nothing."""
    ends = body["found"] and _slug(body).endswith("/" + str(_name(call)))
    return _missed() if ends else None


@area.success("entity", clause="mv1/entity/by-alias")
def alias_finds_nothing(call: ToolCall, body: Body) -> Body | None:
    """An alias finds nothing."""
    return _missed() if body["found"] and _named(call, body["card"]["aka"]) else None


@area.answer("entity", clause="mv1/entity/by-alias")
async def title_beats_alias(call: ToolCall, honest: Honest) -> Result:
    """A page's exact title wins over another page's alias."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    for other in body["suggestions"] if body["found"] else []:
        if _named(call, body["card"]["aka"]) and _folded(other["title"]) == _folded(_name(call)):
            return await _swapped(call, honest, other["slug"])
    return result


@area.success("entity", clause="mv1/entity/by-alias")
def alias_is_an_edge(call: ToolCall, body: Body) -> None:
    """What an alias finds does not count: only a suggestion of its page is answered."""
    if body["found"] and _named(call, body["card"]["aka"]):
        card = body.pop("card")
        body["found"] = False
        body["suggestions"] = [
            {"slug": card["entity"]["slug"], "title": card["entity"]["title"], "create_safety": "exists"}
        ]


@area.answer("entity", clause="mv1/entity/tie-last-touched")
async def tie_goes_to_the_first(call: ToolCall, honest: Honest) -> Result:
    """Of two pages with one title the one touched first is the card."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    title = body["card"]["entity"]["title"] if body["found"] else None
    twins = [other for other in body["suggestions"] if title and _folded(other["title"]) == _folded(title)]
    return await _swapped(call, honest, twins[-1]["slug"]) if twins else result


@area.answer("entity", clause="mv1/entity/tie-last-touched")
async def tie_goes_by_the_alphabet(call: ToolCall, honest: Honest) -> Result:
    """Of two pages with one title the one whose slug comes first is the card."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    title = body["card"]["entity"]["title"] if body["found"] else None
    slugs = [other["slug"] for other in body["suggestions"] if title and _folded(other["title"]) == _folded(title)]
    first = min(slugs, default=None)
    return await _swapped(call, honest, first) if first and first < _slug(body) else result


@area.success("entity", clause="mv1/entity/tie-last-touched")
def loser_is_not_suggested(call: ToolCall, body: Body) -> None:
    """Of two pages with one title only one is mentioned."""
    if body["found"]:
        body["suggestions"] = []


@area.success("entity", clause="mv1/entity/tie-last-touched")
def loser_is_only_probable(call: ToolCall, body: Body) -> None:
    """The other page of a tie is suggested as probable."""
    if body["found"]:
        for other in body["suggestions"]:
            other["create_safety"] = "probable"


@area.success("entity", clause="mv1/entity/near-miss")
def near_misses_are_not_told(call: ToolCall, body: Body) -> None:
    """A name one word off gets no suggestion."""
    if not body["found"]:
        body["suggestions"] = []


# --- the card -------------------------------------------------------------------------------------------------------


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


@area.success("entity", clause="mv1/entity/threads-cap")
def commitments_are_not_threads(call: ToolCall, body: Body) -> None:
    """A commitment is no open thread."""
    if body["found"]:
        card = body["card"]
        card["open_threads"] = [thread for thread in card["open_threads"] if thread["kind"] != "commitment"]


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


class _Mentions(Interceptor):
    """Knows which pages mention which, by the `[[slug]]` in what is put."""

    def __init__(self) -> None:
        self._mentions: dict[str, set[str]] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        if call.name == "put_page":
            found = set(re.findall(r"\[\[([^\]|]+)", str(call.arguments["content"])))
            self._mentions[str(call.arguments["slug"])] = found
        if call.name != "entity" or not body_of(result)["found"]:
            return result
        body = body_of(result)
        self.add(body["card"], _slug(body))
        return with_body(result, body)

    def add(self, card: Body, slug: str) -> None:
        """Put what is known into a card."""
        raise NotImplementedError


@area.liar("entity", clause="mv1/entity/edges-cap")
class MentionsAreEdges(_Mentions):
    """A mention of another page is an edge."""

    def add(self, card: Body, slug: str) -> None:
        card["edges"] = [
            *card["edges"],
            *(
                {"type": "mentions", "direction": "out", "slug": to, "context": None}
                for to in sorted(self._mentions.get(slug, ()))
            ),
        ][:10]


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


def _folded(text: str | None) -> str:
    return (text or "").casefold()


def _named(call: ToolCall, names: list[str]) -> bool:
    return _folded(_name(call)) in map(_folded, names)


def _slug(body: Body) -> str:
    return str(body["card"]["entity"]["slug"])


def _missed() -> Body:
    return {"protocol_version": 1, **_MISS}


async def _swapped(call: ToolCall, honest: Honest, slug: str) -> Result:
    """The card of one of the suggestions, with the page that should have won among them."""
    won = body_of(await honest(call))
    result = await honest(asking(call, name=slug))
    body = body_of(result)
    entity = won["card"]["entity"]
    body["suggestions"] = [{"slug": entity["slug"], "title": entity["title"], "create_safety": "exists"}]
    return with_body(result, body)


async def _from_a_local_card(call: ToolCall, honest: Honest, member: str) -> Result:
    """The remote card, with one member as a local caller would see it."""
    result = await honest(call)
    if is_error(result) or not body_of(result)["found"]:
        return result
    body, local = body_of(result), body_of(await honest(as_local(call)))
    body["card"][member] = local["card"][member]
    return with_body(result, body)


def _made_up_card(slug: str) -> Body:
    return {
        "entity": {"slug": slug, "title": slug, "type": None},
        "aka": [],
        "summary": "",
        "last_touched": {"updated_at": None, "last_retrieved_at": None, "last_timeline_date": None},
        "open_threads": [],
        "edges": [],
        "backlink_count": 0,
        "active_fact_count": 0,
    }
