"""Lies about forget: what is ended, what is not, and what else is."""

from __future__ import annotations

from nmemory_reference.lies.answers import (
    Body,
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
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.verbs.answers import FACT_TOOLS, failure, success
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("forget")


@area.success("forget", clause="mv1/forget/shape")
def echoes_another_id(call: ToolCall, body: Body) -> None:
    """The id of the answer is not the one that was sent."""
    body["id"] = f"fact:{body['id']}"


@area.success("forget", clause="mv1/forget/expires")
def always_says_it_was_gone(call: ToolCall, body: Body) -> None:
    """The first call answers expired: false."""
    body["expired"] = False


@area.answer("forget", clause="mv1/forget/expires", also={"mv1/recall/forgotten-hidden"})
async def says_yes_and_does_nothing(call: ToolCall, honest: Honest) -> Result:
    """Answers expired: true and ends nothing."""
    fact_id = text_argument(call, "id") or ""
    result = await honest(call) if not fact_id.isdecimal() or int(fact_id) > 10**6 else None
    return result or success(id=fact_id, expired=True, reason=call.arguments.get("reason"))


@area.liar("forget", "entity", clause="mv1/forget/expires", also={"mv1/entity/fact-count"})
class CountNeverGoesDown(Interceptor):
    """A forgotten fact leaves recall, and is still counted on its entity's card."""

    def __init__(self) -> None:
        self._forgotten: dict[str, int] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "forget" and body["expired"]:
            gone = await ask(honest, call, "recall", include_expired=True, limit=100)
            about = [fact["entity_slug"] for fact in gone["facts"] if fact["fact_id"] == body["id"]]
            for slug in about:
                self._forgotten[slug] = self._forgotten.get(slug, 0) + 1
        elif call.name == "entity" and body["found"]:
            body["card"]["active_fact_count"] += self._forgotten.get(body["card"]["entity"]["slug"], 0)
            return with_body(result, body)
        return result


@area.liar("forget", clause="mv1/forget/idempotent")
class SecondTimeIsNotFound(Interceptor):
    """Forgetting again answers not_found."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name == "forget" and not is_error(result) and not body_of(result)["expired"]:
            return failure("not_found", "no such fact")
        return result


@area.success("forget", clause="mv1/forget/idempotent")
def always_expired(call: ToolCall, body: Body) -> None:
    """Forgetting again answers expired: true."""
    body["expired"] = True


@area.success("forget", clause="mv1/forget/reason-echo")
def reason_is_dropped(call: ToolCall, body: Body) -> None:
    """The reason is always null."""
    body["reason"] = None


@area.success("forget", clause="mv1/forget/reason-echo")
def no_reason_is_an_empty_text(call: ToolCall, body: Body) -> None:
    """Without a reason it is empty, not null."""
    body["reason"] = body["reason"] or ""


@area.success("forget", clause="mv1/forget/reason-echo")
def no_reason_is_made_up(call: ToolCall, body: Body) -> None:
    """Without a reason there is one."""
    body["reason"] = body["reason"] or "user request"


@area.answer("forget", clause="mv1/forget/unknown-id")
async def unknown_id_is_success(call: ToolCall, honest: Honest) -> Result:
    """An unknown id is answered with expired: false, as if it had been forgotten before."""
    result = await honest(call)
    if is_error(result) and body_of(result)["error"] == "not_found":
        return success(id=text_argument(call, "id") or "", expired=False, reason=call.arguments.get("reason"))
    return result


@area.failure("forget", clause="mv1/forget/unknown-id")
def unknown_id_is_invalid(call: ToolCall, body: Body) -> None:
    """An unknown id is answered with invalid_params."""
    if body["error"] == "not_found":
        body["error"] = "invalid_params"


@area.failure("forget", clause="mv1/forget/unknown-id", also={"mv1/error/suggestion"})
def unknown_id_gets_no_suggestion(call: ToolCall, body: Body) -> None:
    """not_found comes with an empty suggestion."""
    if body["error"] == "not_found":
        body["suggestion"] = ""


@area.answer("forget", clause="mv1/forget/slug-is-not-id")
async def slug_forgets_the_newest_fact(call: ToolCall, honest: Honest) -> Result:
    """An entity's slug ends its newest fact."""
    slug = text_argument(call, "id")
    if slug and "/" in slug:
        known = await ask(honest, call, "recall", entity=slug, limit=1)
        if known.get("facts"):
            return await honest(asking(call, id=known["facts"][0]["fact_id"]))
    return await honest(call)


@area.answer("forget", clause="mv1/forget/slug-is-not-id")
async def zero_forgets_the_newest_fact(call: ToolCall, honest: Honest) -> Result:
    """`0` and `-1` count from the end, and end the newest fact."""
    if call.arguments.get("id") in ("0", "-1"):
        known = await ask(honest, call, "recall", limit=1)
        if known.get("facts"):
            return await honest(asking(call, id=known["facts"][0]["fact_id"]))
    return await honest(call)


@area.answer("forget", clause="mv1/forget/slug-is-not-id")
async def exponents_are_ids(call: ToolCall, honest: Honest) -> Result:
    """`1e3` is answered as if it were an id."""
    if call.arguments.get("id") == "1e3":
        return success(id="1e3", expired=False, reason=None)
    return await honest(call)


@area.answer("forget", clause="mv1/forget/slug-is-not-id")
async def blank_id_is_unavailable(call: ToolCall, honest: Honest) -> Result:
    """A blank id is refused with unavailable."""
    if not (text_argument(call, "id") or "-").strip():
        return failure("unavailable", "no id")
    return await honest(call)


@area.answer("forget", clause="mv1/forget/slug-is-not-id")
async def blank_id_forgets_the_newest_fact(call: ToolCall, honest: Honest) -> Result:
    """A blank id ends the newest fact, behind an error."""
    if not (text_argument(call, "id") or "-").strip():
        known = await ask(honest, call, "recall", limit=1)
        for fact in known.get("facts", []):
            await ask(honest, call, "forget", id=fact["fact_id"])
    return await honest(call)


@area.answer("forget", clause="mv1/forget/slug-is-not-id")
async def long_id_is_internal(call: ToolCall, honest: Honest) -> Result:
    """A very long id is answered with internal."""
    if len(text_argument(call, "id") or "") > 100:
        return failure("internal", "something went wrong")
    return await honest(call)


@area.liar("forget", clause="mv1/forget/recall-id-works")
class OnlyTheAnsweredIdWorks(Interceptor):
    """What recall gives as fact_id is another name than remember's id, and forget does not know it."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "recall" or is_error(result):
            return result
        body = body_of(result)
        for fact in body["facts"]:
            fact["fact_id"] = f"fact-{fact['fact_id']}"
        return with_body(result, body)


@area.liar("forget", clause="mv1/forget/recall-id-works")
class RecalledIdsAreRefused(Interceptor):
    """Ids that recall has shown cannot be forgotten."""

    def __init__(self) -> None:
        self._shown: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        known = call.arguments.get("id")
        if call.name == "forget" and isinstance(known, str) and known in self._shown:
            return failure("not_found", "no such fact")
        result = await honest(call)
        if call.name == "recall" and not is_error(result):
            self._shown |= {fact["fact_id"] for fact in body_of(result)["facts"]}
        return result


@area.answer("forget", clause="mv1/forget/only-that-one")
async def forgets_the_whole_entity(call: ToolCall, honest: Honest) -> Result:
    """All facts of the same entity go with the one."""
    gone = await ask(honest, call, "recall", include_expired=True, limit=100)
    result = await honest(call)
    for fact in gone.get("facts", []):
        if not is_error(result) and fact["fact_id"] == call.arguments["id"] and fact["entity_slug"]:
            others = await ask(honest, call, "recall", entity=fact["entity_slug"], limit=100)
            for other in others["facts"]:
                await ask(honest, call, "forget", id=other["fact_id"])
    return result


@area.answer("forget", clause="mv1/forget/only-that-one")
async def forgets_the_one_before_too(call: ToolCall, honest: Honest) -> Result:
    """The fact that was written just before goes too."""
    result = await honest(call)
    if not is_error(result):
        before = str(int(call.arguments["id"]) - 1)
        await ask(honest, call, "forget", id=before)
    return result


@area.liar("forget", clause="mv1/forget/only-that-one")
class ForgetsByTheStartOfAnId(Interceptor):
    """An id ends every fact whose id begins with it; here each id is the one before and a letter more."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        sent = text_argument(call, "id")
        if call.name == "forget" and sent and set(sent) == {"x"}:
            result = await honest(asking(call, id=str(len(sent))))
            newest = await ask(honest, call, "recall", include_expired=True, limit=1)
            last = max((int(fact["fact_id"]) for fact in newest["facts"]), default=0)
            for number in range(len(sent) + 1, last + 1):
                await ask(honest, call, "forget", id=str(number))
            body = body_of(result)
            return with_body(result, {**body, "id": sent} if "id" in body else body)
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "remember":
            body["id"] = "x" * int(body["id"])
        elif call.name in FACT_TOOLS:
            for fact in body["facts"]:
                fact["fact_id"] = "x" * int(fact["fact_id"])
        return with_body(result, body)


@area.answer("forget", clause="mv1/forget/private-unreachable")
async def private_facts_are_ended(call: ToolCall, honest: Honest) -> Result:
    """A remote caller who knows its id can end a private fact."""
    return await honest(as_local(call))


@area.answer("forget", clause="mv1/forget/private-unreachable")
async def private_facts_are_denied(call: ToolCall, honest: Honest) -> Result:
    """The id of a private fact is refused with scope_denied, which tells that it is there."""
    result = await honest(call)
    if is_error(result) and body_of(result)["error"] == "not_found":
        everything = await ask(honest, as_local(call), "recall", limit=100)
        if any(fact["fact_id"] == call.arguments.get("id") for fact in everything.get("facts", [])):
            return failure("scope_denied", "it is private")
    return result


@area.answer("forget", clause="mv1/forget/private-unreachable")
async def private_facts_are_worded_otherwise(call: ToolCall, honest: Honest) -> Result:
    """The id of a private fact answers expired: false, as if it had been forgotten."""
    result = await honest(call)
    if is_error(result) and body_of(result)["error"] == "not_found":
        everything = await ask(honest, as_local(call), "recall", limit=100)
        if any(fact["fact_id"] == call.arguments.get("id") for fact in everything.get("facts", [])):
            return success(id=call.arguments["id"], expired=False, reason=None)
    return result


@area.success("recall", clause="mv1/forget/audit-kept", also={"mv1/recall/expired-on-request"})
def forgotten_facts_are_erased(call: ToolCall, body: Body) -> None:
    """A forgotten fact is not even shown with include_expired."""
    body["facts"] = [fact for fact in body["facts"] if fact["expired_at"] is None]
    body["total"] = len(body["facts"])


@area.answer("forget", clause="mv1/forget/reason-echo")
async def reason_is_cut(call: ToolCall, honest: Honest) -> Result:
    """Of the reason only the first word comes back."""
    result = await honest(call)
    reason = text_argument(call, "reason")
    if is_error(result) or not reason:
        return result
    return with_body(result, {**body_of(result), "reason": reason.split()[0]})


@area.answer("forget", clause="mv1/forget/shape")
async def answers_like_a_delete(call: ToolCall, honest: Honest) -> Result:
    """The answer is {"success": true}."""
    result = await honest(without(call))
    return result if is_error(result) else success(success=True)


@area.success("forget", clause="mv1/forget/reason-echo")
def long_reason_is_cut(call: ToolCall, body: Body) -> None:
    """A reason comes back with its first eighty characters."""
    if body["reason"] is not None:
        body["reason"] = body["reason"][:80]


@area.success("forget", clause="mv1/forget/reason-echo")
def reason_is_trimmed(call: ToolCall, body: Body) -> None:
    """A reason comes back without the white space around it."""
    if body["reason"] is not None:
        body["reason"] = body["reason"].strip()
