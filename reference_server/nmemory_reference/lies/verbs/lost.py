"""Lies about what is lost on the way: facts of one sort are acknowledged, and gone a moment later."""

from __future__ import annotations

from collections.abc import Callable

from nmemory_reference.lies.answers import Honest, Result, ask, body_of, is_error, text_argument
from nmemory_reference.lies.lie import CLAIMS, Area, Lie
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("lost")

_SEEN = "mv1/wire/serial-read-your-write"


class Losing(Interceptor):
    """Drops a fact right after it was stored, where `when` says so."""

    def __init__(self, when: Callable[[ToolCall], object]) -> None:
        self._when = when

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name == "remember" and not is_error(result) and self._when(call):
            await ask(honest, call, "forget", id=body_of(result)["id"])
        return result


def _lost(name: str, clause: str, says: str, when: Callable[[ToolCall], object]) -> None:
    area.add(
        Lie(
            id=f"lost/{name}",
            clause=clause,
            says=says,
            make=lambda: Losing(when),
            also=frozenset({_SEEN, "mv1/recall/round-trip"}),
            claims=CLAIMS,
            tools=frozenset({"remember"}),
        )
    )


def _fact(call: ToolCall) -> str:
    return text_argument(call, "fact") or ""


_lost(
    "long-facts",
    "mv1/remember/fact-verbatim",
    "A fact of more than 2,000 characters is stored, and dropped by the index.",
    lambda call: len(_fact(call)) > 2000,
)
_lost(
    "facts-with-emoji",
    "mv1/remember/fact-verbatim",
    "A fact with a character beyond the first 65,536 is dropped.",
    lambda call: any(ord(letter) > 0xFFFF for letter in _fact(call)),
)
_lost(
    "facts-of-several-lines",
    "mv1/remember/fact-multiline",
    "A fact of several lines is dropped.",
    lambda call: "\n" in _fact(call),
)
_lost(
    "facts-about-nobody",
    _SEEN,
    "A fact without an entity is dropped: there is no page to keep it with.",
    lambda call: "entity" not in call.arguments,
)
_lost("facts-with-a-ttl", _SEEN, "A fact with a ttl is dropped at once.", lambda call: "ttl" in call.arguments)
_lost("events", "mv1/remember/kind-kept", "Events are dropped.", lambda call: call.arguments.get("kind") == "event")
_lost(
    "facts-with-a-long-origin",
    "mv1/remember/provenance-500",
    "A fact whose provenance has more than 255 characters is dropped.",
    lambda call: len(text_argument(call, "provenance") or "") > 255,
)


@area.liar("remember", "forget", clause=_SEEN, also={"mv1/recall/round-trip"})
class TextsThatWereForgotten(Interceptor):
    """A text that was forgotten once is never stored again, whatever is answered."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._gone: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        if call.name == "remember":
            fact_id = body_of(result)["id"]
            self._texts[fact_id] = _fact(call)
            if _fact(call) in self._gone:
                await ask(honest, call, "forget", id=fact_id)
        if call.name == "forget":
            self._gone |= {text for fact_id, text in self._texts.items() if fact_id == call.arguments["id"]}
        return result


class Forgetful(Interceptor):
    """An entity keeps its latest facts only."""

    def __init__(self, kept: int) -> None:
        self._kept = kept

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        entity = text_argument(call, "entity")
        if call.name == "remember" and not is_error(result) and entity:
            known = (await ask(honest, call, "recall", entity=entity, limit=100))["facts"]
            for fact in known[self._kept :]:
                await ask(honest, call, "forget", id=fact["fact_id"])
        return result


def _forgetful(name: str, kept: int, says: str) -> None:
    area.add(
        Lie(
            id=f"lost/{name}",
            clause=_SEEN,
            says=says,
            make=lambda: Forgetful(kept),
            also=frozenset({"mv1/wire/concurrent-writes", "mv1/recall/newest-first", "mv1/recall/limit-facts"}),
            tools=frozenset({"remember"}),
        )
    )


_forgetful("all-but-the-latest-fact", 1, "An entity keeps its latest fact: each one takes the place of those before.")
_forgetful("all-but-the-latest-five", 5, "An entity keeps its latest five facts: the oldest goes when a sixth comes.")
