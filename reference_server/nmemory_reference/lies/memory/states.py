"""Lies about the fences of a recall: the states of capsules that keep them out, and which of two counts."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from nmemory_reference.lies.answers import Body, Honest, Result, body_of, is_error, with_body
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import success
from nmemory_reference.lies.memory.ingest import each_of_batch
from nmemory_reference.lies.memory.recalled import (
    RETRIEVE,
    capsule,
    entries,
    found,
    grounded,
    instant,
    is_fused,
    is_vector,
    made_up,
    recount,
    show_or_leave,
    touched,
)
from nmemory_reference.serve.interceptor import ToolCall

area = Area("fences")


Fenced = Callable[[ToolCall, Honest, Body], Awaitable[bool]]


def _listed_as(flag: str) -> Fenced:
    async def is_so(call: ToolCall, honest: Honest, row: Body) -> bool:
        return bool(row.get(flag))

    return is_so


def _of_tier(tier: str) -> Fenced:
    async def is_so(call: ToolCall, honest: Honest, row: Body) -> bool:
        return row.get("tier") == tier

    return is_so


def _has_edge(kind: str) -> Fenced:
    async def is_so(call: ToolCall, honest: Honest, row: Body) -> bool:
        edges = (await capsule(call, honest, row["id"]))["relations"]
        return any(edge["kind"] == kind and edge["to"] == row["id"] for edge in edges)

    return is_so


async def _is_ahead(call: ToolCall, honest: Honest, row: Body) -> bool:
    freshness = (await capsule(call, honest, row["id"]))["capsule"]["freshness"]
    return bool(freshness["valid_from"] > row["created_at"] and not row.get("expired"))


#: How a capsule can be told that recall counts under a reason.
STATES: dict[str, Fenced] = {
    "quarantined": _of_tier("quarantined"),
    "falsified": _has_edge("falsifies"),
    "archived": _of_tier("archived"),
    "superseded": _listed_as("superseded"),
    "expired": _listed_as("expired"),
    "not_yet_valid": _is_ahead,
}


def in_words(reason: str) -> str:
    """A reason in words."""
    return reason.replace("_", " ")


def _leaks(reason: str, name: str, says: str, clause: str, when: Callable[[ToolCall], bool]) -> None:
    """A fence that is open: the row stands in the answer."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or not when(call) or reason not in body_of(result).get("excluded", {}):
            return result
        body = body_of(result)
        if set(body["excluded"]) != {reason} and not is_vector(call):
            return result
        seen = await (entries(call, honest) if is_vector(call) else touched(call, honest))
        ids = [row["id"] for row in seen if await STATES[reason](call, honest, row)]
        rows = [*found(body), *[await made_up(call, honest, named) for named in ids]]
        rest = {other: count for other, count in body["excluded"].items() if other != reason}
        return success(**grounded(rows), **({"excluded": rest} if rest else {}))

    lie.__name__, lie.__doc__ = name, says
    area.answer(RETRIEVE, clause=clause)(lie)


for _reason in STATES:
    _leaks(
        _reason,
        f"the_{_reason}_grounds",
        f"A capsule that is {in_words(_reason)} is recalled.",
        f"nm1/retrieve/fence-{_reason.replace('_', '-')}",
        lambda call: "time_window" not in call.arguments and not is_vector(call),
    )
    _leaks(
        _reason,
        f"the_{_reason}_is_near",
        f"In lane vector a capsule that is {in_words(_reason)} is recalled.",
        "nm1/retrieve/fences-vector-lane",
        is_vector,
    )


async def _is_inside(call: ToolCall, honest: Honest, named: str) -> bool:
    """Whether the declared time of a capsule begins in the window of a call."""
    window, declared = call.arguments["time_window"], (await capsule(call, honest, named)).get("event_time")
    if declared is None:
        return False
    begins = instant(declared["event_from"])
    after = window.get("from") is None or instant(window["from"]) <= begins
    return after and (window.get("to") is None or begins <= instant(window["to"]))


def _leaks_inside(reason: str, clause: str, vector: bool) -> None:
    """A fence that is open where the declared time is inside of the window."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or "time_window" not in call.arguments or is_vector(call) is not vector:
            return result
        body = body_of(result)
        if reason not in body.get("excluded", {}):
            return result
        seen = await (entries(call, honest) if vector else touched(call, honest))
        ids = [row["id"] for row in seen if await STATES[reason](call, honest, row)]
        inside = [named for named in ids if await _is_inside(call, honest, named)]
        rows = [*found(body), *[await made_up(call, honest, named) for named in inside]]
        return success(**grounded(rows), receipt_id="rcpt-1") if inside else result

    lie.__name__ = f"the_{reason}_{'is_near' if vector else 'grounds'}_in_its_window"
    where = "In lane vector, under" if vector else "Under"
    lie.__doc__ = f"{where} a window around its declared time, a capsule that is {in_words(reason)} is recalled."
    area.answer(RETRIEVE, clause=f"nm1/retrieve/{clause}")(lie)


_leaks_inside("falsified", "fence-order-window", vector=False)
_leaks_inside("superseded", "fence-order-window", vector=False)
_leaks_inside("expired", "fence-expired", vector=False)
_leaks_inside("not_yet_valid", "fence-not-yet-valid", vector=False)
_leaks_inside("falsified", "fences-vector-lane", vector=True)
_leaks_inside("superseded", "fences-vector-lane", vector=True)
_leaks_inside("expired", "fences-vector-lane", vector=True)
_leaks_inside("not_yet_valid", "fences-vector-lane", vector=True)


@area.answer(RETRIEVE, clause="nm1/retrieve/fence-archived")
async def the_archived_grounds_beside_others(call: ToolCall, honest: Honest) -> Result:
    """A capsule that is archived is recalled where the answer is grounded without it."""
    result = await honest(call)
    if is_error(result) or "archived" not in body_of(result).get("excluded", {}) or is_vector(call) or is_fused(call):
        return result
    body = body_of(result)
    archived = [row["id"] for row in await touched(call, honest) if row.get("tier") == "archived"]
    kept = [named for named in archived if not await STATES["falsified"](call, honest, {"id": named})]
    if found(body) and kept:
        show_or_leave(body, [*found(body), await made_up(call, honest, kept[0])])
    return with_body(result, body)


def _comes_first(first: str, second: str, clause: str, lane: str = "term") -> None:
    """What is fenced twice is counted under the lesser reason."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        near = lane == "vector"
        if is_error(result) or first not in body_of(result).get("excluded", {}) or is_vector(call) is not near:
            return result
        body = body_of(result)
        for row in await (entries(call, honest) if near else touched(call, honest)):
            if await STATES[first](call, honest, row) and await STATES[second](call, honest, row):
                body["excluded"][first] -= 1
                body["excluded"][second] = body["excluded"].get(second, 0) + 1
        body["excluded"] = {reason: count for reason, count in body["excluded"].items() if count}
        return with_body(result, body)

    lie.__name__ = f"{second}_comes_before_{first}" + ("_in_lane_vector" if lane == "vector" else "")
    where = "In lane vector what" if lane == "vector" else "What"
    lie.__doc__ = f"{where} is both {in_words(first)} and {in_words(second)} is counted as {in_words(second)}."
    area.answer(RETRIEVE, clause=f"nm1/retrieve/{clause}")(lie)


_comes_first("quarantined", "falsified", "fence-quarantined")
_comes_first("quarantined", "superseded", "fence-quarantined")
_comes_first("quarantined", "expired", "fence-quarantined")
_comes_first("quarantined", "not_yet_valid", "fence-quarantined")
_comes_first("falsified", "archived", "fence-falsified")
_comes_first("falsified", "superseded", "fence-falsified")
_comes_first("falsified", "expired", "fence-falsified")
_comes_first("falsified", "not_yet_valid", "fence-falsified")
_comes_first("archived", "superseded", "fence-archived")
_comes_first("archived", "expired", "fence-archived")
_comes_first("superseded", "expired", "fence-superseded")
_comes_first("superseded", "not_yet_valid", "fence-superseded")
_comes_first("superseded", "expired", "fences-vector-lane", "vector")


@area.answer(RETRIEVE, clause="nm1/retrieve/fence-falsified")
async def an_outcome_falsifies_nothing(call: ToolCall, honest: Honest) -> Result:
    """What an outcome falsified is recalled."""
    result = await honest(call)
    if is_error(result) or "falsified" not in body_of(result).get("excluded", {}):
        return result
    for row in await touched(call, honest):
        edges = (await capsule(call, honest, row["id"]))["relations"]
        if any(edge["kind"] == "falsifies" and edge["from"].startswith("out-") for edge in edges):
            return success(**grounded([await made_up(call, honest, row["id"])]))
    return result


async def _fenced_by(kind: str, call: ToolCall, honest: Honest) -> list[tuple[str, Body]]:
    """What the terms touch and an edge of a kind leads to, each with the list's row of where the edge begins."""
    listed = {row["id"]: row for row in await entries(call, honest)}
    pairs = []
    for row in await touched(call, honest):
        for edge in (await capsule(call, honest, row["id"]))["relations"]:
            if edge["kind"] == kind and edge["to"] == row["id"] and edge["from"] in listed:
                pairs.append((row["id"], listed[edge["from"]]))
    return pairs


def _revives(name: str, says: str, kind: str, reason: str, flag: str) -> None:
    """A fenced capsule comes back with the fall of what fenced it."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or body_of(result).get("excluded", {}).keys() != {reason}:
            return result
        for named, begin in await _fenced_by(kind, call, honest):
            if begin.get(flag):
                return success(**grounded([await made_up(call, honest, named)]))
        return result

    lie.__name__, lie.__doc__ = name, says
    area.answer(RETRIEVE, clause=f"nm1/retrieve/fence-{reason}")(lie)


for _flag in ("expired", "superseded"):
    _revives(
        f"an_{_flag}_successor_frees" if _flag == "expired" else f"a_{_flag}_successor_frees",
        f"What a capsule superseded that is {_flag} itself is recalled again.",
        "supersedes",
        "superseded",
        _flag,
    )
    _revives(
        f"an_{_flag}_denial_frees" if _flag == "expired" else f"a_{_flag}_denial_frees",
        f"What a capsule falsified that is {_flag} itself is recalled again.",
        "falsifies",
        "falsified",
        _flag,
    )


def _under_a_window(reason: str, clause: str) -> None:
    def lie(call: ToolCall, body: Body) -> None:
        if "time_window" in call.arguments:
            dated = ("superseded", "not_yet_valid")
            recount(body, reason, "outside_time_window" if reason in dated else "undated")

    lie.__name__ = f"windows_come_before_{reason}"
    lie.__doc__ = f"Under a window what is {in_words(reason)} is counted by its time."
    area.success(RETRIEVE, clause=f"nm1/retrieve/{clause}")(lie)


_under_a_window("quarantined", "fence-order-window")
_under_a_window("archived", "fence-order-window")
_under_a_window("superseded", "fence-order-window")
_under_a_window("falsified", "fence-order-window")
_under_a_window("expired", "fence-expired")
_under_a_window("not_yet_valid", "fence-not-yet-valid")


@area.asking("memory_ingest", clause="nm1/retrieve/fence-not-yet-valid")
def offsets_of_validity_are_dropped(call: ToolCall) -> ToolCall:
    """The offset of a valid_from is passed over."""
    return _without_offsets(call, "valid_from")


@area.asking("memory_ingest", clause="nm1/retrieve/fence-expired")
def offsets_of_ends_are_dropped(call: ToolCall) -> ToolCall:
    """The offset of a valid_to is passed over."""
    return _without_offsets(call, "valid_to")


def _without_offsets(call: ToolCall, member: str) -> ToolCall:
    def bare(item: Body) -> Body:
        bound = item.get(member)
        return {**item, member: re.sub(r"[+-]\d\d:\d\d$", "Z", bound)} if isinstance(bound, str) else item

    return each_of_batch(call, bare)
