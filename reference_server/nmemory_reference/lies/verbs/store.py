"""Lies about the store: whether what was acknowledged is kept."""

from __future__ import annotations

import asyncio
import itertools
import re
from abc import ABC, abstractmethod
from typing import Any

from nmemory_reference.lies.answers import Honest, Result, ask, asking, body_of, is_error, text_argument, with_body
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.verbs.answers import success
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall
from nmemory_reference.verbs.vocabulary import KINDS

area = Area("store")


def _acknowledged(call: ToolCall, fact_id: str) -> Result:
    """What remember answers to a fact that is stored."""
    return success(
        id=fact_id,
        status="inserted",
        status_text="Saved.",
        entity_slug=text_argument(call, "entity"),
        valid_until=None,
        degraded_dedup=True,
    )


@area.liar("remember", clause="mv1/wire/serial-read-your-write")
class SaysYesAndStoresNothing(Interceptor):
    """remember answers an id, and stores nothing."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != "remember" or not _would_be_kept(call):
            return await honest(call)
        return _acknowledged(call, str(next(self._ids)))


@area.liar("remember", clause="mv1/wire/serial-read-your-write", also={"mv1/wire/concurrent-writes"})
class EveryThirdWriteIsLost(Interceptor):
    """Every third fact is answered and not stored."""

    def __init__(self) -> None:
        self._count = 0

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != "remember" or not _would_be_kept(call):
            return await honest(call)
        self._count += 1
        return await honest(call) if self._count % 3 else _acknowledged(call, str(10**6 + self._count))


@area.liar("remember", clause="mv1/wire/serial-read-your-write", also={"mv1/recall/round-trip"})
class WritesAreLate(Interceptor):
    """A fact is stored when the next one comes."""

    def __init__(self) -> None:
        self._waiting: ToolCall | None = None
        self._ids = itertools.count(1)

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != "remember" or not _would_be_kept(call):
            return await honest(call)
        waiting, self._waiting = self._waiting, call
        if waiting is not None:
            await honest(waiting)
        return _acknowledged(call, str(next(self._ids)))


@area.liar("recall", clause="mv1/wire/serial-read-your-write")
class FirstLookIsTooEarly(Interceptor):
    """A fact is not there the first time that it should be recalled."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "recall" or is_error(result):
            return result
        body = body_of(result)
        shown = [fact for fact in body["facts"] if fact["fact_id"] in self._seen]
        self._seen |= {fact["fact_id"] for fact in body["facts"]}
        body["facts"], body["total"] = shown, len(shown)
        return with_body(result, body)


class _Crowd(Interceptor, ABC):
    """Knows how many calls of remember are under way."""

    def __init__(self) -> None:
        self.there = 0

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != "remember" or not _would_be_kept(call):
            return await honest(call)
        self.there += 1
        try:
            # Calls that were sent at once arrive one by one: whoever waits a moment sees the others.
            for _ in range(20):
                await asyncio.sleep(0)
            return await self.remember(call, honest)
        finally:
            self.there -= 1

    @abstractmethod
    async def remember(self, call: ToolCall, honest: Honest) -> Result:
        """Answers a call that may have company."""


@area.liar("remember", clause="mv1/wire/concurrent-writes")
class CrowdedWritesAreLost(_Crowd):
    """A fact that comes together with others is answered and not stored, but for the last."""

    async def remember(self, call: ToolCall, honest: Honest) -> Result:
        return await honest(call) if self.there == 1 else _acknowledged(call, str(10**6 + self.there))


@area.liar("remember", clause="mv1/wire/concurrent-writes")
class CrowdedWritesShareAnId(_Crowd):
    """Facts that come together are stored, and answered with one id."""

    def __init__(self) -> None:
        super().__init__()
        self._shared: str | None = None

    async def remember(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        self._shared = (self._shared or body["id"]) if self.there > 1 else None
        return with_body(result, {**body, "id": self._shared or body["id"]})


@area.liar("remember", clause="mv1/wire/concurrent-writes")
class CrowdedWritesAreStoredTwice(_Crowd):
    """A fact that comes together with others is stored twice."""

    async def remember(self, call: ToolCall, honest: Honest) -> Result:
        if self.there > 1:
            await honest(call)
        return await honest(call)


@area.liar("remember", clause="mv1/wire/concurrent-writes")
class CrowdedWritesAreRefused(_Crowd):
    """A fact that comes together with others is refused with a JSON-RPC error."""

    async def remember(self, call: ToolCall, honest: Honest) -> Result:
        if self.there > 1:
            raise RpcFault(-32000, "the database is locked")
        return await honest(call)


@area.liar("remember", clause="mv1/wire/concurrent-writes")
class CrowdedWritesMixUp(_Crowd):
    """Of facts that come together each is stored with the text of the first."""

    def __init__(self) -> None:
        super().__init__()
        self._text: Any = None

    async def remember(self, call: ToolCall, honest: Honest) -> Result:
        if self.there <= 1:
            self._text = None
            return await honest(call)
        self._text = self._text or call.arguments["fact"]
        return await honest(asking(call, fact=self._text))


@area.liar("recall", clause="mv1/wire/survives-restart")
class NothingSurvivesARestart(Interceptor):
    """Facts live as long as the process that wrote them."""

    def __init__(self) -> None:
        self._written: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        if call.name == "remember":
            self._written.add(body_of(result)["id"])
        if call.name != "recall":
            return result
        body = body_of(result)
        body["facts"] = [fact for fact in body["facts"] if fact["fact_id"] in self._written]
        body["total"] = len(body["facts"])
        return with_body(result, body)


@area.liar("remember", clause="mv1/wire/survives-restart")
class TheLastWriteIsLostInARestart(Interceptor):
    """The last fact before a restart is not on the disk yet."""

    def __init__(self) -> None:
        self._started = False

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if not self._started:
            self._started = True
            before = (await ask(honest, call, "recall", limit=1)).get("facts", [])
            for fact in before:
                await ask(honest, call, "forget", id=fact["fact_id"])
        return await honest(call)


@area.liar("remember", "recall", "forget", clause="mv1/wire/survives-restart", also={"mv1/recall/fact-id-string"})
class IdsBeginAgainAfterARestart(Interceptor):
    """The ids of facts that come after a restart begin at 1 again, beside the older ones."""

    def __init__(self) -> None:
        self._before: int | None = None

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if self._before is None:
            latest = (await ask(honest, call, "recall", limit=1)).get("facts", [])
            self._before = max((fact["id"] for fact in latest), default=0)
        sent = text_argument(call, "id")
        if call.name == "forget" and sent and re.fullmatch(r"[0-9]{1,9}", sent):
            result = await honest(asking(call, id=str(int(sent) + self._before)))
            return result if is_error(result) else with_body(result, {**body_of(result), "id": sent})
        result = await honest(call)
        if call.name not in ("remember", "recall") or is_error(result):
            return result
        body = body_of(result)
        if call.name == "remember":
            body["id"] = self._shown(body["id"])
        for fact in body.get("facts", ()):
            fact["fact_id"] = self._shown(fact["fact_id"])
            fact["id"] = int(fact["fact_id"])
        return with_body(result, body)

    def _shown(self, fact_id: str) -> str:
        number = int(fact_id) - (self._before or 0)
        return str(number) if number > 0 else fact_id


def _would_be_kept(call: ToolCall) -> bool:
    """Whether remember would take the call, as far as its required texts go."""
    texts = [text_argument(call, name) for name in ("fact", "provenance")]
    optional = all(isinstance(value, str) for name, value in call.arguments.items())
    kind, visibility = call.arguments.get("kind", "fact"), call.arguments.get("visibility", "world")
    return (
        optional
        and all(text and text.strip() and "\0" not in text for text in texts)
        and len(texts[1] or "") <= 500
        and "ttl" not in call.arguments
        and kind in KINDS
        and visibility in ("world", "private")
    )
