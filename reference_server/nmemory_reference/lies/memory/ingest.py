"""Lies about ingest: what is stored, what is known already, and what is counted."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    asking,
    body_of,
    is_error,
    text_argument,
    with_body,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("ingest")

TOOL = "memory_ingest"
GET = "memory_get"


#: Changes an item of a call, or answers it as it is.
ItemChange = Callable[[Body], Body]


def each_item(call: ToolCall, change: ItemChange) -> ToolCall:
    """The same call with each item changed; the single form has one, and what is no item stays."""
    if "items" not in call.arguments:
        return replace(call, arguments=change(dict(call.arguments)))
    sent = call.arguments["items"]
    if not isinstance(sent, list):
        return call
    return asking(call, items=[change(item) if isinstance(item, dict) else item for item in sent])


def each_of_batch(call: ToolCall, change: ItemChange) -> ToolCall:
    """The same call with each item of a batch changed."""
    return each_item(call, change) if "items" in call.arguments else call


def but(item: Body, *names: str) -> Body:
    """An item without some fields."""
    return {name: value for name, value in item.items() if name not in names}


def pairs(call: ToolCall, body: Body) -> Iterator[tuple[Body, Body]]:
    """Each item beside its outcome, where they can be told."""
    sent = call.arguments.get("items", [call.arguments])
    for item, row in zip(sent, body["outcomes"], strict=False):
        if isinstance(item, dict):
            yield item, row


# What is captured


@area.item(TOOL, at="outcomes", clause="nm1/ingest/captured-row", also={"nm1/ingest/shape"})
def captured_is_called_stored(call: ToolCall, row: Body) -> None:
    """A new capsule is answered with status stored."""
    if row["status"] == "captured":
        row["status"] = "stored"


@area.liar(TOOL, clause="nm1/ingest/content-verbatim")
class CapturesAreDropped(Interceptor):
    """A single item is acknowledged with an id, and nothing is stored."""

    def __init__(self) -> None:
        self._given = 90_000

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != TOOL or "items" in call.arguments or is_error(result := await honest(call)):
            return await honest(call)
        body = body_of(result)
        if body["captured"]:
            self._given += 1
            body["outcomes"][0]["id"] = f"cap-{self._given}"
        return with_body(result, body)


@area.asking(TOOL, clause="nm1/ingest/content-verbatim")
def white_space_is_trimmed(call: ToolCall) -> ToolCall:
    """White space at the end of a content is cut off."""
    return each_item(call, lambda item: _with_content(item, str.rstrip))


@area.asking(TOOL, clause="nm1/ingest/content-verbatim")
def white_space_in_front_is_cut(call: ToolCall) -> ToolCall:
    """White space at the beginning of a single content is cut off."""
    return (
        call if "items" in call.arguments else replace(call, arguments=_with_content(dict(call.arguments), str.lstrip))
    )


@area.asking(TOOL, clause="nm1/ingest/content-verbatim")
def lines_of_a_batch_end_alike(call: ToolCall) -> ToolCall:
    """In the contents of a batch CR LF becomes LF."""
    return each_of_batch(call, lambda item: _with_content(item, lambda text: text.replace("\r\n", "\n")))


@area.success(GET, clause="nm1/ingest/content-verbatim")
def anchors_lose_their_line(call: ToolCall, body: Body) -> None:
    """An anchor reads back without the number of its line."""
    if "capsule" in body:
        origin = body["capsule"]["provenance"]
        origin["anchor"] = re.sub(r":\d+$", "", origin["anchor"])


@area.answer(TOOL, clause="nm1/ingest/identical-deduplicates")
async def the_same_again_is_called_new(call: ToolCall, honest: Honest) -> Result:
    """Content that is there already is answered as captured."""
    result = await honest(call)
    if is_error(result) or "items" in call.arguments:
        return result
    body = body_of(result)
    for row in body["outcomes"]:
        if row["status"] == "deduplicated" and "reclassified" not in row and "superseded" not in row:
            row["status"] = "captured"
            body["captured"], body["deduped"] = body["captured"] + 1, body["deduped"] - 1
    return with_body(result, body)


@area.liar(TOOL, clause="nm1/ingest/identical-deduplicates")
class OnlyTheLatestIsKnown(Interceptor):
    """A single content is compared with the one that was captured just before, and with no other."""

    def __init__(self) -> None:
        self._known: list[str] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        content = text_argument(call, "content")
        if call.name != TOOL or content is None:
            return await honest(call)
        again = content in self._known[:-1] and content != self._known[-1]
        self._known.append(content)
        return await honest(asking(call, content=f"{content}\n") if again else call)


@area.answer(TOOL, clause="nm1/ingest/identity-is-content")
async def identity_is_content_and_source(call: ToolCall, honest: Honest) -> Result:
    """The same words from another source are another capsule."""
    if "items" in call.arguments or call.arguments.get("source") != "another source":
        return await honest(call)
    return await honest(asking(call, content=f"{call.arguments.get('content')}\n"))


@area.answer(TOOL, clause="nm1/ingest/identity-is-content")
async def identity_is_content_and_project(call: ToolCall, honest: Honest) -> Result:
    """The same words in a project below another are another capsule."""
    project = call.arguments.get("project_id")
    if isinstance(project, str) and project.endswith("/other") and "items" not in call.arguments:
        return await honest(asking(call, content=f"{call.arguments.get('content')}\n"))
    return await honest(call)


@area.liar(TOOL, clause="nm1/ingest/identity-is-content")
class IdentityIsContentAndFamily(Interceptor):
    """The same words in a project that is not below the first one are another capsule."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        content, project = text_argument(call, "content"), text_argument(call, "project_id")
        if call.name != TOOL or content is None or project is None:
            return await honest(call)
        first = self._first.setdefault(content, project)
        is_kin = project == first or project.startswith(f"{first}/")
        return await honest(call if is_kin else asking(call, content=f"{content}\n"))


@area.asking(TOOL, clause="nm1/ingest/identity-is-content")
def identity_is_content_and_session(call: ToolCall) -> ToolCall:
    """The same words in a session are another capsule."""
    in_session = "session_id" in call.arguments and "items" not in call.arguments
    return asking(call, content=f"{call.arguments.get('content')}\n") if in_session else call


@area.liar(TOOL, GET, clause="nm1/ingest/dedup-changes-nothing")
class ACollapseTakesTheNewOrigin(History):
    """The origin that was sent last is shown for content that was there already."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, Any] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name not in (TOOL, GET):
            return
        if call.name == TOOL:
            for item, row in pairs(call, body):
                if row["status"] == "deduplicated":
                    self._last[row["id"]] = item["source"]
        elif (source := self._last.get(body["id"])) and "capsule" in body:
            body["capsule"]["provenance"]["source"] = source


@area.liar(TOOL, GET, clause="nm1/ingest/dedup-changes-nothing")
class ACollapseRaisesConfidence(History):
    """Content that is heard again is believed more."""

    def __init__(self) -> None:
        super().__init__()
        self._again: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name not in (TOOL, GET):
            return
        if call.name == TOOL:
            self._again |= {row["id"] for row in body["outcomes"] if row["status"] == "deduplicated"}
        elif body["id"] in self._again and "capsule" in body:
            body["capsule"]["confidence"] = min(1.0, body["capsule"]["confidence"] + 0.1)


@area.liar(TOOL, GET, clause="nm1/ingest/dedup-changes-nothing")
class ABareCollapseClearsTheEnd(History):
    """Content that is sent again without valid_to has no end of validity any more."""

    def __init__(self) -> None:
        super().__init__()
        self._endless: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            self._endless |= {
                row["id"]
                for item, row in pairs(call, body)
                if row["status"] == "deduplicated" and "valid_to" not in item
            }
        elif call.name == GET and body["id"] in self._endless and "capsule" in body:
            body["capsule"]["freshness"]["valid_to"] = None


@area.asking(TOOL, clause="nm1/ingest/other-bytes-are-new", also={"nm1/ingest/content-verbatim"})
def case_is_folded_for_identity(call: ToolCall) -> ToolCall:
    """Two contents that differ in a capital are one."""
    return each_item(call, lambda item: _with_content(item, str.lower))


@area.liar(TOOL, clause="nm1/ingest/other-bytes-are-new")
class OnlyTheBeginningIsHashed(Interceptor):
    """Two contents that begin with the same 500 characters are one."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def _known(self, text: str) -> str:
        return text if len(text) < 500 else self._first.setdefault(text[:500], text)

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != TOOL:
            return await honest(call)
        return await honest(each_item(call, lambda item: _with_content(item, self._known)))


@area.liar(TOOL, clause="nm1/ingest/dedup-survives-restart")
class WhatCameBeforeTheStartIsNew(History):
    """Content of an earlier run of the server is captured once more."""

    def __init__(self) -> None:
        super().__init__()
        self._captured: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name != TOOL:
            return
        for row in body["outcomes"]:
            if row["status"] == "deduplicated" and row["id"] not in self._captured:
                row["status"] = "captured"
                body["captured"], body["deduped"] = body["captured"] + 1, body["deduped"] - 1
            self._captured.add(row.get("id", ""))


@area.asking(TOOL, clause="nm1/ingest/dedup-inside-batch")
def twins_of_a_batch_are_two(call: ToolCall) -> ToolCall:
    """The second of two identical items of a batch is stored as well."""
    seen: list[Any] = []

    def told_apart(item: Body) -> Body:
        seen.append(item.get("content"))
        return _with_content(item, lambda text: f"{text} ") if seen[-1] in seen[:-1] else item

    return each_of_batch(call, told_apart)


@area.asking(TOOL, clause="nm1/ingest/dedup-inside-batch")
def twins_that_stand_apart_are_two(call: ToolCall) -> ToolCall:
    """Of two identical items of a batch with another one between them both are stored."""
    seen: list[Any] = [None]

    def told_apart(item: Body) -> Body:
        seen.append(item.get("content"))
        return _with_content(item, lambda text: f"{text} ") if seen[-1] in seen[:-2] else item

    return each_of_batch(call, told_apart)


@area.liar(TOOL, clause="nm1/ingest/dedup-when-raced")
class RacingCapturesAreTwo(Interceptor):
    """A capture that begins while another one is under way is stored as well."""

    def __init__(self) -> None:
        self._running: dict[str, int] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        content = call.arguments.get("content")
        if call.name != TOOL or not isinstance(content, str):
            return await honest(call)
        others = self._running.get(content, 0)
        self._running[content] = others + 1
        await asyncio.sleep(0)  # whoever comes at the same time has begun
        try:
            return await honest(asking(call, content=content + "\n" * others) if others else call)
        finally:
            self._running[content] -= 1


@area.success(TOOL, clause="nm1/ingest/one-outcome-per-item")
def outcomes_come_backwards(call: ToolCall, body: Body) -> None:
    """The last item's outcome comes first."""
    body["outcomes"].reverse()


@area.success(TOOL, clause="nm1/ingest/one-outcome-per-item")
def rejected_come_last(call: ToolCall, body: Body) -> None:
    """Rejected rows stand behind the others."""
    body["outcomes"].sort(key=lambda row: row["status"] == "rejected")


@area.success(TOOL, clause="nm1/ingest/counts-agree")
def rejected_are_not_counted(call: ToolCall, body: Body) -> None:
    """rejected is 0 whatever was rejected."""
    body["rejected"] = 0


@area.success(TOOL, clause="nm1/ingest/counts-agree")
def duplicates_count_as_captured(call: ToolCall, body: Body) -> None:
    """captured counts deduplicated rows as well."""
    body["captured"] += body["deduped"]


def _with_content(item: Body, change: Any) -> Body:
    content = item.get("content")
    return {**item, "content": change(content)} if isinstance(content, str) else item
