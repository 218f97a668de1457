"""Lies about forget: what goes with a capsule, what stays, and what is left of its content."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    ask,
    asking,
    body_of,
    is_error,
    with_body,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import value_fault
from nmemory_reference.lies.memory.forget import is_marker
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("forget")

TOOL = "memory_forget"
GET = "memory_get"
LIST = "memory_list"
INGEST = "memory_ingest"


@area.success(TOOL, clause="nm1/forget/edges-stay")
def the_answer_has_no_edges_that_begin_there(call: ToolCall, body: Body) -> None:
    """The answer shows the edges that lead to the id alone."""
    body["relations"] = [edge for edge in body["relations"] if edge["to"] == body["id"]]


@area.liar(TOOL, GET, clause="nm1/forget/edges-stay")
class TheOtherEndLetsGo(History):
    """The other end of an edge does not show it any more."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and not is_marker(body):
            body["relations"] = [
                edge for edge in body["relations"] if not {edge["from"], edge["to"]} & set(self.forgotten)
            ]


class _LinesGo(History):
    """Leaves lines about edges of the forgotten out of a text."""

    tool: str
    at: str

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == self.tool and call.arguments.get("view", "relations") == "relations":
            kept = [
                line
                for line in body[self.at].split("\n")
                if not ("--" in line and any(self.names(named, line) for named in self.forgotten))
            ]
            body[self.at] = "\n".join(kept)

    def names(self, named: str, line: str) -> bool:
        """Whether a line names a capsule."""
        spaced = f" {line} ".replace("_", "-")
        return any(f"{before}{named}{after}" in spaced for before in " [(" for after in " ])")


@area.liar(TOOL, "memory_export", clause="nm1/forget/edges-stay")
class TheIndexLetsGo(_LinesGo):
    """The index lists no edges of the forgotten."""

    tool, at = "memory_export", "markdown"


async def _forget(honest: Honest, call: ToolCall, named: str) -> None:
    """Forget a capsule too, if it is not forgotten already."""
    try:
        await honest(asking(call, id=named))
    except RpcFault as fault:
        if not fault.data:
            raise


@area.answer("memory_vector", clause="nm1/forget/vector-gone")
async def vectors_stay_listed(call: ToolCall, honest: Honest) -> Result:
    """The vectors of the forgotten are listed."""
    result = await honest(call)
    if is_error(result) or "vectors" not in (body := body_of(result)) or not body["vectors"]:
        return result
    known = {row["capsule_id"] for row in body["vectors"]}
    last = max(int(named.partition("-")[2]) for named in known)
    for number in range(1, last):
        marker = await ask(honest, call, GET, id=f"cap-{number}")
        if is_marker(marker):
            body["vectors"].insert(0, {**body["vectors"][0], "capsule_id": f"cap-{number}"})
    return with_body(result, body)


@area.answer("memory_vector", clause="nm1/forget/vector-gone")
async def redacted_vectors_stay(call: ToolCall, honest: Honest) -> Result:
    """The vectors of the redacted are listed."""
    result = await honest(call)
    if is_error(result) or "vectors" not in (body := body_of(result)) or not body["vectors"]:
        return result
    last = max(int(row["capsule_id"].partition("-")[2]) for row in body["vectors"])
    for number in range(1, last):
        marker = await ask(honest, call, GET, id=f"cap-{number}")
        if is_marker(marker) and marker["mode"] == "redacted":
            body["vectors"].insert(0, {**body["vectors"][0], "capsule_id": f"cap-{number}"})
    return with_body(result, body)


@area.answer(TOOL, clause="nm1/forget/any-state")
async def pins_hold(call: ToolCall, honest: Honest) -> Result:
    """What is pinned can't be forgotten."""
    return await _only(call, honest, "pinned")


@area.answer(TOOL, clause="nm1/forget/any-state")
async def the_superseded_is_history(call: ToolCall, honest: Honest) -> Result:
    """What is superseded can't be forgotten."""
    return await _only(call, honest, "superseded")


@area.answer(TOOL, clause="nm1/forget/any-state")
async def the_expired_is_gone_already(call: ToolCall, honest: Honest) -> Result:
    """What has expired can't be forgotten."""
    return await _only(call, honest, "expired")


@area.answer(TOOL, clause="nm1/forget/any-state")
async def the_falsified_is_evidence(call: ToolCall, honest: Honest) -> Result:
    """What was falsified can't be forgotten."""
    named = call.arguments.get("id")
    edges = (await ask(honest, call, GET, id=named))["relations"] if isinstance(named, str) else ()
    held = any(edge["kind"] == "falsifies" and edge["to"] == named for edge in edges)
    return value_fault("it is falsified") if held else await honest(call)


@area.answer(TOOL, clause="nm1/forget/any-state")
async def the_archive_is_closed(call: ToolCall, honest: Honest) -> Result:
    """What is archived can't be forgotten."""
    return await _only(call, honest, "tier", "archived")


@area.answer(TOOL, clause="nm1/forget/any-state")
async def quarantine_is_kept(call: ToolCall, honest: Honest) -> Result:
    """What is in quarantine can't be forgotten."""
    return await _only(call, honest, "tier", "quarantined")


async def _only(call: ToolCall, honest: Honest, mark: str, value: bool | str = True) -> Result:
    """Forget what has no such mark in the list."""
    rows = (await ask(honest, call, LIST))["entries"]
    held = [row["id"] for row in rows if row.get(mark) == value]
    return value_fault(f"{mark}: {value}") if call.arguments.get("id") in held else await honest(call)


@area.answer(TOOL, clause="nm1/forget/only-that-one")
async def the_one_before_goes_too(call: ToolCall, honest: Honest) -> Result:
    """The capsule that was captured before it is forgotten with it."""
    result = await honest(call)
    number = str(call.arguments.get("id")).partition("-")[2]
    if not is_error(result) and number.isdigit():
        await _forget(honest, call, f"cap-{int(number) - 1}")
    return result


class _GoesToo(History, ABC):
    """Forgets with a capsule what belongs to it."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await super().call_tool(call, honest)
        if call.name == TOOL and not is_error(result):
            gone = body_of(result)
            for named in self.others(gone):
                await _forget(honest, call, named)
        return result

    @abstractmethod
    def others(self, gone: Body) -> list[str]:
        """What goes with a capsule of which this is the marker."""


@area.liar(TOOL, clause="nm1/forget/only-that-one")
class WhatCameOfItGoesToo(_GoesToo):
    """What was derived from it is forgotten with it."""

    def others(self, gone: Body) -> list[str]:
        return [begin for kind, begin, to in self.edges if kind == "derived_from" and to == gone["id"]]


@area.liar(TOOL, clause="nm1/forget/only-that-one")
class WhatItReplacedGoesToo(_GoesToo):
    """What it superseded is forgotten with it."""

    def others(self, gone: Body) -> list[str]:
        return [to for kind, begin, to in self.edges if kind == "supersedes" and begin == gone["id"]]


@area.liar(TOOL, clause="nm1/forget/only-that-one")
class TheWholePageGoes(_GoesToo):
    """What has the same source and anchor is forgotten with it."""

    def others(self, gone: Body) -> list[str]:
        item = self.captured.get(gone["id"], {})
        return [named for named, other in self.captured.items() if _origin(other) == _origin(item)]


@area.liar(TOOL, clause="nm1/forget/only-that-one")
class TheSessionGoes(_GoesToo):
    """What was kept in the same session is forgotten with it."""

    def others(self, gone: Body) -> list[str]:
        session = self.captured.get(gone["id"], {}).get("session_id")
        return [named for named, item in self.captured.items() if session and item.get("session_id") == session]


@area.liar(TOOL, clause="nm1/forget/only-that-one")
class NearlyTheSameGoesToo(_GoesToo):
    """What shares most words with it is forgotten with it."""

    def others(self, gone: Body) -> list[str]:
        words = set(self.captured.get(gone["id"], {}).get("content", "").split())
        alike = {named: words & set(item["content"].split()) for named, item in self.captured.items()}
        return [named for named, shared in alike.items() if len(shared) > 5]


def _origin(item: Mapping[str, Any]) -> tuple[Any, Any]:
    """Where an item that was sent comes from."""
    return item.get("source"), item.get("anchor")


@area.liar(TOOL, INGEST, clause="nm1/forget/id-not-reused")
class IdsAreGivenAgain(History):
    """The first capture after a forget has the forgotten id."""

    def __init__(self) -> None:
        super().__init__()
        self._free: list[str] = []

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            self._free.append(body["id"])
        for row in body["outcomes"] if call.name == INGEST else ():
            if self._free and row["status"] == "captured":
                row["id"] = self._free.pop()


@area.liar(TOOL, GET, clause="nm1/forget/hmac-keyed", also={"nm1/forget/marker-stays"})
class TheFingerprintIsAHash(History):
    """The fingerprint is the SHA-256 of the content."""

    def change(self, call: ToolCall, body: Body) -> None:
        if is_marker(body) and body["id"] in self.captured:
            digest = hashlib.sha256(self.captured[body["id"]]["content"].encode()).hexdigest()
            body["content_hmac"] = f"hmac-sha256:{digest}"


@area.liar(TOOL, GET, clause="nm1/forget/hmac-keyed", also={"nm1/forget/marker-stays"})
class TheRedactedHasAHash(History):
    """The fingerprint of what was redacted is the SHA-256 of the content, in capitals."""

    def change(self, call: ToolCall, body: Body) -> None:
        if is_marker(body) and body["mode"] == "redacted" and body["id"] in self.captured:
            digest = hashlib.sha256(self.captured[body["id"]]["content"].encode()).hexdigest()
            body["content_hmac"] = f"hmac-sha256:{digest.upper()}"


@area.liar(TOOL, GET, clause="nm1/forget/key-file", config={"hmac_key": "a key that no file holds"})
class TheKeyIsInMemory(Interceptor):
    """The key of the fingerprints is made up at the start, and kept in no file."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or not is_marker(body := body_of(result)):
            return result
        digest = hmac.new(self._key, body["content_hmac"].encode(), hashlib.sha256).hexdigest()
        return with_body(result, {**body, "content_hmac": f"hmac-sha256:{digest}"})


@area.answer(TOOL, clause="nm1/forget/bytes-destroyed", also={"nm1/forget/nowhere-else"})
async def an_observation_keeps_it(call: ToolCall, honest: Honest) -> Result:
    """What was forgotten is noted as an outcome."""
    stored = await honest(replace(call, name=GET, arguments={"id": call.arguments.get("id")}))
    result = await honest(call)
    if not is_error(result) and "capsule" in (body := body_of(stored)):
        await ask(honest, call, "memory_outcome", description=body["capsule"]["content"], actor="forget")
    return result


@area.answer(TOOL, clause="nm1/forget/bytes-destroyed", also={"nm1/forget/nowhere-else"})
async def the_redacted_is_kept_apart(call: ToolCall, honest: Honest) -> Result:
    """What was redacted is noted as an outcome."""
    if call.arguments.get("mode") != "redacted":
        return await honest(call)
    return await an_observation_keeps_it(call, honest)


def _is_cached_in(tool: str) -> None:
    """Add the lie that a tool's answer still has what was forgotten."""

    class Lie(History):
        def change(self, call: ToolCall, body: Body) -> None:
            if call.name == tool and self.forgotten and self.forgotten[-1] in self.captured:
                body["cached"] = self.captured[self.forgotten[-1]]["content"]

    Lie.__name__ = f"TheForgottenIsCachedIn{''.join(word.title() for word in tool.split('_')[1:])}"
    Lie.__doc__ = f"{tool} answers what was forgotten last beside the rest."
    area.liar(tool, clause="nm1/forget/nowhere-else")(Lie)


for _tool in (
    "memory_alias",
    "memory_bootstrap",
    "memory_consolidate",
    "memory_digest",
    "memory_export",
    "memory_preference",
    "memory_session_finish",
    "memory_vector",
    "memory_visual",
):
    _is_cached_in(_tool)


@area.liar(TOOL, "memory_consolidate", clause="nm1/forget/nowhere-else")
class WordsOutliveTheirText(History):
    """A word of a forgotten content is proposed as an alias."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == "memory_consolidate":
            contents = [self.captured[named]["content"] for named in self.forgotten if named in self.captured]
            words = [word for content in contents for word in content.split()]
            body["plan"]["alias_proposals"] += [
                {**proposal, "candidate": word}
                for proposal in body["plan"]["alias_proposals"]
                for word in words
                if word.casefold().startswith(proposal["term"][:-3].casefold())
            ]
