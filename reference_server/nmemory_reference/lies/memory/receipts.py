"""Lies about what a recall leaves behind: misses, receipts, weights and counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from nmemory_reference.lies.answers import Body, Honest, Result, asking, body_of, is_error, with_body, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import state_fault
from nmemory_reference.lies.memory.recalled import (
    PLENTY,
    RETRIEVE,
    Recalls,
    became,
    drop,
    folded,
    found,
    is_fused,
    is_vector,
    missing,
    show_or_leave,
    shuffled,
    terms_of,
)
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("receipts")

DIGEST = "memory_digest"
OUTCOME = "memory_outcome"
CONSOLIDATE = "memory_consolidate"


# Misses


class _Misses(Recalls, ABC):
    """Counts misses in its own way."""

    def __init__(self) -> None:
        self._more = 0

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE:
            self._more += self.more(call, body)
        elif call.name == DIGEST:
            body["recall_misses"] = max(0, body["recall_misses"] + self._more)

    @abstractmethod
    def more(self, call: ToolCall, body: Body) -> int:
        """How many misses it counts beyond what the reference does."""


def _counts(name: str, says: str, clause: str, more: Callable[[ToolCall, Body], int]) -> None:
    made = type(name, (_Misses,), {"__doc__": says, "more": lambda self, call, body: more(call, body)})
    area.liar(RETRIEVE, DIGEST, clause=clause)(made)


_counts(
    "AMissIsAQuestion",
    "A recall of two terms that finds nothing leaves one miss.",
    "nm1/retrieve/miss-recorded",
    lambda call, body: 1 - len(terms_of(call)) if body["outcome"] == "abstain" and not is_vector(call) else 0,
)
_counts(
    "TheFencedIsNoMiss",
    "A recall that finds only what is fenced leaves no miss.",
    "nm1/retrieve/miss-recorded",
    lambda call, body: -len(terms_of(call)) if body["outcome"] == "missing_evidence" and not is_vector(call) else 0,
)
_counts(
    "EachTermMissesForItself",
    "A term that finds nothing leaves a miss beside one that hits.",
    "nm1/retrieve/miss-not-on-hit",
    lambda call, body: (
        len(set(terms_of(call)) - {term for row in found(body) for term in row["matched_terms"]})
        if found(body) and not is_vector(call) and not is_fused(call)
        else 0
    ),
)
_counts(
    "ABudgetOfNothingMisses",
    "A recall whose budget leaves no rows leaves a miss.",
    "nm1/retrieve/miss-not-on-hit",
    lambda call, body: int(body["outcome"] == "grounded" and call.arguments.get("token_budget") == 0),
)
_counts(
    "VectorsMissWhenTheyFail",
    "An abstention of lane vector leaves a miss.",
    "nm1/retrieve/miss-not-vector",
    lambda call, body: int(is_vector(call) and body["outcome"] == "abstain"),
)
_counts(
    "VectorsMissWhatWordsMiss",
    "Lane vector leaves a miss where it finds something.",
    "nm1/retrieve/miss-not-vector",
    lambda call, body: int(is_vector(call) and body["outcome"] == "grounded"),
)
_counts(
    "WhatVectorsGroundIsNoMiss",
    "A fused recall that vectors ground leaves no miss.",
    "nm1/retrieve/miss-fused",
    lambda call, body: -int(is_fused(call) and bool(found(body)) and all("bm25" not in row for row in found(body))),
)
_counts(
    "VectorsMissWhatIsFenced",
    "Lane vector leaves a miss where it finds only what is fenced.",
    "nm1/retrieve/miss-not-vector",
    lambda call, body: int(is_vector(call) and body["outcome"] == "missing_evidence"),
)
_counts(
    "FencedWordsBesideVectorsAreNoMiss",
    "A fused recall that vectors ground leaves no miss where its words found only what is fenced.",
    "nm1/retrieve/miss-fused",
    lambda call, body: (
        -int(is_fused(call) and bool(body.get("excluded")) and all("bm25" not in row for row in found(body)))
        if found(body)
        else 0
    ),
)
_counts(
    "FusionAlwaysMisses",
    "A fused recall leaves a miss, though its words hit.",
    "nm1/retrieve/miss-fused",
    lambda call, body: int(is_fused(call) and any("bm25" in row for row in found(body))),
)


@area.liar(RETRIEVE, DIGEST, CONSOLIDATE, clause="nm1/retrieve/miss-recorded")
class MissesAreKeptAsSent(Recalls):
    """The miss ledger keeps the terms as they were sent."""

    def __init__(self) -> None:
        self._sent: dict[str, str] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE:
            self._sent.update({folded(term): term for term in terms_of(call)})
        elif call.name == DIGEST:
            for miss in body.get("recent_failures", {}).get("recall_misses", ()):
                miss["term"] = self._sent.get(miss["term"], miss["term"])
        elif call.name == CONSOLIDATE:
            for proposal in body["plan"]["alias_proposals"]:
                proposal["term"] = self._sent.get(proposal["term"], proposal["term"])


# Receipts


@area.success(RETRIEVE, clause="nm1/retrieve/receipt")
def one_row_has_no_receipt(call: ToolCall, body: Body) -> None:
    """A recall of one row has no receipt."""
    if len(found(body)) == 1:
        body.pop("receipt_id", None)


@area.answer(OUTCOME, clause="nm1/retrieve/receipt")
async def receipts_are_for_show(call: ToolCall, honest: Honest) -> Result:
    """memory_outcome knows no receipt of recall."""
    receipt = call.arguments.get("receipt_id")
    return state_fault("receipt", receipt) if isinstance(receipt, str) else await honest(call)


class _SameReceipt(Interceptor):
    """Gives one receipt to the same question."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != RETRIEVE or is_error(result) or "receipt_id" not in body_of(result):
            return result
        body = body_of(result)
        asked = repr(sorted(call.arguments.items()))
        body["receipt_id"] = self._given.setdefault(asked, body["receipt_id"])
        return with_body(result, body)


@area.liar(RETRIEVE, clause="nm1/retrieve/receipt-own")
class TheSameQuestionHasTheSameReceipt(_SameReceipt):
    """A question that is asked again has the receipt of the first time."""


async def _all(call: ToolCall, honest: Honest) -> Result:
    """The answer to a call with a limit, made from one without."""
    limit = call.arguments.get("limit")
    result = await honest(without(call, "limit"))
    if type(limit) is not int or is_error(result) or len(found(body_of(result))) <= limit:
        return await honest(call) if type(limit) is int else result
    body = body_of(result)
    gone = len(found(body)) - limit
    body.update({"results": found(body)[:limit], "returned": limit, "trimmed": gone, "trimmed_by_limit": gone})
    return with_body(result, body)


@area.answer(RETRIEVE, clause="nm1/retrieve/receipt-rows", also={"nm1/retrieve/usage-counted"})
async def a_receipt_is_for_all_that_matched(call: ToolCall, honest: Honest) -> Result:
    """A score moves what the limit cut off as well."""
    return await _all(call, honest) if "limit" in call.arguments else await honest(call)


@area.answer(RETRIEVE, clause="nm1/retrieve/receipt-rows")
async def a_receipt_knows_no_budget(call: ToolCall, honest: Honest) -> Result:
    """A score moves what the budget cut off as well."""
    whole = await honest(without(call, "token_budget"))
    if call.arguments.get("token_budget") != 1 or is_error(whole) or len(found(body_of(whole))) < 2:
        return await honest(call)
    body = body_of(whole)
    gone = len(found(body)) - 1
    body.update({"results": found(body)[:1], "returned": 1, "trimmed": gone, "trimmed_by_budget": gone})
    return with_body(whole, body)


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/receipt-rows")
def scores_move_nothing(call: ToolCall, row: Body) -> None:
    """A weight above a half falls back to it."""
    if row.get("feedback_weight", 0) > 0.5:
        row["feedback_weight"] = 0.5


# Blending


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/blend-shows-weight")
def the_neutral_weight_is_not_told(call: ToolCall, row: Body) -> None:
    """A row that was never scored shows no feedback_weight."""
    if row.get("feedback_weight") == 0.5:
        del row["feedback_weight"]


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/blend-shows-weight")
def weights_are_from_minus_1_to_1(call: ToolCall, row: Body) -> None:
    """feedback_weight is told around 0."""
    if "feedback_weight" in row:
        row["feedback_weight"] = round(row["feedback_weight"] * 2 - 1, 2)


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/blend-shows-weight")
def weights_are_coarse(call: ToolCall, row: Body) -> None:
    """feedback_weight has one decimal."""
    if "feedback_weight" in row:
        row["feedback_weight"] = round(row["feedback_weight"] - 0.001, 1)


@area.success(RETRIEVE, clause="nm1/retrieve/blend-dormant")
def weights_are_always_told(call: ToolCall, body: Body) -> None:
    """Without a blend too each row shows a feedback_weight."""
    for row in found(body):
        row.setdefault("feedback_weight", 0.5)


@area.asking(RETRIEVE, clause="nm1/retrieve/blend-dormant")
def no_blend_is_a_full_one(call: ToolCall) -> ToolCall:
    """weight_blend 0 is taken for 1."""
    return asking(call, weight_blend=1) if call.arguments.get("weight_blend") == 0 else call


async def _unblended(call: ToolCall, honest: Honest) -> list[str]:
    """The ids of the answer without the blend."""
    return [row["id"] for row in found(body_of(await honest(without(call, "weight_blend"))))]


def _blend(call: ToolCall) -> float:
    blend = call.arguments.get("weight_blend")
    return blend if isinstance(blend, int | float) and 0 < blend <= 1 else 0


@area.answer(RETRIEVE, clause="nm1/retrieve/blend-reorders")
async def weights_are_told_and_not_used(call: ToolCall, honest: Honest) -> Result:
    """A blend shows weights, and leaves the order."""
    result = await honest(call)
    if not _blend(call) or is_error(result):
        return result
    body = body_of(result)
    show_or_leave(body, shuffled(found(body), await _unblended(call, honest)))
    return with_body(result, body)


@area.answer(RETRIEVE, clause="nm1/retrieve/blend-reorders")
async def fused_rows_are_not_blended(call: ToolCall, honest: Honest) -> Result:
    """In lane fused a blend shows weights, and leaves the order."""
    return await weights_are_told_and_not_used(call, honest) if is_fused(call) else await honest(call)


async def _scored(call: ToolCall, honest: Honest, score: Callable[[int, float, float], float]) -> Result:
    """The answer to a call with a blend, in the order of what a score makes of rank, weight and blend."""
    result = await honest(call)
    if not (blend := _blend(call)) or is_error(result):
        return result
    body = body_of(result)
    ranks = {named: rank for rank, named in enumerate(await _unblended(call, honest), 1)}
    rows = sorted(found(body), key=lambda row: -score(ranks[row["id"]], row["feedback_weight"], blend))
    show_or_leave(body, rows)
    return with_body(result, body)


@area.answer(RETRIEVE, clause="nm1/retrieve/blend-reorders")
async def weights_come_first(call: ToolCall, honest: Honest) -> Result:
    """With a blend the weight ranks first."""
    return await _scored(call, honest, lambda rank, weight, blend: weight - rank / 1000)


@area.answer(RETRIEVE, clause="nm1/retrieve/blend-reorders")
async def only_the_bad_moves(call: ToolCall, honest: Honest) -> Result:
    """A weight above a half raises nothing."""
    return await _scored(call, honest, lambda rank, weight, blend: (1 + blend * (min(weight, 0.5) - 0.5)) / (60 + rank))


@area.answer(RETRIEVE, clause="nm1/retrieve/blend-reorders")
async def blends_are_all_or_nothing(call: ToolCall, honest: Honest) -> Result:
    """Every blend above 0 is a full one."""
    return await _scored(call, honest, lambda rank, weight, blend: (1 + weight - 0.5) / (60 + rank))


@area.answer(RETRIEVE, clause="nm1/retrieve/blend-reorders")
async def blends_count_from_rank_0(call: ToolCall, honest: Honest) -> Result:
    """A blend adds the weight to the reciprocal rank."""
    return await _scored(call, honest, lambda rank, weight, blend: 1 / (60 + rank) + blend * (weight - 0.5))


@area.success(RETRIEVE, clause="nm1/retrieve/blend-order-only")
def blends_bring_back(call: ToolCall, body: Body) -> None:
    """With a blend what is superseded is counted as archived."""
    excluded = body.get("excluded", {})
    if _blend(call) and "superseded" in excluded:
        excluded["archived"] = excluded.pop("superseded")


@area.success(RETRIEVE, clause="nm1/retrieve/blend-order-only", also={"nm1/retrieve/grounded-excluded"})
def blends_exclude_in_silence(call: ToolCall, body: Body) -> None:
    """With a blend a grounded answer does not count what is fenced."""
    if _blend(call) and body["outcome"] == "grounded":
        body.pop("excluded", None)


@area.answer(RETRIEVE, clause="nm1/retrieve/blend-order-only")
async def a_blend_looks_further(call: ToolCall, honest: Honest) -> Result:
    """A blend of 1 where nothing matches tells what the project has."""
    result = await honest(call)
    if not _blend(call) or is_error(result) or body_of(result)["outcome"] != "abstain":
        return result
    body = body_of(result)
    became(body, missing({"superseded": 1}))
    return with_body(result, body)


@area.success(RETRIEVE, clause="nm1/retrieve/blend-order-only", also={"nm1/retrieve/blend-reorders"})
def the_badly_scored_is_left_out(call: ToolCall, body: Body) -> None:
    """With a full blend what was scored badly is not shown."""
    if _blend(call) == 1:
        drop(body, lambda row: len(found(body)) > 2 and row.get("feedback_weight", 0.5) < 0.5)


@area.answer(RETRIEVE, clause="nm1/retrieve/blend-range")
async def a_large_blend_is_none(call: ToolCall, honest: Honest) -> Result:
    """A blend above 1 is passed over."""
    blend = call.arguments.get("weight_blend")
    large = isinstance(blend, int | float) and blend > 1
    return await honest(without(call, "weight_blend") if large else call)


@area.asking(RETRIEVE, clause="nm1/retrieve/blend-range")
def a_negative_blend_is_turned_round(call: ToolCall) -> ToolCall:
    """The sign of a blend is passed over."""
    blend = call.arguments.get("weight_blend")
    return asking(call, weight_blend=abs(blend)) if isinstance(blend, int | float) and blend < 0 else call


# Usage


@area.answer(RETRIEVE, clause="nm1/retrieve/usage-counted")
async def what_was_cut_off_is_used(call: ToolCall, honest: Honest) -> Result:
    """What the limit cut off counts as recalled."""
    result = await honest(call)
    if "limit" in call.arguments and not is_error(result):
        await honest(asking(without(call, "limit"), token_budget=PLENTY))
    return result


@area.answer(RETRIEVE, clause="nm1/retrieve/usage-counted")
async def what_was_not_afforded_is_used(call: ToolCall, honest: Honest) -> Result:
    """What the budget cut off counts as recalled."""
    result = await honest(call)
    if call.arguments.get("token_budget") == 1 and not is_error(result):
        await honest(asking(call, token_budget=PLENTY))
    return result


@area.item(DIGEST, at="most_recalled", clause="nm1/retrieve/usage-counted")
def usage_is_yes_or_no(call: ToolCall, row: Body) -> None:
    """recall_count is 1, however often."""
    row["recall_count"] = 1


@area.liar(RETRIEVE, DIGEST, clause="nm1/retrieve/usage-counted")
class OnlyTheTopRowIsUsed(Recalls):
    """Only the first row of a recall counts as recalled."""

    def __init__(self) -> None:
        self._first: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE:
            self._first |= {row["id"] for row in found(body)[:1]}
        elif call.name == DIGEST:
            body["most_recalled"] = [row for row in body["most_recalled"] if row["id"] in self._first]
            if "most_recalled_total" in body:
                body["most_recalled_total"] = min(body["most_recalled_total"], len(body["most_recalled"]))
