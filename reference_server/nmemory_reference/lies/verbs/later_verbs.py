"""Lies about context_pack and delta, the verbs that were added later."""

from __future__ import annotations

from datetime import timedelta

from nmemory_reference.instant import iso, parse_instant
from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    as_local,
    ask,
    asking,
    body_of,
    dumped,
    is_error,
    text_argument,
    with_body,
    without,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.verbs.answers import LATER_VERBS, failure, success
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("later")


@area.answer("context_pack", clause="mv1/context-pack/unknown-is-empty")
async def unknown_entities_are_not_found(call: ToolCall, honest: Honest) -> Result:
    """Unknown entities are answered with not_found."""
    result = await honest(call)
    if not is_error(result) and not body_of(result)["cards"] and not body_of(result)["facts"]:
        return failure("not_found", "nobody is called that")
    return result


@area.answer("context_pack", clause="mv1/context-pack/unknown-is-empty")
async def unknown_entities_get_the_latest_facts(call: ToolCall, honest: Honest) -> Result:
    """For unknown entities the latest facts are packed, whoever they are about."""
    result = await honest(call)
    if is_error(result) or body_of(result)["cards"] or body_of(result)["facts"]:
        return result
    latest = (await ask(honest, call, "recall", limit=5))["facts"]
    return with_body(result, {**body_of(result), "facts": latest})


@area.success("context_pack", clause="mv1/context-pack/cap-8")
def all_nine_are_taken(call: ToolCall, body: Body) -> None:
    """As many entities are taken as are named."""
    names = [name.strip() for name in (text_argument(call, "entities") or "").split(",") if name.strip()]
    body["entities"] += names[8:]


@area.success("context_pack", clause="mv1/context-pack/cap-8")
def only_seven_are_taken(call: ToolCall, body: Body) -> None:
    """Of nine entities seven are taken."""
    body["entities"] = body["entities"][:7]


@area.success("context_pack", clause="mv1/context-pack/budget")
def pack_goes_over_by_one(call: ToolCall, body: Body) -> None:
    """budget_used is one above the budget."""
    if "budget_used" in body:
        body["budget_used"] = body["budget_tokens"] + 1


@area.answer("context_pack", clause="mv1/context-pack/budget")
async def facts_pack_before_cards(call: ToolCall, honest: Honest) -> Result:
    """Facts are packed first, and cards take what they leave."""
    result = await honest(call)
    budget = call.arguments.get("budget_tokens")
    if is_error(result) or not isinstance(budget, int):
        return result
    body, whole = body_of(result), body_of(await honest(without(call, "budget_tokens")))
    used, kept = 0, dict[str, list[Body]]()
    for name in ("facts", "cards", "open_threads"):
        kept[name] = []
        for item in whole[name]:
            cost = len(dumped(item) if name == "cards" else item.get("fact") or item["text"]) // 4 + 1
            if used + cost > budget:
                break
            used += cost
            kept[name].append(item)
    dropped = sum(len(whole[name]) - len(items) for name, items in kept.items())
    return with_body(result, {**body, **kept, "budget_used": used, "dropped_count": dropped})


@area.answer("context_pack", clause="mv1/context-pack/private-fence")
async def pack_shows_private_facts(call: ToolCall, honest: Honest) -> Result:
    """include_private shows a remote caller what is private."""
    return await honest(as_local(call))


@area.answer("context_pack", clause="mv1/context-pack/private-fence")
async def pack_renders_private_facts(call: ToolCall, honest: Honest) -> Result:
    """Private facts are kept out of the data, and stand in the text."""
    return await _text_of_a_local_call(call, honest)


@area.answer("delta", clause="mv1/delta/private-fence")
async def delta_shows_private_facts(call: ToolCall, honest: Honest) -> Result:
    """include_private shows a remote caller what is private."""
    return await honest(as_local(call))


@area.answer("delta", clause="mv1/delta/private-fence")
async def delta_shows_private_facts_unasked(call: ToolCall, honest: Honest) -> Result:
    """Private facts are among the changes, even if they are not asked for."""
    return await honest(asking(as_local(call), include_private=True))


@area.answer("context_pack", clause="mv1/context-pack/private-fence")
async def pack_shows_private_facts_unasked(call: ToolCall, honest: Honest) -> Result:
    """Private facts are packed even if they are not asked for."""
    return await honest(asking(as_local(call), include_private=True))


@area.answer("delta", clause="mv1/delta/private-fence")
async def delta_renders_private_facts(call: ToolCall, honest: Honest) -> Result:
    """Private facts are kept out of the data, and stand in the text."""
    return await _text_of_a_local_call(call, honest)


async def _text_of_a_local_call(call: ToolCall, honest: Honest) -> Result:
    result = await honest(call)
    local = await honest(asking(without(as_local(call), "session_id"), include_private=True))
    if is_error(result) or is_error(local):
        return result
    return with_body(result, {**body_of(result), "text": body_of(local)["text"]})


@area.asking("delta", clause="mv1/delta/needs-cursor")
def no_cursor_is_the_beginning(call: ToolCall) -> ToolCall:
    """Without a cursor everything has changed."""
    return call if {"since", "session_id"} & call.arguments.keys() else asking(call, since="1970-01-01T00:00:00Z")


@area.asking("delta", clause="mv1/delta/needs-cursor")
def no_cursor_is_now(call: ToolCall) -> ToolCall:
    """Without a cursor nothing has changed."""
    return call if {"since", "session_id"} & call.arguments.keys() else asking(call, since="2999-01-01T00:00:00Z")


@area.answer("delta", clause="mv1/delta/needs-cursor")
async def no_cursor_is_not_found(call: ToolCall, honest: Honest) -> Result:
    """Without a cursor the error is not_found."""
    if not {"since", "session_id"} & call.arguments.keys():
        return failure("not_found", "no cursor")
    return await honest(call)


@area.success("delta", clause="mv1/delta/since-normalised")
def since_comes_back_as_a_sentence(call: ToolCall, body: Body) -> None:
    """since comes back as a sentence."""
    body["since"] = f"since {body['since']}"


@area.success("delta", clause="mv1/delta/since-normalised")
def since_is_the_next_cursor(call: ToolCall, body: Body) -> None:
    """since is where the next call begins."""
    body["since"] = body["next_cursor"]["since"]


@area.success("delta", clause="mv1/delta/since-normalised")
def since_loses_its_offset(call: ToolCall, body: Body) -> None:
    """The offset of since is dropped."""
    since = text_argument(call, "since")
    if since:
        body["since"] = parse_instant(since[:19]).isoformat().replace("+00:00", "Z")


@area.success("delta", clause="mv1/delta/sees-new-fact")
def facts_are_not_changes(call: ToolCall, body: Body) -> None:
    """Only pages count as changes."""
    body["facts"] = []


@area.answer("delta", clause="mv1/delta/sees-new-fact")
async def the_newest_fact_is_late(call: ToolCall, honest: Honest) -> Result:
    """The newest fact is not among the changes yet."""
    result = await honest(call)
    if is_error(result):
        return result
    newest = (await ask(honest, call, "recall", limit=1))["facts"]
    gone = {fact["fact_id"] for fact in newest}
    body = body_of(result)
    return with_body(result, {**body, "facts": [fact for fact in body["facts"] if fact["fact_id"] not in gone]})


@area.success("delta", clause="mv1/delta/nothing-lost")
def the_last_page_is_lost(call: ToolCall, body: Body) -> None:
    """The last page of each answer is left out."""
    del body["pages"][-1:]


@area.success("delta", clause="mv1/delta/nothing-lost")
def pages_of_one_second_are_one(call: ToolCall, body: Body) -> None:
    """Of several pages that changed in one second only the last is told."""
    body["pages"] = list({page["updated_at"][:19]: page for page in body["pages"]}.values())


@area.success("delta", clause="mv1/delta/nothing-lost")
def there_is_never_more(call: ToolCall, body: Body) -> None:
    """has_more is always false, whatever the budget left out."""
    body["has_more"] = False


@area.success("delta", clause="mv1/delta/nothing-lost")
def cursor_skips_a_second(call: ToolCall, body: Body) -> None:
    """next_cursor begins a second after the last change."""
    since = parse_instant(body["next_cursor"]["since"]) + timedelta(seconds=1)
    body["next_cursor"] = {"since": iso(since), "slug": ""}


@area.liar("delta", clause="mv1/delta/nothing-lost")
class TwoChangesAtATime(Interceptor):
    """What an answer has no room for is passed over by its cursor."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "delta" or is_error(result):
            return result
        body = body_of(result)
        body["pages"] = body["pages"][:2]
        return with_body(result, body)


@area.result(*LATER_VERBS, clause="mv1/context-pack/shape", also={"mv1/delta/shape"})
def later_verbs_answer_nothing(call: ToolCall, result: Body) -> Result | None:
    """The verbs that were added later answer an empty object."""
    return None if is_error(result) else success()
