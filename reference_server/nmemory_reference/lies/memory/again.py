"""Lies about forget: what may come back, and what is forgotten twice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from nmemory_reference.lies.answers import (
    Honest,
    Result,
    asking,
    body_of,
    is_error,
    with_body,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import VALUE
from nmemory_reference.lies.memory.forget import is_marker
from nmemory_reference.lies.memory.history import History
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("forget")

TOOL = "memory_forget"
GET = "memory_get"
INGEST = "memory_ingest"


@area.answer(INGEST, clause="nm1/forget/sticky")
async def the_forgotten_comes_back(call: ToolCall, honest: Honest) -> Result:
    """What was forgotten is taken in from another source."""
    result = await honest(call)
    if not is_error(result) and body_of(result)["rejected"] and call.arguments.get("source") == "another source":
        return await honest(asking(call, content=f"{call.arguments['content']} "))
    return result


@area.liar(TOOL, INGEST, clause="nm1/forget/sticky")
class ForgettingIsForgotten(Interceptor):
    """Content that was forgotten before the last start is taken in."""

    def __init__(self) -> None:
        self._here = False

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        self._here |= call.name == TOOL
        if call.name == INGEST and not is_error(result) and body_of(result)["rejected"] and not self._here:
            return await honest(asking(call, content=f"{call.arguments.get('content')} "))
        return result


class _Barred(History, ABC):
    """Takes in some of what was forgotten."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await super().call_tool(call, honest)
        if call.name != INGEST or is_error(result) or not body_of(result)["rejected"]:
            return result
        sent = call.arguments.get("items") or [call.arguments]
        gone = {self.captured[named]["content"]: named for named in self.forgotten if named in self.captured}
        if not all(isinstance(item, dict) and isinstance(item.get("content"), str) for item in sent):
            return result
        back = {item["content"] for item in sent if item["content"] in gone and self.takes(call, gone[item["content"]])}
        items = [{**item, "content": f"{item['content']} "} if item["content"] in back else item for item in sent]
        return await honest(replace(call, arguments={"items": items})) if back else result

    @abstractmethod
    def takes(self, call: ToolCall, named: str) -> bool:
        """Whether a call brings back the content of a forgotten capsule."""


@area.liar(TOOL, INGEST, clause="nm1/forget/sticky")
class OnlyThePurgedStaysAway(_Barred):
    """What was redacted is taken in again."""

    def __init__(self) -> None:
        super().__init__()
        self._redacted: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == TOOL and call.arguments.get("mode") == "redacted":
            self._redacted.add(str(call.arguments.get("id")))
        return await super().call_tool(call, honest)

    def takes(self, call: ToolCall, named: str) -> bool:
        return named in self._redacted


@area.liar(TOOL, INGEST, clause="nm1/forget/sticky")
class BatchesBringItBack(_Barred):
    """What was forgotten is taken in as an item of a batch."""

    def takes(self, call: ToolCall, named: str) -> bool:
        return "items" in call.arguments


@area.liar(TOOL, INGEST, clause="nm1/forget/sticky")
class OnlyTheLastStaysAway(_Barred):
    """Of what was forgotten only the last is barred."""

    def takes(self, call: ToolCall, named: str) -> bool:
        return named != self.forgotten[-1]


@area.liar(TOOL, INGEST, clause="nm1/forget/sticky")
class AKindBringsItBack(_Barred):
    """What was forgotten is taken in if it has a kind."""

    def takes(self, call: ToolCall, named: str) -> bool:
        return "kind" in call.arguments


@area.liar(TOOL, INGEST, clause="nm1/forget/sticky")
class ASessionBringsItBack(_Barred):
    """What was forgotten is taken in if it belongs to a session."""

    def takes(self, call: ToolCall, named: str) -> bool:
        return "session_id" in call.arguments


@area.liar(TOOL, INGEST, clause="nm1/forget/sticky")
class LabelledContentComesBack(_Barred):
    """What had a kind when it was forgotten is taken in again."""

    def takes(self, call: ToolCall, named: str) -> bool:
        return "kind" in self.captured[named]


@area.liar(TOOL, INGEST, clause="nm1/forget/sticky-bytes")
class AlmostTheSameIsTheSame(Interceptor):
    """What differs from a forgotten content in a full stop at the end is barred."""

    def __init__(self) -> None:
        self._barred: dict[str, str] = {}
        self._captured: dict[str, str] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        content = call.arguments.get("content")
        if call.name == INGEST and isinstance(content, str) and content.rstrip(".") in self._barred:
            return await honest(asking(call, content=content.rstrip(".")))
        result = await honest(call)
        if is_error(result):
            return result
        if call.name == INGEST and isinstance(content, str):
            self._captured |= {row["id"]: content for row in body_of(result)["outcomes"] if row["status"] == "captured"}
        if call.name == TOOL and (gone := self._captured.get(body_of(result)["id"])):
            self._barred[gone] = body_of(result)["id"]
        return result


@area.answer(TOOL, clause="nm1/forget/again")
async def twice_is_once(call: ToolCall, honest: Honest) -> Result:
    """A second forget is answered with the marker."""
    try:
        return await honest(call)
    except RpcFault as fault:
        if fault.data and fault.data["kind"] == "tombstoned_capsule":
            return await honest(replace(call, name=GET, arguments={"id": call.arguments["id"]}))
        raise


@area.refusal(TOOL, clause="nm1/forget/again")
def the_forgotten_is_unknown(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """A second forget finds no such capsule."""
    if refusal.data and refusal.data["kind"] == "tombstoned_capsule":
        return replace(refusal, data={**refusal.data, "kind": "unknown_capsule"})
    return None


@area.liar(TOOL, GET, clause="nm1/forget/again")
class TheSecondReasonCounts(Interceptor):
    """A second forget is refused, and its reason kept."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        try:
            result = await honest(call)
        except RpcFault as fault:
            if call.name == TOOL and fault.data and fault.data["kind"] == "tombstoned_capsule":
                self._reasons[call.arguments["id"]] = call.arguments["reason"]
            raise
        if call.name != GET or is_error(result) or not is_marker(body := body_of(result)):
            return result
        return with_body(result, {**body, "reason": self._reasons.get(body["id"], body["reason"])})


@area.liar(TOOL, clause="nm1/forget/again")
class MarkersAreNotKnownAgain(Interceptor):
    """What was forgotten before the server began is unknown to a second forget."""

    def __init__(self) -> None:
        self._here: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        try:
            result = await honest(call)
        except RpcFault as fault:
            if call.name != TOOL or not fault.data or fault.data["id"] in self._here:
                raise
            raise RpcFault(fault.code, fault.message, {**fault.data, "kind": "unknown_capsule"}) from None
        if call.name == TOOL and not is_error(result):
            self._here.add(body_of(result)["id"])
        return result


@area.refusal(TOOL, clause="nm1/forget/unknown-id")
def an_unknown_id_is_a_bad_value(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """An unknown id is refused as a value that can't be meant."""
    unknown = refusal.data and refusal.data["kind"] == "unknown_capsule"
    return Refusal(refusal.text, VALUE) if unknown else None


@area.refusal(TOOL, clause="nm1/forget/unknown-id")
def the_unknown_is_not_named(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """The refusal of what is no id at all has no id."""
    odd = refusal.data and not str(call.arguments.get("id")).startswith("cap-")
    return replace(refusal, data={**refusal.data, "id": None}) if odd and refusal.data else None
