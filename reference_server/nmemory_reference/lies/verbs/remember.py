"""Lies about remember: what it refuses, and what it answers."""

from __future__ import annotations

from nmemory_reference.lies.answers import Body, Honest, Result, asking, is_error, text_argument, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.verbs.answers import failure
from nmemory_reference.serve.interceptor import ToolCall
from nmemory_reference.verbs.vocabulary import KINDS, VISIBILITIES

area = Area("remember")


@area.asking("remember", clause="mv1/remember/provenance-missing")
def missing_provenance_is_made_up(call: ToolCall) -> ToolCall:
    """A fact without provenance is kept as if its origin were `unknown`."""
    return call if "provenance" in call.arguments else asking(call, provenance="unknown")


@area.answer("remember", clause="mv1/remember/provenance-missing")
async def missing_provenance_is_not_found(call: ToolCall, honest: Honest) -> Result:
    """A fact without provenance is refused, with the wrong code."""
    if "provenance" not in call.arguments:
        return failure("not_found", "there is no provenance")
    return await honest(call)


@area.asking("remember", clause="mv1/remember/provenance-blank")
def blank_provenance_is_made_up(call: ToolCall) -> ToolCall:
    """A blank provenance counts as `unknown`."""
    return asking(call, provenance="unknown") if _blank(call, "provenance") else call


@area.asking("remember", clause="mv1/remember/provenance-blank")
def only_empty_provenance_is_blank(call: ToolCall) -> ToolCall:
    """A provenance of white space is one; only the empty text is refused."""
    provenance = text_argument(call, "provenance")
    if provenance and not provenance.strip():
        return asking(call, provenance=f"{provenance}\u2060")
    return call


@area.asking("remember", clause="mv1/remember/provenance-blank")
def only_spaces_are_blank(call: ToolCall) -> ToolCall:
    """A provenance of tabs, line breaks or no-break spaces is one."""
    provenance = text_argument(call, "provenance")
    if provenance and not provenance.strip() and provenance.strip(" "):
        return asking(call, provenance=f"{provenance}\u2060")
    return call


@area.failure("remember", clause="mv1/remember/provenance-blank")
def blank_provenance_is_invalid_params(call: ToolCall, body: Body) -> None:
    """A blank provenance is refused with invalid_params."""
    if body["error"] == "provenance_required":
        body["error"] = "invalid_params"


@area.asking("remember", clause="mv1/remember/provenance-500")
def long_provenance_is_cut(call: ToolCall) -> ToolCall:
    """A provenance that is too long is cut to 500 characters and accepted."""
    provenance = text_argument(call, "provenance")
    return asking(call, provenance=provenance[:500]) if provenance else call


@area.answer("remember", clause="mv1/remember/provenance-500")
async def provenance_of_500_is_too_long(call: ToolCall, honest: Honest) -> Result:
    """500 characters are one too many."""
    if len(text_argument(call, "provenance") or "") == 500:
        return failure("invalid_params", "provenance is too long")
    return await honest(call)


@area.answer("remember", clause="mv1/remember/provenance-500")
async def provenance_is_measured_in_bytes(call: ToolCall, honest: Honest) -> Result:
    """The 500 are bytes."""
    provenance = text_argument(call, "provenance") or ""
    if len(provenance.encode("utf-8", "replace")) > 500:
        return failure("invalid_params", "provenance is too long")
    return await honest(call)


@area.answer("remember", clause="mv1/remember/provenance-500")
async def long_provenance_is_required_provenance(call: ToolCall, honest: Honest) -> Result:
    """A provenance that is too long is refused with provenance_required."""
    if len(text_argument(call, "provenance") or "") > 500:
        return failure("provenance_required", "provenance is too long")
    return await honest(call)


@area.asking("remember", clause="mv1/remember/fact-missing")
def missing_fact_is_made_up(call: ToolCall) -> ToolCall:
    """Without a fact something is kept all the same."""
    return call if "fact" in call.arguments else asking(call, fact="(none)")


@area.asking("remember", clause="mv1/remember/fact-blank")
def blank_fact_is_kept(call: ToolCall) -> ToolCall:
    """A blank fact is kept."""
    return asking(call, fact="\u2060") if _blank(call, "fact") else call


@area.asking("remember", clause="mv1/remember/fact-blank")
def only_empty_fact_is_blank(call: ToolCall) -> ToolCall:
    """A fact of white space is kept; only the empty text is refused."""
    fact = text_argument(call, "fact")
    return asking(call, fact=f"{fact}\u2060") if fact and not fact.strip() else call


@area.answer("remember", clause="mv1/remember/fact-blank")
async def blank_fact_lacks_provenance(call: ToolCall, honest: Honest) -> Result:
    """A blank fact is refused with provenance_required."""
    if _blank(call, "fact"):
        return failure("provenance_required", "the fact is blank")
    return await honest(call)


@area.asking("remember", clause="mv1/remember/kind-closed")
def unknown_kind_is_fact(call: ToolCall) -> ToolCall:
    """A kind outside the set counts as `fact`."""
    kind = call.arguments.get("kind")
    return asking(call, kind="fact") if kind is not None and kind not in KINDS else call


@area.answer("remember", clause="mv1/remember/kind-closed")
async def unknown_kind_is_unavailable(call: ToolCall, honest: Honest) -> Result:
    """A kind outside the set is refused with unavailable."""
    if call.arguments.get("kind") not in (None, *KINDS):
        return failure("unavailable", "no such kind")
    return await honest(call)


@area.asking("remember", clause="mv1/remember/kind-closed")
def kind_in_any_case(call: ToolCall) -> ToolCall:
    """`FACT` and `Belief` are kinds too."""
    kind = text_argument(call, "kind")
    return asking(call, kind=kind.lower()) if kind and kind.lower() in KINDS else call


@area.asking("remember", clause="mv1/remember/visibility-closed")
def unknown_visibility_is_world(call: ToolCall) -> ToolCall:
    """A visibility outside the set counts as `world`."""
    visibility = call.arguments.get("visibility")
    return without(call, "visibility") if visibility is not None and visibility not in VISIBILITIES else call


@area.asking("remember", clause="mv1/remember/visibility-closed")
def unknown_visibility_is_private(call: ToolCall) -> ToolCall:
    """A visibility outside the set counts as `private`."""
    visibility = call.arguments.get("visibility")
    unknown = visibility is not None and visibility not in VISIBILITIES
    return asking(call, visibility="private") if unknown else call


async def _refused_but_kept(call: ToolCall, honest: Honest, **mended: str) -> Result:
    """The answer to a call; where that is a refusal, the mended call is made behind the caller's back."""
    result = await honest(call)
    if is_error(result):
        await honest(asking(call, **mended))
    return result


@area.answer("remember", clause="mv1/remember/rejected-writes-nothing")
async def blank_provenance_is_refused_and_kept(call: ToolCall, honest: Honest) -> Result:
    """A blank provenance is refused after the fact was written."""
    return await _refused_but_kept(call, honest, provenance="-") if _blank(call, "provenance") else await honest(call)


@area.answer("remember", clause="mv1/remember/rejected-writes-nothing")
async def long_provenance_is_refused_and_kept(call: ToolCall, honest: Honest) -> Result:
    """A provenance that is too long is refused after the fact was written."""
    provenance = text_argument(call, "provenance") or ""
    return await _refused_but_kept(call, honest, provenance=provenance[:500])


@area.answer("remember", clause="mv1/remember/rejected-writes-nothing")
async def bad_ttl_is_refused_and_kept(call: ToolCall, honest: Honest) -> Result:
    """A ttl that makes no sense is refused after the fact was written."""
    return await _late_refusal(call, honest, "ttl")


@area.answer("remember", clause="mv1/remember/rejected-writes-nothing")
async def bad_kind_is_refused_and_kept(call: ToolCall, honest: Honest) -> Result:
    """A kind outside the set is refused after the fact was written."""
    return await _late_refusal(call, honest, "kind")


@area.answer("remember", clause="mv1/remember/rejected-writes-nothing")
async def bad_visibility_is_refused_and_kept(call: ToolCall, honest: Honest) -> Result:
    """A visibility outside the set is refused after the fact was written."""
    return await _late_refusal(call, honest, "visibility")


async def _late_refusal(call: ToolCall, honest: Honest, name: str) -> Result:
    """Refuses what is wrong with one argument, after the fact was written without it."""
    result = await honest(call)
    if is_error(result) and name in call.arguments:
        await honest(without(call, name))
    return result


# --- what is answered ---------------------------------------------------------------------------------------------


@area.success("remember", clause="mv1/remember/nulls-echo")
def no_entity_is_no_key(call: ToolCall, body: Body) -> None:
    """Without an entity there is no entity_slug."""
    if body["entity_slug"] is None:
        del body["entity_slug"]


@area.success("remember", clause="mv1/remember/nulls-echo")
def no_ttl_is_no_key(call: ToolCall, body: Body) -> None:
    """Without a ttl there is no valid_until."""
    if body["valid_until"] is None:
        del body["valid_until"]


@area.success("remember", clause="mv1/remember/nulls-echo")
def no_entity_is_an_empty_text(call: ToolCall, body: Body) -> None:
    """Without an entity entity_slug is empty, not null."""
    body["entity_slug"] = body["entity_slug"] or ""


@area.success("remember", clause="mv1/remember/nulls-echo")
def no_ttl_is_the_end_of_time(call: ToolCall, body: Body) -> None:
    """Without a ttl valid_until is in the year 9999."""
    body["valid_until"] = body["valid_until"] or "9999-12-31T23:59:59Z"


@area.success("remember", clause="mv1/remember/degraded-says-so")
def degraded_goes_unsaid(call: ToolCall, body: Body) -> None:
    """Without embeddings degraded_dedup is left out."""
    body.pop("degraded_dedup", None)


@area.success("remember", clause="mv1/remember/degraded-says-so")
def degraded_is_denied(call: ToolCall, body: Body) -> None:
    """Without embeddings degraded_dedup is false."""
    if "degraded_dedup" in body:
        body["degraded_dedup"] = False


def _blank(call: ToolCall, name: str) -> bool:
    value = call.arguments.get(name)
    return isinstance(value, str) and not value.strip()
