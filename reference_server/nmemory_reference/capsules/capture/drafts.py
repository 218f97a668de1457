"""A draft: what someone wants captured, and the checks of its values that need no store."""

from __future__ import annotations

from typing import Final, NamedTuple

from nmemory_reference.capsules import instants
from nmemory_reference.capsules.instants import Instant
from nmemory_reference.capsules.store.sidecars import Epistemics, FactTime
from nmemory_reference.capsules.vocabulary import DEFAULT_CONFIDENCE
from nmemory_reference.tools.failure import shown

MAX_ANCHOR_LINES: Final = 20


class Declared(NamedTuple):
    """A fact time as it was sent: a point, or both ends of a range."""

    event_at: str | None = None
    event_from: str | None = None
    event_to: str | None = None


class Draft(NamedTuple):
    """One capture as it was asked for: of the right types, not yet of possible values."""

    content: str
    source: str
    anchor: str
    #: 0.6 if it is left out.
    confidence: float | None = None
    #: RFC 3339; the instant of the call if it is left out.
    valid_from: str | None = None
    #: RFC 3339; for ever if it is left out.
    valid_to: str | None = None
    #: The call's default project if it is left out.
    project_id: str | None = None
    authority_class: str = "agent-inferred"
    instruction_taint: bool = False
    #: The capsule that this one replaces.
    supersedes: str | None = None
    #: The open session that this is captured in.
    session_id: str | None = None
    kind: str | None = None
    epistemics: Epistemics | None = None
    fact_time: Declared | None = None


class Checked(NamedTuple):
    """The values of a draft that have a form of their own."""

    confidence: float
    valid_from: Instant
    valid_to: Instant | None
    fact_time: FactTime | None


class Unfit(Exception):
    """A draft that can't be captured; the message says why, in the words of a rejected row."""


def checked(draft: Draft, now: Instant) -> Checked:
    """Check what can be checked without the store. Raises Unfit for the first fault, in the contract's order."""
    confidence = DEFAULT_CONFIDENCE if draft.confidence is None else draft.confidence
    if not 0 <= confidence <= 1:
        raise Unfit(f"confidence is {confidence:g}; it goes from 0 to 1")
    valid_from = now if draft.valid_from is None else _instant("valid_from", draft.valid_from)
    valid_to = None if draft.valid_to is None else _instant("valid_to", draft.valid_to)
    fact_time = None if draft.fact_time is None else _fact_time(draft.fact_time)
    for name, text in (("source", draft.source), ("anchor", draft.anchor), ("content", draft.content)):
        if not text.strip():
            raise Unfit(f"{name} is blank; a capture needs a content, and source and anchor to say where it is from")
    if (lines := draft.anchor.removesuffix("\n").count("\n") + 1) > MAX_ANCHOR_LINES:
        raise Unfit(
            f"anchor has {lines} lines, at most {MAX_ANCHOR_LINES} are kept; point to the place, don't quote it"
        )
    return Checked(confidence + 0.0, valid_from, valid_to, fact_time)  # + 0.0 makes -0.0 the 0 that it is


def check_scope(draft: Draft, values: Checked) -> None:
    """Check what matters only for a capsule that is new: its project, and that it is valid at all. Raises Unfit."""
    if draft.project_id is not None and not draft.project_id.strip():
        raise Unfit("project_id is blank; name a project, or leave it out for the default one")
    if values.valid_to is not None and values.valid_to.us < values.valid_from.us:
        raise Unfit(
            f"valid_to {values.valid_to.text} is before valid_from {values.valid_from.text}; "
            "what held in the past needs a valid_from in the past, too"
        )


def _fact_time(sent: Declared) -> FactTime | None:
    if sent.event_at is not None:
        if sent.event_from is not None or sent.event_to is not None:
            raise Unfit("event_at and event_from/event_to were both sent; a fact time is either a point or a range")
        at = _instant("event_at", sent.event_at)
        return FactTime(at, at)
    if sent.event_from is None and sent.event_to is None:
        return None
    if sent.event_from is None or sent.event_to is None:
        raise Unfit("event_from and event_to belong together; send both, or event_at for a point in time")
    start, end = _instant("event_from", sent.event_from), _instant("event_to", sent.event_to)
    if end.us < start.us:
        raise Unfit(f"event_to {end.text} is before event_from {start.text}; swap them")
    return FactTime(start, end)


def _instant(name: str, text: str) -> Instant:
    try:
        return instants.parse(text)
    except ValueError:
        raise Unfit(
            f'{name} is {shown(text)!r}, which is no RFC3339 date-time; write it like "2031-05-01T08:00:00Z"'
        ) from None
