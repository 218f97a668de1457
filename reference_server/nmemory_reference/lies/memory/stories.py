"""Lies that only a story tells: what goes wrong where several tools follow each other."""

from __future__ import annotations

from abc import ABC, abstractmethod

from nmemory_reference.lies.answers import Body, Honest, Result, ask, asking, body_of, is_error
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.history import History
from nmemory_reference.lies.memory.recalled import LIST, RETRIEVE, Recalls, found, recount
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("story")

DIGEST = "memory_digest"
BOOTSTRAP = "memory_bootstrap"
CONSOLIDATE = "memory_consolidate"
MERGE = "memory_merge"
IMPORT = "memory_import"
OUTCOME = "memory_outcome"


@area.liar("memory_pin", RETRIEVE, clause="nm1/story/claim")
class UnpinningEndsAFalsehood(Recalls):
    """When a falsified and superseded capsule loses its pin, it is counted as superseded."""

    def __init__(self) -> None:
        self._unpinned = False

    def change(self, call: ToolCall, body: Body) -> None:
        self._unpinned |= call.name == "memory_pin" and call.arguments.get("pinned") is False
        if call.name == RETRIEVE and self._unpinned:
            recount(body, "falsified", "superseded")


@area.item(LIST, at="entries", clause="nm1/story/claim")
def falsehood_ends_replacement(call: ToolCall, row: Body) -> None:
    """A list does not say of what was replaced that it was."""
    row.pop("superseded", None)


@area.liar("memory_pin", "memory_relate", RETRIEVE, clause="nm1/story/claim")
class APinWithstandsFalsehood(History):
    """A pinned capsule that is superseded and falsified is counted as superseded."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE and "memory_pin" in self.called and len(set(self.ends("supersedes"))) == 1:
            recount(body, "falsified", "superseded")


@area.liar(BOOTSTRAP, clause="nm1/story/chain-of-tasks")
class BootstrapKeepsItsPlan(Recalls):
    """memory_bootstrap shows what was ready when it was asked first."""

    def __init__(self) -> None:
        self._ready: Body | None = None

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == BOOTSTRAP:
            self._ready = self._ready or body["ready"]
            body["ready"] = self._ready


@area.success(DIGEST, clause="nm1/story/chain-of-tasks")
def one_step_opens_all(call: ToolCall, body: Body) -> None:
    """Once a first task is witnessed all that were blocked are ready."""
    dag = body["dag"]
    if dag.get("done"):
        dag.update({"ready": dag["ready"] + dag["blocked"], "ready_total": dag["ready_total"] + dag["blocked_total"]})
        dag.update({"blocked": [], "blocked_total": 0})


@area.liar(BOOTSTRAP, "memory_relate", clause="nm1/story/chain-of-tasks")
class TheDoneIsReadyAgain(History):
    """What was done before stands behind what is to be done next."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == BOOTSTRAP and (first := body["ready"].get("next_action")):
            done = [(named, self.captured[named]["content"]) for named in self.ends("witnesses")]
            body["ready"]["ready"] += [{**first, "id": named, "headline": content} for named, content in done]
            body["ready"]["ready_total"] += len(done)


@area.liar(CONSOLIDATE, clause="nm1/story/vocabulary")
class ProposalsStay(Recalls):
    """What was proposed as an alias is proposed for ever."""

    def __init__(self) -> None:
        self._proposed: list[Body] = []

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == CONSOLIDATE:
            proposals = body["plan"]["alias_proposals"]
            known = {row["term"] for row in proposals}
            self._proposed = [*proposals, *[row for row in self._proposed if row["term"] not in known]]
            body["plan"]["alias_proposals"] = self._proposed


@area.success(CONSOLIDATE, clause="nm1/story/vocabulary")
def candidates_are_left_open(call: ToolCall, body: Body) -> None:
    """What is proposed as an alias has no candidate."""
    for row in body["plan"]["alias_proposals"]:
        row["candidate"] = None


@area.liar(DIGEST, "memory_session_finish", clause="nm1/story/handover")
class HandoffsEndWithTheProcess(Recalls):
    """A handoff of before the server began is not shown."""

    def __init__(self) -> None:
        self._finished = False

    def change(self, call: ToolCall, body: Body) -> None:
        self._finished |= call.name == "memory_session_finish"
        if call.name == DIGEST and not self._finished:
            body.update({"handoff": [], "handoff_total": 0})


@area.liar(DIGEST, clause="nm1/story/handover")
class EveryHandoffIsShown(Recalls):
    """The digest goes on to show a handoff after a later one."""

    def __init__(self) -> None:
        self._shown: dict[str, Body] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == DIGEST:
            self._shown.update({row["id"]: row for row in body.get("handoff", ())})
            rows = sorted(self._shown.values(), key=lambda row: str(row["created_at"]), reverse=True)
            body.update({"handoff": rows, "handoff_total": len(rows)})


class _Scored(Recalls, ABC):
    """Knows which rows were scored, and how."""

    def __init__(self) -> None:
        self._rows: dict[str, list[str]] = {}
        self._poor: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == OUTCOME and call.arguments.get("score") == 0:
            self._poor |= set(self._rows.get(call.arguments["receipt_id"], ()))
        if call.name == RETRIEVE and "receipt_id" in body:
            self._rows[body["receipt_id"]] = [row["id"] for row in found(body)]
        self.punish(call, body, self._poor)

    @abstractmethod
    def punish(self, call: ToolCall, body: Body, poor: set[str]) -> None:
        """Change what is shown of what was scored poorly."""


@area.liar(RETRIEVE, OUTCOME, clause="nm1/story/feedback")
class FeedbackAlwaysCounts(_Scored):
    """What was scored poorly falls behind in every recall."""

    def punish(self, call: ToolCall, body: Body, poor: set[str]) -> None:
        if call.name == RETRIEVE:
            found(body).sort(key=lambda row: row["id"] in poor)


@area.liar("memory_get", RETRIEVE, OUTCOME, clause="nm1/story/feedback")
class FeedbackArchives(_Scored):
    """What was scored poorly is archived."""

    def punish(self, call: ToolCall, body: Body, poor: set[str]) -> None:
        if call.name == "memory_get" and body["id"] in poor and "tier" in body:
            body["tier"] = "archived"


@area.answer(MERGE, clause="nm1/story/merged-both-ways")
async def a_merge_forgets_nothing(call: ToolCall, honest: Honest) -> Result:
    """What the other store has forgotten is kept in this one."""
    before = (await ask(honest, call, LIST, limit=1000))["entries"]
    result = await honest(call)
    if is_error(result):
        return result
    left = {row["headline"] for row in (await ask(honest, call, LIST, limit=1000))["entries"]}
    for row in before:
        if row["headline"] not in left:
            item = {"content": f"{row['headline']}\n", "source": MERGE, "anchor": row["id"]}
            await ask(honest, call, "memory_ingest", **item, project_id=row["project_id"])
    return result


@area.liar("memory_ingest", MERGE, clause="nm1/story/merged-both-ways")
class TheOthersForgettingIsNotOurs(Interceptor):
    """What only the other store has forgotten is taken in here again after the merge."""

    def __init__(self) -> None:
        self._merged = False

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        self._merged |= call.name == MERGE and not is_error(result)
        late = call.name == "memory_ingest" and self._merged and not is_error(result) and body_of(result)["rejected"]
        if not late or not isinstance(content := call.arguments.get("content"), str):
            return result
        return await honest(asking(call, content=f"{content} "))


@area.liar(MERGE, LIST, clause="nm1/story/merged-both-ways")
class MergedCapsulesAreTwice(Recalls):
    """What both stores had is listed twice after a merge."""

    def __init__(self) -> None:
        self._merged = False

    def change(self, call: ToolCall, body: Body) -> None:
        self._merged |= call.name == MERGE
        if call.name == LIST and self._merged and len(body["entries"]) > 2:
            body["entries"].append(body["entries"][0])
            body["returned"] += 1


@area.liar(IMPORT, clause="nm1/story/import-repaired")
class AFileIsReadTwice(Interceptor):
    """A file is imported once, and once again; a third time changes nothing."""

    def __init__(self) -> None:
        self._times = 0
        self._last: Result | None = None

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == IMPORT and self._times == 2 and self._last:
            return self._last
        result = await honest(call)
        if call.name == IMPORT and not is_error(result):
            self._times, self._last = self._times + 1, result
        return result


@area.liar(IMPORT, clause="nm1/story/import-repaired")
class AnImportIsOnce(Interceptor):
    """A file that was imported is not read again."""

    def __init__(self) -> None:
        self._last: Result | None = None

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == IMPORT and self._last:
            return self._last
        result = await honest(call)
        if call.name == IMPORT and not is_error(result) and body_of(result).get("captured"):
            self._last = result
        return result
