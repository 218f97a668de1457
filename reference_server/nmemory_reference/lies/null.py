"""Null doubles: servers that do nothing true. They shake hands and list the right tools; no case may believe them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from nmemory_reference.lies.answers import Honest, Result, dumped, failure, success, text_result
from nmemory_reference.lies.errors import CODES
from nmemory_reference.lies.variant import Variant
from nmemory_reference.serve.interceptor import Interceptor, ToolCall
from nmemory_reference.tools.caller import Caller


class Null(Interceptor):
    """Lets everybody in, and answers every call of whatever tool without doing anything."""

    def __init__(self, answer: Callable[[ToolCall], Result]) -> None:
        self._answer = answer

    def authenticate(self, token: str | None, honest: Callable[[str | None], Caller | None]) -> Caller | None:
        return Caller()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        return self._answer(call)


class Silent(Null):
    """Never answers a call."""

    def __init__(self) -> None:
        super().__init__(lambda call: success())

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        await asyncio.Event().wait()
        return self._answer(call)


class Again(Null):
    """Answers each call with the arguments of the one before."""

    def __init__(self) -> None:
        super().__init__(self._last_one)
        self._last: dict[str, Any] = {}

    def _last_one(self, call: ToolCall) -> Result:
        last, self._last = self._last, dict(call.arguments)
        return text_result(_json({"protocol_version": 1, **last}))


_CARD = {
    "entity": {"slug": "people/someone", "title": "Someone", "type": "person"},
    "aka": ["Somebody"],
    "summary": "A person.",
    "last_touched": {"updated_at": None, "last_retrieved_at": None, "last_timeline_date": None},
    "open_threads": [],
    "edges": [],
    "backlink_count": 0,
    "active_fact_count": 1,
}
_FACT = {
    "id": 1,
    "fact_id": "1",
    "fact": "Something is known.",
    "kind": "fact",
    "entity_slug": "people/someone",
    "provenance": "somewhere",
    "valid_until": None,
    "visibility": "world",
    "expired_at": None,
}
_BUNDLE = {"facts": [_FACT], "text": "Something is known."}
_PLAUSIBLE: dict[str, dict[str, Any]] = {
    "recall": {"facts": [_FACT], "total": 1},
    "remember": {
        "id": "1",
        "status": "inserted",
        "status_text": "Saved.",
        "entity_slug": None,
        "valid_until": None,
        "degraded_dedup": True,
    },
    "entity": {"found": True, "latency_ms": 1, "card": _CARD, "suggestions": []},
    "synthesize": {
        "answer": "Yes.",
        "sources": [],
        "cost": {"model": "m", "input_tokens": None, "output_tokens": None, "usd_estimate": None},
    },
    "forget": {"id": "1", "expired": True, "reason": None},
    "context_pack": {**_BUNDLE, "entities": ["people/someone"], "cards": [_CARD], "open_threads": []},
    "delta": {
        **_BUNDLE,
        "since": "2026-01-01T00:00:00Z",
        "pages": [],
        "threads": [],
        "has_more": False,
        "next_cursor": {"since": "2026-01-01T00:00:00Z", "slug": ""},
    },
}
_EMPTY: dict[str, dict[str, Any]] = {
    **_PLAUSIBLE,
    "recall": {"facts": [], "total": 0, "results": []},
    "entity": {"found": False, "latency_ms": 0, "suggestions": []},
    "forget": {"id": "1", "expired": False, "reason": None},
    "context_pack": {"entities": [], "cards": [], "open_threads": [], "facts": [], "text": ""},
    "delta": {**_PLAUSIBLE["delta"], "facts": [], "text": ""},
}


def _plausible(call: ToolCall) -> Result:
    return success(**_PLAUSIBLE.get(call.name, {"status": "created"}))


def _empty(call: ToolCall) -> Result:
    return success(**_EMPTY.get(call.name, {"status": "created"}))


def _echo(call: ToolCall) -> Result:
    return text_result(_json({"protocol_version": 1, **call.arguments}))


def _echo_as_error(call: ToolCall) -> Result:
    return text_result(_json({"protocol_version": 1, **call.arguments}), error=True)


def _json(body: dict[str, Any]) -> str:
    """JSON that any transport can carry, even where the arguments hold half of a surrogate pair."""
    return dumped(body).encode("utf-8", "replace").decode()


def _error(code: str) -> Callable[[], Interceptor]:
    return lambda: Null(lambda call: failure(code, "It did not work.", "Use 45m, 12h or 30d, or try again."))


def all_nulls() -> tuple[Variant, ...]:
    """Every null double."""
    return (
        Variant("null-empty-object", "Answers everything with {}.", lambda: Null(lambda call: text_result("{}"))),
        Variant(
            "null-empty-success", "Answers everything with the version alone.", lambda: Null(lambda call: success())
        ),
        Variant("null-empty-list", "Answers everything with [].", lambda: Null(lambda call: text_result("[]"))),
        Variant("null-no-content", "Answers everything without content.", lambda: Null(lambda call: {"content": []})),
        Variant(
            "null-bare-error",
            "Answers everything with isError and {}.",
            lambda: Null(lambda call: text_result("{}", error=True)),
        ),
        Variant("null-prose-error", "Answers everything with isError and prose.", lambda: Null(_prose_error)),
        *(
            Variant(f"null-{code.replace('_', '-')}", f"Answers everything with the error {code}.", _error(code))
            for code in (*CODES, "internal")
        ),
        Variant("null-echo", "Answers everything with the arguments.", lambda: Null(_echo)),
        Variant("null-echo-error", "Answers everything with isError and the arguments.", lambda: Null(_echo_as_error)),
        Variant("null-again", "Answers everything with the arguments of the call before.", Again),
        Variant("null-plausible", "Answers each tool with the same plausible body.", lambda: Null(_plausible)),
        Variant("null-nothing-known", "Answers each tool as if nothing were known.", lambda: Null(_empty)),
        Variant("null-silence", "Never answers.", Silent),
    )


def _prose_error(call: ToolCall) -> Result:
    return text_result("Error: something went wrong", error=True)
