"""Capturing one draft: checked, found again or stored, with everything that belongs beside it.

All of a capture is checked before anything is written, so that a rejected one leaves nothing behind in a
transaction that goes on to the next.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple

from nmemory_reference.capsules import anchors, taint
from nmemory_reference.capsules.capture import neighbours
from nmemory_reference.capsules.capture.drafts import Checked, Draft, Unfit, check_scope, checked
from nmemory_reference.capsules.capture.neighbours import Near
from nmemory_reference.capsules.store import brackets, capsules, journal, relations, sidecars
from nmemory_reference.capsules.store.capsules import NewCapsule
from nmemory_reference.capsules.store.ids import capsule_id, seq_of
from nmemory_reference.tools.failure import shown

if TYPE_CHECKING:
    from nmemory_reference.capsules.call import Call

#: The scope of a label that comes with a capture.
SCOPE = "project"
IMPORTED = "externally-imported"


class Captured(NamedTuple):
    """A new capsule. `superseded` is the capsule that it was asked to replace."""

    seq: int
    hint: Near | None
    siblings: tuple[Near, ...]
    superseded: str | None
    findings: tuple[str, ...]

    def row(self) -> dict[str, Any]:
        """The row of memory_ingest."""
        row: dict[str, Any] = {"status": "captured", "id": capsule_id(self.seq)}
        row["dedup_hint"] = None if self.hint is None else {"similar_id": self.hint.id, "score": self.hint.score}
        if self.siblings:
            row["siblings"] = [{"id": near.id, "score": near.score} for near in self.siblings]
        return _with_marks(row, self.superseded, self.findings)


class Deduplicated(NamedTuple):
    """The same bytes are stored. `reclassified`: the kind that the label had, and has now, if they differ."""

    seq: int
    superseded: str | None
    findings: tuple[str, ...]
    reclassified: tuple[str, str] | None

    def row(self) -> dict[str, Any]:
        """The row of memory_ingest."""
        row: dict[str, Any] = {"status": "deduplicated", "id": capsule_id(self.seq), "dedup_hint": None}
        _with_marks(row, self.superseded, self.findings)
        if self.reclassified is not None:
            row["reclassified"] = {"was": self.reclassified[0], "now": self.reclassified[1]}
        return row


class Rejected(NamedTuple):
    """Nothing was stored; `detail` says why, without the words that a row begins with."""

    detail: str

    def row(self, locator: str = "") -> dict[str, Any]:
        """The row of memory_ingest; `locator` says which item, and perhaps which field of it."""
        return {"status": "rejected", "error": f"{locator}{': ' if locator else ''}ingest rejected: {self.detail}"}


Outcome = Captured | Deduplicated | Rejected


def capture(db: sqlite3.Connection, call: Call, draft: Draft, *, action: str) -> Outcome:
    """Capture a draft in the transaction of `db`; `action` is the tool that the journal names.

    The same content is never stored twice, whatever else differs, and never again once it was forgotten.
    """
    try:
        values = checked(draft, call.now)
        target = _target(db, draft)
        _check_session(db, draft)
        known = capsules.seq_of_hash(db, capsules.source_hash(draft.content))
        if known is not None and capsules.is_forgotten(db, known):
            raise Unfit(
                f"this very content was forgotten as {capsule_id(known)}, and stays so; capture it in other words"
            )
        if known is None:
            check_scope(draft, values)
    except Unfit as fault:
        return Rejected(str(fault))
    findings = tuple(taint.scan(draft.content))
    if known is None:
        return _store(db, call, draft, values, target, findings, action)
    journal.append(db, call, action, capsule_id(known))
    return Deduplicated(
        seq=known,
        superseded=_replace(db, call, known, target),
        findings=findings,
        reclassified=_describe(db, call, known, draft),
    )


def _store(
    db: sqlite3.Connection,
    call: Call,
    draft: Draft,
    values: Checked,
    target: int | None,
    findings: tuple[str, ...],
    action: str,
) -> Captured:
    project_id = call.default_project if draft.project_id is None else draft.project_id
    found = neighbours.near(db, draft.content, project_id, without=target, known=call.store.frequencies)
    seq = capsules.insert(
        db,
        NewCapsule(
            content=draft.content,
            source=draft.source,
            anchor=draft.anchor,
            confidence=values.confidence,
            valid_from=values.valid_from,
            valid_to=values.valid_to,
            project_id=project_id,
            authority_class=draft.authority_class,
            instruction_taint=draft.instruction_taint or draft.authority_class == IMPORTED or bool(findings),
            session_id=draft.session_id,
            created=call.now,
        ),
    )
    journal.append(db, call, action, capsule_id(seq))
    if values.fact_time is not None:
        sidecars.declare(db, call, seq, values.fact_time)
    if (anchored := anchors.content_hash(call.settings.anchor_root, draft.anchor)) is not None:
        sidecars.keep_anchored_hash(db, seq, anchored)
    superseded = _replace(db, call, seq, target)
    _describe(db, call, seq, draft)
    return Captured(seq, found.hint, found.siblings, superseded, findings)


def _target(db: sqlite3.Connection, draft: Draft) -> int | None:
    """The capsule that the draft replaces. Raises Unfit for one that can't be replaced."""
    if draft.supersedes is None:
        return None
    seq = seq_of(draft.supersedes)
    if seq is None or not capsules.stored(db, draft.supersedes):
        raise Unfit(f"supersedes names {shown(draft.supersedes)!r}, which is no stored capsule")
    if capsules.is_forgotten(db, seq):
        raise Unfit(f"supersedes names {draft.supersedes}, which is forgotten; leave supersedes out")
    return seq


def _check_session(db: sqlite3.Connection, draft: Draft) -> None:
    if draft.session_id is None or (state := brackets.state(db, draft.session_id)) == "open":
        return
    wrong = "was never opened here" if state is None else "is finished, and takes no more captures"
    raise Unfit(f"session_id names {shown(draft.session_id)!r}, which {wrong}; open one with memory_session_start")


def _replace(db: sqlite3.Connection, call: Call, seq: int, target: int | None) -> str | None:
    """Let the capsule supersede the target; gives the target's id, unless they are the same capsule."""
    if target is None or target == seq:
        return None
    relations.record(db, "supersedes", capsule_id(seq), capsule_id(target), call.now.text)
    return capsule_id(target)


def _describe(db: sqlite3.Connection, call: Call, seq: int, draft: Draft) -> tuple[str, str] | None:
    """Persist the label and the annotation that came with a draft; gives the kind before and now if it changed."""
    was = None if draft.kind is None else sidecars.classify(db, call, seq, draft.kind, SCOPE)
    if draft.epistemics is not None and draft.epistemics.given():
        sidecars.annotate(db, call, seq, draft.epistemics)
    if was is None or draft.kind is None or was == draft.kind:
        return None
    return was, draft.kind


def _with_marks(row: dict[str, Any], superseded: str | None, findings: tuple[str, ...]) -> dict[str, Any]:
    if superseded is not None:
        row["superseded"] = superseded
    if findings:
        row["taint_findings"] = list(findings)
    return row
