"""Lies about bootstrap: what can be done next, what is left out, and the handles."""

from __future__ import annotations

from abc import ABC, abstractmethod

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    body_of,
    is_error,
    with_body,
    without,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.bootstrap import FENCES, cut, hand, put
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import ToolCall

area = Area("bootstrap")

TOOL = "memory_bootstrap"


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


class _PutsReady(History, ABC):
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

    @abstractmethod
    def ready(self) -> list[str]:
        """What to show."""


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
