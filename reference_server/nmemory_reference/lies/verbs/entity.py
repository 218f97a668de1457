"""Lies about which page a name finds."""

from __future__ import annotations

from nmemory_reference.lies.answers import Body, Honest, Result, asking, body_of, is_error, text_argument, with_body
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.verbs.answers import failure, success
from nmemory_reference.serve.interceptor import ToolCall

area = Area("entity")

_MISS = {"found": False, "latency_ms": 0, "suggestions": []}


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
def alias_is_a_suggestion(call: ToolCall, body: Body) -> None:
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
