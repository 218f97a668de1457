"""Lies about bootstrap: what is in its sections, in which order, and what the budget leaves."""

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
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("bootstrap")

TOOL = "memory_bootstrap"
LISTS = ("constraints", "decisions", "traps")
FENCES = ("project_id", "project_prefix")


def put(body: Body, section: str, rows: list[Body]) -> None:
    """Put rows into a section that are not there, count them, and give handles of them."""
    shown = [row["id"] for row in body.get(section, ())]
    more = [row for row in rows if row["id"] not in shown]
    if more:
        body[section] = [*body.get(section, ()), *more]
        body[f"{section}_total"] += len(more)
        hand(body)


def cut(body: Body, section: str, rows: list[Body]) -> None:
    """Leave these rows in a section."""
    if section in body:
        body[section] = rows
        if not rows:
            body.pop(section)
        hand(body)


def hand(body: Body) -> None:
    """Make the handles those of the rows."""
    if "handles" in body:
        ready = [body["ready"].get("next_action"), *body["ready"].get("ready", ())]
        rows = [*body.get("constraints", ()), *ready, *body.get("decisions", ()), *body.get("traps", ())]
        body["handles"] = [row["id"] for row in rows if row]


def _puts(section: str, kind: str, name: str, says: str, wanted: Callable[[Body], bool], clause: str) -> None:
    """Add the lie that a section has further rows of the list."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or call.arguments.get("token_budget") == 0:
            return result
        body = body_of(result)
        fences = {fence: call.arguments[fence] for fence in FENCES if fence in call.arguments}
        rows = (await ask(honest, call, "memory_list", kind=kind, **fences))["entries"]
        put(body, section, [row for row in rows if wanted(row)])
        return with_body(result, body)

    lie.__name__, lie.__doc__ = name, says
    area.answer(TOOL, clause=clause)(lie)


def _expired(row: Body) -> bool:
    return "expired" in row and "tier" not in row


def _superseded(row: Body) -> bool:
    return "superseded" in row and "expired" not in row


for _section, _kind in (("constraints", "constraint"), ("decisions", "decision")):
    _clause = f"nm1/bootstrap/{_section}"
    _puts(_section, _kind, f"expired_{_section}_stand", f"Expired {_section} are shown.", _expired, _clause)
    _puts(_section, _kind, f"superseded_{_section}_stand", f"Superseded {_section} are shown.", _superseded, _clause)
_puts(
    "constraints",
    "constraint",
    "quarantined_constraints_stand",
    "Quarantined constraints are shown.",
    lambda row: row.get("tier") == "quarantined",
    "nm1/bootstrap/constraints-tier",
)
_puts(
    "decisions",
    "decision",
    "decisions_are_not_capped",
    "Decisions beyond the tenth are shown.",
    lambda row: "expired" not in row and "superseded" not in row,
    "nm1/bootstrap/caps",
)
_puts("decisions", "fact", "facts_are_decisions", "Facts are shown as decisions.", bool, "nm1/bootstrap/other-kinds")
_puts("traps", "task", "tasks_are_traps", "Tasks are shown as traps.", bool, "nm1/bootstrap/other-kinds")
_puts(
    "constraints",
    "capability",
    "capabilities_are_constraints",
    "Capabilities are shown as constraints.",
    bool,
    "nm1/bootstrap/other-kinds",
)
_puts(
    "decisions",
    "decision",
    "pinned_decisions_stand",
    "Pinned decisions are shown, superseded or not.",
    lambda row: "superseded" in row and "pinned" in row,
    "nm1/bootstrap/decisions",
)
_puts(
    "constraints",
    "constraint",
    "pinned_constraints_stand",
    "Pinned constraints are shown, expired or not.",
    lambda row: "expired" in row and "pinned" in row,
    "nm1/bootstrap/constraints",
)


def _leaves_out(section: str, name: str, says: str, lost: Callable[[History, str], bool]) -> None:
    """Add the lie that a section lacks capsules of which something is known."""

    class Lie(History):
        def change(self, call: ToolCall, body: Body) -> None:
            if call.name == TOOL and section in body:
                kept = [row for row in body[section] if not lost(self, row["id"])]
                body[f"{section}_total"] -= len(body[section]) - len(kept)
                cut(body, section, kept)

    Lie.__name__, Lie.__doc__ = name, says
    area.liar(TOOL, clause=f"nm1/bootstrap/{section}")(Lie)


_leaves_out(
    "constraints",
    "LabelsGivenLaterDoNotCount",
    "What was made a constraint after its capture is left out.",
    lambda history, named: "kind" not in history.captured.get(named, {"kind": None}),
)
for _section in ("constraints", "decisions"):
    _leaves_out(
        _section,
        f"{_section.title()}WithAnEndAreOver",
        f"{_section} that will expire are left out.",
        lambda history, named: "valid_to" in history.captured.get(named, {}),
    )


@area.success(TOOL, clause="nm1/bootstrap/shape")
def what_was_dropped_is_not_told(call: ToolCall, body: Body) -> None:
    """Where the budget dropped nothing it does not say so."""
    if not body["budget"]["trimmed_by_budget"]:
        body["budget"].pop("trimmed_by_budget")


@area.success(TOOL, clause="nm1/bootstrap/armour")
def constraints_are_orders(call: ToolCall, body: Body) -> None:
    """A pack with constraints is marked as an authority."""
    if "constraints" in body:
        body["label"] = "AUTHORITY"


@area.success(TOOL, clause="nm1/bootstrap/constraints-uncapped")
def ten_constraints_are_enough(call: ToolCall, body: Body) -> None:
    """Constraints are cut to ten."""
    cut(body, "constraints", body.get("constraints", [])[:10])


@area.success(TOOL, clause="nm1/bootstrap/constraints-uncapped")
def constraints_are_cut_at_twenty_five(call: ToolCall, body: Body) -> None:
    """Constraints are cut to 25."""
    cut(body, "constraints", body.get("constraints", [])[:25])


@area.success(TOOL, clause="nm1/bootstrap/constraints-uncapped")
def terms_leave_ten_constraints(call: ToolCall, body: Body) -> None:
    """Where there are terms constraints are cut to ten."""
    if "terms" in call.arguments:
        cut(body, "constraints", body.get("constraints", [])[:10])


@area.success(TOOL, clause="nm1/bootstrap/constraints")
def the_last_rule_does_not_matter(call: ToolCall, body: Body) -> None:
    """Of several constraints the last is left out."""
    if len(rules := body.get("constraints", [])) > 1 and "token_budget" not in call.arguments:
        cut(body, "constraints", rules[:-1])


@area.success(TOOL, clause="nm1/bootstrap/traps")
def superseded_traps_are_over(call: ToolCall, body: Body) -> None:
    """Superseded traps are left out."""
    cut(body, "traps", [row for row in body.get("traps", ()) if "superseded" not in row])


@area.success(TOOL, clause="nm1/bootstrap/traps")
def expired_traps_are_over(call: ToolCall, body: Body) -> None:
    """Expired traps are left out."""
    cut(body, "traps", [row for row in body.get("traps", ()) if "expired" not in row])


@area.item(TOOL, at="traps", clause="nm1/bootstrap/traps")
def stale_traps_are_silent(call: ToolCall, row: Body) -> None:
    """Stale traps don't say so."""
    row.pop("expired", None)
    row.pop("superseded", None)


@area.item(TOOL, at="traps", clause="nm1/bootstrap/traps")
def quarantined_traps_are_silent(call: ToolCall, row: Body) -> None:
    """Quarantined traps don't say so."""
    if row.get("tier") == "quarantined":
        row.pop("tier")


@area.item(TOOL, at="traps", clause="nm1/bootstrap/traps")
def archived_traps_are_silent(call: ToolCall, row: Body) -> None:
    """Archived traps don't say so."""
    if row.get("tier") == "archived":
        row.pop("tier")


@area.item(TOOL, at=("decisions", "ready/ready"), clause="nm1/bootstrap/rows-marked")
def the_quarantined_is_archived(call: ToolCall, row: Body) -> None:
    """What is quarantined says that it is archived."""
    if "tier" in row:
        row["tier"] = "archived"


@area.success(TOOL, clause="nm1/bootstrap/rows-marked")
def the_next_action_is_a_procedure(call: ToolCall, body: Body) -> None:
    """A next action that has expired is no task any more."""
    if body["ready"].get("next_action", {}).get("expired"):
        body["ready"]["next_action"]["kind"] = "procedure"


@area.success(TOOL, clause="nm1/bootstrap/rows-marked")
def the_next_action_is_clean(call: ToolCall, body: Body) -> None:
    """A next action is never tainted."""
    if "next_action" in body["ready"]:
        body["ready"]["next_action"]["instruction_taint"] = False


@area.item(TOOL, at="traps", clause="nm1/bootstrap/rows-marked")
def no_trap_is_pinned(call: ToolCall, row: Body) -> None:
    """A pinned trap says that it is not."""
    if "pinned" in row:
        row["pinned"] = False


@area.success(TOOL, clause="nm1/bootstrap/caps")
def five_traps_are_enough(call: ToolCall, body: Body) -> None:
    """Traps are cut to five."""
    cut(body, "traps", body.get("traps", [])[:5])


def _is_capped_before_the_fence(section: str) -> None:
    """Add the lie that a section has what the fence leaves of the whole store's."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or not set(FENCES) & set(call.arguments):
            return result
        body, whole = body_of(result), body_of(await honest(without(call, *FENCES)))
        ids = {row["id"] for row in whole.get(section, ())}
        cut(body, section, [row for row in body.get(section, ()) if row["id"] in ids])
        return with_body(result, body)

    lie.__name__ = f"{section}_is_capped_before_the_fence"
    lie.__doc__ = f"{section} has what a fence leaves of the whole store's ten."
    area.answer(TOOL, clause="nm1/bootstrap/caps")(lie)


for _section in ("decisions", "traps"):
    _is_capped_before_the_fence(_section)


@area.answer(TOOL, clause="nm1/bootstrap/caps")
async def ready_is_capped_before_the_fence(call: ToolCall, honest: Honest) -> Result:
    """Ready has what a fence leaves of the whole store's first."""
    result = await honest(call)
    if is_error(result) or not set(FENCES) & set(call.arguments):
        return result
    body, whole = body_of(result), body_of(await honest(asking(without(call, *FENCES), token_budget=100000)))["ready"]
    ids = {row["id"] for row in (whole.get("next_action", {"id": None}), *whole.get("ready", ()))}
    ready = body["ready"]
    kept = [row for row in (ready.pop("next_action", None), *ready.get("ready", ())) if row and row["id"] in ids]
    body["ready"] = {**ready, **({"next_action": kept[0]} if kept else {}), "ready": kept[1:]}
    hand(body)
    return with_body(result, body)


def _counts_what_is_shown(section: str) -> None:
    """Add the lie that the total of a section is the length of what is shown of it."""

    def lie(call: ToolCall, body: Body) -> None:
        body[f"{section}_total"] = len(body.get(section, ()))

    lie.__name__ = f"{section}_total_is_what_is_shown"
    lie.__doc__ = f"{section}_total is the length of the section."
    area.success(TOOL, clause="nm1/bootstrap/totals-exact")(lie)


for _section in LISTS:
    _counts_what_is_shown(_section)


@area.success(TOOL, clause="nm1/bootstrap/totals-exact")
def ready_total_is_what_is_shown(call: ToolCall, body: Body) -> None:
    """ready_total is the length of ready and the next action."""
    body["ready"]["ready_total"] = len(body["ready"].get("ready", ())) + ("next_action" in body["ready"])


@area.liar(TOOL, clause="nm1/bootstrap/ready")
class TheNextActionHasToWait(History):
    """The next action is one that the first ready one blocks."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and (action := body["ready"].get("next_action")):
            waiting = [end for kind, begin, end in self.edges if kind == "blocks" and begin == action["id"]]
            body["ready"]["next_action"] = {**action, "id": waiting[0]} if waiting else action
            hand(body)


@area.answer(TOOL, clause="nm1/bootstrap/ready")
async def ready_is_not_fenced(call: ToolCall, honest: Honest) -> Result:
    """What is ready in any project is ready."""
    result = await honest(call)
    if is_error(result) or "token_budget" in call.arguments:
        return result
    body = body_of(result)
    body["ready"] = body_of(await honest(without(call, *FENCES)))["ready"]
    hand(body)
    return with_body(result, body)


@area.answer(TOOL, clause="nm1/bootstrap/ready")
async def ready_knows_no_prefix(call: ToolCall, honest: Honest) -> Result:
    """Ready is fenced to a project, and not to a subtree."""
    result = await honest(call)
    if is_error(result) or "project_prefix" not in call.arguments:
        return result
    body = body_of(result)
    body["ready"] = body_of(await honest(without(call, "project_prefix")))["ready"]
    hand(body)
    return with_body(result, body)


@area.liar(TOOL, clause="nm1/bootstrap/ready")
class TheForgottenBlocks(History):
    """What a forgotten capsule blocked is not ready."""

    def change(self, call: ToolCall, body: Body) -> None:
        stuck = {end for kind, begin, end in self.edges if kind == "blocks" and begin in self.forgotten}
        if call.name == TOOL and body["ready"].get("next_action", {"id": None})["id"] in stuck:
            body["ready"] = {"ready": [], "ready_total": 0}
            hand(body)


@area.success(TOOL, clause="nm1/bootstrap/ready")
def the_expired_is_not_ready(call: ToolCall, body: Body) -> None:
    """What has expired is not ready."""
    if body["ready"].get("next_action", {}).get("expired"):
        body["ready"] = {"ready": [], "ready_total": 0}
        hand(body)


@area.success(TOOL, clause="nm1/bootstrap/ready-rest")
def the_next_action_is_repeated(call: ToolCall, body: Body) -> None:
    """The next action stands in ready too."""
    if action := body["ready"].get("next_action"):
        body["ready"]["ready"] = [action, *body["ready"].get("ready", ())]


@area.success(TOOL, clause="nm1/bootstrap/ready-rest")
def the_last_action_can_wait(call: ToolCall, body: Body) -> None:
    """Of several ready nodes beside the next action the last is left out."""
    if len(rest := body["ready"].get("ready", ())) > 1:
        body["ready"]["ready"] = rest[:-1]
        hand(body)


@area.success(TOOL, clause="nm1/bootstrap/ready-always")
def nothing_ready_is_no_section(call: ToolCall, body: Body) -> None:
    """Where nothing is ready there is no ready."""
    if not body["ready"].get("ready_total") and "cycle" not in body["ready"]:
        body.pop("ready")


class _PutsReady(History):
    """Shows captured tasks as ready."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and "next_action" in body["ready"]:
            action = body["ready"]["next_action"]
            rows = [
                {**action, "id": named, "headline": self.captured[named]["content"].partition("\n")[0]}
                for named in self.ready()
                if named in self.captured
            ]
            body["ready"]["ready"] = [*body["ready"].get("ready", ()), *rows]
            body["ready"]["ready_total"] += len(rows)

    def ready(self) -> list[str]:
        """What to show."""
        raise NotImplementedError


@area.liar(TOOL, clause="nm1/bootstrap/ready-blocked", also={"nm1/bootstrap/ready"})
class TheBlockedIsReady(_PutsReady):
    """What is blocked is ready."""

    def ready(self) -> list[str]:
        return [named for named in self.ends("blocks") if named not in self.begins("blocks")][:1]


@area.liar(TOOL, clause="nm1/bootstrap/ready-blocked", also={"nm1/bootstrap/ready"})
class TheDoneIsReady(_PutsReady):
    """What is done is ready."""

    def ready(self) -> list[str]:
        return self.ends("witnesses")


@area.liar(TOOL, clause="nm1/bootstrap/ready-blocked", also={"nm1/bootstrap/ready"})
class TheReplacedIsReady(_PutsReady):
    """What was superseded is ready."""

    def ready(self) -> list[str]:
        return [named for named in self.ends("supersedes") if named in self.begins("blocks")]


@area.success(TOOL, clause="nm1/bootstrap/ready-cycle")
def a_cycle_hides_the_rest(call: ToolCall, body: Body) -> None:
    """Under a cycle no decisions are served."""
    if "cycle" in body["ready"]:
        cut(body, "decisions", [])


@area.success(TOOL, clause="nm1/bootstrap/ready-cycle")
def a_cycle_hides_the_traps(call: ToolCall, body: Body) -> None:
    """Under a cycle no traps are served."""
    if "cycle" in body["ready"]:
        cut(body, "traps", [])


@area.liar(TOOL, clause="nm1/bootstrap/ready-cycle")
class TheRestGoesOn(History):
    """Under a cycle what was ready before is still shown, but for a next action."""

    def __init__(self) -> None:
        super().__init__()
        self._before: list[Body] = []

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and "cycle" in body["ready"]:
            body["ready"]["ready"] = self._before
            hand(body)
        elif call.name == TOOL and "next_action" in body["ready"]:
            self._before = [body["ready"]["next_action"], *body["ready"].get("ready", ())]


@area.liar(TOOL, clause="nm1/bootstrap/ready-cycle")
class TheCycleHasATail(History):
    """The cycle names what waits behind it too."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and (cycle := body["ready"].get("cycle")):
            behind = [end for kind, begin, end in self.edges if kind == "blocks" and begin in cycle]
            body["ready"]["cycle"] = list(dict.fromkeys([*cycle, *behind]))


@area.success(TOOL, clause="nm1/bootstrap/ready-cycle")
def a_cycle_is_not_told(call: ToolCall, body: Body) -> None:
    """Under a cycle nothing is ready, and that is all."""
    body["ready"].pop("cycle", None)


@area.success(TOOL, clause="nm1/bootstrap/empty-omitted")
def no_decision_is_a_section(call: ToolCall, body: Body) -> None:
    """Without decisions the section is empty."""
    if not body["decisions_total"]:
        body["decisions"] = []


@area.success(TOOL, clause="nm1/bootstrap/empty-omitted", also={"nm1/bootstrap/shape"})
def no_trap_is_not_counted(call: ToolCall, body: Body) -> None:
    """Without traps their total is left out."""
    if not body["traps_total"]:
        body.pop("traps_total")


@area.liar(TOOL, clause="nm1/bootstrap/forgotten")
class TheForgottenRules(History):
    """A forgotten constraint is shown."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and body.get("constraints"):
            first = body["constraints"][0]
            gone = [named for named in self.forgotten if self.captured.get(named, {}).get("kind") == "constraint"]
            put(body, "constraints", [{**first, "id": named, "headline": "[forgotten]"} for named in gone])


@area.success(TOOL, clause="nm1/bootstrap/handles")
def handles_are_sorted(call: ToolCall, body: Body) -> None:
    """Handles stand by id."""
    if "handles" in body:
        body["handles"].sort(key=lambda named: int(named.partition("-")[2]))


@area.success(TOOL, clause="nm1/bootstrap/handles")
def the_next_action_has_no_handle(call: ToolCall, body: Body) -> None:
    """The next action has no handle."""
    if "handles" in body and (action := body["ready"].get("next_action")):
        body["handles"].remove(action["id"])


@area.success(TOOL, clause="nm1/bootstrap/handles")
def a_row_shown_twice_has_two_handles(call: ToolCall, body: Body) -> None:
    """What stands in two sections has a handle of each."""
    hand(body)


@area.success(TOOL, clause="nm1/bootstrap/handles-ids-only", also={"nm1/bootstrap/handles"})
def handles_have_headlines(call: ToolCall, body: Body) -> None:
    """A constraint's handle is its id and its headline."""
    lines = {row["id"]: row["headline"] for row in body.get("constraints", ())}
    if "handles" in body:
        body["handles"] = [f"{named} {lines[named]}" if named in lines else named for named in body["handles"]]


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
