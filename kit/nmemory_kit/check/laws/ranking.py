"""Laws about ranked rows: their weights, their order, and what they cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from fractions import Fraction
from typing import Any

from ...contract.template import NoSuchPlace, resolve
from ..answer import Answer
from ..broken import Broken
from ..vocabulary import parse_instant, show
from . import law
from .answers import same
from .budgets import CHARACTERS_A_TOKEN
from .places import Unfit, array_at, fitting, keys_of, saved_array

Json = Any

#: How far apart the kit's clock and the target's may be.
CLOCKS_APART = timedelta(minutes=2)
#: What a sum of doubles may be off.
_ROUNDING = 1e-9


@law("half-life")
@fitting
def half_life(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """In each item the number at ``weight`` is the one at ``full``, halved every ``days`` since ``since``.

    It is told with ``digits`` decimals, and counted until ``now``; what begins later has lost nothing.
    """
    place = args["items"]
    now = parse_instant(args["now"])
    items = array_at(answer.body, place)
    weights = keys_of(items, args["weight"], place)
    fulls = keys_of(items, args["full"], place)
    begins = keys_of(items, args["since"], place)
    for index, (weight, full, begin) in enumerate(zip(weights, fulls, begins, strict=True)):
        since = parse_instant(begin)
        if now is None or since is None or not _is_number(full) or not _is_number(weight):
            unfit = {args["weight"]: weight, args["full"]: full, args["since"]: begin}
            raise Unfit(Broken(f"{place}/{index}", "two numbers and an instant", show(unfit)))
        low, high = sorted(
            full * 0.5 ** (max((moment - since).total_seconds(), 0) / 86400 / args["days"])
            for moment in (now + CLOCKS_APART, now - CLOCKS_APART)
        )
        half = 0.5 * 10 ** -args["digits"] + _ROUNDING
        if not low - half <= weight <= high + half or abs(round(weight, args["digits"]) - weight) > _ROUNDING:
            expected = f"{(low + high) / 2:.6f}, rounded to {args['digits']} decimals"
            yield Broken(f"{place}/{index}{args['weight']}", expected, show(weight))


@law("rank-fusion")
@fitting
def rank_fusion(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The items are those of the saved arrays ``lanes``, by the sum of ``1/(k + rank)`` over the lanes, falling.

    Items are told apart by ``by``; ranks count from 1; ``ties`` lists what stands there in the order of equal sums.
    """
    place, by = args["items"], args["by"]
    items = keys_of(array_at(answer.body, place), by, place)
    lanes = [keys_of(saved_array(lane), by, "") for lane in args["lanes"]]
    order = [key for key in args["ties"] if any(same(key, one) for lane in lanes for one in lane)]
    expected = sorted(order, key=lambda key: -sum(_share(key, lane, args["k"]) for lane in lanes))
    if len(items) != len(expected) or not all(map(same, items, expected)):
        yield Broken(place, show(expected), show(items))


@law("rows-fit")
@fitting
def rows_fit(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The items at ``items`` fit into ``tokens``, at four characters a token of their JSON, unless there is only one.

    Only ``members`` are counted, at any depth: what a server adds to its rows is its own matter. ``share`` is how much
    more than that they may cost: a server may count tokens otherwise.
    """
    items = array_at(answer.body, args["items"])
    members = frozenset(args["members"])
    texts = [json.dumps(_only(item, members), ensure_ascii=False, separators=(",", ":")) for item in items]
    cost = sum(-(-len(text) // CHARACTERS_A_TOKEN) for text in texts)
    if len(items) > 1 and cost > args["tokens"] * (1 + args["share"]):
        yield Broken(args["items"], f"rows of {args['tokens']} tokens at most", f"{len(items)} rows of about {cost}")


@law("ranks-count")
@fitting
def ranks_count(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The numbers at ``rank`` of the items at ``items`` are 1, 2, 3... in their order."""
    place = args["items"]
    for index, item in enumerate(array_at(answer.body, place)):
        try:
            rank = resolve(item, args["rank"])
        except NoSuchPlace:
            rank = None
        if not _is_number(rank) or rank != index + 1:
            yield Broken(f"{place}/{index}{args['rank']}", show(index + 1), "nothing" if rank is None else show(rank))


def _only(value: Json, members: frozenset[str]) -> Json:
    """A value without the members of objects that are not named."""
    if isinstance(value, Mapping):
        return {name: _only(item, members) for name, item in value.items() if name in members}
    return [_only(item, members) for item in value] if isinstance(value, list) else value


def _share(key: Json, lane: Sequence[Json], k: int) -> Fraction:
    rank = next((rank for rank, one in enumerate(lane, 1) if same(one, key)), None)
    return Fraction(0) if rank is None else Fraction(1, k + rank)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
