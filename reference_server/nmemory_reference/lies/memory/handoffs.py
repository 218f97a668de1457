"""Lies about the handoffs that lead a digest."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable

from nmemory_reference.lies.answers import Body, Honest, Result, ask, asking, body_of, is_error, with_body
from nmemory_reference.lies.lie import Area
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("handoffs")

TOOL = "memory_digest"
#: A row of a thread, by its name.
THREAD = re.compile(r"ACTIVE\(([^)]+)\)")
#: What a row of the list says and a handoff does not.
Chosen = Callable[[Body, list[Body]], bool]


def thread(row: Body) -> str | None:
    """The thread of a row that opens with one."""
    found = THREAD.match(row["headline"])
    return found and found[1]


def lead(body: Body, rows: list[Body]) -> None:
    """Make these rows the handoffs."""
    if rows:
        body["handoff"], body["handoff_total"] = rows, len(rows)
    else:
        body.pop("handoff", None)
        body.pop("handoff_total", None)


class _Brackets(Interceptor, ABC):
    """Remembers the handoffs of sessions."""

    def __init__(self) -> None:
        self.captured: list[str] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "memory_session_finish" and (named := body.get("handoff_capsule")):
            self.captured.append(named)
        if call.name == TOOL:
            rows = (await ask(honest, call, "memory_list"))["entries"]
            lead(body, self.handoffs(body.get("handoff", []), rows))
        return with_body(result, body)

    @abstractmethod
    def handoffs(self, shown: list[Body], rows: list[Body]) -> list[Body]:
        """What to show instead."""


@area.liar(TOOL, clause="nm1/digest/handoff-bracket")
class EveryBracketLeads(_Brackets):
    """Every handoff of a session leads, not the newest alone."""

    def handoffs(self, shown: list[Body], rows: list[Body]) -> list[Body]:
        ids = [row["id"] for row in shown]
        return [*shown, *(row for row in reversed(rows) if row["id"] in self.captured and row["id"] not in ids)]


@area.liar(TOOL, clause="nm1/digest/handoff-bracket")
class SessionsHandNothingOver(_Brackets):
    """The handoff of a session is no handoff of a digest."""

    def handoffs(self, shown: list[Body], rows: list[Body]) -> list[Body]:
        return [row for row in shown if row["id"] not in self.captured]


@area.success(TOOL, clause="nm1/digest/handoff-bracket-superseded")
def a_superseded_bracket_goes(call: ToolCall, body: Body) -> None:
    """A superseded handoff of a session leads no more."""
    lead(body, [row for row in body.get("handoff", ()) if not row.get("superseded")])


@area.item(TOOL, at="handoff", clause="nm1/digest/handoff-bracket-superseded")
def a_superseded_bracket_is_silent(call: ToolCall, row: Body) -> None:
    """A superseded handoff of a session does not say so."""
    row.pop("superseded", None)


def _first_of_each(rows: list[Body], key: Callable[[Body], object]) -> list[Body]:
    """The first row of each key."""
    seen: dict[object, Body] = {}
    for row in rows:
        seen.setdefault(key(row), row)
    return list(seen.values())


@area.success(TOOL, clause="nm1/digest/handoff-thread")
def a_project_has_one_thread(call: ToolCall, body: Body) -> None:
    """The newest thread of a project leads, and no other of it."""
    lead(body, _first_of_each(body.get("handoff", []), lambda row: row["project_id"]))


@area.success(TOOL, clause="nm1/digest/handoff-thread")
def threads_have_no_project(call: ToolCall, body: Body) -> None:
    """Threads of one name are one thread, whatever their project."""
    lead(body, _first_of_each(body.get("handoff", []), lambda row: thread(row) or row["id"]))


async def _with(call: ToolCall, honest: Honest, chosen: Chosen) -> Result:
    """The digest with further rows of the list among its handoffs."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    fence = {name: call.arguments[name] for name in ("project_prefix",) if name in call.arguments}
    listed = (await ask(honest, call, "memory_list", **fence))["entries"]
    ids = [row["id"] for row in body.get("handoff", ())]
    more = [row for row in reversed(listed) if row["id"] not in ids and chosen(row, listed)]
    lead(body, [*body.get("handoff", ()), *more])
    return with_body(result, body)


@area.answer(TOOL, clause="nm1/digest/handoff-thread")
async def every_row_of_a_thread_leads(call: ToolCall, honest: Honest) -> Result:
    """Older live rows of a thread lead too."""
    return await _with(call, honest, lambda row, _: thread(row) is not None and not row.get("superseded"))


@area.answer(TOOL, clause="nm1/digest/handoff-thread-marker")
async def small_letters_open_a_thread(call: ToolCall, honest: Honest) -> Result:
    """A thread may open in small letters."""
    return await _with(call, honest, lambda row, _: row["headline"].startswith("active("))


@area.answer(TOOL, clause="nm1/digest/handoff-thread-marker")
async def a_thread_needs_no_end(call: ToolCall, honest: Honest) -> Result:
    """A thread may lack its closing parenthesis."""
    return await _with(call, honest, lambda row, _: row["headline"].startswith("ACTIVE(") and thread(row) is None)


@area.answer(TOOL, clause="nm1/digest/handoff-thread-marker")
async def a_thread_opens_anywhere(call: ToolCall, honest: Honest) -> Result:
    """A thread may be named later in the text."""
    return await _with(call, honest, lambda row, _: thread(row) is None and bool(THREAD.search(row["headline"])))


@area.answer(TOOL, clause="nm1/digest/handoff-thread-retired")
async def retired_threads_lead(call: ToolCall, honest: Honest) -> Result:
    """The newest row of a thread leads though it is superseded."""

    def newest(row: Body, listed: list[Body]) -> bool:
        name = thread(row)
        return name is not None and [other for other in listed if thread(other) == name][-1]["id"] == row["id"]

    return await _with(call, honest, newest)


@area.answer(TOOL, clause="nm1/digest/handoff-thread-resurfaces")
async def a_retired_thread_is_over(call: ToolCall, honest: Honest) -> Result:
    """A thread whose newest row is superseded has no row that leads."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    listed = (await ask(honest, call, "memory_list"))["entries"]
    newest = {thread(row): row for row in listed}
    over = {name for name, row in newest.items() if name and row.get("superseded")}
    lead(body, [row for row in body.get("handoff", ()) if thread(row) not in over])
    return with_body(result, body)


@area.success(TOOL, clause="nm1/digest/handoff-order")
def the_oldest_handoff_leads(call: ToolCall, body: Body) -> None:
    """Handoffs stand oldest first."""
    if "handoff" in body:
        body["handoff"].reverse()


@area.answer(TOOL, clause="nm1/digest/handoff-order")
async def handoffs_are_not_capped(call: ToolCall, honest: Honest) -> Result:
    """headlines cuts no handoff."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    if "handoff" in body:
        body["handoff"] = body_of(await honest(asking(call, headlines=1000)))["handoff"]
    return with_body(result, body)


@area.liar(TOOL, clause="nm1/digest/handoff-order")
class SessionsLead(_Brackets):
    """Handoffs of sessions stand before those of threads."""

    def handoffs(self, shown: list[Body], rows: list[Body]) -> list[Body]:
        return sorted(shown, key=lambda row: row["id"] not in self.captured)


@area.liar(TOOL, clause="nm1/digest/handoff-order")
class ThreadsLead(_Brackets):
    """Handoffs of threads stand before those of sessions."""

    def handoffs(self, shown: list[Body], rows: list[Body]) -> list[Body]:
        return sorted(shown, key=lambda row: row["id"] in self.captured)


@area.success(TOOL, clause="nm1/digest/handoff-absent")
def no_handoff_is_a_section(call: ToolCall, body: Body) -> None:
    """Without a handoff the section is empty."""
    body.setdefault("handoff", [])
