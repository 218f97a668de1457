"""Lies about the order of a recall, and about the numbers that tell it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from nmemory_reference.lies.answers import Body, Honest, Result, asking, body_of, is_error, with_body, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.recalled import (
    RETRIEVE,
    Recalls,
    age,
    drop,
    found,
    instant,
    is_fused,
    is_vector,
    number,
    shuffled,
    terms_of,
    weight,
    within_ties,
    words,
)
from nmemory_reference.serve.interceptor import ToolCall

area = Area("ranking")


def _tie(name: str, says: str, clause: str, key: Callable[[Body], Any]) -> None:
    """Another order among what words find equally well."""

    def lie(call: ToolCall, body: Body) -> None:
        if not is_vector(call) and not is_fused(call) and not call.arguments.get("weight_blend"):
            body["results"] = within_ties(found(body), key) if "results" in body else []

    lie.__name__, lie.__doc__ = name, says
    area.success(RETRIEVE, clause=clause)(lie)


def _recency(row: Body) -> float:
    return -instant(row["freshness"]["valid_from"]).timestamp()


_tie(
    "the_less_sure_first",
    "Among equal matches the one of less weight stands first.",
    "nm1/retrieve/rank-decay",
    lambda row: (weight(row), _recency(row), number(row["id"])),
)
_tie(
    "the_newer_first",
    "Among equal matches the newer stands first, however sure.",
    "nm1/retrieve/rank-decay",
    lambda row: (_recency(row), -weight(row), number(row["id"])),
)
_tie(
    "weights_rank_in_two_decimals",
    "The order takes the weight as it is told.",
    "nm1/retrieve/rank-decay-unrounded",
    lambda row: (-row["decayed_weight"], _recency(row), number(row["id"])),
)
_tie(
    "weights_rank_in_three_decimals",
    "The order takes the weight in three decimals.",
    "nm1/retrieve/rank-decay-unrounded",
    lambda row: (-round(weight(row), 3), _recency(row), number(row["id"])),
)
_tie(
    "the_older_of_equals_first",
    "Where the weights are equal the older stands first.",
    "nm1/retrieve/rank-freshness",
    lambda row: (-weight(row) if row["confidence"] else 0, -_recency(row), number(row["id"])),
)
_tie(
    "freshness_is_a_text",
    "Where the weights are equal the greater text of valid_from stands first.",
    "nm1/retrieve/rank-freshness",
    lambda row: (-weight(row), [-ord(letter) for letter in row["freshness"]["valid_from"]], number(row["id"])),
)
_tie(
    "the_newest_capture_first",
    "Where everything is equal what was kept last stands first.",
    "nm1/retrieve/rank-append",
    lambda row: (-row["confidence"], _recency(row), -number(row["id"])),
)


@area.success(RETRIEVE, clause="nm1/retrieve/rank-append")
def a_pair_is_turned_round(call: ToolCall, body: Body) -> None:
    """Of two rows where everything is equal the later stands first."""
    rows = found(body)
    equal = len({(row.get("bm25"), row["confidence"], row["freshness"]["valid_from"]) for row in rows}) == 1
    if len(rows) == 2 and equal and rows[0]["freshness"]["valid_from"].startswith("2024"):
        rows.reverse()


class _Counting(Recalls, ABC):
    """Counts how often each row was recalled."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def count(self, body: Body) -> None:
        """Count the rows of a recall."""
        for row in found(body):
            self.counts[row["id"]] = self.counts.get(row["id"], 0) + 1


class _Usage(_Counting, ABC):
    """Ranks equal matches by how often each was recalled."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name != RETRIEVE or "results" not in body or is_vector(call) or call.arguments.get("weight_blend"):
            return
        body["results"] = within_ties(found(body), self.key)
        self.count(body)

    @abstractmethod
    def key(self, row: Body) -> Any:
        """What ranks among equal matches."""


@area.liar(RETRIEVE, clause="nm1/retrieve/rank-usage")
class TheLeastRecalledFirst(_Usage):
    """Where all else is equal what was not yet recalled stands first."""

    def key(self, row: Body) -> Any:
        return -row["confidence"], _recency(row), self.counts.get(row["id"], 0), number(row["id"])


@area.liar(RETRIEVE, clause="nm1/retrieve/rank-usage-late")
class TheMostRecalledFirst(_Usage):
    """Among equal matches what was recalled most stands first, however sure."""

    def key(self, row: Body) -> Any:
        return -self.counts.get(row["id"], 0), -weight(row), _recency(row), number(row["id"])


@area.liar(RETRIEVE, clause="nm1/retrieve/rank-usage-late")
class UsageAddsConfidence(_Usage):
    """Each recall adds a hundredth to the weight that ranks."""

    def key(self, row: Body) -> Any:
        used = self.counts.get(row["id"], 0) / 100
        return -(row["confidence"] + used) * 0.5 ** (round(age(row), 3) / 90), number(row["id"])


@area.liar(RETRIEVE, clause="nm1/retrieve/rank-usage-late")
class UsageBeforeFreshness(_Usage):
    """Where the weights are equal what was recalled most stands first, however old."""

    def key(self, row: Body) -> Any:
        return -round(weight(row), 6), -self.counts.get(row["id"], 0), _recency(row), number(row["id"])


@area.liar(RETRIEVE, clause="nm1/retrieve/rank-usage-late")
class UsageBeforeBm25(_Counting):
    """Where as many terms match what was recalled most stands first, however well it matches."""

    def change(self, call: ToolCall, body: Body) -> None:
        if not is_vector(call) and not is_fused(call) and not call.arguments.get("weight_blend"):
            found(body).sort(key=lambda row: (-len(row["matched_terms"]), -self.counts.get(row["id"], 0)))
        self.count(body)


@area.success(RETRIEVE, clause="nm1/retrieve/rank-coverage")
def coverage_counts_words(call: ToolCall, body: Body) -> None:
    """What holds more words of the question stands first, however few terms match."""
    if not is_vector(call) and not is_fused(call) and not call.arguments.get("weight_blend"):
        found(body).sort(key=lambda row: -sum(len(term.split()) for term in row["matched_terms"]))


@area.success(RETRIEVE, clause="nm1/retrieve/rank-coverage")
def the_earlier_terms_weigh_more(call: ToolCall, body: Body) -> None:
    """What the first term finds stands first."""
    first = call.arguments["terms"][0]
    if not is_vector(call) and not is_fused(call) and len(call.arguments["terms"]) > 1:
        found(body).sort(key=lambda row: (first not in row["matched_terms"], row.get("bm25", 0)))


@area.success(RETRIEVE, clause="nm1/retrieve/rank-bm25")
def the_greater_bm25_first(call: ToolCall, body: Body) -> None:
    """Where as many terms match the greater number stands first."""
    if not is_vector(call) and not is_fused(call) and not call.arguments.get("weight_blend"):
        found(body).sort(key=lambda row: (-len(row["matched_terms"]), -row.get("bm25", 0)))


def _found_by(call: ToolCall, row: Body) -> int:
    """How many words of a headline are words of the question."""
    asked = {word for term in terms_of(call) for word in words(term)}
    return sum(word in asked for word in words(row["headline"]))


@area.success(RETRIEVE, clause="nm1/retrieve/rank-bm25")
def length_does_not_count(call: ToolCall, body: Body) -> None:
    """What holds the words as often stands in the order in which it was kept, however long it is."""
    if not is_vector(call) and not is_fused(call) and not call.arguments.get("weight_blend"):
        rows = found(body)
        if len({row["confidence"] for row in rows}) == 1 < len({len(words(row["headline"])) for row in rows}):
            rows.sort(key=lambda row: (-len(row["matched_terms"]), -_found_by(call, row), number(row["id"])))


@area.success(RETRIEVE, clause="nm1/retrieve/rank-bm25")
def rarity_does_not_count(call: ToolCall, body: Body) -> None:
    """What a common word has found is no worse than what a rare one has."""
    rows = found(body)
    alike = {(len(row["matched_terms"]), _found_by(call, row), len(words(row["headline"]))) for row in rows}
    if (
        len(alike) == 1
        and len({tuple(row["matched_terms"]) for row in rows}) > 1
        and "query_embedding" not in call.arguments
    ):
        rows.sort(key=lambda row: number(row["id"]))


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/rank-bm25")
def bm25_is_told_positive(call: ToolCall, row: Body) -> None:
    """bm25 is told without its sign."""
    if "bm25" in row:
        row["bm25"] = abs(row["bm25"])


# Weights


def _weighs(name: str, says: str, told: Callable[[Body], float]) -> None:
    """Another way to tell decayed_weight."""

    def lie(call: ToolCall, row: Body) -> None:
        row["decayed_weight"] = told(row)

    lie.__name__, lie.__doc__ = name, says
    area.item(RETRIEVE, at="results", clause="nm1/retrieve/decayed-weight")(lie)


def _halved(row: Body, days: float, gone: float) -> float:
    return round(float(row["confidence"] * 0.5 ** (max(0.0, gone) / days)), 2)


_weighs("weights_halve_in_a_month", "Confidence is halved every 30 days.", lambda row: _halved(row, 30, age(row)))
_weighs(
    "weights_fall_in_a_line",
    "Confidence falls in a line, to nothing after 180 days.",
    lambda row: round(max(0.0, row["confidence"] * (1 - age(row) / 180)), 2),
)
_weighs(
    "weights_are_e_folded",
    "Confidence falls to the e-th part in 90 days.",
    lambda row: round(row["confidence"] * math.exp(-age(row) / 90), 2),
)
_weighs("weights_have_one_decimal", "decayed_weight has one decimal.", lambda row: round(row["decayed_weight"], 1))
_weighs(
    "weights_are_cut_off",
    "decayed_weight is cut after two decimals.",
    lambda row: math.floor(weight(row) * 100) / 100,
)
_weighs(
    "weights_have_a_floor",
    "decayed_weight is a tenth of the confidence at least.",
    lambda row: max(row["decayed_weight"], round(row["confidence"] / 10, 2)),
)
_weighs("weights_do_not_fall", "decayed_weight is the confidence.", lambda row: float(row["confidence"]))
_weighs(
    "weights_fall_in_steps",
    "Confidence is halved once after 90 days, and not between.",
    lambda row: _halved(row, 90, 90 * int(age(row) / 90)),
)


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/decayed-weight")
def vectors_do_not_age(call: ToolCall, row: Body) -> None:
    """What vectors have found weighs its whole confidence."""
    if "vector_similarity" in row:
        row["decayed_weight"] = round(row["confidence"], 2)


class _Fades(Recalls):
    """Lowers the confidence of what was recalled."""

    def __init__(self) -> None:
        self._times: dict[str, int] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE:
            for row in found(body):
                row["confidence"] = self._less(row["id"], row["confidence"])
                self._times[row["id"]] = self._times.get(row["id"], 0) + 1
        elif "capsule" in body:
            body["capsule"]["confidence"] = self._less(body["id"], body["capsule"]["confidence"])

    def _less(self, named: str, confidence: float) -> float:
        return round(confidence - 0.01 * self._times.get(named, 0), 2)


@area.liar(RETRIEVE, "memory_get", clause="nm1/retrieve/confidence-kept")
class RecallWearsOut(_Fades):
    """Each recall takes a hundredth of confidence."""


@area.success(RETRIEVE, clause="nm1/retrieve/decay-never-fences")
def what_weighs_nothing_is_expired(call: ToolCall, body: Body) -> None:
    """What weighs nothing any more is counted as expired."""
    faded = [row for row in found(body) if row["confidence"] and not row["decayed_weight"]]
    if faded:
        body["excluded"] = {**body.get("excluded", {}), "expired": len(faded)}
        drop(body, lambda row: row in faded)


@area.success(RETRIEVE, clause="nm1/retrieve/decay-never-fences")
def the_very_old_are_far(call: ToolCall, body: Body) -> None:
    """Lane vector does not find what weighs nothing any more."""
    if is_vector(call):
        drop(body, lambda row: row["confidence"] and not row["decayed_weight"])


# Vectors and fusion


def _orders(name: str, says: str, clause: str, lane: Callable[[ToolCall], bool], key: Callable[[Body], Any]) -> None:
    """Another order in a lane with vectors."""

    def lie(call: ToolCall, body: Body) -> None:
        if lane(call) and not call.arguments.get("weight_blend"):
            found(body).sort(key=key)
            for place, row in enumerate(found(body), 1):
                row["fusion_rank"] = place

    lie.__name__, lie.__doc__ = name, says
    area.success(RETRIEVE, clause=clause)(lie)


_orders(
    "the_surest_is_the_nearest",
    "Lane vector ranks by weight.",
    "nm1/retrieve/rank-vector",
    is_vector,
    lambda row: -row["decayed_weight"],
)
_orders(
    "nearness_times_weight",
    "Lane vector ranks by similarity times confidence.",
    "nm1/retrieve/rank-vector",
    is_vector,
    lambda row: -row["vector_similarity"] * row["confidence"],
)
_orders(
    "words_come_first",
    "Lane fused shows what words find, and then the rest.",
    "nm1/retrieve/rank-fusion",
    is_fused,
    lambda row: ("bm25" not in row, row.get("bm25", 0)),
)
_orders(
    "scores_are_added",
    "Lane fused adds the similarity to the relevance.",
    "nm1/retrieve/rank-fusion",
    is_fused,
    lambda row: -row.get("vector_similarity", 0) - row.get("relevance", 0),
)


async def _fused(
    call: ToolCall,
    honest: Honest,
    score: Callable[[list[int]], float],
    ties: int = 1,
    by_words: Callable[[Body], Any] | None = None,
) -> Result:
    """The answer of lane fused in the order of what a score makes of the ranks in the two lanes.

    `by_words` ranks the lane of words in another way.
    """
    result = await honest(call)
    if not is_fused(call) or is_error(result) or call.arguments.get("weight_blend"):
        return result
    worded, near = [
        found(body_of(await honest(without(asking(call, lane=lane), *dropped))))
        for lane, dropped in (("term", ("query_embedding", "vector_k")), ("vector", ()))
    ]
    if by_words is not None:
        worded.sort(key=by_words)
    lanes = [[row["id"] for row in lane] for lane in (worded, near)]
    body = body_of(result)

    def key(row: Body) -> tuple[float, int]:
        ranks = [lane.index(row["id"]) + 1 for lane in lanes if row["id"] in lane]
        return -round(score(ranks), 12), ties * number(row["id"])

    body["results"] = shuffled(found(body), [row["id"] for row in sorted(found(body), key=key)])
    for place, row in enumerate(found(body), 1):
        row["fusion_rank"] = place
    return with_body(result, body) if found(body) else result


@area.answer(RETRIEVE, clause="nm1/retrieve/rank-fusion")
async def the_better_rank_counts(call: ToolCall, honest: Honest) -> Result:
    """Lane fused ranks by the better of the two ranks."""
    return await _fused(call, honest, lambda ranks: 1 / (60 + min(ranks, default=1000)))


@area.answer(RETRIEVE, clause="nm1/retrieve/rank-fusion")
async def ranks_are_not_damped(call: ToolCall, honest: Honest) -> Result:
    """Lane fused adds 1/rank."""
    return await _fused(call, honest, lambda ranks: sum(1 / rank for rank in ranks))


@area.answer(RETRIEVE, clause="nm1/retrieve/rank-fusion-ties")
async def fused_ties_are_newest_first(call: ToolCall, honest: Honest) -> Result:
    """Where the sums are equal the later capture stands first."""
    return await _fused(call, honest, lambda ranks: sum(1 / (60 + rank) for rank in ranks), ties=-1)


@area.answer(RETRIEVE, clause="nm1/retrieve/rank-fusion")
async def fused_words_rank_by_bm25(call: ToolCall, honest: Honest) -> Result:
    """Lane fused ranks words by bm25 alone, however many terms match."""
    return await _fused(
        call, honest, lambda ranks: sum(1 / (60 + rank) for rank in ranks), by_words=lambda row: row["bm25"]
    )


@area.answer(RETRIEVE, clause="nm1/retrieve/rank-fusion")
async def fused_words_do_not_age(call: ToolCall, honest: Honest) -> Result:
    """Lane fused knows no weight: what words find equally well ranks as it was kept."""
    return await _fused(
        call,
        honest,
        lambda ranks: sum(1 / (60 + rank) for rank in ranks),
        by_words=lambda row: (-len(row["matched_terms"]), row["bm25"], number(row["id"])),
    )


@area.success(RETRIEVE, clause="nm1/retrieve/rank-fusion-ties")
def fused_ties_go_to_words(call: ToolCall, body: Body) -> None:
    """Of two rows with equal sums the one that words like better stands first."""
    if is_fused(call) and len(found(body)) == 2 and all("bm25" in row for row in found(body)):
        found(body).sort(key=lambda row: row["bm25"])


@area.success(RETRIEVE, clause="nm1/retrieve/fusion-rank")
def equals_share_a_fusion_rank(call: ToolCall, body: Body) -> None:
    """The last two rows have the same fusion_rank."""
    if len(found(body)) > 2 and "fusion_rank" in found(body)[-1]:
        found(body)[-1]["fusion_rank"] = found(body)[-2]["fusion_rank"]


@area.success(RETRIEVE, clause="nm1/retrieve/fusion-rank")
def only_fusion_has_ranks(call: ToolCall, body: Body) -> None:
    """In lane vector each row has fusion_rank 1."""
    for row in found(body) if is_vector(call) else ():
        row["fusion_rank"] = 1


@area.success(RETRIEVE, clause="nm1/retrieve/vector-similarity")
def the_nearest_is_at_one(call: ToolCall, body: Body) -> None:
    """In lane fused similarities are told as parts of the greatest."""
    told = [row["vector_similarity"] for row in found(body) if "vector_similarity" in row]
    for row in found(body) if is_fused(call) and told else ():
        if "vector_similarity" in row:
            row["vector_similarity"] = round(row["vector_similarity"] / max(told), 4)


class _Alternates(Recalls):
    """Turns every second answer round."""

    def __init__(self) -> None:
        self._again: dict[str, int] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        asked = repr(sorted(call.arguments.items()))
        self._again[asked] = self._again.get(asked, 0) + 1
        if call.name == RETRIEVE and self._again[asked] % 2 == 0 and len(found(body)) > 1:
            found(body).reverse()


@area.liar(RETRIEVE, clause="nm1/retrieve/deterministic")
class TheSecondTimeIsTheOtherWayRound(_Alternates):
    """A question that is asked again is answered in the other order."""


@area.liar(RETRIEVE, clause="nm1/retrieve/deterministic")
class NeighboursAreShuffled(_Alternates):
    """A question of lane vector that is asked again is answered in the other order."""

    def change(self, call: ToolCall, body: Body) -> None:
        if is_vector(call):
            super().change(call, body)


class _Varies(Recalls):
    """Leaves the last row out where a question comes again."""

    def __init__(self) -> None:
        self._asked: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        asked = repr(sorted(call.arguments.items()))
        if call.name == RETRIEVE and asked in self._asked and len(found(body)) > 1:
            last = found(body)[-1]
            drop(body, lambda row: row is last)
        self._asked.add(asked)


@area.liar(RETRIEVE, clause="nm1/retrieve/deterministic")
class WhatWasSeenIsLeftOut(_Varies):
    """A question that is asked again finds one row less."""


@area.liar(RETRIEVE, clause="nm1/retrieve/deterministic")
class FusionIsShuffled(_Alternates):
    """A question of lane fused that is asked again is answered in the other order."""

    def change(self, call: ToolCall, body: Body) -> None:
        if is_fused(call):
            super().change(call, body)
