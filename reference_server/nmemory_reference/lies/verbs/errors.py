"""Lies about errors: their flag, their envelope, their code."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from nmemory_reference.lies.answers import Body, Honest, Result, body_of, is_error, text_result
from nmemory_reference.lies.lie import Area, Failures, Lie
from nmemory_reference.lies.verbs.answers import ALL_VERBS, CODES, failure
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("errors")


# --- the envelope ---------------------------------------------------------------------------------------------------


@area.result(*ALL_VERBS, clause="mv1/error/envelope")
def errors_are_not_flagged(call: ToolCall, result: Result) -> None:
    """Errors come without isError."""
    if is_error(result):
        del result["isError"]


@area.result(*ALL_VERBS, clause="mv1/error/envelope")
def errors_are_flagged_false(call: ToolCall, result: Result) -> None:
    """Errors come with isError: false."""
    result["isError"] = False


@area.result("forget", clause="mv1/error/envelope")
def errors_of_forget_are_not_flagged(call: ToolCall, result: Result) -> None:
    """Errors of forget come without isError."""
    if is_error(result):
        del result["isError"]


@area.result(*ALL_VERBS, clause="mv1/error/envelope")
def errors_are_prose(call: ToolCall, result: Result) -> Result | None:
    """Errors are sentences, not JSON."""
    if not is_error(result):
        return None
    body = body_of(result)
    return text_result(f"Error: {body['message']}. {body['suggestion']}", error=True)


@area.result(*ALL_VERBS, clause="mv1/error/envelope")
def errors_are_prefixed(call: ToolCall, result: Result) -> Result | None:
    """Before the envelope stands a word."""
    return text_result(f"Error: {json.dumps(body_of(result))}", error=True) if is_error(result) else None


@area.failure(*ALL_VERBS, clause="mv1/error/envelope")
def errors_are_nested(call: ToolCall, body: Body) -> Body:
    """The envelope stands in a member `error`."""
    return {"error": body, "protocol_version": 1}


@area.failure(*ALL_VERBS, clause="mv1/error/envelope", also={"mv1/error/closed-set"})
def errors_are_called_code(call: ToolCall, body: Body) -> None:
    """The code stands in `code`, not in `error`."""
    body["code"] = body.pop("error")


@area.result(*ALL_VERBS, clause="mv1/error/envelope")
def errors_are_structured_only(call: ToolCall, result: Result) -> Result | None:
    """The envelope stands in structuredContent, and content is empty."""
    if not is_error(result):
        return None
    return {"content": [], "structuredContent": body_of(result), "isError": True}


@area.answer("forget", clause="mv1/error/envelope", also={"mv1/forget/unknown-id"})
async def not_found_is_a_protocol_error(call: ToolCall, honest: Honest) -> Result:
    """An unknown id is answered with a JSON-RPC error."""
    result = await honest(call)
    if is_error(result) and body_of(result)["error"] == "not_found":
        raise RpcFault(-32602, body_of(result)["message"])
    return result


@area.answer("remember", clause="mv1/remember/provenance-blank", also={"mv1/error/envelope"})
async def blank_provenance_is_a_protocol_error(call: ToolCall, honest: Honest) -> Result:
    """A blank provenance is answered with a JSON-RPC error."""
    result = await honest(call)
    if is_error(result) and body_of(result)["error"] == "provenance_required":
        raise RpcFault(-32602, body_of(result)["message"])
    return result


# --- the code -------------------------------------------------------------------------------------------------------


@area.failure("remember", clause="mv1/error/closed-set", also={"mv1/remember/ttl-garbage-rejected"})
def bad_ttl_has_a_code_of_its_own(call: ToolCall, body: Body) -> None:
    """A ttl that makes no sense is refused with `invalid_ttl`."""
    if "ttl" in call.arguments:
        body["error"] = "invalid_ttl"


@area.failure("forget", clause="mv1/error/closed-set", also={"mv1/forget/unknown-id"})
def fact_not_found(call: ToolCall, body: Body) -> None:
    """An unknown id is answered with `fact_not_found`."""
    if body["error"] == "not_found":
        body["error"] = "fact_not_found"


@area.failure("synthesize", clause="mv1/error/closed-set", also={"mv1/synthesize/answer-or-unavailable"})
def no_provider(call: ToolCall, body: Body) -> None:
    """Without a language model the error is `no_provider`."""
    if body["error"] == "unavailable":
        body["error"] = "no_provider"


@area.failure("entity", clause="mv1/error/closed-set", also={"mv1/entity/name-blank"})
def blank_names_have_a_code_of_their_own(call: ToolCall, body: Body) -> None:
    """A blank name is refused with `bad_request`."""
    body["error"] = "bad_request"


@area.answer("recall", clause="mv1/error/closed-set", also={"mv1/recall/budget-too-small"})
async def no_budget_is_unsatisfiable(call: ToolCall, honest: Honest) -> Result:
    """A budget of almost nothing is refused with budget_unsatisfiable."""
    budget = call.arguments.get("budget_tokens")
    if isinstance(budget, int) and budget < 5:
        return failure("budget_unsatisfiable", "nothing fits")
    return await honest(call)


# --- one code only --------------------------------------------------------------------------------------------------


def _for_one_code(name: str, clause: str, says: str, change: Callable[[Body], object], codes: tuple[str, ...]) -> None:
    for code in codes:

        def only(call: ToolCall, body: Body, code: str = code) -> None:
            if body["error"] == code:
                change(body)

        area.add(
            Lie(
                id=f"errors/{name}-for-{code.replace('_', '-')}",
                clause=clause,
                says=says.format(code=code),
                make=lambda only=only: Failures(ALL_VERBS, only),  # type: ignore[misc]
            )
        )


_for_one_code(
    "empty-suggestion",
    "mv1/error/suggestion",
    "{code} comes with an empty suggestion.",
    lambda body: body.update(suggestion=""),
    CODES,
)
_for_one_code(
    "no-suggestion",
    "mv1/error/suggestion",
    "{code} comes without a suggestion.",
    lambda body: body.pop("suggestion"),
    CODES,
)
_for_one_code(
    "no-version",
    "mv1/error/version",
    "{code} comes without protocol_version.",
    lambda body: body.pop("protocol_version"),
    CODES,
)
_for_one_code(
    "text-version",
    "mv1/error/version",
    "{code} comes with protocol_version as a text.",
    lambda body: body.update(protocol_version="1"),
    CODES[:1],
)


# --- odd input ------------------------------------------------------------------------------------------------------


def _odd(value: object) -> bool:
    """Whether a value is none that a caller sends on purpose."""
    return isinstance(value, list | dict | float) or (isinstance(value, str) and _odd_text(value))


def _odd_text(text: str) -> bool:
    return "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text) or len(text) > 100_000


class Startled(Interceptor):
    """Does something rash to a call of one tool that is odd in one way."""

    def __init__(self, tool: str, odd: Callable[[object], bool], rash: Callable[[], Result]) -> None:
        self._tool, self._odd, self._rash = tool, odd, rash

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == self._tool and any(map(self._odd, call.arguments.values())):
            return self._rash()
        return await honest(call)


def _internal() -> Result:
    return failure("internal", "AttributeError: 'list' object has no attribute 'strip'")


def _broken() -> Result:
    raise RpcFault(-32603, "Internal error")


_ODDITIES: tuple[tuple[str, str, Callable[[object], bool]], ...] = (
    ("odd-types", "an array or an object for a text", lambda value: isinstance(value, list | dict)),
    ("nul", "a NUL character", lambda value: isinstance(value, str) and "\0" in value),
    (
        "lone-surrogates",
        "half of a surrogate pair",
        lambda value: isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value),
    ),
    ("huge-texts", "a text of a megabyte", lambda value: isinstance(value, str) and len(value) > 500_000),
    ("null", "null", lambda value: value is None),
)

for _tool in ("remember", "recall", "entity", "forget", "synthesize"):
    for _name, _what, _is in _ODDITIES:
        area.add(
            Lie(
                id=f"errors/{_tool}-is-startled-by-{_name}",
                clause="mv1/error/not-internal",
                says=f"{_tool} answers {_what} with internal.",
                make=lambda tool=_tool, odd=_is: Startled(tool, odd, _internal),  # type: ignore[misc]
                tools=frozenset({_tool}),
            )
        )

area.add(
    Lie(
        id="errors/odd-input-is-a-protocol-fault",
        clause="mv1/error/not-internal",
        says="remember answers odd input with JSON-RPC's internal error.",
        make=lambda: Startled("remember", _odd, _broken),
        tools=frozenset({"remember"}),
    )
)


@area.answer("recall", clause="mv1/error/not-internal")
async def negative_limits_are_internal(call: ToolCall, honest: Honest) -> Result:
    """A negative limit is answered with internal."""
    limit = call.arguments.get("limit")
    return _internal() if isinstance(limit, int) and limit < 0 else await honest(call)


@area.answer("recall", clause="mv1/error/not-internal")
async def huge_numbers_are_internal(call: ToolCall, honest: Honest) -> Result:
    """A number beyond 64 bits is answered with internal."""
    huge = any(isinstance(value, int) and abs(value) > 2**63 for value in call.arguments.values())
    return _internal() if huge else await honest(call)


@area.answer("entity", clause="mv1/error/not-internal")
async def odd_names_hang(call: ToolCall, honest: Honest) -> Result:
    """A name that is no text is never answered."""
    if isinstance(call.arguments.get("name"), list | dict | int):
        await asyncio.Event().wait()
    return await honest(call)


@area.liar("remember", clause="mv1/error/not-internal")
class OddInputIsTheEnd(Interceptor):
    """After odd input every call is answered with internal."""

    def __init__(self) -> None:
        self._broken = False

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if self._broken:
            return _internal()
        result = await honest(call)
        self._broken = call.name == "remember" and any(_odd(value) for value in call.arguments.values())
        return result
