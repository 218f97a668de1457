"""Lies about bootstrap: its fences, the order of its rows, and what the budget leaves."""

from __future__ import annotations

import re
from collections.abc import Callable

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    ask,
    asking,
    body_of,
    is_error,
    text_argument,
    with_body,
    without,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.bootstrap import FENCES, cut, hand, put
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("bootstrap")

TOOL = "memory_bootstrap"


@area.asking(TOOL, clause="nm1/bootstrap/project")
def projects_have_subtrees(call: ToolCall) -> ToolCall:
    """project_id covers the projects below it too."""
    if "project_id" not in call.arguments or "project_prefix" in call.arguments:
        return call
    return asking(without(call, "project_id"), project_prefix=call.arguments["project_id"])


@area.asking(TOOL, clause="nm1/bootstrap/prefix")
def a_prefix_is_one_project(call: ToolCall) -> ToolCall:
    """project_prefix covers the project of that name alone."""
    prefix = text_argument(call, "project_prefix")
    if not prefix or prefix.endswith("/") or "project_id" in call.arguments:
        return call
    return asking(without(call, "project_prefix"), project_id=prefix)


@area.asking(TOOL, clause="nm1/bootstrap/fences-compose")
def the_project_wins(call: ToolCall) -> ToolCall:
    """Where a project is given the prefix is overlooked."""
    return without(call, "project_prefix") if "project_id" in call.arguments else call


@area.asking(TOOL, clause="nm1/bootstrap/fences-compose")
def the_prefix_wins(call: ToolCall) -> ToolCall:
    """Where a prefix is given the project is overlooked."""
    return without(call, "project_id") if "project_prefix" in call.arguments else call


def _matches_otherwise(name: str, says: str, clause: str, fence: str, matches: Callable[[str, str], bool]) -> None:
    """Add the lie that a fence lets in constraints of other projects."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        given = call.arguments.get(fence)
        if is_error(result) or not isinstance(given, str):
            return result
        body = body_of(result)
        rows = (await ask(honest, call, "memory_list", kind="constraint"))["entries"]
        put(body, "constraints", [row for row in rows if matches(row["project_id"], given)])
        return with_body(result, body)

    lie.__name__, lie.__doc__ = name, says
    area.answer(TOOL, clause=f"nm1/bootstrap/{clause}")(lie)


_matches_otherwise(
    "project_ids_have_no_case",
    "project_id takes a project whose name has other capitals.",
    "project",
    "project_id",
    lambda project, fence: project.lower() == fence.lower(),
)
_matches_otherwise(
    "prefixes_have_no_case",
    "project_prefix takes what is below a project whose name has other capitals.",
    "prefix",
    "project_prefix",
    lambda project, fence: project.lower().startswith(f"{fence.lower()}/"),
)
_matches_otherwise(
    "prefixes_are_patterns",
    "In project_prefix an underscore is any letter.",
    "prefix",
    "project_prefix",
    lambda project, fence: bool(re.match(fence.replace("_", ".") + "/", project)),
)


@area.liar(TOOL, clause="nm1/bootstrap/rank-decay")
class NothingDecays(History):
    """Without terms decisions stand by their confidence at capture."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and "terms" not in call.arguments:
            body.get("decisions", []).sort(key=lambda row: -self.captured.get(row["id"], {}).get("confidence", 0.6))


@area.answer(TOOL, clause="nm1/bootstrap/rank-decay")
async def the_cap_comes_before_the_ranks(call: ToolCall, honest: Honest) -> Result:
    """Of more than ten traps the first ten that were captured are ranked."""
    result = await honest(call)
    if is_error(result) or "terms" in call.arguments or "token_budget" not in call.arguments:
        return result
    body = body_of(result)
    fences = {fence: call.arguments[fence] for fence in FENCES if fence in call.arguments}
    first = (await ask(honest, call, "memory_list", kind="failure_pattern", **fences))["entries"][:10]
    if body["traps_total"] > len(first):
        order = [row["id"] for row in body.get("traps", ())]
        cut(body, "traps", sorted(first, key=lambda row: order.index(row["id"]) if row["id"] in order else 10))
    return with_body(result, body)


@area.success(TOOL, clause="nm1/bootstrap/rank-decay")
def rules_stand_by_age(call: ToolCall, body: Body) -> None:
    """Without terms constraints stand in the order of their capture."""
    if "terms" not in call.arguments:
        body.get("constraints", []).sort(key=lambda row: int(row["id"].partition("-")[2]))


@area.asking(TOOL, clause="nm1/bootstrap/rank-terms")
def terms_are_overlooked(call: ToolCall) -> ToolCall:
    """Terms rank nothing."""
    return without(call, "terms")


@area.answer(TOOL, clause="nm1/bootstrap/rank-terms")
async def terms_rank_no_traps(call: ToolCall, honest: Honest) -> Result:
    """Terms rank constraints and decisions, and no traps."""
    result = await honest(call)
    if is_error(result) or "terms" not in call.arguments:
        return result
    body, plain = body_of(result), body_of(await honest(without(call, "terms")))
    if "traps" in plain:
        body["traps"] = plain["traps"]
        hand(body)
    return with_body(result, body)


@area.answer(TOOL, clause="nm1/bootstrap/rank-terms")
async def the_cap_comes_before_the_terms(call: ToolCall, honest: Honest) -> Result:
    """Terms rank the ten decisions that decay has ranked first."""
    result = await honest(call)
    if is_error(result) or "terms" not in call.arguments:
        return result
    body, plain = body_of(result), body_of(await honest(without(call, "terms"))).get("decisions", [])
    order = [row["id"] for row in body.get("decisions", ())]
    by_terms = sorted(plain, key=lambda row: order.index(row["id"]) if row["id"] in order else len(order))
    cut(body, "decisions", by_terms)
    return with_body(result, body)


async def _among_plain(call: ToolCall, honest: Honest, key: Callable[[Body, int], tuple[int, int]]) -> Result:
    """A pack with terms whose decisions stand by a key of the row and its place without terms."""
    result = await honest(call)
    if is_error(result) or not isinstance(call.arguments.get("terms"), list):
        return result
    body, plain = body_of(result), body_of(await honest(without(call, "terms"))).get("decisions", [])
    places = {row["id"]: place for place, row in enumerate(plain)}
    body.get("decisions", []).sort(key=lambda row: key(row, places.get(row["id"], len(places))))
    hand(body)
    return with_body(result, body)


def _coverage(call: ToolCall, row: Body) -> int:
    """How many of the terms stand in the headline."""
    return sum(term in row["headline"] for term in call.arguments["terms"])


@area.answer(TOOL, clause="nm1/bootstrap/rank-terms")
async def headlines_match_terms(call: ToolCall, honest: Honest) -> Result:
    """A term matches a headline alone."""
    return await _among_plain(call, honest, lambda row, place: (-_coverage(call, row), place))


@area.liar(TOOL, clause="nm1/bootstrap/rank-terms")
class AgeBreaksTies(History):
    """Among rows that match as many terms the one that was captured first leads."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and (terms := call.arguments.get("terms")):
            told = {named: str(item["content"]) for named, item in self.captured.items()}
            places = {row["id"]: place for place, row in enumerate(body.get("decisions", ()))}

            def key(row: Body) -> tuple[int, int]:
                covered = sum(term in told.get(row["id"], "") for term in terms)
                return -covered, int(row["id"].partition("-")[2]) if covered else places[row["id"]]

            body.get("decisions", []).sort(key=key)
            hand(body)


@area.liar(TOOL, clause="nm1/bootstrap/terms-never-filter")
class TermsFilter(History):
    """Decisions that match no term are left out."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and (terms := call.arguments.get("terms")):
            rows = body.get("decisions", [])
            found = [row for row in rows if any(term in row["headline"] for term in terms)]
            cut(body, "decisions", found or rows)


@area.liar(TOOL, clause="nm1/bootstrap/terms-raw")
class TermsHaveAliases(Interceptor):
    """A taught alias counts as a term."""

    def __init__(self) -> None:
        self._taught: dict[str, str] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        terms = call.arguments.get("terms")
        if call.name == TOOL and isinstance(terms, list):
            call = asking(call, terms=[*terms, *(self._taught[term] for term in terms if term in self._taught)])
        result = await honest(call)
        if call.name == "memory_alias" and not is_error(result) and "term" in call.arguments:
            self._taught[call.arguments["term"]] = call.arguments["alias"]
        return result


@area.asking(TOOL, clause="nm1/bootstrap/budget-default")
def the_default_is_larger(call: ToolCall) -> ToolCall:
    """Without token_budget it is 2000."""
    return call if "token_budget" in call.arguments else asking(call, token_budget=2000)


@area.answer(TOOL, clause="nm1/bootstrap/budget-default")
async def more_is_spent_than_the_default(call: ToolCall, honest: Honest) -> Result:
    """Without token_budget 2000 may be spent, whatever the answer says."""
    result = await honest(call if "token_budget" in call.arguments else asking(call, token_budget=2000))
    if is_error(result) or "token_budget" in call.arguments:
        return result
    body = body_of(result)
    body["budget"]["token_budget"] = 1500
    return with_body(result, body)


@area.answer(TOOL, clause="nm1/bootstrap/budget-kept")
async def what_is_too_much_is_not_told(call: ToolCall, honest: Honest) -> Result:
    """A budget may be exceeded by a token, which used_tokens does not say."""
    budget = call.arguments.get("token_budget")
    if not isinstance(budget, int) or not budget > 1:
        return await honest(call)
    result = await honest(asking(call, token_budget=budget + 1))
    if is_error(result):
        return result
    body = body_of(result)
    body["budget"] |= {"token_budget": budget, "used_tokens": min(budget, body["budget"]["used_tokens"])}
    return with_body(result, body)


@area.answer(TOOL, clause="nm1/bootstrap/budget-kept")
async def budgets_are_soft(call: ToolCall, honest: Honest) -> Result:
    """A row that begins within the budget may end beyond it."""
    budget = call.arguments.get("token_budget")
    if not isinstance(budget, int) or not budget > 1:
        return await honest(call)
    result = await honest(asking(call, token_budget=budget + 30))
    if is_error(result):
        return result
    body = body_of(result)
    body["budget"]["token_budget"] = budget
    return with_body(result, body)


@area.success(TOOL, clause="nm1/bootstrap/budget-floors")
def a_small_budget_gives_no_action(call: ToolCall, body: Body) -> None:
    """A budget that is too small for the next action leaves it out."""
    if body["budget"]["used_tokens"] > body["budget"]["token_budget"]:
        body["ready"].pop("next_action", None)


@area.answer(TOOL, clause="nm1/bootstrap/budget-floors")
async def the_floor_is_the_oldest_rule(call: ToolCall, honest: Honest) -> Result:
    """Where one constraint is all that fits it is the one that was captured first."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    if len(body.get("constraints", ())) == 1 < body["constraints_total"]:
        whole = body_of(await honest(asking(call, token_budget=100000)))["constraints"]
        body["constraints"] = [min(whole, key=lambda row: int(row["id"].partition("-")[2]))]
        hand(body)
    return with_body(result, body)


@area.success(TOOL, clause="nm1/bootstrap/budget-floors-first")
def constraints_come_before_the_action(call: ToolCall, body: Body) -> None:
    """Where constraints were dropped there is no budget left for the next action."""
    if 1 < len(body.get("constraints", ())) < body["constraints_total"]:
        body["ready"].pop("next_action", None)


@area.asking(TOOL, clause="nm1/bootstrap/budget-zero")
def nought_is_one(call: ToolCall) -> ToolCall:
    """A budget of 0 still gives the first constraint."""
    return asking(call, token_budget=1) if call.arguments.get("token_budget") == 0 else call


@area.answer(TOOL, clause="nm1/bootstrap/budget-zero")
async def the_next_action_is_free(call: ToolCall, honest: Honest) -> Result:
    """A budget of 0 still gives the next action."""
    result = await honest(call)
    if is_error(result) or call.arguments.get("token_budget") != 0:
        return result
    body, some = body_of(result), body_of(await honest(asking(call, token_budget=1)))["ready"]
    if "next_action" in some:
        body["ready"]["next_action"] = some["next_action"]
    return with_body(result, body)


@area.success(TOOL, clause="nm1/bootstrap/budget-spend")
def a_large_budget_costs_nothing(call: ToolCall, body: Body) -> None:
    """Where nothing was dropped nothing was spent."""
    if not body["budget"]["trimmed_by_budget"]:
        body["budget"]["used_tokens"] = 0


@area.success(TOOL, clause="nm1/bootstrap/budget-trimmed")
def handles_are_dropped_too(call: ToolCall, body: Body) -> None:
    """trimmed_by_budget counts handles."""
    if "constraints" in body and "handles" not in body:
        body["budget"]["trimmed_by_budget"] += 1


@area.success(TOOL, clause="nm1/bootstrap/budget-trimmed")
def tasks_are_not_dropped(call: ToolCall, body: Body) -> None:
    """trimmed_by_budget does not count ready rows."""
    shown = len(body["ready"].get("ready", ())) + ("next_action" in body["ready"])
    lost = body["ready"]["ready_total"] - shown
    body["budget"]["trimmed_by_budget"] = max(0, body["budget"]["trimmed_by_budget"] - lost)


@area.success(TOOL, clause="nm1/bootstrap/budget-trimmed")
def constraints_are_not_dropped(call: ToolCall, body: Body) -> None:
    """trimmed_by_budget does not count constraints."""
    lost = body["constraints_total"] - len(body.get("constraints", ()))
    body["budget"]["trimmed_by_budget"] = max(0, body["budget"]["trimmed_by_budget"] - lost)


@area.answer(TOOL, clause="nm1/bootstrap/budget-priority")
async def traps_come_first(call: ToolCall, honest: Honest) -> Result:
    """A trap takes the place of the last decision, or of the last constraint."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    section = "decisions" if "decisions" in body else "constraints"
    if "traps" not in body and body["traps_total"] and len(body.get(section, ())) > 1:
        whole = body_of(await honest(asking(call, token_budget=100000)))
        body["traps"] = whole["traps"][:1]
        cut(body, section, body[section][:-1])
    return with_body(result, body)


@area.answer(TOOL, clause="nm1/bootstrap/budget-priority")
async def decisions_come_before_tasks(call: ToolCall, honest: Honest) -> Result:
    """Where the budget has room for one row more than the constraints a decision takes it, and no ready one."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    if body["ready"].get("ready") and "decisions" not in body and body["decisions_total"]:
        whole = body_of(await honest(asking(call, token_budget=100000)))
        body["ready"]["ready"].pop()
        body["decisions"] = whole["decisions"][:1]
        hand(body)
    return with_body(result, body)


@area.liar(TOOL, clause="nm1/bootstrap/headlines")
class RowsAreContents(History):
    """A constraint's headline is its content."""

    def change(self, call: ToolCall, body: Body) -> None:
        for row in body.get("constraints", ()) if call.name == TOOL else ():
            row["headline"] = self.captured.get(row["id"], {}).get("content", row["headline"])


@area.liar(TOOL, clause="nm1/bootstrap/headlines")
class TrapsAreUncut(History):
    """A trap's headline is its first line, however long."""

    def change(self, call: ToolCall, body: Body) -> None:
        for row in body.get("traps", ()) if call.name == TOOL else ():
            row["headline"] = self.captured.get(row["id"], row).get("content", row["headline"]).partition("\n")[0]


@area.success(TOOL, clause="nm1/bootstrap/pinned")
def pins_hold_nothing_up(call: ToolCall, body: Body) -> None:
    """A pinned decision stands behind the others."""
    body.get("decisions", []).sort(key=lambda row: row.get("pinned", False))


@area.liar(TOOL, clause="nm1/bootstrap/same-twice")
class EveryOtherPackIsReversed(Interceptor):
    """The second pack for the same question has its decisions in reverse."""

    def __init__(self) -> None:
        self._asked: list[str] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != TOOL or is_error(result) or "terms" in call.arguments:
            return result
        body, asked = body_of(result), repr(sorted(call.arguments.items()))
        if self._asked.count(asked) % 2:
            body.get("decisions", []).reverse()
            hand(body)
        self._asked.append(asked)
        return with_body(result, body)


@area.liar(TOOL, clause="nm1/bootstrap/same-twice")
class RulesTakeTurns(Interceptor):
    """The second pack for the same question has its constraints the other way round."""

    def __init__(self) -> None:
        self._asked: list[str] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != TOOL or is_error(result):
            return result
        body, asked = body_of(result), repr(sorted(call.arguments.items()))
        if self._asked.count(asked) % 2 and body.get("constraints"):
            body["constraints"].reverse()
            hand(body)
        self._asked.append(asked)
        return with_body(result, body)
