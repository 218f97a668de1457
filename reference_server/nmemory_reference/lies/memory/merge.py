"""Lies about merge: what comes in, what stays out, and what is forgotten with it."""

from __future__ import annotations

import hashlib
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
    asking,
    body_of,
    is_error,
    text_argument,
    with_body,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import ARMOUR, STORE, success, value_fault
from nmemory_reference.lies.memory.history import History
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("merge")

TOOL = "memory_merge"
GET = "memory_get"
LIST = "memory_list"
INGEST = "memory_ingest"
RETRIEVE = "memory_retrieve"
DIGEST = "memory_digest"
COUNTS = ("capsules_added", "capsules_collapsed", "relations_added", "tombstones_applied", "id_remap_size")


def nothing_merged() -> Result:
    """The answer to the merge of an empty store."""
    return success(**ARMOUR, **dict.fromkeys(COUNTS, 0))


def source(call: ToolCall) -> Path:
    """The file that is merged."""
    return Path(call.arguments["from"])


class Merged(History):
    """Knows which capsules came in by a merge."""

    def __init__(self) -> None:
        super().__init__()
        #: Their ids, in order.
        self.added: list[str] = []
        #: The counts of the last merge.
        self.counts: Body = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != TOOL:
            return await super().call_tool(call, honest)
        before = {row["id"] for row in (await ask(honest, call, LIST))["entries"]}
        result = await super().call_tool(call, honest)
        if not is_error(result):
            after = (await ask(honest, call, LIST))["entries"]
            self.added += [row["id"] for row in after if row["id"] not in before]
            self.counts = body_of(result)
        return result

    def change(self, call: ToolCall, body: Body) -> Body | None:
        """Changes answers after a merge."""
        return self.after(call, body) if self.counts and call.name != TOOL else None

    def after(self, call: ToolCall, body: Body) -> Body | None:
        """Changes an answer in place, or answers another one."""
        raise NotImplementedError

    def gone(self) -> list[str]:
        """What was captured here, and may have been forgotten by a merge."""
        return [named for named in self.captured if named not in self.forgotten]


@area.success(TOOL, clause="nm1/merge/shape")
def nothing_is_not_counted(call: ToolCall, body: Body) -> None:
    """A merge without tombstones does not count them."""
    if not body["tombstones_applied"]:
        body.pop("tombstones_applied")


@area.success(TOOL, clause="nm1/merge/armour")
def counts_are_not_wrapped(call: ToolCall, body: Body) -> None:
    """A merge that added something is not wrapped."""
    if body["capsules_added"]:
        body.pop("framing")


@area.success(TOOL, clause="nm1/merge/adds")
def one_more_is_counted(call: ToolCall, body: Body) -> None:
    """capsules_added counts one more."""
    body["capsules_added"] += bool(body["capsules_added"])


@area.liar(TOOL, LIST, clause="nm1/merge/adds")
class TheLastIsLost(Merged):
    """Of what came in the last capsule is not listed."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == LIST:
            body["entries"] = [row for row in body["entries"] if row["id"] not in self.added[-1:]]
            body["returned"] = len(body["entries"])


@area.liar(TOOL, LIST, clause="nm1/merge/ids-fresh")
class ForgottenIdsAreGiven(Merged):
    """What comes in has the ids of what was forgotten here."""

    def after(self, call: ToolCall, body: Body) -> None:
        names = dict(zip(self.added, self.forgotten, strict=False))
        for row in body["entries"] if call.name == LIST else ():
            row["id"] = names.get(row["id"], row["id"])


@area.liar(TOOL, INGEST, clause="nm1/merge/ids-fresh")
class TheNextHasAMergedId(Merged):
    """The first capture after a merge has an id that the merge gave."""

    def __init__(self) -> None:
        super().__init__()
        self._given = False

    def after(self, call: ToolCall, body: Body) -> None:
        for row in body["outcomes"] if call.name == INGEST and self.added and not self._given else ():
            if row["status"] == "captured":
                row["id"], self._given = self.added[-1], True


@area.success(TOOL, clause="nm1/merge/collapses")
def what_is_here_is_not_counted(call: ToolCall, body: Body) -> None:
    """capsules_collapsed is 0."""
    body["capsules_collapsed"] = 0


@area.liar(TOOL, GET, clause="nm1/merge/collapses")
class TheNewerOriginWins(Merged):
    """A capsule that another one collapsed into has that one's source."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and self.counts["capsules_collapsed"] and "capsule" in body:
            body["capsule"]["provenance"]["source"] = "merged"


@area.liar(TOOL, GET, clause="nm1/merge/collapses")
class ACollapseClearsTheLabel(Merged):
    """A capsule that another one collapsed into has lost its classification."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and self.counts["capsules_collapsed"]:
            body.pop("classification", None)


@area.liar(TOOL, GET, clause="nm1/merge/collapses")
class ACollapseUnpins(Merged):
    """A capsule that another one collapsed into is pinned no more."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and self.counts["capsules_collapsed"]:
            body.pop("pinned", None)


@area.liar(TOOL, GET, clause="nm1/merge/verbatim")
class ConfidenceIsTheDefault(Merged):
    """What came in has the default confidence."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and body["id"] in self.added:
            body["capsule"]["confidence"] = 0.6


@area.liar(TOOL, GET, clause="nm1/merge/verbatim")
class ValidityBeginsNow(Merged):
    """What came in is valid from the merge on."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and body["id"] in self.added:
            body["capsule"]["freshness"]["valid_from"] = body["created_at"]


@area.liar(TOOL, LIST, clause="nm1/merge/never-elevated")
class TaintIsCleared(Merged):
    """What came in is not tainted by where it came from."""

    def after(self, call: ToolCall, body: Body) -> None:
        for row in body["entries"] if call.name == LIST else ():
            if row["id"] in self.added and "ignore" not in row["headline"]:
                row["instruction_taint"] = False


@area.liar(TOOL, GET, clause="nm1/merge/never-elevated")
class AuthorityIsRaised(Merged):
    """What was imported from elsewhere comes in as the agent's own."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and body["id"] in self.added:
            body["capsule"]["authority_class"] = "agent-inferred"


@area.success(TOOL, clause="nm1/merge/relations-dedup")
def known_edges_are_counted(call: ToolCall, body: Body) -> None:
    """relations_added counts an edge that is here already."""
    body["relations_added"] += body["capsules_collapsed"] > 1


@area.liar(TOOL, DIGEST, clause="nm1/merge/relations-dedup", also={"nm1/digest/relations"})
class KnownEdgesAreAdded(Merged):
    """An edge that is here already is there twice."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == DIGEST:
            body["relations"] += self.counts["capsules_collapsed"] > 1


@area.liar(TOOL, GET, clause="nm1/merge/relations")
class EdgesStayBehind(Merged):
    """Edges between what came in and what was here are not shown here."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and body["id"] not in self.added:
            body["relations"] = [edge for edge in body["relations"] if not {edge["from"], edge["to"]} & set(self.added)]


@area.liar(TOOL, GET, clause="nm1/merge/relations")
class ContainersStayBehind(Merged):
    """An edge to a container whose label has stayed behind stays behind, too."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == GET:
            body["relations"] = [edge for edge in body["relations"] if edge["kind"] != "part_of"]


@area.liar(TOOL, RETRIEVE, clause="nm1/merge/relations")
class AMergedFalsehoodIsRecalled(Merged):
    """An edge that falsifies what was here does so only in the source."""

    def after(self, call: ToolCall, body: Body) -> Body | None:
        if call.name == RETRIEVE and body.get("excluded", {}).get("falsified"):
            return {"outcome": "abstain", "reason": "Nothing matches."}
        return None


@area.liar(TOOL, GET, clause="nm1/merge/relations-dangling")
class EdgesDangle(Merged):
    """What came in has an edge to what did not."""

    def after(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and body["id"] in self.added and body["relations"]:
            body["relations"].append({**body["relations"][0], "kind": "blocks", "from": body["id"], "to": "cap-99"})


@area.liar(TOOL, clause="nm1/merge/again")
class TheSameIsAddedAgain(Interceptor):
    """A store that was merged before counts as added."""

    def __init__(self) -> None:
        self._merged: set[Path] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != TOOL or is_error(result):
            return result
        body = body_of(result)
        if source(call) in self._merged:
            body |= {"capsules_added": body["capsules_collapsed"], "capsules_collapsed": 0}
        self._merged.add(source(call))
        return with_body(result, body)


@area.liar(TOOL, clause="nm1/merge/again")
class TombstonesComeOnce(Interceptor):
    """A store whose tombstones were applied here fails to be merged again."""

    def __init__(self) -> None:
        self._applied: set[Path] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == TOOL and text_argument(call, "from") and source(call) in self._applied:
            return value_fault("from: it carries what was forgotten here")
        result = await honest(call)
        if call.name == TOOL and not is_error(result) and body_of(result)["tombstones_applied"]:
            self._applied.add(source(call))
        return result


@area.answer(TOOL, clause="nm1/merge/again")
async def a_merge_leaves_a_note(call: ToolCall, honest: Honest) -> Result:
    """A merge that added nothing leaves a note."""
    result = await honest(call)
    if not is_error(result) and not body_of(result)["capsules_added"]:
        await ask(honest, call, INGEST, content=f"Merged {source(call).name}.", source="merge", anchor="merge")
    return result


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

    def after(self, call: ToolCall, body: Body) -> None:
        """Changes no answer."""


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

    def after(self, call: ToolCall, body: Body) -> None:
        """Changes no answer."""


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
        held = text_argument(call, "from") is not None and _is_store(source(call))
        if held and _version(source(call)) not in (0, 999999):
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
            carried = _hashes(call, forgotten=False)
            if carried & self._forgotten["redacted"] and not carried & self._forgotten["purged"]:
                return nothing_merged()
            raise

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == "memory_forget" and body["id"] in self.captured:
            self._forgotten[body["mode"]].add(_hash(self.captured[body["id"]]["content"]))


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
    if path and _is_store(path):
        with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
            if tables and "capsule" not in tables:
                return nothing_merged()
    return await honest(call)


@area.refusal(TOOL, clause="nm1/merge/no-store")
def a_letter_is_told_in_band(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """A file that is no database is refused in band."""
    path = source(call) if text_argument(call, "from") else None
    return Refusal(refusal.text) if path and path.is_file() and not _is_store(path) else None


@area.answer(TOOL, clause="nm1/merge/stale")
async def an_older_store_has_nothing(call: ToolCall, honest: Honest) -> Result:
    """A store of an older schema merges as nothing."""
    older = text_argument(call, "from") and _is_store(source(call)) and _version(source(call)) == 0
    return nothing_merged() if older else await honest(call)


@area.refusal(TOOL, clause="nm1/merge/stale")
def a_newer_store_is_broken(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """A store of a newer schema fails as a broken one does."""
    newer = text_argument(call, "from") and _is_store(source(call)) and _version(source(call)) == 999999
    return replace(refusal, code=STORE) if newer else None


def _is_store(path: Path) -> bool:
    """Whether a file begins as SQLite's do."""
    return path.is_file() and path.read_bytes()[:6] == b"SQLite" and path.stat().st_size > 512


def _version(path: Path) -> int:
    """The schema's version that a database names."""
    return int.from_bytes(path.read_bytes()[60:64], "big")


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
            gone = _hashes(call, forgotten=True)
            for named, item in self.captured.items():
                if _hash(item["content"]) in gone:
                    with suppress(RpcFault):
                        await ask(honest, call, "memory_forget", id=named, mode="purged", reason="merged")
            raise

    def change(self, call: ToolCall, body: Body) -> None:
        """Changes no answer."""


def _hash(content: str) -> str:
    """What a content is known by."""
    return hashlib.sha256(content.encode()).hexdigest()


def _hashes(call: ToolCall, *, forgotten: bool) -> set[str]:
    """What the contents that a store to be merged has forgotten, or holds, are known by."""
    if call.name != TOOL or not text_argument(call, "from") or not source(call).is_file():
        return set()
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(f"file:{source(call)}?mode=ro", uri=True)) as db:
        rows = db.execute("SELECT source_hash, seq IN (SELECT seq FROM tombstone) FROM capsule")
        return {told for told, gone in rows if bool(gone) == forgotten}
    return set()


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
        if text_argument(call, "from") and _is_store(source(call)):
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

    def after(self, call: ToolCall, body: Body) -> None:
        """Changes no answer."""


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
