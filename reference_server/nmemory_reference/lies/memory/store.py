"""Lies about the store: what outlives the process, what is one and what is two, and the chain of the journal."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from nmemory_reference.lies.answers import Body, Honest, Result, ask, asking, body_of, is_error, with_body
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import state_fault, success
from nmemory_reference.lies.memory.recalled import (
    GET,
    LIST,
    RETRIEVE,
    Recalls,
    abstention,
    became,
    drop,
    is_vector,
    number,
    recount,
    terms_of,
)
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("store")

INGEST = "memory_ingest"
DIGEST = "memory_digest"
FORGET = "memory_forget"


# What ends with the process


class _OfThisRun(Recalls, ABC):
    """Knows what was done since the server began, and hides what was done before."""

    def __init__(self) -> None:
        #: What was named in calls that succeeded, by the tool.
        self.done: dict[str, set[Any]] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        named = self.done.setdefault(call.name, set())
        named |= {value for value in call.arguments.values() if isinstance(value, str)}
        named |= {value for value in body.values() if isinstance(value, str)}
        if call.name == INGEST:
            named |= {row["id"] for row in body["outcomes"] if "id" in row}
        if isinstance(recorded := body.get("recorded"), dict):
            named.add(recorded["id"])
        self.hide(call, body)

    def was(self, tool: str, named: Any) -> bool:
        """Whether a call of a tool named something in this run."""
        return named in self.done.get(tool, ())

    @abstractmethod
    def hide(self, call: ToolCall, body: Body) -> None:
        """Take out of an answer what was done before."""


@area.liar("memory_alias", RETRIEVE, clause="nm1/store/durable")
class AliasesEndWithTheProcess(_OfThisRun):
    """A pair that was taught before the server began expands nothing."""

    def hide(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE and not self.done.get("memory_alias"):
            drop(body, lambda row: all(term.startswith("alias:") for term in row["matched_terms"]))


@area.liar("memory_vector", RETRIEVE, clause="nm1/store/durable")
class EmbeddingsEndWithTheProcess(_OfThisRun):
    """An embedding that was attached before the server began is near to nothing."""

    def hide(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE and is_vector(call):
            drop(body, lambda row: not self.was("memory_vector", row["id"]))


@area.liar("memory_pin", GET, clause="nm1/store/durable")
class PinsEndWithTheProcess(_OfThisRun):
    """A pin that was set before the server began is gone."""

    def hide(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and not self.was("memory_pin", body["id"]):
            body.pop("pinned", None)


@area.liar("memory_relate", GET, clause="nm1/store/durable")
class EdgesEndWithTheProcess(_OfThisRun):
    """An edge that was made before the server began is gone."""

    def hide(self, call: ToolCall, body: Body) -> None:
        if call.name == GET:
            body["relations"] = [edge for edge in body["relations"] if self.was("memory_relate", edge["from"])]


@area.liar("memory_session_start", DIGEST, clause="nm1/store/durable")
class SessionsEndWithTheProcess(_OfThisRun):
    """A session that was opened before the server began is not open."""

    def hide(self, call: ToolCall, body: Body) -> None:
        if call.name == DIGEST:
            ids = [named for named in body["open_session_ids"] if self.was("memory_session_start", named)]
            body.update({"open_session_ids": ids, "open_sessions": len(ids)})


@area.liar("memory_session_start", RETRIEVE, clause="nm1/store/durable", also={"nm1/story/handover"})
class LabelsEndWithTheProcess(_OfThisRun):
    """The label of a session of before the server began finds nothing."""

    def hide(self, call: ToolCall, body: Body) -> None:
        label = call.arguments.get("session_id")
        if call.name == RETRIEVE and label and not self.was("memory_session_start", label):
            became(body, abstention(f"Nothing in session {label}, and no alias helps."))


@area.liar(DIGEST, clause="nm1/store/durable")
class MissesEndWithTheProcess(Recalls):
    """The digest counts the misses since the server began."""

    def __init__(self) -> None:
        self._missed = 0

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE and body["outcome"] == "abstain":
            self._missed += len(terms_of(call))
        elif call.name == DIGEST:
            body["recall_misses"] = min(self._missed, body["recall_misses"])


@area.liar(DIGEST, clause="nm1/store/durable")
class EventsAreCountedAnew(Interceptor):
    """The digest counts the events since the server began."""

    def __init__(self) -> None:
        self._before: int | None = None

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if self._before is None:
            self._before = (await ask(honest, call, DIGEST))["audit_events"]
        result = await honest(call)
        if call.name != DIGEST or is_error(result):
            return result
        body = body_of(result)
        events = body["audit_events"] - self._before
        return with_body(result, {**body, "audit_events": events, "journal": {**body["journal"], "verified": events}})


@area.liar("memory_consolidate", GET, clause="nm1/store/durable")
class TiersEndWithTheProcess(_OfThisRun):
    """A tier that was applied before the server began is gone."""

    def hide(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and "tier" in body and not self.done.get("memory_consolidate"):
            body["tier"] = "active"


@area.liar(DIGEST, clause="nm1/store/durable")
class RecallsAreCountedAnew(_OfThisRun):
    """The digest counts recalls since the server began."""

    def hide(self, call: ToolCall, body: Body) -> None:
        if call.name == DIGEST and not self.done.get(RETRIEVE) and body.get("most_recalled"):
            body["most_recalled"] = []
            body.pop("most_recalled_total", None)


@area.liar("memory_outcome", RETRIEVE, clause="nm1/store/durable")
class FeedbackEndsWithTheProcess(_OfThisRun):
    """What was scored before the server began has the weight of what never was."""

    def hide(self, call: ToolCall, body: Body) -> None:
        for row in body.get("results", ()) if call.name == RETRIEVE and not self.done.get("memory_outcome") else ():
            if "feedback_weight" in row:
                row["feedback_weight"] = 0.5


@area.liar("memory_outcome", RETRIEVE, clause="nm1/store/durable")
class ReceiptsEndWithTheProcess(_OfThisRun):
    """A receipt of before the server began is unknown."""

    def hide(self, call: ToolCall, body: Body) -> None:
        """Nothing is hidden: it is refused."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        receipt = call.arguments.get("receipt_id")
        if call.name == "memory_outcome" and receipt and not self.was(RETRIEVE, receipt):
            return state_fault("receipt", str(receipt))
        return await super().call_tool(call, honest)


@area.liar("memory_session_finish", clause="nm1/store/durable")
class ClosedSessionsCloseAgain(Interceptor):
    """A session that was closed before the server began may be closed again."""

    def __init__(self) -> None:
        self._closed: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        named = str(call.arguments.get("session_id"))
        try:
            result = await honest(call)
        except RpcFault as fault:
            past = call.name == "memory_session_finish" and fault.data and fault.data["kind"] == "finished_session"
            if past and named not in self._closed:
                return success(session_id=named, finished_at="2031-01-01T00:00:00Z")
            raise
        if call.name == "memory_session_finish" and not is_error(result):
            self._closed.add(named)
        return result


class _Lists(_OfThisRun):
    """Hides rows of a list that were recorded before the server began."""

    tool: str
    at: str

    def hide(self, call: ToolCall, body: Body) -> None:
        if call.name == self.tool and self.at in body:
            body[self.at] = [row for row in body[self.at] if self.was(self.tool, row["id"])]
            body["total"] = len(body[self.at])


@area.liar("memory_outcome", clause="nm1/store/durable")
class OutcomesEndWithTheProcess(_Lists):
    """An outcome of before the server began is not listed."""

    tool, at = "memory_outcome", "outcomes"


@area.liar("memory_preference", clause="nm1/store/durable")
class PreferencesEndWithTheProcess(_Lists):
    """A preference of before the server began is not listed."""

    tool, at = "memory_preference", "preferences"


@area.liar(GET, clause="nm1/store/durable")
class AnnotationsEndWithTheProcess(_OfThisRun):
    """What was said of a capsule's evidence before the server began is gone."""

    def hide(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and not self.was(INGEST, body["id"]):
            body.pop("epistemics", None)


@area.liar(INGEST, clause="nm1/store/dedup-survives", also={"nm1/ingest/dedup-survives-restart"})
class WordsOfBeforeAreNew(_OfThisRun):
    """Content of before the server began is another capsule."""

    def hide(self, call: ToolCall, body: Body) -> None:
        """Nothing is hidden: it is kept again."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await super().call_tool(call, honest)
        if call.name != INGEST or is_error(result) or "items" in call.arguments:
            return result
        (row,) = body_of(result)["outcomes"]
        if row["status"] == "deduplicated" and GET in self.done and self.done[INGEST] and len(self.done) > 5:
            return await honest(asking(call, content=f"{call.arguments['content']}\n"))
        return result


@area.liar(INGEST, FORGET, clause="nm1/store/forgotten-survives")
class WhatWasForgottenBeforeIsNew(_OfThisRun):
    """Content that was forgotten before the server began is taken again."""

    def hide(self, call: ToolCall, body: Body) -> None:
        """Nothing is hidden: it is kept again."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await super().call_tool(call, honest)
        refused = call.name == INGEST and not is_error(result) and body_of(result)["rejected"]
        if refused and not self.done.get(FORGET) and isinstance(content := call.arguments.get("content"), str):
            return await honest(asking(call, content=f"{content}\n"))
        return result


@area.liar(RETRIEVE, FORGET, clause="nm1/store/forgotten-survives")
class TombstonesEndWithTheProcess(_OfThisRun):
    """The id of what was forgotten before the server began is that of nothing."""

    def hide(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE and not self.done.get(FORGET):
            recount(body, "tombstoned", None)


# One and two


@area.liar(INGEST, FORGET, clause="nm1/store/ids-not-reused")
class AnIdIsUsedAgain(Recalls):
    """The next capture has the id of what was forgotten."""

    def __init__(self) -> None:
        self._free: list[str] = []

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == FORGET and "id" in body:
            self._free.append(body["id"])
        for row in body.get("outcomes", ()) if call.name == INGEST else ():
            if row["status"] == "captured" and self._free:
                row["id"] = self._free.pop()


@area.liar(INGEST, clause="nm1/store/ids-not-reused")
class IdsGoOnFromTheHighestAlive(Interceptor):
    """After a start ids go on from the last capsule that is not forgotten."""

    def __init__(self) -> None:
        self._begun = False

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != INGEST or self._begun:
            self._begun |= call.name == INGEST
            return await honest(call)
        self._begun = True
        alive = [number(row["id"]) for row in (await ask(honest, call, LIST, limit=1000))["entries"]]
        result = await honest(call)
        if is_error(result) or not alive:
            return result
        body = body_of(result)
        for row in body["outcomes"]:
            if row["status"] == "captured":
                row["id"] = f"cap-{max(alive) + 1}"
        return with_body(result, body)


class _Raced(Interceptor, ABC):
    """Knows how many captures are under way."""

    def __init__(self) -> None:
        self._running = 0
        self._latest: Result | None = None

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != INGEST:
            return await honest(call)
        self._running += 1
        await asyncio.sleep(0)  # whoever comes at the same time has begun
        try:
            result = await (self.raced(call, honest) if self._running > 1 else honest(call))
            self._latest = result
            return result
        finally:
            self._running -= 1

    @abstractmethod
    async def raced(self, call: ToolCall, honest: Honest) -> Result:
        """What becomes of a capture beside which another one is under way."""


@area.liar(INGEST, clause="nm1/store/identical-at-once", also={"nm1/ingest/dedup-when-raced"})
class EachRacerIsFirst(_Raced):
    """Identical captures at once are each answered as captured."""

    async def raced(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        body = body_of(result)
        for row in body["outcomes"]:
            if row["status"] == "deduplicated":
                row["status"] = "captured"
                body["captured"], body["deduped"] = body["captured"] + 1, body["deduped"] - 1
        return with_body(result, body)


@area.liar(INGEST, clause="nm1/store/writes-at-once")
class ARacerIsLost(_Raced):
    """Of two captures at once one is answered, and not kept."""

    async def raced(self, call: ToolCall, honest: Honest) -> Result:
        if self._latest is None:
            return await honest(call)
        body = body_of(self._latest)
        body["outcomes"][0]["id"] = f"cap-{number(body['outcomes'][0].get('id', 'cap-1')) + 1}"
        return success(**body)


@area.liar(INGEST, clause="nm1/store/writes-at-once")
class RacersShareAnId(_Raced):
    """Two captures at once are answered with one id."""

    async def raced(self, call: ToolCall, honest: Honest) -> Result:
        before = self._latest
        result = await honest(call)
        return result if before is None else with_body(result, body_of(before))


@area.liar(INGEST, clause="nm1/store/writes-at-once")
class RacersSwapTheirIds(_Raced):
    """Of two captures at once the later one is answered with the id of the one before, which gets its."""

    def __init__(self) -> None:
        super().__init__()
        self._names: dict[str, str] = {}

    async def raced(self, call: ToolCall, honest: Honest) -> Result:
        before = self._latest
        result = await honest(call)
        if before and not self._names and not is_error(before) and not is_error(result):
            mine, theirs = (body_of(answer)["outcomes"][0].get("id") for answer in (result, before))
            self._names = {mine: theirs, theirs: mine}
        return result

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await super().call_tool(call, honest)
        if call.name != GET or is_error(result) or (named := str(call.arguments.get("id"))) not in self._names:
            return result
        other = await ask(honest, call, GET, id=self._names[named])
        return with_body(result, {**other, "id": named})


# The journal


@area.success(DIGEST, clause="nm1/store/chain-tampered")
def the_chain_is_always_ok(call: ToolCall, body: Body) -> None:
    """The journal's chain is ok, whatever was changed."""
    body["journal"] = {"chain": "ok", "verified": body["audit_events"], "out_of_band": 0}


@area.success(DIGEST, clause="nm1/store/chain-tampered")
def a_broken_chain_is_broken_nowhere(call: ToolCall, body: Body) -> None:
    """A broken chain does not say where."""
    body["journal"].pop("broken_seq", None)


@area.success(DIGEST, clause="nm1/store/chain-tampered")
def a_gap_is_no_break(call: ToolCall, body: Body) -> None:
    """An event that is gone does not break the chain."""
    if body["journal"]["chain"] == "broken" and body["journal"].get("broken_seq", 9) <= 3:
        body["journal"] = {"chain": "ok", "verified": body["audit_events"], "out_of_band": 0}


@area.success(DIGEST, clause="nm1/store/chain-tampered")
def the_last_event_is_not_looked_at(call: ToolCall, body: Body) -> None:
    """A change of the last event does not break the chain."""
    if body["journal"]["chain"] == "broken" and body["journal"].get("broken_seq", 0) > 3:
        body["journal"] = {"chain": "ok", "verified": body["audit_events"], "out_of_band": 0}


@area.success(DIGEST, clause="nm1/store/chain-tampered")
def every_break_is_at_the_first(call: ToolCall, body: Body) -> None:
    """A broken chain is broken at the first event."""
    if "broken_seq" in body["journal"]:
        body["journal"]["broken_seq"] = 1


@area.success(DIGEST, clause="nm1/store/chain-ok")
def the_chain_lags(call: ToolCall, body: Body) -> None:
    """The last event of the journal is not verified."""
    body["journal"]["verified"] = max(0, body["journal"].get("verified", 0) - 1)


class _Breaks(Recalls, ABC):
    """Takes what a tool did for something that happened outside of the journal."""

    tool: str

    def __init__(self) -> None:
        self._did = 0

    def change(self, call: ToolCall, body: Body) -> None:
        self._did += call.name == self.tool
        if call.name == DIGEST and self._did:
            self.told(body["journal"])

    @abstractmethod
    def told(self, journal: Body) -> None:
        """Change what is said of the journal."""


@area.liar(DIGEST, FORGET, clause="nm1/store/chain-ok")
class ForgettingBreaksTheChain(_Breaks):
    """To forget a capsule breaks the chain."""

    tool = FORGET

    def told(self, journal: Body) -> None:
        journal.update({"chain": "broken", "broken_seq": 1})


@area.liar(DIGEST, "memory_alias", clause="nm1/store/chain-ok")
class AliasesAreOutOfBand(_Breaks):
    """A pair that is taught counts as out of band."""

    tool = "memory_alias"

    def told(self, journal: Body) -> None:
        journal["out_of_band"] = 1


def _out_of_band(tool: str, name: str, says: str) -> None:
    """Add the lie that what a tool did counts as out of band."""

    def told(self: _Breaks, journal: Body) -> None:
        journal["out_of_band"] = 1

    lie = type(name, (_Breaks,), {"__doc__": says, "tool": tool, "told": told})
    area.liar(DIGEST, tool, clause="nm1/store/chain-ok")(lie)


_out_of_band("memory_vector", "EmbeddingsAreOutOfBand", "An embedding that is attached counts as out of band.")
_out_of_band("memory_preference", "PreferencesAreOutOfBand", "A preference that is recorded counts as out of band.")
_out_of_band("memory_consolidate", "TiersAreOutOfBand", "A tier that is applied counts as out of band.")


# What is kept stays as it is


@area.liar(LIST, INGEST, clause="nm1/store/capsule-frozen")
class WhatIsSaidAgainIsNew(Recalls):
    """A capsule whose content is kept again was created then."""

    def __init__(self) -> None:
        self._again: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == INGEST:
            self._again |= {row["id"] for row in body["outcomes"] if row["status"] == "deduplicated"}
        for row in body["entries"] if call.name == LIST else ():
            if row["id"] in self._again:
                row["created_at"] = "2031-01-01T00:00:00Z"


class _Changes(Recalls, ABC):
    """Changes how a capsule reads after something was said about it."""

    tool: str
    argument: str

    def __init__(self) -> None:
        self._said: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == self.tool and self.meant(call) and isinstance(named := call.arguments.get(self.argument), str):
            self._said.add(named)
        elif call.name == GET and "capsule" in body and body["id"] in self._said:
            self.changed(body["capsule"])

    def meant(self, call: ToolCall) -> bool:
        """Whether this call changes the capsule."""
        return True

    @abstractmethod
    def changed(self, kept: Body) -> None:
        """Change what is shown of the capsule."""


def _changes(
    name: str,
    says: str,
    tool: str,
    argument: str,
    changed: Callable[[Body], None],
    meant: Callable[[ToolCall], bool] = lambda call: True,
) -> None:
    members = {
        "__doc__": says,
        "tool": tool,
        "argument": argument,
        "meant": lambda self, call: meant(call),
        "changed": lambda self, kept: changed(kept),
    }
    area.liar(tool, GET, clause="nm1/store/capsule-frozen")(type(name, (_Changes,), members))


_changes(
    "FalsehoodCostsConfidence",
    "A falsified capsule has confidence 0.",
    "memory_relate",
    "to",
    lambda kept: kept.update(confidence=0.0),
    lambda call: call.arguments.get("kind") == "falsifies",
)
_changes(
    "SupersedingEndsValidity",
    "A superseded capsule is valid until it was superseded.",
    "memory_relate",
    "to",
    lambda kept: kept["freshness"].update(valid_to="2031-01-01T00:00:00Z"),
    lambda call: call.arguments.get("kind") == "supersedes",
)
_changes(
    "PinsAreAuthority",
    "A pinned capsule has the authority of the user.",
    "memory_pin",
    "id",
    lambda kept: kept.update(authority_class="user-stated", confidence=1.0),
)
_changes(
    "AHintTaints",
    "A capsule that is classified with a taint_hint is tainted.",
    "memory_classify",
    "capsule_id",
    lambda kept: kept.update(instruction_taint=True),
    lambda call: bool(call.arguments.get("taint_hint")),
)
_changes(
    "OutcomesBearOnConfidence",
    "A capsule about which an outcome was recorded is surer.",
    "memory_outcome",
    "capsule_id",
    lambda kept: kept.update(confidence=min(1.0, kept["confidence"] + 0.1)),
)
_changes(
    "TheRejectedIsLessSure",
    "A capsule that another one was preferred to is less sure.",
    "memory_preference",
    "rejected_id",
    lambda kept: kept.update(confidence=kept["confidence"] / 2),
)
