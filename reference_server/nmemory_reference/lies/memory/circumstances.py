"""Lies about ingest: when a thing happened, where it lands, and where it comes from."""

from __future__ import annotations

import re

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
from nmemory_reference.lies.memory.ingest import but, each_item, each_of_batch, pairs
from nmemory_reference.serve.interceptor import ToolCall

area = Area("ingest")

TOOL = "memory_ingest"
GET = "memory_get"
RETRIEVE = "memory_retrieve"


@area.asking(TOOL, clause="nm1/ingest/event-forms-exclude")
def the_point_wins(call: ToolCall) -> ToolCall:
    """Of a point and a range the point is taken."""
    return each_item(call, lambda item: but(item, "event_from", "event_to") if "event_at" in item else item)


@area.asking(TOOL, clause="nm1/ingest/event-pair-whole")
def half_a_range_is_a_point(call: ToolCall) -> ToolCall:
    """An event that only begins is a point."""
    return each_item(call, _completed)


@area.asking(TOOL, clause="nm1/ingest/event-not-backwards")
def ranges_are_turned_round(call: ToolCall) -> ToolCall:
    """A range that runs backwards is turned round."""
    return each_item(call, _turned)


@area.asking(TOOL, clause="nm1/ingest/event-rfc3339")
def odd_times_are_left_out(call: ToolCall) -> ToolCall:
    """A time that cannot be read is left out."""
    readable = re.compile(r"\d{4}-(0\d|1[0-2])-[0-3]\dT")
    fields = ("event_at", "event_from", "event_to")

    def read(item: Body) -> Body:
        if all(readable.match(str(item.get(name, "2030-01-01T"))) for name in fields):
            return item
        return but(item, *fields)

    return each_item(call, read)


@area.success(GET, clause="nm1/ingest/event-point-read-back")
def a_point_lasts_an_hour(call: ToolCall, body: Body) -> None:
    """A point in time reads back with an end of its own."""
    if (told := body.get("event_time")) and told["event_from"] == told["event_to"]:
        told["event_to"] = re.sub(r"T(\d\d)", lambda found: f"T{(int(found[1]) + 1) % 24:02}", told["event_to"])


@area.success(GET, clause="nm1/ingest/event-range-read-back", also={"nm1/ingest/event-point-read-back"})
def times_lose_their_offset(call: ToolCall, body: Body) -> None:
    """An event's end with an offset reads back as if it were UTC."""
    if told := body.get("event_time"):
        told["event_to"] = re.sub(r"[+-]\d\d:\d\d$", "Z", told["event_to"])


@area.liar(TOOL, GET, clause="nm1/ingest/event-first-stays")
class TheLastTimeCounts(History):
    """Known content takes the time that was sent last."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, str] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name not in (TOOL, GET):
            return
        if call.name == TOOL:
            for item, row in pairs(call, body):
                if row["status"] == "deduplicated" and "event_at" in item:
                    self._last[row["id"]] = item["event_at"]
        elif "event_time" in body and (last := self._last.get(body["id"])):
            body["event_time"] |= {"event_from": last, "event_to": last}


@area.liar(TOOL, GET, clause="nm1/ingest/event-fresh-only")
class ACollapseDatesTheUndated(History):
    """Known content without a time takes the one that is sent along."""

    def __init__(self) -> None:
        super().__init__()
        self._dated: dict[str, Body] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            for item, row in pairs(call, body):
                if row["status"] == "deduplicated" and (at := item.get("event_at")):
                    self._dated[row["id"]] = {"event_from": at, "event_to": at}
        elif call.name == GET and "capsule" in body and "event_time" not in body and body["id"] in self._dated:
            body["event_time"] = {**self._dated[body["id"]], "declared_at": body["created_at"]}


@area.answer(RETRIEVE, clause="nm1/ingest/event-never-decays")
async def old_events_fade(call: ToolCall, honest: Honest) -> Result:
    """What happened long ago weighs nothing."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    for row in body.get("results", ()):
        capsule = await ask(honest, call, GET, id=row["id"])
        if str(capsule.get("event_time", {}).get("event_from", "2")) < "2":
            row["decayed_weight"] = 0.0
    return with_body(result, body)


# Where it lands, and where it comes from


@area.asking(TOOL, clause="nm1/ingest/project-from-client")
def slugs_keep_their_dots(call: ToolCall) -> ToolCall:
    """The name of a client is only lower-cased, and its spaces made dashes."""
    name = call.caller.client or ""
    slug = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")[:32]
    return each_item(call, lambda item: {"project_id": slug, **item} if slug else item)


@area.asking(TOOL, clause="nm1/ingest/project-from-client")
def slugs_keep_their_accents(call: ToolCall) -> ToolCall:
    """A letter is a letter in the name of a client, whatever its accents."""
    slug = re.sub(r"[\W_]+", "-", (call.caller.client or "").lower()).strip("-")[:32]
    return call if slug.isascii() else each_item(call, lambda item: {"project_id": slug, **item})


@area.asking(TOOL, clause="nm1/ingest/project-from-client")
def batches_land_in_default(call: ToolCall) -> ToolCall:
    """What a batch puts into no project is in the project default, whoever the client is."""
    return each_of_batch(call, lambda item: {"project_id": "default", **item})


@area.item(RETRIEVE, at="results", clause="nm1/ingest/anchor-drift-unchanged")
def drift_is_never_looked_for(call: ToolCall, row: Body) -> None:
    """anchor_drift is unknown of every capsule."""
    row["anchor_drift"] = "unknown"


@area.liar(RETRIEVE, clause="nm1/ingest/anchor-drift-unchanged")
class DriftCountsFromTheFirstRecall(History):
    """An anchored file is read when its capsule is recalled first, and compared from then on."""

    def __init__(self) -> None:
        super().__init__()
        self._late: dict[str, bool] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name != RETRIEVE:
            return
        for row in body.get("results", ()):
            if self._late.setdefault(row["id"], row["anchor_drift"] == "drifted"):
                row["anchor_drift"] = "unchanged"


def _completed(item: Body) -> Body:
    ends = [item[name] for name in ("event_from", "event_to") if name in item]
    if len(ends) != 1 or "event_at" in item:
        return item
    return {**but(item, "event_from", "event_to"), "event_at": ends[0]}


def _turned(item: Body) -> Body:
    first, last = item.get("event_from"), item.get("event_to")
    if "event_at" in item or not isinstance(first, str) or not isinstance(last, str):
        return item
    return {**item, "event_from": min(first, last), "event_to": max(first, last)}
