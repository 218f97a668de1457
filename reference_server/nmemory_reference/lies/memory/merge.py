"""Lies about merge: what comes in, and what is here already."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

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
from nmemory_reference.lies.memory.answers import ARMOUR, success, value_fault
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

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


def is_store(path: Path) -> bool:
    """Whether a file begins as SQLite's do."""
    return path.is_file() and path.read_bytes()[:6] == b"SQLite" and path.stat().st_size > 512


def version(path: Path) -> int:
    """The schema's version that a database names."""
    return int.from_bytes(path.read_bytes()[60:64], "big")


def hash_of(content: str) -> str:
    """What a content is known by."""
    return hashlib.sha256(content.encode()).hexdigest()


def hashes(call: ToolCall, *, forgotten: bool) -> set[str]:
    """What the contents that a store to be merged has forgotten, or holds, are known by."""
    if call.name != TOOL or not text_argument(call, "from") or not source(call).is_file():
        return set()
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(f"file:{source(call)}?mode=ro", uri=True)) as db:
        rows = db.execute("SELECT source_hash, seq IN (SELECT seq FROM tombstone) FROM capsule")
        return {told for told, gone in rows if bool(gone) == forgotten}
    return set()


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
        return None

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
