"""Lies about merge: which stores can be merged, and what a merge leaves behind."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    ask,
    body_of,
    is_error,
    text_argument,
    with_body,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import STORE
from nmemory_reference.lies.memory.history import History
from nmemory_reference.lies.memory.merge import Merged, hash_of, hashes, is_store, nothing_merged, source, version
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("merge")

TOOL = "memory_merge"
INGEST = "memory_ingest"
RETRIEVE = "memory_retrieve"
DIGEST = "memory_digest"


@area.answer(TOOL, clause="nm1/merge/missing")
async def nothing_is_an_empty_store(call: ToolCall, honest: Honest) -> Result:
    """A path where nothing is merges as nothing."""
    missing = text_argument(call, "from") is not None and not source(call).exists()
    return nothing_merged() if missing else await honest(call)


@area.refusal(TOOL, clause="nm1/merge/missing")
def a_missing_store_is_broken(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """A path where nothing is fails as a broken store does."""
    missing = text_argument(call, "from") is not None and not source(call).exists()
    return replace(refusal, code=STORE) if missing else None


@area.answer(TOOL, clause="nm1/merge/no-store")
async def an_empty_file_is_a_store(call: ToolCall, honest: Honest) -> Result:
    """A file of no bytes merges as nothing."""
    path = source(call) if text_argument(call, "from") else None
    return nothing_merged() if path and path.is_file() and not path.stat().st_size else await honest(call)


@area.answer(TOOL, clause="nm1/merge/no-store")
async def any_database_is_a_store(call: ToolCall, honest: Honest) -> Result:
    """A database of something else merges as nothing."""
    path = source(call) if text_argument(call, "from") else None
    if path and is_store(path):
        with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
            if tables and "capsule" not in tables:
                return nothing_merged()
    return await honest(call)


@area.refusal(TOOL, clause="nm1/merge/no-store")
def a_letter_is_told_in_band(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """A file that is no database is refused in band."""
    path = source(call) if text_argument(call, "from") else None
    return Refusal(refusal.text) if path and path.is_file() and not is_store(path) else None


@area.answer(TOOL, clause="nm1/merge/stale")
async def an_older_store_has_nothing(call: ToolCall, honest: Honest) -> Result:
    """A store of an older schema merges as nothing."""
    older = text_argument(call, "from") and is_store(source(call)) and version(source(call)) == 0
    return nothing_merged() if older else await honest(call)


@area.refusal(TOOL, clause="nm1/merge/stale")
def a_newer_store_is_broken(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """A store of a newer schema fails as a broken one does."""
    newer = text_argument(call, "from") and is_store(source(call)) and version(source(call)) == 999999
    return replace(refusal, code=STORE) if newer else None


@area.answer(TOOL, clause="nm1/merge/failure-writes-nothing")
async def a_failure_leaves_a_note(call: ToolCall, honest: Honest) -> Result:
    """A merge that failed leaves a note."""
    try:
        return await honest(call)
    except RpcFault:
        await ask(honest, call, INGEST, content="A merge has failed.", source="merge", anchor="merge")
        raise


@area.liar(TOOL, clause="nm1/merge/failure-writes-nothing")
class AFailureForgets(History):
    """A merge that failed has forgotten what the source forgot."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        try:
            return await super().call_tool(call, honest)
        except RpcFault:
            gone = hashes(call, forgotten=True)
            for named, item in self.captured.items():
                if hash_of(item["content"]) in gone:
                    with suppress(RpcFault):
                        await ask(honest, call, "memory_forget", id=named, mode="purged", reason="merged")
            raise


@area.answer(TOOL, clause="nm1/merge/failure-writes-nothing")
async def a_missing_store_is_made(call: ToolCall, honest: Honest) -> Result:
    """Where nothing is an empty file is left behind."""
    try:
        return await honest(call)
    except RpcFault:
        if text_argument(call, "from") and source(call).parent.is_dir():
            source(call).touch()
        raise


@area.answer(TOOL, clause="nm1/merge/source-untouched")
async def the_source_is_stamped(call: ToolCall, honest: Honest) -> Result:
    """What was merged is marked in the source's file."""
    result = await honest(call)
    if not is_error(result):
        with closing(sqlite3.connect(source(call))) as db:
            db.execute("PRAGMA application_id = 7")
    return result


@area.answer(TOOL, clause="nm1/merge/source-untouched")
async def a_source_that_fails_is_stamped(call: ToolCall, honest: Honest) -> Result:
    """What could not be merged is marked in the source's file."""
    try:
        return await honest(call)
    except RpcFault:
        if text_argument(call, "from") and is_store(source(call)):
            with closing(sqlite3.connect(source(call))) as db:
                db.execute("PRAGMA application_id = 7")
        raise


@area.liar(TOOL, clause="nm1/merge/deterministic")
class TheSecondMergeIsOtherwise(Merged):
    """Where a store was merged elsewhere before, what comes in has an edge more."""

    merged: ClassVar[set[Path]] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await super().call_tool(call, honest)
        if call.name == TOOL and not is_error(result):
            if source(call) in self.merged and len(self.added) > 1:
                ends = {"from": self.added[0], "to": self.added[1]}
                await ask(honest, call, "memory_relate", kind="derived_from", **ends)
            self.merged.add(source(call))
        return result


@area.liar(TOOL, DIGEST, clause="nm1/merge/audited")
class MergesAreNotAudited(Interceptor):
    """The digest's number of audit events does not count what a merge wrote."""

    def __init__(self) -> None:
        self._written = 0

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == TOOL:
            before = (await ask(honest, call, DIGEST))["audit_events"]
            result = await honest(call)
            self._written += (await ask(honest, call, DIGEST))["audit_events"] - before
            return result
        result = await honest(call)
        if call.name != DIGEST or is_error(result):
            return result
        body = body_of(result)
        return with_body(result, {**body, "audit_events": body["audit_events"] - self._written})


@area.liar(TOOL, DIGEST, clause="nm1/merge/audited", also={"nm1/digest/journal-ok"})
class AMergeIsOutOfBand(Merged):
    """What a merge wrote counts as out of band."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == DIGEST:
            body["journal"]["out_of_band"] = len(self.added)


@area.liar(TOOL, RETRIEVE, clause="nm1/merge/recalled")
class WhatCameInIsNotRecalled(Merged):
    """What came in grounds no recall."""

    def after(self, call: ToolCall, body: Body) -> Body | None:
        found = body["results"] if call.name == RETRIEVE and body["outcome"] == "grounded" else []
        if found and all(row["id"] in self.added for row in found):
            return {"outcome": "abstain", "reason": "Nothing matches."}
        return None


@area.liar(TOOL, RETRIEVE, clause="nm1/merge/labels")
class LabelsStayBehind(Merged):
    """What came in is not recalled by its label."""

    def after(self, call: ToolCall, body: Body) -> Body | None:
        if call.name == RETRIEVE and "session_id" in call.arguments and body["outcome"] == "grounded":
            body["results"] = [row for row in body["results"] if row["id"] not in self.added]
            if not body["results"]:
                return {"outcome": "abstain", "reason": "Nothing matches."}
        return None


@area.liar(TOOL, RETRIEVE, clause="nm1/merge/labels")
class LabelsAreOfOneStore(Merged):
    """A label that both stores gave finds what was here alone."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE and "session_id" in call.arguments and body["outcome"] == "grounded":
            own = [row for row in body["results"] if row["id"] not in self.added]
            body["results"] = own or body["results"]


@area.liar(TOOL, DIGEST, clause="nm1/merge/no-sessions")
class SessionsComeAlong(Merged):
    """The source's sessions are open here."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == DIGEST:
            body["open_sessions"] += 1
            body["open_session_ids"].append("sess-9")


@area.liar(TOOL, DIGEST, clause="nm1/merge/two-ways")
class TheWayBackLosesOne(Merged):
    """Of what comes back from a store that was merged before one is not counted."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == DIGEST and self.counts["capsules_collapsed"] > 1 and self.counts["capsules_added"]:
            body["total"] -= 1
            body["by_project"][0]["count"] -= 1
            body["by_project"][0]["live"] -= 1


@area.answer(TOOL, clause="nm1/merge/from-required")
async def no_path_is_no_store(call: ToolCall, honest: Honest) -> Result:
    """Without a path nothing is merged, and that is all."""
    return await honest(call) if "from" in call.arguments else nothing_merged()


@area.answer(TOOL, clause="nm1/merge/from-required")
async def a_number_is_no_store(call: ToolCall, honest: Honest) -> Result:
    """A path that is a number merges as nothing."""
    return nothing_merged() if isinstance(call.arguments.get("from"), int) else await honest(call)
