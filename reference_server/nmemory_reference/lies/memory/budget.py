"""Lies about how much a recall gives: its limit, its token budget, and what is said of the rest."""

from __future__ import annotations

from collections.abc import Callable

from nmemory_reference.lies.answers import Body, Honest, Result, asking, body_of, is_error, with_body, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.recalled import PLENTY, RETRIEVE, abstention, became, found, is_vector
from nmemory_reference.serve.interceptor import ToolCall

area = Area("budget")


def _given(call: ToolCall, name: str) -> int | None:
    value = call.arguments.get(name)
    return value if type(value) is int else None


def _cut(body: Body, rows: list[Body], by: str) -> None:
    """Show some of the rows, and count the others as trimmed."""
    gone = len(found(body)) - len(rows)
    body["results"] = rows
    body["returned"] = len(rows)
    body[f"trimmed_by_{by}"] = body.get(f"trimmed_by_{by}", 0) + gone
    body["trimmed"] = body.get("trimmed", 0) + gone


async def _whole(call: ToolCall, honest: Honest, by: str) -> Body | None:
    """The body of the answer to a call whose limit or budget does not bind; None where there is none."""
    result = await honest(asking(call, **{"limit" if by == "limit" else "token_budget": PLENTY}))
    body = body_of(result) if not is_error(result) else {}
    return body if found(body) else None


# The limit


@area.asking(RETRIEVE, clause="nm1/retrieve/limit")
def limits_count_from_0(call: ToolCall) -> ToolCall:
    """A limit gives one row more."""
    limit = _given(call, "limit")
    return asking(call, limit=limit + 1) if limit and limit < 5 else call


@area.asking(RETRIEVE, clause="nm1/retrieve/limit")
def vectors_have_no_limit(call: ToolCall) -> ToolCall:
    """Lane vector knows no limit."""
    return without(call, "limit") if is_vector(call) and _given(call, "limit") else call


@area.answer(RETRIEVE, clause="nm1/retrieve/limit")
async def a_limit_gives_the_last(call: ToolCall, honest: Honest) -> Result:
    """A limit gives the last rows."""
    result, limit = await honest(call), _given(call, "limit")
    body = await _whole(call, honest, "limit") if limit and not is_error(result) else None
    if body is None or not limit or len(found(body)) <= limit:
        return result
    _cut(body, found(body)[-limit:], "limit")
    return with_body(result, body)


@area.success(RETRIEVE, clause="nm1/retrieve/limit-counted")
def the_limit_is_counted_as_budget(call: ToolCall, body: Body) -> None:
    """What the limit cut is counted under the budget."""
    if cut := body.get("trimmed_by_limit"):
        body["trimmed_by_budget"] += cut
        body["trimmed_by_limit"] = 0


@area.success(RETRIEVE, clause="nm1/retrieve/limit-counted")
def one_row_is_cut(call: ToolCall, body: Body) -> None:
    """trimmed_by_limit says 1, however many rows were cut."""
    if body.get("trimmed_by_limit"):
        body["trimmed_by_limit"] = 1


@area.success(RETRIEVE, clause="nm1/retrieve/limit-counted")
def trimmed_is_what_matched(call: ToolCall, body: Body) -> None:
    """trimmed_by_limit counts the rows that are shown as well."""
    if body.get("trimmed_by_limit"):
        body["trimmed_by_limit"] += len(found(body))


@area.success(RETRIEVE, clause="nm1/retrieve/limit-counted")
def what_is_left_of_the_limit_is_trimmed(call: ToolCall, body: Body) -> None:
    """trimmed_by_limit counts up to the limit where there are fewer rows."""
    limit = _given(call, "limit") or 0
    if "trimmed_by_limit" in body and limit > len(found(body)) > 1:
        body["trimmed_by_limit"] = limit - len(found(body))


@area.asking(RETRIEVE, clause="nm1/retrieve/limit-zero")
def a_limit_of_0_is_1(call: ToolCall) -> ToolCall:
    """A limit of 0 gives the first row."""
    return asking(call, limit=1) if _given(call, "limit") == 0 else call


@area.success(RETRIEVE, clause="nm1/retrieve/grounded")
def a_limit_of_0_abstains(call: ToolCall, body: Body) -> None:
    """Where the limit leaves no rows nothing has matched."""
    if _given(call, "limit") == 0 and body["outcome"] == "grounded":
        became(body, abstention())


@area.success(RETRIEVE, clause="nm1/retrieve/limit-counted")
def a_limit_of_0_cuts_nothing(call: ToolCall, body: Body) -> None:
    """With a limit of 0 trimmed_by_limit is 0."""
    if _given(call, "limit") == 0 and "trimmed_by_limit" in body:
        body["trimmed_by_limit"] = 0


# The budget


@area.asking(RETRIEVE, clause="nm1/retrieve/budget")
def the_budget_is_not_heard(call: ToolCall) -> ToolCall:
    """A budget above the default changes nothing, and one below is that of all rows."""
    return asking(call, token_budget=PLENTY) if (_given(call, "token_budget") or 0) > 100 else call


async def _cut_otherwise(call: ToolCall, honest: Honest, cut: Callable[[list[Body], int], list[Body]]) -> Result:
    """The answer to a call whose budget cuts, with what `cut` leaves of all rows beside the number that fits."""
    result = await honest(call)
    budget = _given(call, "token_budget") or 0
    body = await _whole(call, honest, "budget") if 100 < budget < PLENTY and not is_error(result) else None
    if body is None:
        return result
    shown, rows = len(found(body_of(result))), found(body)
    if shown < len(rows):
        _cut(body, cut(rows, shown), "budget")
    return with_body(result, body)


@area.answer(RETRIEVE, clause="nm1/retrieve/budget", also={"nm1/retrieve/budget-prefix"})
async def a_budget_cuts_the_first(call: ToolCall, honest: Honest) -> Result:
    """The budget cuts rows from the top."""
    return await _cut_otherwise(call, honest, lambda rows, shown: rows[-shown:])


@area.answer(RETRIEVE, clause="nm1/retrieve/budget")
async def the_budget_is_overdrawn(call: ToolCall, honest: Honest) -> Result:
    """The row with which the budget is exceeded is still given."""
    return await _cut_otherwise(call, honest, lambda rows, shown: rows[: shown + 1])


@area.answer(RETRIEVE, clause="nm1/retrieve/budget-prefix")
async def a_budget_skips_what_is_long(call: ToolCall, honest: Honest) -> Result:
    """Where the budget cuts, the last row of all takes the place of the last that fits."""
    return await _cut_otherwise(call, honest, lambda rows, shown: [*rows[: shown - 1], rows[-1]] if shown else rows)


@area.success(RETRIEVE, clause="nm1/retrieve/budget-prefix")
def a_budget_packs_the_short_first(call: ToolCall, body: Body) -> None:
    """Where the budget cuts, the shortest rows stand first."""
    if body.get("trimmed_by_budget") and len(found(body)) > 1:
        found(body).reverse()


@area.success(RETRIEVE, clause="nm1/retrieve/budget-counted")
def the_budget_cuts_in_silence(call: ToolCall, body: Body) -> None:
    """trimmed_by_budget is 0 whatever was cut."""
    if body.get("trimmed_by_budget"):
        body["trimmed_by_budget"] = 0


@area.success(RETRIEVE, clause="nm1/retrieve/budget-counted")
def the_budget_counts_one_less(call: ToolCall, body: Body) -> None:
    """trimmed_by_budget leaves out the first row that did not fit."""
    if body.get("trimmed_by_budget"):
        body["trimmed_by_budget"] -= 1


@area.success(RETRIEVE, clause="nm1/retrieve/budget-counted")
def trimmed_by_budget_counts_all(call: ToolCall, body: Body) -> None:
    """Where the limit cuts as well the budget counts that too."""
    if body.get("trimmed_by_budget"):
        body["trimmed_by_budget"] += len(found(body))


@area.success(RETRIEVE, clause="nm1/retrieve/budget-floor")
def vectors_have_no_floor(call: ToolCall, body: Body) -> None:
    """In lane vector a small budget gives nothing."""
    if is_vector(call) and (_given(call, "token_budget") or PLENTY) < 20:
        _cut(body, [], "budget")


@area.asking(RETRIEVE, clause="nm1/retrieve/budget-floor")
def a_budget_of_1_is_0(call: ToolCall) -> ToolCall:
    """A budget of 1 gives nothing."""
    return asking(call, token_budget=0) if _given(call, "token_budget") == 1 else call


@area.answer(RETRIEVE, clause="nm1/retrieve/budget-floor")
async def the_floor_is_the_shortest(call: ToolCall, honest: Honest) -> Result:
    """Where nothing fits, the last row is given."""
    result = await honest(call)
    small = 0 < (_given(call, "token_budget") or 0) < 20
    body = await _whole(call, honest, "budget") if small and not is_error(result) else None
    if body is None:
        return result
    _cut(body, found(body)[-1:], "budget")
    return with_body(result, body)


@area.asking(RETRIEVE, clause="nm1/retrieve/budget-floor")
def the_floor_is_two(call: ToolCall) -> ToolCall:
    """A small budget gives the two first rows."""
    small = 0 < (_given(call, "token_budget") or 0) < 20
    return asking(without(call, "token_budget"), limit=2) if small else call


@area.asking(RETRIEVE, clause="nm1/retrieve/budget-zero")
def vectors_cost_nothing(call: ToolCall) -> ToolCall:
    """In lane vector a budget of 0 gives all rows."""
    return without(call, "token_budget") if is_vector(call) and _given(call, "token_budget") == 0 else call


@area.asking(RETRIEVE, clause="nm1/retrieve/budget-zero")
def a_budget_of_0_is_1(call: ToolCall) -> ToolCall:
    """A budget of 0 gives the first row."""
    return asking(call, token_budget=1) if _given(call, "token_budget") == 0 else call
