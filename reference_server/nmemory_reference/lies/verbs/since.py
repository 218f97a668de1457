"""Lies about since: which facts it leaves out."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

from nmemory_reference.instant import iso, parse_instant
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
from nmemory_reference.lies.lie import Area
from nmemory_reference.serve.interceptor import ToolCall

area = Area("since")


@area.asking("recall", clause="mv1/recall/since-filters-facts")
def since_is_ignored(call: ToolCall) -> ToolCall:
    """since leaves nothing out."""
    return without(call, "since") if _is_instant(call.arguments.get("since")) else call


@area.asking("recall", clause="mv1/recall/since-filters-facts")
def since_is_ignored_with_an_entity(call: ToolCall) -> ToolCall:
    """since filters only where no entity is asked for."""
    return without(call, "since") if call.arguments.get("entity") and _is_instant(call.arguments.get("since")) else call


@area.asking("recall", clause="mv1/recall/since-filters-facts")
def since_is_ignored_without_an_entity(call: ToolCall) -> ToolCall:
    """since filters only where an entity is asked for."""
    alone = not call.arguments.get("entity") and _is_instant(call.arguments.get("since"))
    return without(call, "since") if alone else call


@area.answer("recall", clause="mv1/recall/since-filters-facts")
async def since_is_until(call: ToolCall, honest: Honest) -> Result:
    """since leaves out the facts from after it."""
    since = call.arguments.get("since")
    if not _is_instant(since):
        return await honest(call)
    return await _facts_if(call, honest, lambda fact: parse_instant(fact["created_at"]) < parse_instant(str(since)))


@area.answer("recall", clause="mv1/recall/since-filters-facts")
async def since_is_compared_as_text(call: ToolCall, honest: Honest) -> Result:
    """since is compared letter by letter, so that its offset does not count."""
    since = call.arguments.get("since")
    if not _is_instant(since):
        return await honest(call)
    return await _facts_if(call, honest, lambda fact: str(fact["created_at"]) >= str(since))


@area.asking("recall", clause="mv1/recall/since-filters-facts")
def since_loses_its_offset(call: ToolCall) -> ToolCall:
    """The offset of since is ignored."""
    match = re.fullmatch(r"(.+T[\d:.]+)[+-]\d\d:?\d\d", text_argument(call, "since") or "")
    return asking(call, since=f"{match[1]}Z") if match else call


@area.answer("recall", clause="mv1/recall/since-filters-facts")
async def since_reaches_a_day_back(call: ToolCall, honest: Honest) -> Result:
    """since leaves out what is more than a day older."""
    since = call.arguments.get("since")
    if not _is_instant(since):
        return await honest(call)
    return await honest(asking(call, since=iso(parse_instant(str(since)) - timedelta(days=1))))


@area.success("recall", clause="mv1/recall/since-not-results")
def since_filters_results(call: ToolCall, body: Body) -> None:
    """since leaves out results as well."""
    if "results" in body and call.arguments.get("since"):
        body["results"] = []


@area.asking("recall", clause="mv1/recall/since-filters-facts")
def dates_are_ignored(call: ToolCall) -> ToolCall:
    """since is ignored where it is a date without a time."""
    return without(call, "since") if re.fullmatch(r"\d{4}-\d\d-\d\d", text_argument(call, "since") or "") else call


@area.asking("recall", clause="mv1/recall/since-filters-facts")
def fractions_are_not_understood(call: ToolCall) -> ToolCall:
    """since is ignored where its seconds have a fraction."""
    return without(call, "since") if re.search(r":\d\d\.\d", text_argument(call, "since") or "") else call


async def _facts_if(call: ToolCall, honest: Honest, belongs: Callable[[Body], bool]) -> Result:
    """Recall with a filter of its own in the place of since."""
    result = await honest(without(call, "since"))
    if is_error(result):
        return result
    body = body_of(result)
    body["facts"] = [fact for fact in body["facts"] if belongs(fact)]
    body["total"] = len(body["facts"])
    return with_body(result, body)


def _is_instant(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(parse_instant(value))
    except ValueError:
        return False
