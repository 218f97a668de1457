"""Lies about digest: the figures of the whole store, as sessions, tiers, journal, misses and edges."""

from __future__ import annotations

from abc import ABC, abstractmethod

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    ask,
    body_of,
    is_error,
    with_body,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("digest")

TOOL = "memory_digest"
RETRIEVE = "memory_retrieve"
LIST = "memory_list"


@area.success(TOOL, clause="nm1/digest/audit-events")
def audit_events_are_fenced(call: ToolCall, body: Body) -> None:
    """Under a prefix audit_events are those of its capsules alone."""
    if "project_prefix" in call.arguments:
        body["audit_events"] = min(body["audit_events"], body["total"])


@area.success(TOOL, clause="nm1/digest/open-sessions")
def ten_sessions_are_many(call: ToolCall, body: Body) -> None:
    """open_sessions counts the ids that are shown."""
    body["open_sessions"] = len(body["open_session_ids"])


@area.success(TOOL, clause="nm1/digest/open-session-ids")
def the_newest_session_leads(call: ToolCall, body: Body) -> None:
    """open_session_ids has the newest session first."""
    body["open_session_ids"].reverse()


class _Sessions(Interceptor, ABC):
    """Remembers which sessions were begun, and which were finished."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.finished: list[str] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "memory_session_start":
            self.begun.append(body["session_id"])
        elif call.name == "memory_session_finish":
            self.finished.append(body["session_id"])
        elif call.name == TOOL:
            self.change(body)
        return with_body(result, body)

    @abstractmethod
    def change(self, body: Body) -> None:
        """Changes a digest in place."""


@area.liar(TOOL, clause="nm1/digest/open-session-ids")
class SessionsAreNotCapped(_Sessions):
    """open_session_ids names every open session."""

    def change(self, body: Body) -> None:
        body["open_session_ids"] = [named for named in self.begun if named not in self.finished]


@area.liar(TOOL, clause="nm1/digest/session-closed")
class FinishedSessionsAreCounted(_Sessions):
    """open_sessions counts finished sessions."""

    def change(self, body: Body) -> None:
        body["open_sessions"] += len(self.finished)


@area.liar(TOOL, clause="nm1/digest/session-closed")
class FinishedSessionsAreNamed(_Sessions):
    """open_session_ids still names the session that was finished last."""

    def change(self, body: Body) -> None:
        body["open_session_ids"] = [*self.finished[-1:], *body["open_session_ids"]]


@area.liar(TOOL, clause="nm1/digest/tiers")
class TheForgottenIsActive(History):
    """tiers counts the forgotten as active."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            body["tiers"]["active"] += len(self.forgotten)


@area.success(TOOL, clause="nm1/digest/tiers")
def the_quarantined_is_active(call: ToolCall, body: Body) -> None:
    """tiers counts the quarantined as active too."""
    body["tiers"]["active"] += body["tiers"]["quarantined"]


@area.liar(TOOL, clause="nm1/digest/journal-ok")
class ForgettingIsOutOfBand(History):
    """What a forget destroyed counts as written out of band."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            body["journal"]["out_of_band"] = len(self.forgotten)


@area.liar(TOOL, clause="nm1/digest/journal-ok")
class AMoveBreaksTheChain(History):
    """After tiers were applied the chain is broken."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and "memory_consolidate" in self.called:
            body["journal"]["chain"] = "broken"


@area.answer(TOOL, clause="nm1/digest/archive-candidates")
async def the_superseded_are_candidates(call: ToolCall, honest: Honest) -> Result:
    """archive_candidates counts what is superseded, expired or not."""
    return await _candidates(call, honest, "superseded")


@area.answer(TOOL, clause="nm1/digest/archive-candidates")
async def the_expired_are_candidates(call: ToolCall, honest: Honest) -> Result:
    """archive_candidates counts what has expired, superseded or not."""
    return await _candidates(call, honest, "expired")


@area.answer(TOOL, clause="nm1/digest/archive-candidates")
async def the_pinned_are_candidates(call: ToolCall, honest: Honest) -> Result:
    """archive_candidates counts the pinned too."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    rows = (await ask(honest, call, LIST))["entries"]
    pinned = [row for row in rows if {"pinned", "superseded", "expired"} <= row.keys() and "tier" not in row]
    return with_body(result, {**body, "archive_candidates": body["archive_candidates"] + len(pinned)})


async def _candidates(call: ToolCall, honest: Honest, mark: str) -> Result:
    """The digest with every active capsule of this mark as a candidate."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    rows = (await ask(honest, call, LIST))["entries"]
    body["archive_candidates"] = sum(row.get(mark, False) and "tier" not in row for row in rows)
    return with_body(result, body)


@area.answer(TOOL, clause="nm1/digest/archive-candidates-advisory")
async def candidates_are_moved(call: ToolCall, honest: Honest) -> Result:
    """What a digest has counted as a candidate is archived at once."""
    result = await honest(call)
    await ask(honest, call, "memory_consolidate", apply_tiers=True)
    return result


class _Misses(Interceptor, ABC):
    """Remembers the terms of each query that abstained."""

    def __init__(self) -> None:
        self.missed: list[list[str]] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == RETRIEVE and body["outcome"] == "abstain":
            self.missed.append(list(call.arguments["terms"]))
        if call.name == TOOL:
            self.change(body)
        return with_body(result, body)

    @abstractmethod
    def change(self, body: Body) -> None:
        """Changes a digest in place."""


@area.liar(TOOL, clause="nm1/digest/recall-misses")
class QueriesAreCounted(_Misses):
    """recall_misses counts queries, and not their terms."""

    def change(self, body: Body) -> None:
        body["recall_misses"] = len(self.missed)


@area.liar(TOOL, clause="nm1/digest/recent-failures")
class AllMissesAreRecent(_Misses):
    """recent_failures has every missed term."""

    def change(self, body: Body) -> None:
        if recent := body.get("recent_failures", {}).get("recall_misses"):
            shown = {row["term"] for row in recent}
            terms = [term.casefold() for terms in self.missed for term in terms if len(term) < 100]
            recent += [{**recent[-1], "term": term} for term in terms if term not in shown]


@area.liar(TOOL, clause="nm1/digest/recent-failures")
class MissesAreShownAsTyped(_Misses):
    """recent_failures has the missed terms as they were typed."""

    def change(self, body: Body) -> None:
        typed = {_plain(term): term for terms in self.missed for term in terms}
        for row in body.get("recent_failures", {}).get("recall_misses", ()):
            row["term"] = typed.get(row["term"], row["term"])


@area.liar(TOOL, clause="nm1/digest/recent-failures-cut")
class LongMissesAreWhole(_Misses):
    """A long missed term is shown whole."""

    def change(self, body: Body) -> None:
        for row in body.get("recent_failures", {}).get("recall_misses", ()):
            head = row["term"].rstrip("…")
            if head != row["term"]:
                row["term"] = next(term for terms in self.missed for term in terms if _plain(term).startswith(head))


def _plain(term: str) -> str:
    """A term without case and accents, as far as the cases go."""
    return term.casefold().replace("í", "i")


@area.liar(TOOL, RETRIEVE, clause="nm1/digest/lane-overrides")
class EveryNamedLaneIsAnOverride(Interceptor):
    """lane_overrides_total counts every call that names a lane other than auto."""

    def __init__(self) -> None:
        self._named = 0

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        self._named += call.name == RETRIEVE and call.arguments.get("lane", "auto") != "auto"
        if call.name != TOOL or not self._named:
            return result
        return with_body(result, {**body_of(result), "lane_overrides_total": self._named})


@area.success(TOOL, clause="nm1/digest/lane-overrides")
def no_override_is_counted(call: ToolCall, body: Body) -> None:
    """Without an override lane_overrides_total is 0."""
    body.setdefault("lane_overrides_total", 0)


@area.success(TOOL, clause="nm1/digest/lane-overrides")
def overrides_belong_to_no_project(call: ToolCall, body: Body) -> None:
    """A digest of a subtree has no lane_overrides_total."""
    if "project_prefix" in call.arguments:
        body.pop("lane_overrides_total", None)


@area.success(TOOL, clause="nm1/digest/sources-absent")
def no_source_is_a_section(call: ToolCall, body: Body) -> None:
    """Without a scanned repository there is an empty section of sources."""
    body.setdefault("sources", [])


@area.liar(TOOL, clause="nm1/digest/relations")
class WitnessesAreNoRelations(History):
    """relations leaves witnesses edges out."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            body["relations"] -= len(self.ends("witnesses"))


def _is_no_relation(kind: str) -> None:
    """Add the lie that edges of a kind are not counted."""

    class Lie(History):
        def change(self, call: ToolCall, body: Body) -> None:
            if call.name == TOOL:
                body["relations"] -= len(self.ends(kind))

    Lie.__name__, Lie.__doc__ = f"{kind}_is_no_relation", f"relations leaves {kind} edges out."
    area.liar(TOOL, clause="nm1/digest/relations")(Lie)


for _kind in ("derived_from", "falsifies", "proposes", "part_of", "grounded_in"):
    _is_no_relation(_kind)


@area.liar(TOOL, clause="nm1/digest/relations")
class EdgesOfTheForgottenDoNotCount(History):
    """relations leaves edges of the forgotten out."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            body["relations"] -= sum(bool({begin, end} & set(self.forgotten)) for _, begin, end in self.edges)


@area.liar(TOOL, clause="nm1/digest/audit-events")
class ForgettingIsNotAudited(History):
    """audit_events does not count what was forgotten."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            body["audit_events"] -= len(self.forgotten)


@area.item(TOOL, at="pinned", clause="nm1/digest/pinned")
def the_pinned_need_no_mark(call: ToolCall, row: Body) -> None:
    """Rows of pinned don't say that they are."""
    row.pop("pinned")


@area.liar(TOOL, clause="nm1/digest/pinned")
class PinsStayInTheirSection(Interceptor):
    """What is unpinned stays in the section of pins."""

    def __init__(self) -> None:
        self._rows: dict[str, Body] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or call.name != TOOL:
            return result
        body = body_of(result)
        self._rows |= {row["id"]: row for row in body.get("pinned", ())}
        if "pinned" in body:
            body["pinned"] = list(self._rows.values())
        return with_body(result, body)


@area.success(TOOL, clause="nm1/digest/empty")
def an_empty_store_has_no_graph(call: ToolCall, body: Body) -> None:
    """An empty store has no dag."""
    if not body["total"] and not call.arguments:
        body.pop("dag")
