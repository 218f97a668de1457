"""Null doubles that know the verbs: each tool has a body that could be true, and each code has its envelope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nmemory_reference.lies.answers import Result
from nmemory_reference.lies.null import Null
from nmemory_reference.lies.variant import Variant
from nmemory_reference.lies.verbs.answers import CODES, failure, success
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

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


def _error(code: str) -> Callable[[], Interceptor]:
    return lambda: Null(lambda call: failure(code, "It did not work.", "Use 45m, 12h or 30d, or try again."))


#: Every null double of the verbs.
NULLS = (
    Variant("null-empty-success", "Answers everything with the version alone.", lambda: Null(lambda call: success())),
    *(
        Variant(f"null-{code.replace('_', '-')}", f"Answers everything with the error {code}.", _error(code))
        for code in (*CODES, "internal")
    ),
    Variant("null-plausible", "Answers each tool with the same plausible body.", lambda: Null(_plausible)),
    Variant("null-nothing-known", "Answers each tool as if nothing were known.", lambda: Null(_empty)),
)
