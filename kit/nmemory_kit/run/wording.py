"""Steps and answers in words."""

from __future__ import annotations

from typing import Any

from ..check import Answer, Broken, Outcome
from ..check.vocabulary import show
from ..contract.case import MAIN, Call, Caller

Json = Any


def doing(step: Call, arguments: Json) -> str:
    """A call in words."""
    return f"{step.tool} {show(arguments)}{whose(step.caller)}"


def whose(caller: Caller) -> str:
    """Who asks and where, in words; nothing for the usual."""
    words = f" as {caller.credential}" if caller.credential else ""
    words += "" if caller.client is None else f" by the client {show(caller.client)}"
    return words + (f" on the store {caller.at}" if caller.at != MAIN else "")


def unwanted(answer: Answer) -> Broken:
    """What is broken where a success should have come."""
    match answer.outcome:
        case Outcome.RPC:
            got = f"JSON-RPC error {answer.raw.get('code')}: {show(answer.text)}"
        case Outcome.REFUSED:
            got = f"HTTP status {answer.status}"
        case _:
            got = f"an error: {show(answer.text)}"
    return Broken("", "a success", got)
