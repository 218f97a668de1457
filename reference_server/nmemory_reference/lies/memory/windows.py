"""Lies about the time windows of a recall."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

from nmemory_reference.lies.answers import Body, Honest, Result, asking, body_of, is_error, with_body, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import VALUE
from nmemory_reference.lies.memory.recalled import (
    RETRIEVE,
    also,
    capsule,
    found,
    is_fused,
    is_vector,
    recount,
    show,
    show_or_leave,
    touched,
)
from nmemory_reference.serve.interceptor import RpcFault, ToolCall

area = Area("windows")

Bounds = dict[str, str]
#: When something happened, and the window.
Span = tuple[datetime, datetime]


def _bounds(call: ToolCall) -> Bounds:
    """The bounds that are texts."""
    window = call.arguments.get("time_window")
    return {name: bound for name, bound in window.items() if isinstance(bound, str)} if isinstance(window, dict) else {}


def _instant(text: str) -> datetime | None:
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    return None


async def _happened(call: ToolCall, honest: Honest, named: str) -> Span | None:
    """The declared time of a capsule."""
    declared = (await capsule(call, honest, named)).get("event_time")
    if declared is None:
        return None
    begins, ends = datetime.fromisoformat(declared["event_from"]), datetime.fromisoformat(declared["event_to"])
    return begins, ends


def _keeps(name: str, says: str, clause: str, keeps: Callable[[Span, Bounds], bool]) -> None:
    """A window that leaves out some of what touches it."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        bounds = _bounds(call)
        if is_error(result) or not bounds or body_of(result)["outcome"] != "grounded":
            return result
        body = body_of(result)
        kept = []
        for row in found(body):
            span = await _happened(call, honest, row["id"])
            if span is None or keeps(span, bounds):
                kept.append(row)
        excluded = body.setdefault("excluded", {})
        excluded["outside_time_window"] = excluded.get("outside_time_window", 0) + len(found(body)) - len(kept)
        if len(kept) < len(found(body)):
            show(body, kept)
        return with_body(result, body)

    lie.__name__, lie.__doc__ = name, says
    area.answer(RETRIEVE, clause=clause)(lie)


def _before(bounds: Bounds, name: str, moment: datetime) -> bool:
    bound = _instant(bounds[name]) if name in bounds else None
    return bound is None or bound <= moment


def _after(bounds: Bounds, name: str, moment: datetime) -> bool:
    bound = _instant(bounds[name]) if name in bounds else None
    return bound is None or moment <= bound


_keeps(
    "what_begins_before_is_outside",
    "What began before the window is outside of it.",
    "nm1/retrieve/window-intersects",
    lambda span, bounds: _before(bounds, "from", span[0]),
)
_keeps(
    "what_ends_after_is_outside",
    "What ended after the window is outside of it.",
    "nm1/retrieve/window-intersects",
    lambda span, bounds: _after(bounds, "to", span[1]),
)
_keeps(
    "what_encloses_is_outside",
    "What began before the window and ended after it is outside.",
    "nm1/retrieve/window-intersects",
    lambda span, bounds: len(bounds) < 2 or _before(bounds, "from", span[0]) or _after(bounds, "to", span[1]),
)
_keeps(
    "an_open_end_is_the_beginning",
    "A window without an end has what begins after its beginning.",
    "nm1/retrieve/window-one-bound",
    lambda span, bounds: "from" in bounds or span[1] - span[0] < timedelta(days=1),
)
_keeps(
    "an_open_end_is_a_month",
    "A window without an end ends after a month.",
    "nm1/retrieve/window-one-bound",
    lambda span, bounds: "to" in bounds or span[0] < datetime.fromisoformat(bounds["from"]) + timedelta(days=31),
)
_keeps(
    "the_beginning_of_a_window_is_not_in_it",
    "What only touches the beginning of a window is outside.",
    "nm1/retrieve/window-inclusive",
    lambda span, bounds: bounds.get("from") == bounds.get("to") or _instant(bounds.get("from", "")) != span[1],
)
_keeps(
    "a_window_of_an_instant_is_empty",
    "A window that begins when it ends has nothing in it.",
    "nm1/retrieve/window-inclusive",
    lambda span, bounds: bounds.get("from") != bounds.get("to"),
)


@area.answer(RETRIEVE, clause="nm1/retrieve/window-one-bound")
async def windows_have_two_bounds(call: ToolCall, honest: Honest) -> Result:
    """A window with an end only is refused."""
    if _bounds(call).keys() == {"to"}:
        raise RpcFault(VALUE, "time_window needs from")
    return await honest(call)


@area.answer(RETRIEVE, clause="nm1/retrieve/window-one-bound")
async def a_beginning_needs_an_end(call: ToolCall, honest: Honest) -> Result:
    """A window with a beginning only is refused."""
    if _bounds(call).keys() == {"from"} and _bounds(call)["from"].startswith("2024"):
        raise RpcFault(VALUE, "time_window needs to")
    return await honest(call)


@area.asking("memory_ingest", clause="nm1/retrieve/window-offsets")
def offsets_of_events_are_dropped(call: ToolCall) -> ToolCall:
    """The offset of a declared time is passed over."""
    sent = call.arguments.get("items")
    if not isinstance(sent, list) or not all(isinstance(item, dict) for item in sent):
        return call
    return asking(call, items=[_utc(item) for item in sent])


def _utc(item: Body) -> Body:
    return {
        name: re.sub(r"[+-]\d\d:\d\d$", "Z", value) if name.startswith("event_") and isinstance(value, str) else value
        for name, value in item.items()
    }


_keeps(
    "fractions_come_before_their_second",
    "A moment with a fraction of a second comes before the second without one, as its text does.",
    "nm1/retrieve/window-offsets",
    lambda span, bounds: not span[0].microsecond or _instant(bounds["from"]) != span[0].replace(microsecond=0),
)


@area.success(RETRIEVE, clause="nm1/retrieve/window-outside")
def the_outside_is_not_counted(call: ToolCall, body: Body) -> None:
    """What is outside of the window has never matched."""
    recount(body, "outside_time_window", None)
    if body["outcome"] == "grounded" and not body.get("excluded"):
        body.pop("excluded", None)


@area.success(RETRIEVE, clause="nm1/retrieve/window-outside")
def a_window_excludes_in_silence(call: ToolCall, body: Body) -> None:
    """A grounded answer does not count what is outside of the window."""
    if body["outcome"] == "grounded":
        recount(body, "outside_time_window", None)


@area.answer(RETRIEVE, clause="nm1/retrieve/window-undated")
async def the_undated_is_always_inside(call: ToolCall, honest: Honest) -> Result:
    """What has no declared time is in every window."""
    result = await honest(call)
    if is_error(result) or "undated" not in body_of(result).get("excluded", {}):
        return result
    inside = {row["id"] for row in found(body_of(result))}
    whole = await honest(without(call, "time_window"))
    body = body_of(whole)
    rows = [row for row in found(body) if row["id"] in inside or await _happened(call, honest, row["id"]) is None]
    show_or_leave(body, rows)
    return with_body(whole, body)


@area.success(RETRIEVE, clause="nm1/retrieve/window-undated")
def the_undated_is_not_counted(call: ToolCall, body: Body) -> None:
    """A window leaves out what has no declared time and does not say so."""
    recount(body, "undated", None)


@area.answer(RETRIEVE, clause="nm1/retrieve/no-window-no-undated")
async def the_undated_is_counted_anyway(call: ToolCall, honest: Honest) -> Result:
    """Without a window too what has no declared time is counted as undated."""
    result = await honest(call)
    if is_error(result) or "time_window" in call.arguments or body_of(result)["outcome"] != "grounded":
        return result
    body = body_of(result)
    undated = [row for row in found(body) if await _happened(call, honest, row["id"]) is None]
    if undated and len(undated) < len(found(body)):
        body["excluded"] = {**body.get("excluded", {}), "undated": len(undated)}
    return with_body(result, body)


@area.success(RETRIEVE, clause="nm1/retrieve/no-window-no-undated")
def lane_vector_has_a_window(call: ToolCall, body: Body) -> None:
    """Lane vector counts its rows as undated where no window is sent."""
    if is_vector(call) and not _bounds(call) and found(body):
        body["excluded"] = {**body.get("excluded", {}), "undated": len(found(body))}


@area.answer(RETRIEVE, clause="nm1/retrieve/no-window-no-undated")
async def the_undated_is_left_out_anyway(call: ToolCall, honest: Honest) -> Result:
    """Beside what has a declared time the undated is not shown."""
    result = await honest(call)
    if is_error(result) or "time_window" in call.arguments or body_of(result)["outcome"] != "grounded":
        return result
    body = body_of(result)
    dated = [row for row in found(body) if await _happened(call, honest, row["id"]) is not None]
    show_or_leave(body, dated or found(body))
    return with_body(result, body)


@area.asking(RETRIEVE, clause="nm1/retrieve/window-bounds-demanded")
def a_window_of_other_names_is_none(call: ToolCall) -> ToolCall:
    """A window that has neither from nor to, but something else, is passed over."""
    return without(call, "time_window") if _bounds(call) and not {"from", "to"} & _bounds(call).keys() else call


@area.asking(RETRIEVE, clause="nm1/retrieve/window-rfc3339")
def an_odd_end_opens_the_window(call: ToolCall) -> ToolCall:
    """Where the end alone is sent and can't be read there is no window."""
    bounds = _bounds(call)
    return without(call, "time_window") if bounds.keys() == {"to"} and _instant(bounds["to"]) is None else call


@area.asking(RETRIEVE, clause="nm1/retrieve/window-rfc3339")
def odd_ends_are_passed_over(call: ToolCall) -> ToolCall:
    """An end that can't be read leaves the window open."""
    bounds = _bounds(call)
    odd = "from" in bounds and "to" in bounds and _instant(bounds["to"]) is None
    return asking(call, time_window={"from": bounds["from"]}) if odd else call


@area.asking(RETRIEVE, clause="nm1/retrieve/window-rfc3339")
def months_roll_over(call: ToolCall) -> ToolCall:
    """A thirteenth month is the first of the next year."""
    bounds = {name: re.sub("^2024-13-", "2025-01-", bound) for name, bound in _bounds(call).items()}
    return asking(call, time_window=bounds) if bounds else call


@area.answer(RETRIEVE, clause="nm1/retrieve/window-before-vector-k")
async def the_window_sifts_the_nearest(call: ToolCall, honest: Honest) -> Result:
    """The nearest are taken first, and then those outside of the window left out."""
    if not (is_vector(call) or is_fused(call)) or "vector_k" not in call.arguments or not _bounds(call):
        return await honest(call)
    near = {row["id"] for row in found(body_of(await honest(without(call, "time_window"))))}
    result = await honest(without(call, "vector_k"))
    body = body_of(result)
    show_or_leave(body, [row for row in found(body) if row["id"] in near])
    return with_body(result, body)


@area.asking(RETRIEVE, clause="nm1/retrieve/window-vector-lane")
def windows_are_not_for_fusion(call: ToolCall) -> ToolCall:
    """Lane fused knows no window."""
    return without(call, "time_window") if call.arguments.get("lane") == "fused" else call


@area.answer(RETRIEVE, clause="nm1/retrieve/window-vector-lane")
async def fused_words_know_no_window(call: ToolCall, honest: Honest) -> Result:
    """In lane fused the window fences the vectors, and not the words."""
    if not is_fused(call) or not _bounds(call):
        return await honest(call)
    return await also(call, honest, without(call, "time_window", "query_embedding", "vector_k", "lane"))


@area.answer(RETRIEVE, clause="nm1/retrieve/window-outside")
async def windows_are_of_days(call: ToolCall, honest: Honest) -> Result:
    """A window has what happened on the day of its bound."""
    result = await honest(call)
    if is_error(result) or body_of(result).get("excluded", {}).keys() != {"outside_time_window"}:
        return result
    bounds = _bounds(call)
    for row in await touched(call, honest):
        span = await _happened(call, honest, row["id"])
        if span and span[0].date().isoformat() in "".join(bounds.values()):
            return await honest(without(call, "time_window"))
    return result
