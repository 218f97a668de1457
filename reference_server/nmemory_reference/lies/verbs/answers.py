"""What the verbs answer: their names, and envelopes to make up."""

from __future__ import annotations

from typing import Any

from nmemory_reference.lies.answers import Body, Result, dumped, text_result

VERBS = ("recall", "remember", "entity", "synthesize", "forget")
LATER_VERBS = ("context_pack", "delta")
ALL_VERBS = (*VERBS, *LATER_VERBS)
#: The tools whose answers hold facts as recall has them.
FACT_TOOLS = ("recall", *LATER_VERBS)
#: The codes of errors that a case can bring about.
CODES = ("invalid_params", "provenance_required", "not_found", "unavailable", "scope_denied")


def success(**fields: Any) -> Result:
    """A made-up success of a verb."""
    return text_result(dumped({"protocol_version": 1, **fields}))


def failure(code: str, message: str, suggestion: str = "Look at the arguments and try again.") -> Result:
    """A made-up error of a verb."""
    envelope = {"error": code, "message": message, "suggestion": suggestion, "protocol_version": 1}
    return text_result(dumped(envelope), error=True)


def fact_text(fact: Body) -> str:
    """The text of a fact."""
    return str(fact["fact"])
