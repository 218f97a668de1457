"""memory_session_start and memory_session_finish: brackets around the captures of a session (sheet B 12, 13)."""

from __future__ import annotations

import sqlite3
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.capture import engine
from nmemory_reference.capsules.capture.drafts import Draft
from nmemory_reference.capsules.capture.engine import Deduplicated, Rejected
from nmemory_reference.capsules.faults import state_fault, value_fault
from nmemory_reference.capsules.parameters import shape_of, text
from nmemory_reference.capsules.store import brackets, journal
from nmemory_reference.capsules.store.ids import capsule_id
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.vocabulary import HANDOFF_SOURCE

START_NAME: Final = "memory_session_start"
FINISH_NAME: Final = "memory_session_finish"


class StartArguments(NamedTuple):
    """Nothing."""


class FinishArguments(NamedTuple):
    """The close of a session, as it is sent."""

    session_id: str = text("The open session, sess-<n>.")
    summary: str | None = text("A word about the session, kept with it.", optional=True)
    handoff: str | None = text(
        "What the next session has to know: what became true, what is open, what to do next. Captured as a capsule.",
        optional=True,
    )


def start(call: Call, given: StartArguments) -> dict[str, Any]:
    """Open a bracket."""
    with call.store.writing() as db:
        session_id = brackets.start(db, call.now.text)
        journal.append(db, call, START_NAME, session_id)
        return {"session_id": session_id, "started_at": call.now.text}


def finish(call: Call, given: FinishArguments) -> dict[str, Any]:
    """Close a bracket, capturing the handoff first; both or neither.

    Raises -32602 for a handoff that can't be captured; -32002 for a session that is unknown or finished.
    """
    if given.handoff is not None and not given.handoff.strip():
        raise _refused("it is blank")
    with call.store.writing() as db:
        state = brackets.state(db, given.session_id)
        if state is None:
            raise state_fault("unknown_session", given.session_id)
        if state == "finished":
            raise state_fault("finished_session", given.session_id)
        body: dict[str, Any] = {"session_id": given.session_id, "finished_at": call.now.text}
        if given.summary is not None:
            body["summary"] = given.summary
        if given.handoff is not None:
            body |= _hand_over(db, call, given.session_id, given.handoff)
        brackets.finish(db, given.session_id, call.now.text, given.summary)
        journal.append(db, call, FINISH_NAME, given.session_id)
        return body


def _hand_over(db: sqlite3.Connection, call: Call, session_id: str, handoff: str) -> dict[str, Any]:
    """Capture the handoff; gives what the answer says about it."""
    draft = Draft(content=handoff, source=HANDOFF_SOURCE, anchor=session_id, session_id=session_id)
    captured = engine.capture(db, call, draft, action=FINISH_NAME)
    if isinstance(captured, Rejected):
        raise _refused(captured.detail)
    body: dict[str, Any] = {"handoff_capsule": capsule_id(captured.seq)}
    if isinstance(captured, Deduplicated):
        body["handoff_deduped"] = True
    return body


def _refused(why: str) -> Exception:
    return value_fault(
        f"handoff can't be captured: {why}. The session stays open and nothing was captured; send another text, or "
        "leave handoff out."
    )


START_TOOL: Final = MemoryTool(
    name=START_NAME,
    title="Open a session",
    description=(
        "Opens a session and answers its id, sess-<n>. Give that id to memory_ingest as session_id to link what is "
        "captured to it, and close it with memory_session_finish. Several may be open at once."
    ),
    shape=shape_of(StartArguments),
    handler=start,
    writes=True,
)
FINISH_TOOL: Final = MemoryTool(
    name=FINISH_NAME,
    title="Close a session",
    description=(
        "Closes an open session, once, with an optional summary and an optional handoff: what became true, what is "
        "open, what to do next. The handoff is captured as an ordinary capsule first (source memory_session_finish, "
        "anchor the session's id), and memory_digest then leads with the newest one of each project. The answer names "
        "it as handoff_capsule, with handoff_deduped true if that content was stored already. If the handoff is "
        "refused, the call is: nothing is captured and the session stays open. A closed session takes no more captures."
    ),
    shape=shape_of(FinishArguments),
    handler=finish,
    writes=True,
)
