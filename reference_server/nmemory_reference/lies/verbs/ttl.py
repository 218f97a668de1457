"""Lies about ttl: how it is read, and whether a fact expires."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from nmemory_reference.instant import iso
from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    asking,
    body_of,
    is_error,
    text_argument,
    with_body,
    without,
)
from nmemory_reference.lies.lie import Area, Lie
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("ttl")


@area.asking("remember", clause="mv1/remember/ttl-duration", also={"mv1/remember/ttl-absolute"})
def ttl_is_ignored(call: ToolCall) -> ToolCall:
    """A fact never expires, whatever its ttl."""
    return without(call, "ttl") if _shorthand(call) else call


@area.asking("remember", clause="mv1/remember/ttl-duration")
def minutes_are_seconds(call: ToolCall) -> ToolCall:
    """`45m` is taken for 45 seconds, rounded up to a minute."""
    ttl = _shorthand(call)
    return asking(call, ttl=f"{max(1, int(ttl[:-1]) // 60)}m") if ttl and ttl[-1] == "m" else call


@area.asking("remember", clause="mv1/remember/ttl-duration")
def hours_are_minutes(call: ToolCall) -> ToolCall:
    """`12h` is taken for 12 minutes."""
    ttl = _shorthand(call)
    return asking(call, ttl=f"{ttl[:-1]}m") if ttl and ttl[-1] == "h" else call


@area.asking("remember", clause="mv1/remember/ttl-duration")
def days_are_hours(call: ToolCall) -> ToolCall:
    """`30d` is taken for 30 hours."""
    ttl = _shorthand(call)
    return asking(call, ttl=f"{ttl[:-1]}h") if ttl and ttl[-1] == "d" else call


@area.success("remember", clause="mv1/remember/ttl-duration")
def days_are_one_more(call: ToolCall, body: Body) -> None:
    """A ttl in days lasts a day longer."""
    ttl = _shorthand(call)
    if ttl and ttl[-1] == "d":
        body["valid_until"] = _moved(body["valid_until"], timedelta(days=1))


@area.asking("remember", clause="mv1/remember/ttl-absolute")
def offset_is_dropped(call: ToolCall) -> ToolCall:
    """The offset of an absolute ttl is ignored."""
    ttl = text_argument(call, "ttl")
    match = re.fullmatch(r"(\d{4}-\d\d-\d\dT[\d:.]+)(?:Z|[+-]\d\d:?\d\d)", ttl or "")
    return asking(call, ttl=f"{match[1]}Z") if match else call


@area.asking("remember", clause="mv1/remember/ttl-absolute")
def absolute_ttl_ends_its_day(call: ToolCall) -> ToolCall:
    """Of an absolute ttl only the date counts."""
    ttl = text_argument(call, "ttl")
    match = re.match(r"\d{4}-\d\d-\d\d(?=T)", ttl or "")
    return asking(call, ttl=f"{match[0]}T23:59:59Z") if match else call


@area.asking("remember", clause="mv1/remember/ttl-iso-duration-rejected")
def iso_durations_are_read(call: ToolCall) -> ToolCall:
    """`P30D` is accepted, as thirty days."""
    ttl = text_argument(call, "ttl")
    return asking(call, ttl="30d") if ttl and re.match(r"P.*\d", ttl) else call


@area.asking("remember", clause="mv1/remember/ttl-iso-duration-rejected")
def iso_durations_of_a_year_are_read(call: ToolCall) -> ToolCall:
    """`P1Y2M` is accepted; the shorter ones are not."""
    ttl = text_argument(call, "ttl")
    return asking(call, ttl="425d") if ttl and re.match(r"P\d+Y", ttl) else call


@area.failure("remember", clause="mv1/remember/ttl-iso-duration-rejected")
def iso_duration_gets_no_hint(call: ToolCall, body: Body) -> None:
    """The refusal of `P30D` does not show the shorthand."""
    if (text_argument(call, "ttl") or "").startswith("P"):
        body["suggestion"] = "Use another ttl."


@area.asking("remember", clause="mv1/remember/ttl-garbage-rejected")
def garbage_ttl_is_ignored(call: ToolCall) -> ToolCall:
    """A ttl that makes no sense is dropped, and the fact kept for ever."""
    ttl = text_argument(call, "ttl")
    return without(call, "ttl") if ttl and not re.match(r"P|\d{4}-|\d+[mhd]$", ttl) else call


@area.asking("remember", clause="mv1/remember/ttl-garbage-rejected")
def ttl_is_read_from_its_start(call: ToolCall) -> ToolCall:
    """`30 parsecs` is accepted, as thirty minutes."""
    match = re.match(r"(\d+)\s*\w", text_argument(call, "ttl") or "")
    garbage = match and not _shorthand(call) and "-" not in str(call.arguments["ttl"])
    return asking(call, ttl=f"{match[1]}m") if match and garbage else call


@area.asking("remember", clause="mv1/remember/ttl-garbage-rejected")
def negative_ttl_is_positive(call: ToolCall) -> ToolCall:
    """`-5d` is accepted, without its sign."""
    ttl = text_argument(call, "ttl")
    return asking(call, ttl=ttl[1:]) if ttl and re.fullmatch(r"-\d+[mhd]", ttl) else call


class _Undying(Interceptor):
    """Shows facts that have expired where `when` says so."""

    def __init__(self, when: Callable[[ToolCall], object]) -> None:
        self._when = when

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != "recall" or call.arguments.get("include_expired") or not self._when(call):
            return await honest(call)
        result = await honest(asking(call, include_expired=True))
        if is_error(result):
            return result
        body = body_of(result)
        body["facts"] = [fact for fact in body["facts"] if fact["expired_at"] is None]
        body["total"] = len(body["facts"])
        return with_body(result, body)


def _undying(name: str, says: str, when: Callable[[ToolCall], object]) -> None:
    area.add(
        Lie(
            id=f"ttl/{name}",
            clause="mv1/remember/ttl-expires",
            says=says,
            make=lambda: _Undying(when),
            tools=frozenset({"recall"}),
        )
    )


_undying("nothing-ever-expires", "valid_until is answered and never read: the fact stays.", lambda call: True)
_undying(
    "expired-stay-by-entity", "An entity's recall shows its expired facts.", lambda call: "entity" in call.arguments
)
_undying(
    "expired-stay-without-entity",
    "A recall without an entity shows expired facts.",
    lambda call: "entity" not in call.arguments,
)
_undying("expired-stay-in-grep", "grep finds expired facts.", lambda call: call.arguments.get("grep"))
_undying("expired-stay-with-query", "With a query expired facts are shown.", lambda call: call.arguments.get("query"))
_undying("expired-stay-with-limit", "With a limit expired facts are shown.", lambda call: "limit" in call.arguments)


@area.liar("recall", clause="mv1/remember/ttl-expires")
class ExpiryIsSweptOnceAMinute(Interceptor):
    """An expired fact is swept out once a minute, and shown until then."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != "recall" or call.arguments.get("include_expired"):
            return await honest(call)
        result = await honest(asking(call, include_expired=True))
        if is_error(result):
            return result
        body = body_of(result)
        swept = iso(datetime.now(UTC) - timedelta(minutes=1))
        body["facts"] = [
            fact
            for fact in body["facts"]
            if fact["expired_at"] is None and (fact["valid_until"] is None or fact["valid_until"] > swept)
        ]
        body["total"] = len(body["facts"])
        return with_body(result, body)


def _shorthand(call: ToolCall) -> str | None:
    ttl = text_argument(call, "ttl")
    return ttl if ttl and re.fullmatch(r"\d+[mhd]", ttl) else None


def _moved(instant: str, by: timedelta) -> str:
    return iso(datetime.fromisoformat(instant) + by)
