"""Lies about the fences of a recall: what is said where nothing is left, and that what is fenced is still there."""

from __future__ import annotations

import re

from nmemory_reference.lies.answers import Body, Honest, Result, body_of, is_error, with_body
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import state_fault, success
from nmemory_reference.lies.memory.recalled import (
    GET,
    LIST,
    RETRIEVE,
    became,
    entries,
    grounded,
    is_fused,
    is_vector,
    made_up,
    touched,
)
from nmemory_reference.lies.memory.states import STATES, in_words
from nmemory_reference.serve.interceptor import ToolCall

area = Area("fences")


@area.success(RETRIEVE, clause="nm1/retrieve/outcome-closed")
def nothing_is_an_empty_result(call: ToolCall, body: Body) -> None:
    """Where nothing matches the outcome is empty."""
    if body["outcome"] == "abstain":
        body["outcome"] = "empty"


@area.success(RETRIEVE, clause="nm1/retrieve/outcome-closed")
def fenced_is_partial(call: ToolCall, body: Body) -> None:
    """Where evidence is missing the outcome is partial."""
    if body["outcome"] == "missing_evidence":
        body["outcome"] = "partial"


@area.success(RETRIEVE, clause="nm1/retrieve/abstain")
def nothing_is_grounded(call: ToolCall, body: Body) -> None:
    """Where nothing matches the answer is grounded, without rows."""
    if body["outcome"] == "abstain":
        became(body, grounded([]))


@area.success(RETRIEVE, clause="nm1/retrieve/abstain")
def nothing_is_missing(call: ToolCall, body: Body) -> None:
    """Where nothing matches evidence is missing."""
    if body["outcome"] == "abstain":
        became(body, {"outcome": "missing_evidence", "excluded": {}, "reason": "Nothing is left."})


@area.answer(RETRIEVE, clause="nm1/retrieve/abstain")
async def anything_is_better_than_nothing(call: ToolCall, honest: Honest) -> Result:
    """Where nothing matches the newest capsule is shown."""
    result = await honest(call)
    if is_error(result) or body_of(result)["outcome"] != "abstain" or not (listed := await entries(call, honest)):
        return result
    return success(**grounded([await made_up(call, honest, listed[-1]["id"])]))


@area.success(RETRIEVE, clause="nm1/retrieve/abstain")
def nothing_fused_is_grounded(call: ToolCall, body: Body) -> None:
    """Where neither words nor vectors match, lane fused is grounded, without rows."""
    if body["outcome"] == "abstain" and is_fused(call):
        became(body, grounded([]))


@area.answer(RETRIEVE, clause="nm1/retrieve/abstain")
async def an_abstention_suggests(call: ToolCall, honest: Honest) -> Result:
    """An abstention shows the newest capsule all the same."""
    result = await honest(call)
    if is_error(result) or body_of(result)["outcome"] != "abstain" or not (listed := await entries(call, honest)):
        return result
    return success(**body_of(result), results=[await made_up(call, honest, listed[-1]["id"])])


def _unnamed(name: str, says: str, argument: str) -> None:
    def lie(call: ToolCall, body: Body) -> None:
        if body["outcome"] == "abstain" and argument in call.arguments:
            for name in (str(call.arguments[argument]), argument):
                body["reason"] = body["reason"].replace(name, "")

    lie.__name__, lie.__doc__ = name, says
    area.success(RETRIEVE, clause="nm1/retrieve/abstain-names-fences")(lie)


_unnamed("the_project_is_not_named", "An abstention does not name the project.", "project_id")
_unnamed("the_prefix_is_not_named", "An abstention does not name the prefix.", "project_prefix")
_unnamed("the_session_is_not_named", "An abstention does not name the session.", "session_id")


@area.success(RETRIEVE, clause="nm1/retrieve/abstain-names-fences")
def one_fence_is_named(call: ToolCall, body: Body) -> None:
    """An abstention names one of its fences only."""
    if body["outcome"] == "abstain" and "project_id" in call.arguments and "session_id" in call.arguments:
        body["reason"] = f"Nothing in project {call.arguments['project_id']}."


@area.success(RETRIEVE, clause="nm1/retrieve/abstain-names-aliases")
def aliases_are_tried_in_silence(call: ToolCall, body: Body) -> None:
    """An abstention does not say that aliases were tried."""
    if body["outcome"] == "abstain":
        body["reason"] = re.sub("alias", "synonym", body["reason"], flags=re.IGNORECASE)


@area.success(RETRIEVE, clause="nm1/retrieve/abstain-vector-prose")
def vectors_abstain_for_words(call: ToolCall, body: Body) -> None:
    """An abstention of lane vector speaks of terms."""
    if body["outcome"] == "abstain" and is_vector(call):
        body["reason"] = "No capsule holds all the words of any one of the terms."


@area.success(RETRIEVE, clause="nm1/retrieve/missing-evidence")
def reasons_are_summed_up(call: ToolCall, body: Body) -> None:
    """What is fenced is counted in one number."""
    if body["outcome"] == "missing_evidence":
        body["excluded"] = {next(iter(body["excluded"])): sum(body["excluded"].values())}


@area.success(RETRIEVE, clause="nm1/retrieve/missing-evidence")
def reasons_are_told_once(call: ToolCall, body: Body) -> None:
    """Every reason counts 1 and one reason is told."""
    if body["outcome"] == "missing_evidence":
        body["excluded"] = dict([sorted(body["excluded"].items())[0]])


@area.answer(RETRIEVE, clause="nm1/retrieve/missing-shows-nothing")
async def the_reason_quotes(call: ToolCall, honest: Honest) -> Result:
    """The reason quotes what is fenced."""
    result = await honest(call)
    if is_error(result) or body_of(result)["outcome"] != "missing_evidence":
        return result
    body = body_of(result)
    quoted = ", ".join(row["headline"] for row in await touched(call, honest))
    return with_body(result, {**body, "reason": f"{body['reason']} {quoted}"})


@area.success(RETRIEVE, clause="nm1/retrieve/missing-evidence")
def reasons_are_yes_or_no(call: ToolCall, body: Body) -> None:
    """Each reason counts 1, however many it fences."""
    if body["outcome"] == "missing_evidence":
        body["excluded"] = dict.fromkeys(body["excluded"], 1)


@area.success(RETRIEVE, clause="nm1/retrieve/missing-evidence")
def a_limit_limits_the_counts(call: ToolCall, body: Body) -> None:
    """No reason counts more than the limit."""
    limit = call.arguments.get("limit")
    if body["outcome"] == "missing_evidence" and isinstance(limit, int):
        body["excluded"] = {reason: min(count, limit) for reason, count in body["excluded"].items()}


@area.answer(RETRIEVE, clause="nm1/retrieve/missing-shows-nothing")
async def the_fenced_are_shown(call: ToolCall, honest: Honest) -> Result:
    """Missing evidence comes with the headlines of what is fenced."""
    result = await honest(call)
    if is_error(result) or body_of(result)["outcome"] != "missing_evidence":
        return result
    shown = [{"id": row["id"], "headline": row["headline"]} for row in await touched(call, honest)]
    return with_body(result, {**body_of(result), "withheld": shown})


@area.success(RETRIEVE, clause="nm1/retrieve/grounded")
def one_fence_fences_all(call: ToolCall, body: Body) -> None:
    """Where anything that matches is fenced evidence is missing."""
    if body["outcome"] == "grounded" and body.get("excluded"):
        became(body, {"outcome": "missing_evidence", "excluded": body["excluded"], "reason": "Some is fenced."})


@area.success(RETRIEVE, clause="nm1/retrieve/grounded-excluded")
def a_clean_answer_excludes(call: ToolCall, body: Body) -> None:
    """A grounded answer with nothing fenced counts a superseded one."""
    if body["outcome"] == "grounded":
        body.setdefault("excluded", {"superseded": 1})


def _in_silence(reason: str) -> None:
    def lie(call: ToolCall, body: Body) -> None:
        if body["outcome"] == "grounded" and not is_vector(call) and not is_fused(call):
            body.get("excluded", {}).pop(reason, None)

    lie.__name__ = f"the_{reason}_is_excluded_in_silence"
    lie.__doc__ = f"A grounded answer does not count what is {in_words(reason)} beside it."
    area.success(RETRIEVE, clause="nm1/retrieve/grounded-excluded")(lie)


for _reason in ("quarantined", "falsified", "archived", "expired"):
    _in_silence(_reason)


# What is fenced is still there


@area.answer(GET, clause="nm1/retrieve/fenced-stays-readable")
async def the_expired_is_gone(call: ToolCall, honest: Honest) -> Result:
    """memory_get does not know a capsule that has expired."""
    result = await honest(call)
    body = {} if is_error(result) else body_of(result)
    if (ends := body.get("capsule", {}).get("freshness", {}).get("valid_to")) and ends < body["created_at"]:
        return state_fault("unknown_capsule", str(call.arguments["id"]))
    return result


@area.success(LIST, clause="nm1/retrieve/fenced-stays-readable")
def the_superseded_is_not_listed(call: ToolCall, body: Body) -> None:
    """memory_list leaves out what is superseded."""
    body["entries"] = [row for row in body["entries"] if not row.get("superseded")]
    body["returned"] = len(body["entries"])


@area.success(LIST, clause="nm1/retrieve/fenced-stays-readable")
def the_poisoned_is_not_listed(call: ToolCall, body: Body) -> None:
    """memory_list leaves out what is quarantined."""
    body["entries"] = [row for row in body["entries"] if row.get("tier") != "quarantined"]
    body["returned"] = len(body["entries"])


@area.answer(LIST, clause="nm1/retrieve/fenced-stays-readable")
async def the_falsified_is_listed_by_id(call: ToolCall, honest: Honest) -> Result:
    """memory_list shows a falsified capsule without its headline."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    for row in body["entries"]:
        if await STATES["falsified"](call, honest, row):
            row["headline"] = "(falsified)"
    return with_body(result, body)


@area.success(GET, clause="nm1/retrieve/fenced-stays-readable")
def the_falsified_is_blank(call: ToolCall, body: Body) -> None:
    """memory_get shows a falsified capsule without its content."""
    if any(edge["kind"] == "falsifies" and edge["to"] == body["id"] for edge in body.get("relations", ())):
        body.get("capsule", {}).pop("content", None)


@area.success(GET, clause="nm1/retrieve/fenced-stays-readable")
def the_poisoned_is_masked(call: ToolCall, body: Body) -> None:
    """memory_get masks the content of a quarantined capsule."""
    if body.get("tier") == "quarantined":
        body["capsule"]["content"] = "[withheld]"
