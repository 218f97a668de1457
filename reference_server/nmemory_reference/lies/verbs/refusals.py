"""Variants in refusing: who refuses an argument, with what, and what is not refused."""

from __future__ import annotations

import re
from typing import Any

from nmemory_reference.lies.answers import Honest, Result, body_of, is_error, text_argument, without
from nmemory_reference.lies.variant import Variant
from nmemory_reference.lies.verbs.answers import ALL_VERBS, failure
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall
from nmemory_reference.verbs.vocabulary import KINDS, VISIBILITIES

Json = Any


class SchemasComeFirst(Interceptor):
    """What the input schema forbids is refused by the protocol, before the tool sees it."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if problem := _schema_problem(call):
            raise RpcFault(-32602, f"Invalid arguments for tool {call.name}: {problem}")
        return await honest(call)


_REQUIRED = {
    "remember": ("fact", "provenance"),
    "entity": ("name",),
    "synthesize": ("question",),
    "forget": ("id",),
}
_INTEGERS = ("limit", "budget_tokens")
_FLAGS = ("include_expired", "supersessions", "include_pending", "include_private")
_TEXTS = {
    "remember": ("fact", "provenance", "ttl", "entity", "kind", "visibility"),
    "recall": ("entity", "query", "since", "session_id", "grep"),
    "entity": ("name",),
    "synthesize": ("question", "since", "until"),
    "forget": ("id", "reason"),
    "context_pack": ("entities", "since", "session_id"),
    "delta": ("since", "session_id", "since_slug", "entities"),
}


def _schema_problem(call: ToolCall) -> str | None:
    """What a validator of the advertised schemas would find."""
    for name in _REQUIRED.get(call.name, ()):
        if name not in call.arguments:
            return f"{name} is required"
    for name, value in call.arguments.items():
        if _mistyped(call.name, name, value):
            return f"{name} has the wrong type"
    if call.name == "remember":
        if call.arguments.get("kind", "fact") not in KINDS:
            return "kind is not one of the enum"
        if call.arguments.get("visibility", "world") not in VISIBILITIES:
            return "visibility is not one of the enum"
        if len(call.arguments["provenance"]) > 500:
            return "provenance is longer than maxLength"
    return None


def _mistyped(tool: str, name: str, value: Json) -> bool:
    if name in _TEXTS.get(tool, ()):
        return not isinstance(value, str)
    if name in _INTEGERS:
        return not isinstance(value, int) or isinstance(value, bool) or value < (1 if name == "limit" else 0)
    return name in _FLAGS and not isinstance(value, bool)


class OddOptionsAreIgnored(Interceptor):
    """An optional argument of a wrong type counts as left out."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        required = _REQUIRED.get(call.name, ())
        odd = [
            name for name, value in call.arguments.items() if name not in required and _mistyped(call.name, name, value)
        ]
        return await honest(without(call, *odd))


class UnknownArgumentsAreRefused(Interceptor):
    """An argument that the contract does not have is refused."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name in ALL_VERBS:
            known = {*_TEXTS[call.name], *_INTEGERS, *_FLAGS}
            if unknown := [name for name in call.arguments if name not in known]:
                return failure("invalid_params", f"unknown arguments: {', '.join(unknown)[:200]}")
        return await honest(call)


class UnlistedToolsAreProtocolErrors(Interceptor):
    """A tool that is not listed is refused by the protocol."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) and body_of(result)["error"] == "unknown_tool":
            raise RpcFault(-32602, f"Unknown tool: {call.name[:100]}")
        return result


class IdsHaveAForm(Interceptor):
    """A text that cannot be an id is refused as such: invalid_params, where the reference says not_found."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        sent = text_argument(call, "id")
        if call.name == "forget" and sent is not None and not re.fullmatch(r"[1-9][0-9]*", sent):
            return failure("invalid_params", "that is no id", "Send an id that remember answered.")
        return await honest(call)


class BlankQueriesAreRefused(Interceptor):
    """A query without a text is refused."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        query = text_argument(call, "query")
        if call.name == "recall" and query is not None and not query.strip():
            return failure("invalid_params", "query is blank", "Leave it out, or ask for something.")
        return await honest(call)


class Utf16(Interceptor):
    """The 500 characters of a provenance are counted as JavaScript counts them: an emoji is two."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        provenance = text_argument(call, "provenance") or ""
        if len(provenance.encode("utf-16-le", "surrogatepass")) > 1000:
            return failure("invalid_params", "provenance is longer than 500 characters")
        return await honest(call)


#: Every variant in refusing.
REFUSALS = (
    Variant("utf16-lengths", "Lengths are counted in UTF-16 units.", Utf16),
    Variant("schemas-come-first", "The protocol refuses what a schema forbids.", SchemasComeFirst),
    Variant("odd-options-are-ignored", "Optional arguments of a wrong type count as left out.", OddOptionsAreIgnored),
    Variant("unknown-arguments-are-refused", "Unknown arguments are refused.", UnknownArgumentsAreRefused),
    Variant("unlisted-are-protocol-errors", "Unlisted tools are protocol errors.", UnlistedToolsAreProtocolErrors),
    Variant("blank-queries-are-refused", "A blank query is invalid_params.", BlankQueriesAreRefused),
    Variant("ids-have-a-form", "What cannot be an id is invalid_params.", IdsHaveAForm),
)
