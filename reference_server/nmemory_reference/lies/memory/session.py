"""Lies about sessions: their ids, their end, and what is handed over."""

from __future__ import annotations

from abc import ABC, abstractmethod

from nmemory_reference.lies.answers import Body, Honest, Result, asking, body_of, is_error, with_body, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import success
from nmemory_reference.lies.memory.history import Unaudited
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("session")

START = "memory_session_start"
FINISH = "memory_session_finish"
DIGEST = "memory_digest"
GET = "memory_get"


@area.asking(START, clause="nm1/session/start-no-arguments")
def any_argument_is_passed_over(call: ToolCall) -> ToolCall:
    """Arguments of memory_session_start are dropped."""
    return without(call, *call.arguments)


@area.success(DIGEST, clause="nm1/session/start-open")
def open_sessions_are_not_named(call: ToolCall, body: Body) -> None:
    """The digest names one open session."""
    body["open_session_ids"] = body["open_session_ids"][:1]


@area.success(DIGEST, clause="nm1/session/finish-closed")
def closed_sessions_are_counted(call: ToolCall, body: Body) -> None:
    """The digest counts sessions that were opened ever."""
    body["open_sessions"] = 99


@area.refusal(FINISH, clause="nm1/session/finish-once")
def a_closed_session_is_unknown(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """A session that is closed is refused as unknown."""
    return Refusal(refusal.text, refusal.code, {**refusal.data, "kind": "unknown_session"}) if refusal.data else None


@area.answer(FINISH, clause="nm1/session/finish-once")
async def closing_twice_succeeds(call: ToolCall, honest: Honest) -> Result:
    """A session may be closed again."""
    try:
        return await honest(call)
    except RpcFault as fault:
        if fault.data and fault.data["kind"] == "finished_session":
            return success(session_id=call.arguments["session_id"], finished_at="2031-01-01T00:00:00Z")
        raise


@area.refusal(FINISH, clause="nm1/session/finish-unknown")
def an_unknown_session_is_a_bad_value(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """An unknown session is an invalid argument."""
    return Refusal(refusal.text, -32602) if refusal.data and refusal.data["kind"] == "unknown_session" else None


@area.answer(FINISH, clause="nm1/session/finish-fault-captures-nothing")
async def a_handoff_comes_first(call: ToolCall, honest: Honest) -> Result:
    """A handoff is kept before the session is looked up."""
    try:
        return await honest(call)
    except RpcFault as fault:
        if fault.data and call.arguments.get("handoff"):
            item = {"content": call.arguments["handoff"], "source": FINISH, "anchor": "session"}
            await honest(ToolCall("memory_ingest", item, call.caller))
        raise


@area.success(FINISH, clause="nm1/session/handoff-fresh-not-deduped")
def every_handoff_is_old(call: ToolCall, body: Body) -> None:
    """A fresh handoff says that it was there."""
    if "handoff_capsule" in body:
        body["handoff_deduped"] = True


@area.success(FINISH, clause="nm1/session/handoff-deduped")
def no_handoff_is_old(call: ToolCall, body: Body) -> None:
    """A handoff that collapses says nothing of it."""
    body.pop("handoff_deduped", None)


@area.asking(FINISH, clause="nm1/session/handoff-captured")
def handoffs_are_trimmed(call: ToolCall) -> ToolCall:
    """Blanks around a handoff are cut off."""
    handoff = call.arguments.get("handoff")
    return asking(call, handoff=handoff.strip()) if isinstance(handoff, str) and handoff.strip() else call


@area.asking(FINISH, clause="nm1/session/handoff-empty")
def an_empty_handoff_is_none(call: ToolCall) -> ToolCall:
    """An empty handoff closes like none."""
    handoff = call.arguments.get("handoff")
    return without(call, "handoff") if isinstance(handoff, str) and not handoff.strip() else call


@area.answer(FINISH, clause="nm1/session/handoff-empty-stays-open")
async def an_empty_handoff_closes(call: ToolCall, honest: Honest) -> Result:
    """An empty handoff is refused, and the session is closed."""
    try:
        return await honest(call)
    except RpcFault:
        if not str(call.arguments.get("handoff", "x")).strip():
            await honest(without(call, "handoff"))
        raise


@area.answer(FINISH, clause="nm1/session/handoff-forgotten")
async def a_forgotten_handoff_closes(call: ToolCall, honest: Honest) -> Result:
    """A handoff that was forgotten is left out, and the session closed."""
    try:
        return await honest(call)
    except RpcFault as fault:
        if not fault.data and str(call.arguments.get("handoff", "")).strip():
            return await honest(without(call, "handoff"))
        raise


@area.success(GET, clause="nm1/session/handoff-provenance")
def handoffs_come_from_the_agent(call: ToolCall, body: Body) -> None:
    """A handoff's source is the agent."""
    if "capsule" in body and body["capsule"]["provenance"]["source"] == FINISH:
        body["capsule"]["provenance"]["source"] = "agent"


@area.success(GET, clause="nm1/session/handoff-tainted")
def handoffs_are_trusted(call: ToolCall, body: Body) -> None:
    """A handoff is never tainted."""
    if "capsule" in body and body["capsule"]["provenance"]["source"] == FINISH:
        body["capsule"]["instruction_taint"] = False


@area.success(GET, clause="nm1/session/handoff-project")
def handoffs_have_a_project_of_their_own(call: ToolCall, body: Body) -> None:
    """A handoff lands in the project handoffs."""
    if "capsule" in body and body["capsule"]["provenance"]["source"] == FINISH:
        body["capsule"]["scope"]["project_id"] = "handoffs"


@area.answer(DIGEST, clause="nm1/session/handoff-leads")
async def the_newest_capsule_leads(call: ToolCall, honest: Honest) -> Result:
    """Before the handoff stands the newest capsule that is none."""
    result = await honest(call)
    if is_error(result) or "handoff" not in (body := body_of(result)):
        return result
    leads = {row["id"] for row in body["handoff"]}
    rows = [*[row for row in body["newest"] if row["id"] not in leads][:1], *body["handoff"]]
    return with_body(result, {**body, "handoff": rows, "handoff_total": len(rows)})


@area.success(DIGEST, clause="nm1/session/handoff-leads")
def the_oldest_handoff_leads(call: ToolCall, body: Body) -> None:
    """The digest has no section of handoffs."""
    body.pop("handoff", None)


@area.success(DIGEST, clause="nm1/session/start-audited")
def digests_count_no_events(call: ToolCall, body: Body) -> None:
    """The digest counts no event."""
    body["audit_events"] = 0


@area.answer("memory_ingest", clause="nm1/session/closed-takes-nothing")
async def closed_sessions_take_captures(call: ToolCall, honest: Honest) -> Result:
    """A capture into a session that is not open is kept without it."""
    result = await honest(call)
    late = (
        not is_error(result)
        and body_of(result).get("rejected")
        and str(call.arguments.get("session_id", "")).startswith("sess-")
    )
    return await honest(without(call, "session_id")) if late else result


@area.answer("memory_ingest", clause="nm1/session/closed-takes-nothing")
async def batches_come_too_late(call: ToolCall, honest: Honest) -> Result:
    """An item of a batch is kept though its session is closed."""
    result = await honest(call)
    items = call.arguments.get("items")
    if is_error(result) or not items or not body_of(result).get("rejected"):
        return result
    kept = [
        {name: value for name, value in item.items() if name != "session_id"}
        if row["status"] == "rejected" and isinstance(item, dict) and str(item.get("session_id")).startswith("sess-")
        else item
        for row, item in zip(body_of(result)["outcomes"], items, strict=True)
    ]
    return await honest(asking(call, items=kept))


@area.asking(FINISH, clause="nm1/session/unknown-argument")
def unknown_arguments_are_passed_over(call: ToolCall) -> ToolCall:
    """An argument that the tool does not have is dropped."""
    return without(call, *(call.arguments.keys() - {"session_id", "summary", "handoff"}))


@area.success(START, clause="nm1/session/start-id")
def a_session_has_a_number(call: ToolCall, body: Body) -> None:
    """The id of a new session stands under id."""
    body["id"] = body.pop("session_id")


class _OnOpening(Interceptor, ABC):
    """Knows the ids of the sessions that were opened and closed."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.closed: list[str] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == START and (known := self.again()):
            return success(session_id=known, started_at="2031-01-01T00:00:00Z")
        result = await honest(call)
        if call.name == START and not is_error(result):
            self.opened.append(body_of(result)["session_id"])
        if call.name == FINISH and not is_error(result):
            self.closed.append(str(call.arguments["session_id"]))
        return result

    @abstractmethod
    def again(self) -> str | None:
        """The id that a new session is given, if it is an old one."""


@area.liar(START, FINISH, clause="nm1/session/start-new-id", also={"nm1/session/start-open"})
class AnOpenSessionIsJoined(_OnOpening):
    """Where a session is open no other is opened."""

    def again(self) -> str | None:
        still = [named for named in self.opened if named not in self.closed]
        return still[0] if still else None


@area.liar(START, FINISH, clause="nm1/session/start-new-id")
class AnIdIsUsedAgain(_OnOpening):
    """A new session has the id of one that is closed."""

    def again(self) -> str | None:
        return self.closed[-1] if self.closed else None


@area.asking("memory_ingest", clause="nm1/session/start-captures", also={"nm1/retrieve/session-fence"})
def captures_lose_their_session(call: ToolCall) -> ToolCall:
    """A capture is not linked to its session."""
    return without(call, "session_id")


@area.answer(FINISH, clause="nm1/session/finish")
async def a_handoff_is_demanded(call: ToolCall, honest: Honest) -> Result:
    """A session is not closed without a handoff or a summary."""
    if not {"handoff", "summary"} & call.arguments.keys():
        raise RpcFault(-32602, "handoff is missing")
    return await honest(call)


@area.answer(FINISH, clause="nm1/session/summary")
async def summaries_are_unknown(call: ToolCall, honest: Honest) -> Result:
    """A summary is refused."""
    if "summary" in call.arguments and "handoff" not in call.arguments:
        raise RpcFault(-32602, "summary without handoff")
    return await honest(call)


@area.answer(FINISH, clause="nm1/session/summary")
async def a_summary_leaves_open(call: ToolCall, honest: Honest) -> Result:
    """A summary is noted, and the session stays open."""
    if "summary" in call.arguments and "handoff" not in call.arguments:
        return success(session_id=call.arguments["session_id"], finished_at="2031-01-01T00:00:00Z")
    return await honest(call)


@area.success("memory_retrieve", clause="nm1/session/handoff-linked")
def handoffs_are_of_no_session(call: ToolCall, body: Body) -> None:
    """A handoff is not found by its session."""
    if "session_id" in call.arguments and "results" in body:
        body["results"] = [row for row in body["results"] if row["provenance"]["source"] != FINISH]
        body["returned"] = len(body["results"])


@area.success(GET, clause="nm1/session/handoff-normal")
def handoffs_are_certain(call: ToolCall, body: Body) -> None:
    """A handoff has confidence 1."""
    if "capsule" in body and body["capsule"]["provenance"]["source"] == FINISH:
        body["capsule"]["confidence"] = 1.0


@area.success(GET, clause="nm1/session/handoff-normal")
def handoffs_are_authority(call: ToolCall, body: Body) -> None:
    """A handoff has the authority of a user."""
    if "capsule" in body and body["capsule"]["provenance"]["source"] == FINISH:
        body["capsule"]["authority_class"] = "user-stated"


@area.success("memory_retrieve", clause="nm1/session/handoff-normal")
def handoffs_are_for_their_session(call: ToolCall, body: Body) -> Body | None:
    """A handoff is found by the label of its session alone."""
    if "session_id" in call.arguments or not body.get("results"):
        return None
    body["results"] = [row for row in body["results"] if row["provenance"]["source"] != FINISH]
    return body if body["results"] else {"outcome": "abstain", "reason": "Nothing matches."}


@area.liar(FINISH, clause="nm1/session/handoff-deduped-closes")
class AnOldHandoffLeavesOpen(Interceptor):
    """A session whose handoff was there already may be closed again."""

    def __init__(self) -> None:
        self._old: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        named = str(call.arguments.get("session_id"))
        if call.name == FINISH and named in self._old:
            self._old.remove(named)
            return success(session_id=named, finished_at="2031-01-01T00:00:00Z")
        result = await honest(call)
        if call.name == FINISH and not is_error(result) and body_of(result).get("handoff_deduped"):
            self._old.add(named)
        return result


@area.asking(FINISH, clause="nm1/session/without-handoff")
def every_session_hands_over(call: ToolCall) -> ToolCall:
    """A session without a handoff gets one."""
    named = call.arguments.get("session_id")
    return call if "handoff" in call.arguments else asking(call, handoff=f"{named} was closed.")


@area.liar(FINISH, clause="nm1/session/without-handoff")
class TheLastHandoffIsNamed(Interceptor):
    """Without a handoff the answer names the capsule of the last one."""

    def __init__(self) -> None:
        self._last: str | None = None

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != FINISH or is_error(result):
            return result
        body = body_of(result)
        self._last = body.get("handoff_capsule", self._last)
        return with_body(result, {**body, "handoff_capsule": self._last} if self._last else body)


@area.liar("memory_retrieve", FINISH, clause="nm1/session/handoff-forgotten")
class AForgottenHandoffIsKept(Interceptor):
    """A handoff that was forgotten is refused, and kept all the same."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        try:
            return await honest(call)
        except RpcFault as fault:
            handoff = call.arguments.get("handoff")
            if call.name == FINISH and not fault.data and isinstance(handoff, str) and handoff.strip():
                item = {"content": f"{handoff} ", "source": FINISH, "anchor": "session"}
                await honest(ToolCall("memory_ingest", item, call.caller))
            raise


@area.liar(FINISH, DIGEST, clause="nm1/session/finish-audited")
class ClosingIsNoEvent(Unaudited):
    """Closing a session is no event of the journal."""

    tool = FINISH

    def recorded(self, call: ToolCall, body: Body) -> bool:
        return True


@area.success(DIGEST, clause="nm1/session/start-captures-nothing")
def sessions_are_counted_as_capsules(call: ToolCall, body: Body) -> None:
    """The digest's total counts open sessions."""
    body["total"] += body["open_sessions"]
    body["by_project"] = [*body["by_project"], {"project_id": "sessions", "count": body["open_sessions"], "live": 0}]
