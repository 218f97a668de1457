"""Lies about merge: what the source forgot goes here, and what was forgotten here does not come."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    ask,
    asking,
    body_of,
    is_error,
    text_argument,
    with_body,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.history import History
from nmemory_reference.lies.memory.merge import Merged, hash_of, hashes, is_store, nothing_merged, source, version
from nmemory_reference.serve.interceptor import RpcFault, ToolCall

area = Area("merge")

TOOL = "memory_merge"
GET = "memory_get"
LIST = "memory_list"
INGEST = "memory_ingest"
RETRIEVE = "memory_retrieve"


@area.success(TOOL, clause="nm1/merge/forget-wins")
def tombstones_are_not_counted(call: ToolCall, body: Body) -> None:
    """tombstones_applied is 0."""
    body["tombstones_applied"] = 0


@area.liar(TOOL, LIST, clause="nm1/merge/forget-wins")
class TheForgottenIsListed(Merged):
    """What the source forgot is listed here still."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == LIST and body["entries"]:
            shown = {row["id"] for row in body["entries"]}
            body["entries"] = [
                *({**body["entries"][0], "id": named} for named in self.gone() if named not in shown),
                *body["entries"],
            ]


@area.liar(TOOL, LIST, clause="nm1/merge/forget-wins")
class TheRedactedIsKept(Merged):
    """What the source has redacted, and not purged, is listed here still."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await super().call_tool(call, honest)
        if call.name != LIST or not self.counts or is_error(result) or not (body := body_of(result))["entries"]:
            return result
        shown = {row["id"] for row in body["entries"]}
        gone = [await ask(honest, call, GET, id=named) for named in self.gone() if named not in shown]
        kept = [{**body["entries"][0], "id": marker["id"]} for marker in gone if marker.get("mode") == "redacted"]
        return with_body(result, {**body, "entries": [*kept, *body["entries"]]})


@area.liar(TOOL, RETRIEVE, clause="nm1/merge/forget-wins")
class ItsIdIsAWord(Merged):
    """The id of what the source forgot counts as a word that nothing has."""

    def after(self, call: ToolCall, body: Body) -> Body | None:
        if call.name == RETRIEVE and set(call.arguments["terms"]) & set(self.gone()) and body["outcome"] != "grounded":
            return {"outcome": "abstain", "reason": "Nothing matches."}
        return None


@area.liar(TOOL, RETRIEVE, clause="nm1/merge/forget-wins-vector")
class VectorsAreNearStill(Merged):
    """What the source forgot is near in the vector lane."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE and call.arguments.get("lane") == "vector" and body["outcome"] == "grounded":
            shown = {row["id"] for row in body["results"]}
            body["results"] += [{**body["results"][0], "id": named} for named in self.gone() if named not in shown]


@area.answer(TOOL, clause="nm1/merge/forget-wins-bytes")
async def what_was_taken_is_noted(call: ToolCall, honest: Honest) -> Result:
    """What the source forgot is noted here as an outcome."""
    rows = (await ask(honest, call, LIST))["entries"]
    before = {row["id"]: (await ask(honest, call, GET, id=row["id"]))["capsule"]["content"] for row in rows}
    result = await honest(call)
    if not is_error(result):
        left = {row["id"] for row in (await ask(honest, call, LIST))["entries"]}
        for named in before.keys() - left:
            await ask(honest, call, "memory_outcome", description=before[named], actor="merge")
    return result


@area.liar(TOOL, "memory_export", clause="nm1/merge/forget-wins")
class TheForgottenIsIndexed(Merged):
    """What the source forgot is quoted beside the index."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == "memory_export":
            contents = [self.captured[named]["content"] for named in self.gone()]
            body["before"] = [content for content in contents if content not in body["markdown"]]


@area.liar(TOOL, "memory_vector", clause="nm1/merge/forget-wins-vector")
class VectorsStay(Merged):
    """The vector of what the source forgot is listed."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == "memory_vector" and body.get("vectors"):
            shown = {row["capsule_id"] for row in body["vectors"]}
            body["vectors"] += [
                {**body["vectors"][0], "capsule_id": named} for named in self.gone() if named not in shown
            ]


@area.liar(TOOL, INGEST, clause="nm1/merge/forget-wins-sticky")
class TheForgottenComesBack(Merged):
    """What the source forgot is taken in again."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await super().call_tool(call, honest)
        if call.name == INGEST and not is_error(result) and body_of(result)["rejected"] and self.counts:
            return await honest(asking(call, content=f"{call.arguments.get('content')} "))
        return result


@area.liar(TOOL, GET, clause="nm1/merge/forget-wins-rekeyed")
class FingerprintsComeAlong(Merged):
    """The marker of what the source forgot has the source's fingerprint."""

    def __init__(self) -> None:
        super().__init__()
        self._fingerprint = ""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await super().call_tool(call, honest)
        if call.name == TOOL and not is_error(result):
            with closing(sqlite3.connect(f"file:{source(call)}?mode=ro", uri=True)) as db:
                rows = db.execute("SELECT content_hmac FROM tombstone ORDER BY seq DESC").fetchone()
            self._fingerprint = rows[0] if rows else ""
        return result

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and "content_hmac" in body and body["id"] not in self.forgotten and self._fingerprint:
            body["content_hmac"] = self._fingerprint


@area.answer(TOOL, clause="nm1/merge/never-resurrects")
async def what_is_forgotten_here_is_passed_over(call: ToolCall, honest: Honest) -> Result:
    """A source that carries what was forgotten here merges as nothing."""
    try:
        return await honest(call)
    except RpcFault:
        held = text_argument(call, "from") is not None and is_store(source(call))
        if held and version(source(call)) not in (0, 999999):
            return nothing_merged()
        raise


@area.liar(TOOL, clause="nm1/merge/never-resurrects")
class TheRedactedMayCome(History):
    """A source that carries what was redacted here, and nothing that was purged, merges as nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._forgotten: dict[str, set[str]] = {"purged": set(), "redacted": set()}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        try:
            return await super().call_tool(call, honest)
        except RpcFault:
            carried = hashes(call, forgotten=False)
            if carried & self._forgotten["redacted"] and not carried & self._forgotten["purged"]:
                return nothing_merged()
            raise

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == "memory_forget" and body["id"] in self.captured:
            self._forgotten[body["mode"]].add(hash_of(self.captured[body["id"]]["content"]))
