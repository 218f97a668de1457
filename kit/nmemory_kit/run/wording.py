"""Steps and answers in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..check import Answer, Broken, Outcome
from ..check.vocabulary import show
from ..contract.case import MAIN, Call, Caller

Json = Any


@dataclass(frozen=True, slots=True)
class Doing:
    """A call; its text is the call in words. Most calls are never told of, so that it is not made before."""

    step: Call
    arguments: Json

    def __str__(self) -> str:
        return f"{self.step.tool} {show(self.arguments)}{whose(self.step.caller)}"


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
