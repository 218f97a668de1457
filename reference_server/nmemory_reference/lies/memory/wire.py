"""Lies about the wire: the list of tools, the form of an answer, and what comes after what."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    body_of,
    dumped,
    is_error,
    listed,
    text_of,
    text_result,
    with_body,
)
from nmemory_reference.lies.lie import Area, Lie, Listings
from nmemory_reference.lies.memory.answers import MEMORY_TOOLS, success
from nmemory_reference.lies.memory.recalled import LIST, RETRIEVE, Recalls, abstention, became, drop
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("wire")


# --- the list of tools ----------------------------------------------------------------------------------------------


def _unlisted(named: str) -> None:
    def out(tools: list[Body]) -> list[Body]:
        return [tool for tool in tools if tool["name"] != named]

    area.add(
        Lie(
            id=f"wire/{named.replace('_', '-')}-is-not-listed",
            clause="nm1/wire/advertises",
            says=f"The list of tools lacks {named}.",
            make=lambda: Listings(out),
        )
    )


for _named in MEMORY_TOOLS:
    _unlisted(_named)


@area.listing(clause="nm1/wire/input-schemas")
def schemas_have_no_type(tools: list[Body]) -> None:
    """The input schemas do not say that they are objects."""
    for tool in tools:
        tool["inputSchema"].pop("type", None)


@area.listing(clause="nm1/wire/input-schemas")
def one_schema_is_empty(tools: list[Body]) -> None:
    """memory_session_start's input schema is empty."""
    listed(tools, "memory_session_start")["inputSchema"] = {}


@area.listing(clause="nm1/wire/input-schemas")
def one_schema_is_none(tools: list[Body]) -> None:
    """memory_get's input schema is no JSON Schema."""
    listed(tools, "memory_get")["inputSchema"]["properties"]["id"] = {"type": "text"}


@area.listing(clause="nm1/wire/input-schemas")
def requirements_are_a_text(tools: list[Body]) -> None:
    """memory_get's input schema names what it requires in one text."""
    listed(tools, "memory_get")["inputSchema"]["required"] = "id"


@area.listing(clause="nm1/wire/input-schemas")
def the_single_form_is_not_listed(tools: list[Body]) -> None:
    """memory_ingest's input schema requires items."""
    listed(tools, "memory_ingest")["inputSchema"]["required"] = ["items"]


@area.listing(clause="nm1/wire/terms-min-items")
def terms_may_be_none(tools: list[Body]) -> None:
    """memory_retrieve's input schema allows an empty list of terms."""
    del listed(tools, RETRIEVE)["inputSchema"]["properties"]["terms"]["minItems"]


@area.listing(clause="nm1/wire/terms-min-items")
def terms_may_be_no_terms(tools: list[Body]) -> None:
    """memory_retrieve's input schema says that terms has no item at least."""
    listed(tools, RETRIEVE)["inputSchema"]["properties"]["terms"]["minItems"] = 0


def _requires(tool: str, member: str, clause: str = "nm1/wire/schemas-accept") -> None:
    def require(tools: list[Body]) -> None:
        schema = listed(tools, tool)["inputSchema"]
        schema["required"] = [*schema.get("required", ()), member]

    name = tool.removeprefix("memory_").replace("_", "-")
    area.add(
        Lie(
            id=f"wire/{name}-requires-{member.replace('_', '-')}",
            clause=clause,
            says=f"{tool}'s input schema requires {member}.",
            make=lambda: Listings(require),
        )
    )


for _tool, _member in (
    ("memory_alias", "term"),
    ("memory_consolidate", "apply_tiers"),
    ("memory_export", "stamp"),
    ("memory_extract", "content"),
    ("memory_import", "base"),
    ("memory_list", "project_id"),
    ("memory_outcome", "description"),
    ("memory_preference", "actor"),
    ("memory_retrieve", "project_id"),
    ("memory_session_finish", "handoff"),
    ("memory_vector", "capsule_id"),
    ("memory_bootstrap", "project_id"),
):
    _requires(_tool, _member)
_requires("memory_classify", "kind", clause="nm1/wire/schema-minimal-classify")


def _lists_fewer(tool: str, member: str, value: str) -> None:
    def fewer(tools: list[Body]) -> None:
        schema = listed(tools, tool)["inputSchema"]["properties"]
        schema[member] = {"allOf": [schema[member], {"not": {"const": value}}]}

    name = tool.removeprefix("memory_")
    area.add(
        Lie(
            id=f"wire/{name}-does-not-list-{value}",
            clause="nm1/wire/schemas-accept",
            says=f"{tool}'s input schema leaves {value} out of {member}.",
            make=lambda: Listings(fewer),
        )
    )


_lists_fewer("memory_forget", "mode", "redacted")
_lists_fewer("memory_visual", "view", "sessions")
_lists_fewer("memory_relate", "kind", "falsifies")
_lists_fewer("memory_retrieve", "lane", "term")


@area.listing(clause="nm1/wire/schemas-accept")
def limits_begin_at_1(tools: list[Body]) -> None:
    """memory_retrieve's input schema allows no limit of 0."""
    properties = listed(tools, RETRIEVE)["inputSchema"]["properties"]
    properties["limit"] = {"allOf": [properties["limit"], {"minimum": 1}]}


def _lists_also(name: str) -> None:
    def more(tools: list[Body]) -> None:
        tools.append({"name": name, "description": "Changes a row.", "inputSchema": {"type": "object"}})

    area.add(
        Lie(
            id=f"wire/{name.removeprefix('memory_').replace('_', '-')}-is-listed",
            clause="nm1/wire/no-update-no-delete",
            says=f"There is a tool {name}.",
            make=lambda: Listings(more),
        )
    )


_lists_also("memory_outcome_delete")
_lists_also("memory_update_preference")


def _answers_to(name: str, says: str, other: Callable[[str], str | None]) -> None:
    """Takes a name that is that of no tool for one that is."""

    class Kind(Interceptor):
        async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
            if call.name in MEMORY_TOOLS or (meant := other(call.name)) is None:
                return await honest(call)
            return await honest(ToolCall(meant, call.arguments, call.caller)) if meant else success()

    area.add(Lie(id=f"wire/{name}", clause="nm1/wire/unknown-tool", says=says, make=Kind))


_answers_to("unknown-tools-succeed", "A call of a tool that does not exist succeeds.", lambda name: "")
_answers_to(
    "names-are-read-kindly",
    "A tool's name in capitals is the tool.",
    lambda name: name.lower() if name.lower() in MEMORY_TOOLS else None,
)
_answers_to(
    "names-are-trimmed",
    "A tool's name with a blank behind it is the tool.",
    lambda name: name.strip() if name.strip() in MEMORY_TOOLS else None,
)
_answers_to(
    "no-name-is-the-digest", "A call without a name is the digest.", lambda name: None if name else "memory_digest"
)


# --- the form of an answer ------------------------------------------------------------------------------------------


@area.result(LIST, clause="nm1/wire/json-body")
def a_list_is_an_array(call: ToolCall, result: Result) -> Result | None:
    """memory_list answers an array."""
    return None if is_error(result) else text_result(dumped(body_of(result)["entries"]))


@area.result("memory_digest", clause="nm1/wire/json-body")
def prose_comes_first(call: ToolCall, result: Result) -> None:
    """memory_digest has a block of prose before its JSON."""
    if not is_error(result):
        result["content"].insert(0, {"type": "text", "text": "This is what there is:"})


@area.result("memory_export", clause="nm1/wire/json-body")
def an_export_is_its_markdown(call: ToolCall, result: Result) -> Result | None:
    """memory_export answers Markdown."""
    return None if is_error(result) else text_result(str(body_of(result).get("markdown")))


@area.result("memory_get", clause="nm1/wire/json-body")
def json_stands_in_a_fence(call: ToolCall, result: Result) -> Result | None:
    """memory_get fences its JSON, as in Markdown."""
    return None if is_error(result) else text_result(f"```json\n{text_of(result)}\n```")


@area.result("memory_visual", clause="nm1/wire/json-body")
def pictures_have_no_body(call: ToolCall, result: Result) -> None:
    """memory_visual answers a resource and no text."""
    if not is_error(result):
        text = text_of(result)
        result["content"] = [
            {"type": "resource", "resource": {"uri": "memory://visual", "mimeType": "text/plain", "text": text}}
        ]


@area.result("memory_list", clause="nm1/wire/structured-agrees")
def structured_content_lags(call: ToolCall, result: Result) -> None:
    """structuredContent of memory_list lacks the last row."""
    if not is_error(result):
        body = body_of(result)
        result["structuredContent"] = {**body, "entries": body["entries"][:-1]}


@area.result("memory_get", clause="nm1/wire/structured-agrees")
def structured_content_is_another_shape(call: ToolCall, result: Result) -> None:
    """structuredContent wraps what the text has."""
    if not is_error(result):
        result["structuredContent"] = {"result": body_of(result)}


@area.result("memory_digest", clause="nm1/wire/structured-agrees")
def structured_numbers_are_texts(call: ToolCall, result: Result) -> None:
    """structuredContent tells a number as text."""
    if not is_error(result):
        body = deepcopy(body_of(result))
        result["structuredContent"] = {**body, "total": str(body["total"])}


# --- at once, and one after another ---------------------------------------------------------------------------------


@area.liar("memory_extract", clause="nm1/wire/concurrent-answers")
class AnswersAreMixedUp(Interceptor):
    """Of two requests that are under way at once both get the answer of the later one."""

    def __init__(self) -> None:
        self._latest: Result | None = None
        self._running = 0

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != "memory_extract":
            return await honest(call)
        self._running += 1
        await asyncio.sleep(0)  # whoever comes at the same time has begun
        try:
            result = await honest(call)
            mixed = self._latest if self._running > 1 else None
            self._latest = result
            return mixed or result
        finally:
            self._running -= 1


@area.liar(LIST, clause="nm1/wire/concurrent-answers")
class ABusyServerGivesUp(Interceptor):
    """A list that is asked for while something else is under way fails."""

    def __init__(self) -> None:
        self._running = 0

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        self._running += 1
        await asyncio.sleep(0)  # whoever comes at the same time has begun
        try:
            if call.name == LIST and self._running > 1:
                raise RpcFault(-32603, "database is locked")
            return await honest(call)
        finally:
            self._running -= 1


class _Lags(Recalls, ABC):
    """Sees a write a call late."""

    #: The tool whose writes are late, and the one that does not see them at first.
    writer: str
    reader: str

    def __init__(self) -> None:
        self._fresh: list[str] = []

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == self.writer:
            self._fresh = [str(row["id"]) for row in body.get("outcomes", ()) if row["status"] == "captured"] or ["?"]
        elif call.name == self.reader and self._fresh:
            self.late(body, self._fresh)
            self._fresh = []

    @abstractmethod
    def late(self, body: Body, fresh: list[str]) -> None:
        """Takes what is too fresh out of an answer."""


@area.liar("memory_ingest", RETRIEVE, clause="nm1/wire/serial-order")
class TheIndexLags(_Lags):
    """The first recall after a capture does not find it."""

    writer, reader = "memory_ingest", RETRIEVE

    def late(self, body: Body, fresh: list[str]) -> None:
        drop(body, lambda row: row["id"] in fresh)


@area.liar("memory_ingest", LIST, clause="nm1/wire/serial-order")
class TheListLags(_Lags):
    """The first list after a capture does not show it."""

    writer, reader = "memory_ingest", LIST

    def late(self, body: Body, fresh: list[str]) -> None:
        body["entries"] = [row for row in body["entries"] if row["id"] not in fresh]
        body["returned"] = len(body["entries"])


@area.liar("memory_alias", RETRIEVE, clause="nm1/wire/serial-order")
class TheVocabularyLags(_Lags):
    """The first recall after a pair was taught does not know it."""

    writer, reader = "memory_alias", RETRIEVE

    def late(self, body: Body, fresh: list[str]) -> None:
        drop(body, lambda row: all(term.startswith("alias:") for term in row["matched_terms"]))


class _Caches(Interceptor):
    """Shows what it showed before, until it is asked another time."""

    def __init__(self) -> None:
        self._shown: dict[str, Result] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != LIST or is_error(result):
            return result
        before = self._shown.pop(repr(call.arguments), None)
        self._shown[repr(call.arguments)] = result
        return with_body(result, body_of(before)) if before else result


@area.liar(LIST, clause="nm1/wire/serial-order")
class ListsAreCached(_Caches):
    """A list that is asked for again shows what it showed the time before."""


@area.liar("memory_forget", RETRIEVE, clause="nm1/wire/serial-order")
class ForgettingLags(Interceptor):
    """The first recall after something was forgotten counts it."""

    def __init__(self) -> None:
        self._just = False

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        if call.name == "memory_forget":
            self._just = True
        elif call.name == RETRIEVE and self._just:
            self._just = False
            body = body_of(result)
            if body["outcome"] == "abstain":
                became(body, {**abstention(), "outcome": "missing_evidence", "excluded": {"tombstoned": 1}})
            return with_body(result, body)
        return result
