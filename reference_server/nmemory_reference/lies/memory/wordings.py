"""Variants in what the memory tools say of themselves, in what they say to people, and in how they refuse."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    body_of,
    dumped,
    is_error,
    text_of,
    text_result,
    with_body,
)
from nmemory_reference.lies.memory.answers import STATE, VALUE
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.lies.variant import Lists, Variant
from nmemory_reference.serve.interceptor import RpcFault, ToolCall

Json = Any

#: What stays together when words change places: a quoted text, else a word.
_WORD = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`|\S+")
_ROW = re.compile(r"(?P<lead>(?:items\[\d+\][.\w]*: )?ingest rejected: )(?P<detail>.*)", re.DOTALL)
_FENCE = re.compile(r'(project_id|project_prefix|session_id) "[^"]*"')
_CUE = re.compile(r"[\w-]+:'[^']*'")


def _otherwise(text: str) -> str:
    """The words that a text names, in no sentence that a case could expect."""
    return f"¡Ay! {' '.join(reversed(_WORD.findall(text)))}"


def _row_otherwise(text: str) -> str:
    found = _ROW.fullmatch(text)
    return found["lead"] + _otherwise(found["detail"]) if found else text


def _finding_otherwise(text: str) -> str:
    rule, _, words = text.partition(":")
    return f"r{len(rule)}/{rule.upper()}:{words}"


def _mining(body: Body) -> None:
    for candidate in body["candidates"]:
        candidate["cue"] = " + ".join(reversed(_CUE.findall(candidate["cue"])))


def _rows(body: Body) -> None:
    for row in body.get("outcomes", ()):
        if "error" in row:
            row["error"] = _row_otherwise(row["error"])
        if "taint_findings" in row:
            row["taint_findings"] = [_finding_otherwise(line) for line in reversed(row["taint_findings"])]
    if "reason" in body:
        body["reason"] = _otherwise(body["reason"])


def _whole(body: Body) -> None:
    if "taint_findings" in body:
        body["taint_findings"] = [_finding_otherwise(line) for line in body["taint_findings"]]


def _reason(body: Body) -> None:
    """Fences are named by the arguments that set them, without what was sent."""
    if "reason" in body:
        body["reason"] = _otherwise(_FENCE.sub(r"\1", body["reason"]))


def _plan(body: Body) -> None:
    for one in (*body["plan"]["tier_moves"], *body["plan"]["merge_proposals"]):
        one |= {key: _otherwise(one[key]) for key in ("reason", "rationale") if key in one}


def _advisory(body: Body) -> None:
    body["advisory"] = "¡Ay!"


_TEXTS: Mapping[str, Callable[[Body], None]] = {
    "memory_extract": _mining,
    "memory_ingest": _rows,
    "memory_import": _rows,
    "memory_get": _whole,
    "memory_retrieve": _reason,
    "memory_consolidate": _plan,
    "memory_outcome": _advisory,
    "memory_preference": _advisory,
    "memory_merge": _advisory,
}


def _reworded(tools: list[Body]) -> list[Body]:
    for tool in tools:
        tool |= {"title": "Ein Werkzeug", "description": "Ein Werkzeug für das Gedächtnis."}
        for one in tool["inputSchema"]["properties"].values():
            one["description"] = "Ein Wert."
    return tools


class OtherWords(Lists):
    """Every text for people is another one, with what it has to name."""

    def __init__(self) -> None:
        super().__init__(_reworded)

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        try:
            result = await honest(call)
        except RpcFault as fault:
            raise RpcFault(fault.code, _otherwise(fault.message), fault.data) from None
        if is_error(result):
            return text_result(_otherwise(text_of(result)), error=True)
        if call.name not in _TEXTS:
            return result
        body = body_of(result)
        _TEXTS[call.name](body)
        return with_body(result, body)


def _bare(tools: list[Body]) -> list[Body]:
    """Nothing but what the texts promise: types, what is required, and one term at least."""
    return [
        {
            "name": tool["name"],
            "inputSchema": {
                key: _loose(value)
                for key, value in tool["inputSchema"].items()
                if key in ("type", "properties", "required")
            },
        }
        for tool in tools
    ]


def _loose(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    return {
        name: {"type": one["type"]} | ({"minItems": 1} if name == "terms" and one.get("minItems") else {})
        if isinstance(one, dict) and isinstance(one.get("type"), str)
        else {}
        for name, one in value.items()
    }


#: The tools whose texts print -32602, or speak of typed errors, for what can't be meant.
_TYPED = ("memory_alias", "memory_classify", "memory_import", "memory_pin", "memory_session_finish", "memory_merge")


def _is_typed(call: ToolCall) -> bool:
    """Whether the code of a refusal is in the tool's text."""
    if call.name == "memory_retrieve":
        terms = call.arguments.get("terms")
        return not isinstance(terms, list) or not all(re.search(r"[^\W_]", str(term)) for term in terms) or not terms
    return call.name in (*_TYPED, "memory_vector")


class RefusesElsewhere(Lists):
    """Shapes are refused by JSON-RPC, values in band, wherever the contract names no channel; errors carry more."""

    def __init__(self) -> None:
        super().__init__(_bare)

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        try:
            result = await honest(call)
        except RpcFault as fault:
            if fault.code == STATE and call.name == "memory_relate":
                return Refusal(dumped({"error": fault.message})).told()
            if fault.code == STATE and (fault.data or {}).get("id") == call.arguments.get("receipt_id"):
                # The text names the code of an unknown receipt, and no data.
                raise RpcFault(fault.code, fault.message) from None
            if fault.code == STATE:
                data = {"hint": ["look at memory_list"], **(fault.data or {}), "at": None}
                raise RpcFault(fault.code, fault.message, data) from None
            if fault.code == VALUE and "no tool named" in fault.message:
                return Refusal(f"no such tool: {call.name}").told()
            if fault.code == VALUE and not _is_typed(call):
                return Refusal(dumped({"error": fault.message})).told()
            raise RpcFault(fault.code, fault.message, {"hint": "look at tools/list"}) from None
        if is_error(result) and call.name != "memory_ingest":
            raise RpcFault(VALUE, text_of(result), {"stage": "schema"})
        return result


#: Every variant in words and refusals.
WORDINGS = (
    Variant("other-words", "Every text for people is another one.", OtherWords),
    Variant(
        "refuses-elsewhere",
        "Schemas are bare, and refusals take the other channel wherever the contract leaves it open.",
        RefusesElsewhere,
    ),
)
