"""Lies about preference: which of two was chosen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from nmemory_reference.lies.answers import Body, Honest, Result, asking, body_of, is_error, with_body
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import ARMOUR, rows, success
from nmemory_reference.lies.memory.history import History, Unaudited
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("preference")

TOOL = "memory_preference"
RETRIEVE = "memory_retrieve"


def row_of(call: ToolCall) -> Body:
    """The row that a record would have."""
    return {"id": "pref-99", **call.arguments}


@area.success(TOOL, clause="nm1/preference/shape")
def preferences_are_facts(call: ToolCall, body: Body) -> None:
    """A list of preferences is not marked as advice."""
    if "preferences" in body:
        body.pop("label")


@area.success(TOOL, clause="nm1/preference/row-stored")
def winner_and_loser_are_swapped(call: ToolCall, body: Body) -> None:
    """The stored row names the rejected one as preferred."""
    if row := body.get("recorded"):
        row["preferred_id"], row["rejected_id"] = row["rejected_id"], row["preferred_id"]


@area.item(TOOL, at="preferences", clause="nm1/preference/row-stored")
def lists_have_first_lines(call: ToolCall, row: Body) -> None:
    """The list shows the first line of a context."""
    row["context"] = row["context"].partition("\n")[0]


@area.refusal(TOOL, clause="nm1/preference/all-taught")
def one_field_is_taught_at_a_time(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """The refusal names the first field that is missing."""
    missing = [name for name in ("preferred_id", "rejected_id", "context", "actor") if name not in call.arguments]
    return replace(refusal, text=f"{missing[0]} is missing") if missing else None


@area.asking(TOOL, clause="nm1/preference/all-taught")
def a_context_is_made_up(call: ToolCall) -> ToolCall:
    """A missing context is made up."""
    return asking(call, context="any") if call.arguments and "context" not in call.arguments else call


@area.answer(TOOL, clause="nm1/preference/unknown-capsule")
async def losers_need_not_be_stored(call: ToolCall, honest: Honest) -> Result:
    """An unknown rejected_id is taken."""
    if str(call.arguments.get("rejected_id")).startswith("cap-9999"):
        return success(**ARMOUR, advisory="an observation", recorded=row_of(call))
    return await honest(call)


@area.answer(TOOL, clause="nm1/preference/unknown-capsule")
async def outcomes_may_lose(call: ToolCall, honest: Honest) -> Result:
    """An outcome is taken for a rejected_id."""
    if str(call.arguments.get("rejected_id")).startswith("out-"):
        return success(**ARMOUR, advisory="an observation", recorded=row_of(call))
    return await honest(call)


@area.refusal(TOOL, clause="nm1/preference/unknown-capsule")
def the_wrong_side_is_named(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """The refusal of an unknown capsule names the preferred one."""
    if not refusal.data:
        return None
    return replace(refusal, data={**refusal.data, "id": call.arguments.get("preferred_id")})


@area.answer(TOOL, clause="nm1/preference/no-self-pair")
async def a_capsule_may_beat_itself(call: ToolCall, honest: Honest) -> Result:
    """A pair of one is taken."""
    try:
        return await honest(call)
    except RpcFault:
        if call.arguments.get("preferred_id") == call.arguments.get("rejected_id"):
            return success(**ARMOUR, advisory="an observation", recorded=row_of(call))
        raise


@area.success(TOOL, clause="nm1/preference/list-in-order")
def the_newest_comes_first(call: ToolCall, body: Body) -> None:
    """Preferences are listed newest first."""
    body.get("preferences", []).reverse()


@area.success(TOOL, clause="nm1/preference/list-in-order")
def ids_are_sorted_as_texts(call: ToolCall, body: Body) -> None:
    """Preferences are listed by id, as texts are sorted."""
    body.get("preferences", []).sort(key=lambda row: str(row["id"]))


@area.success(TOOL, clause="nm1/preference/list-in-order")
def the_preferred_stand_together(call: ToolCall, body: Body) -> None:
    """Preferences are listed by what was preferred."""
    body.get("preferences", []).sort(key=lambda row: int(row["preferred_id"].partition("-")[2]))


@area.success(TOOL, clause="nm1/preference/list-count")
def ten_are_counted(call: ToolCall, body: Body) -> None:
    """The count goes to ten."""
    if "total" in body:
        body["total"] = min(10, body["total"])


@area.success(TOOL, clause="nm1/preference/list-count")
def the_count_is_one_short(call: ToolCall, body: Body) -> None:
    """The count leaves the newest out."""
    if "total" in body:
        body["total"] -= 1


@area.liar(TOOL, clause="nm1/preference/append-only")
class APairStandsOnce(Interceptor):
    """The same pair again is answered with its first row."""

    def __init__(self) -> None:
        self._rows: dict[frozenset[object], Result] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        pair = frozenset(map(str, (call.arguments.get("preferred_id"), call.arguments.get("rejected_id"))))
        if call.name != TOOL or not call.arguments:
            return await honest(call)
        if pair not in self._rows:
            result = await honest(call)
            if is_error(result):
                return result
            self._rows[pair] = result
        return self._rows[pair]


@area.item(TOOL, at="preferences", clause="nm1/preference/pairwise-only")
def pairs_are_scored(call: ToolCall, row: Body) -> None:
    """Each row has a score."""
    row["score"] = 1


@area.success(TOOL, clause="nm1/preference/pairwise-only")
def the_winner_is_told_its_wins(call: ToolCall, body: Body) -> None:
    """The answer to a record says how often the preferred one has won."""
    if "recorded" in body:
        body["wins"] = 1


@area.liar(TOOL, RETRIEVE, clause="nm1/preference/no-recall-effect")
class WinnersAreBelieved(History):
    """What was preferred is recalled with more confidence."""

    def __init__(self) -> None:
        super().__init__()
        self._won: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name not in (TOOL, RETRIEVE):
            return
        if "recorded" in body:
            self._won.add(body["recorded"]["preferred_id"])
        for row in rows(call.name, body):
            if row["id"] in self._won:
                row["confidence"] = 0.9
        if "results" in body:
            body["results"].sort(key=lambda row: row["id"] not in self._won)


class _Won(Interceptor, ABC):
    """Remembers what was preferred, and changes answers by it."""

    def __init__(self) -> None:
        self.won: list[str] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == TOOL and "recorded" in body:
            self.won.append(body["recorded"]["preferred_id"])
        self.change(call, body)
        return with_body(result, body)

    @abstractmethod
    def change(self, call: ToolCall, body: Body) -> None:
        """Changes the body of a success in place."""


@area.liar(TOOL, RETRIEVE, clause="nm1/preference/no-recall-effect")
class WinnersComeFirst(_Won):
    """What was preferred stands first in recall, as sure as it was."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE:
            body.get("results", []).sort(key=lambda row: -self.won.count(row["id"]))


@area.liar(TOOL, RETRIEVE, clause="nm1/preference/no-recall-effect")
class WinnersWeighMore(_Won):
    """What was preferred weighs more where weights are blended in, and stands where it stood."""

    def change(self, call: ToolCall, body: Body) -> None:
        for row in body.get("results", []) if call.name == RETRIEVE else ():
            if "feedback_weight" in row and row["id"] in self.won:
                row["feedback_weight"] = round(min(1.0, row["feedback_weight"] + 0.05 * self.won.count(row["id"])), 2)


@area.liar(TOOL, "memory_bootstrap", clause="nm1/preference/no-recall-effect")
class WinnersLeadThePack(_Won):
    """What was preferred stands first in a cold start."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == "memory_bootstrap":
            body.get("constraints", []).sort(key=lambda row: -self.won.count(row["id"]))


@area.liar(TOOL, "memory_digest", clause="nm1/preference/audited")
class PreferencesAreNotAudited(Unaudited):
    """The digest's number of audit events does not count preferences."""

    tool = TOOL
