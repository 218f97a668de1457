"""Lies about bootstrap: constraints, decisions and traps, their marks and their caps."""

from __future__ import annotations

from collections.abc import Callable

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    ask,
    asking,
    body_of,
    is_error,
    with_body,
    without,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import ToolCall

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
