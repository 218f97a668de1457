"""Lies about the token budget of recall: what is packed, and what is said of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from nmemory_reference.lies.answers import Body, Honest, Result, body_of, is_error, with_body, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.verbs.answers import failure
from nmemory_reference.serve.interceptor import ToolCall
from nmemory_reference.verbs.budget import tokens

area = Area("budget")


@dataclass(slots=True)
class Packing:
    """What a budget has to do with: everything there is, each item with its cost, in order."""

    budget: int
    facts: list[Body]
    results: list[Body]

    def cost(self, item: Body) -> int:
        """The honest cost of a fact or a result."""
        return tokens(item["fact"]) if "fact" in item else tokens(item["title"], item["chunk"])

    def costs(self, items: Sequence[Body]) -> int:
        """The honest cost of some of them."""
        return sum(map(self.cost, items))

    def prefix(self, items: Sequence[Body], budget: int) -> list[Body]:
        """The first ones that fit."""
        kept: list[Body] = []
        for item in items:
            if self.costs(kept) + self.cost(item) > budget:
                break
            kept.append(item)
        return kept


#: Which facts and results are kept.
Packer = Callable[[Packing], tuple[list[Body], list[Body]]]
PackerT = TypeVar("PackerT", bound=Packer)


def packs(*, clause: str, also: Sequence[str] = ()) -> Callable[[PackerT], PackerT]:
    """A lie that packs another way, and says truly what it packed."""

    def decorate(packer: PackerT) -> PackerT:
        answer = _packing(packer)
        answer.__name__, answer.__doc__ = packer.__name__, packer.__doc__
        area.answer("recall", clause=clause, also=also)(answer)
        return packer

    return decorate


def _packing(packer: Packer) -> Callable[[ToolCall, Honest], Awaitable[Result]]:
    async def answer(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        budget = call.arguments.get("budget_tokens")
        if is_error(result) or not isinstance(budget, int):
            return result
        body, whole = body_of(result), body_of(await honest(without(call, "budget_tokens")))
        packing = Packing(budget, whole["facts"], whole.get("results", []))
        facts, results = packer(packing)
        body["facts"], body["total"] = facts, len(facts)
        if "results" in body:
            body["results"] = results
        body["budget_used"] = packing.costs([*facts, *results])
        body["dropped_count"] = len(packing.facts) + len(packing.results) - len(facts) - len(results)
        return with_body(result, body)

    return answer


@packs(clause="mv1/recall/budget-hard-cap")
def goes_one_item_over(packing: Packing) -> tuple[list[Body], list[Body]]:
    """The item that reaches the cap is still packed."""
    facts = packing.prefix(packing.facts, packing.budget)
    if len(facts) < len(packing.facts) and facts:
        return packing.facts[: len(facts) + 1], []
    return facts, packing.prefix(packing.results, packing.budget - packing.costs(facts))


@packs(clause="mv1/recall/budget-prefix")
def first_fit(packing: Packing) -> tuple[list[Body], list[Body]]:
    """What does not fit is left out, and what comes after it is tried."""
    left = packing.budget
    kept: list[Body] = []
    for item in (*packing.facts, *packing.results):
        if packing.cost(item) <= left:
            kept.append(item)
            left -= packing.cost(item)
    return [item for item in kept if "fact" in item], [item for item in kept if "fact" not in item]


@packs(clause="mv1/recall/budget-prefix")
def shortest_fit(packing: Packing) -> tuple[list[Body], list[Body]]:
    """The shortest facts are packed first, and shown in order."""
    chosen = packing.prefix(sorted(packing.facts, key=packing.cost), packing.budget)
    facts = [fact for fact in packing.facts if fact in chosen]
    return facts, packing.prefix(packing.results, packing.budget - packing.costs(facts))


@packs(clause="mv1/recall/budget-prefix")
def oldest_are_packed(packing: Packing) -> tuple[list[Body], list[Body]]:
    """The oldest facts are packed first."""
    facts = packing.prefix(packing.facts[::-1], packing.budget)[::-1]
    return facts, packing.prefix(packing.results, packing.budget - packing.costs(facts))


@packs(clause="mv1/recall/budget-facts-first")
def results_first(packing: Packing) -> tuple[list[Body], list[Body]]:
    """Results are packed first, and facts take what they leave."""
    results = packing.prefix(packing.results, packing.budget)
    return packing.prefix(packing.facts, packing.budget - packing.costs(results)), results


@packs(clause="mv1/recall/budget-facts-first")
def half_for_each(packing: Packing) -> tuple[list[Body], list[Body]]:
    """Facts and results get half of the budget each, where there are both."""
    share = packing.budget // 2 if packing.facts and packing.results else packing.budget
    return packing.prefix(packing.facts, share), packing.prefix(packing.results, share)


@packs(clause="mv1/recall/budget-hard-cap", also=["mv1/recall/budget-facts-first"])
def whole_for_each(packing: Packing) -> tuple[list[Body], list[Body]]:
    """Facts and results get the whole budget each."""
    return packing.prefix(packing.facts, packing.budget), packing.prefix(packing.results, packing.budget)


@packs(clause="mv1/recall/budget-too-small", also=["mv1/recall/budget-hard-cap"])
def always_one(packing: Packing) -> tuple[list[Body], list[Body]]:
    """The first fact is answered whatever it costs."""
    facts = packing.prefix(packing.facts, packing.budget) or packing.facts[:1]
    return facts, packing.prefix(packing.results, packing.budget - packing.costs(facts))


@packs(clause="mv1/recall/budget-too-small")
def results_for_nothing(packing: Packing) -> tuple[list[Body], list[Body]]:
    """Results are answered where no fact fits, as if they cost nothing."""
    facts = packing.prefix(packing.facts, packing.budget)
    return facts, packing.results if not facts else packing.prefix(
        packing.results, packing.budget - packing.costs(facts)
    )


@packs(clause="mv1/recall/budget-monotonic")
def more_gives_less(packing: Packing) -> tuple[list[Body], list[Body]]:
    """A budget that holds everything but a little more is used up to a half."""
    facts = packing.prefix(packing.facts, packing.budget)
    if len(facts) == len(packing.facts) and len(facts) > 1 and packing.budget < 2 * packing.costs(facts):
        facts = facts[: len(facts) // 2]
    return facts, packing.prefix(packing.results, packing.budget - packing.costs(facts))


@packs(clause="mv1/recall/budget-monotonic", also=["mv1/recall/budget-accounting"])
def large_budgets_are_refused(packing: Packing) -> tuple[list[Body], list[Body]]:
    """A budget above 4,000 is taken for none."""
    if packing.budget > 4000:
        return [], []
    facts = packing.prefix(packing.facts, packing.budget)
    return facts, packing.prefix(packing.results, packing.budget - packing.costs(facts))


@area.success("recall", clause="mv1/recall/budget-absent")
def fields_are_always_there(call: ToolCall, body: Body) -> None:
    """Without a budget the three fields are there, as zeros."""
    for name in ("budget_tokens", "budget_used", "dropped_count"):
        body.setdefault(name, 0)


@area.success("recall", clause="mv1/recall/budget-absent")
def fields_are_null(call: ToolCall, body: Body) -> None:
    """Without a budget dropped_count is null."""
    body.setdefault("dropped_count", None)


@area.success("recall", clause="mv1/recall/budget-absent")
def used_without_a_budget(call: ToolCall, body: Body) -> None:
    """Without a budget budget_used tells the size of the answer."""
    body.setdefault("budget_used", sum(tokens(fact["fact"]) for fact in body["facts"]))


@area.success("recall", clause="mv1/recall/budget-echo")
def echoes_what_was_used(call: ToolCall, body: Body) -> None:
    """budget_tokens is what was used."""
    if "budget_used" in body:
        body["budget_tokens"] = body["budget_used"]


@area.success("recall", clause="mv1/recall/budget-echo")
def echoes_a_default(call: ToolCall, body: Body) -> None:
    """budget_tokens is at least 100."""
    if "budget_tokens" in body:
        body["budget_tokens"] = max(100, body["budget_tokens"])


@area.success("recall", clause="mv1/recall/budget-echo")
def echoes_nothing(call: ToolCall, body: Body) -> None:
    """budget_tokens is left out."""
    body.pop("budget_tokens", None)


@area.success("recall", clause="mv1/recall/budget-hard-cap")
def used_is_one_more_than_allowed(call: ToolCall, body: Body) -> None:
    """budget_used is one above the budget."""
    if "budget_used" in body:
        body["budget_used"] = body["budget_tokens"] + 1


@area.success("recall", clause="mv1/recall/budget-hard-cap")
def used_is_what_is_left(call: ToolCall, body: Body) -> None:
    """Where nothing fits budget_used is below zero."""
    if "budget_used" in body and not body["budget_used"]:
        body["budget_used"] = -1


@area.success("recall", clause="mv1/recall/budget-too-small")
def nothing_was_dropped(call: ToolCall, body: Body) -> None:
    """Where nothing fits dropped_count is 0."""
    if "budget_used" in body and not body["facts"]:
        body["dropped_count"] = 0


@area.answer("recall", clause="mv1/recall/budget-too-small", also={"mv1/error/closed-set"})
async def too_small_is_an_error(call: ToolCall, honest: Honest) -> Result:
    """A budget in which nothing fits is refused with budget_unsatisfiable."""
    result = await honest(call)
    if is_error(result) or "budget_tokens" not in call.arguments:
        return result
    body = body_of(result)
    if not body["facts"] and body["dropped_count"]:
        return failure("budget_unsatisfiable", "the budget is too small")
    return result


@area.success("recall", clause="mv1/recall/budget-accounting")
def one_more_was_dropped(call: ToolCall, body: Body) -> None:
    """dropped_count is one too many."""
    if body.get("dropped_count"):
        body["dropped_count"] += 1


@area.success("recall", clause="mv1/recall/budget-accounting")
def one_less_was_dropped(call: ToolCall, body: Body) -> None:
    """dropped_count is one too few."""
    if body.get("dropped_count"):
        body["dropped_count"] -= 1


@area.success("recall", clause="mv1/recall/budget-accounting")
def dropped_is_yes_or_no(call: ToolCall, body: Body) -> None:
    """dropped_count is 1 if anything was dropped."""
    if "dropped_count" in body:
        body["dropped_count"] = min(1, body["dropped_count"])


@area.answer("recall", clause="mv1/recall/budget-accounting")
async def dropped_results_do_not_count(call: ToolCall, honest: Honest) -> Result:
    """dropped_count counts facts only."""
    result = await honest(call)
    if is_error(result) or "budget_tokens" not in call.arguments:
        return result
    body, whole = body_of(result), body_of(await honest(without(call, "budget_tokens")))
    return with_body(result, {**body, "dropped_count": whole["total"] - body["total"]})


@area.success("recall", clause="mv1/recall/budget-estimator")
def used_is_half(call: ToolCall, body: Body) -> None:
    """budget_used tells half of what was used."""
    if "budget_used" in body:
        body["budget_used"] //= 2


@area.success("recall", clause="mv1/recall/budget-estimator")
def used_is_always_all(call: ToolCall, body: Body) -> None:
    """budget_used is the whole budget."""
    if "budget_used" in body:
        body["budget_used"] = body["budget_tokens"]


@area.success("recall", clause="mv1/recall/budget-estimator")
def used_counts_items(call: ToolCall, body: Body) -> None:
    """budget_used counts items, not tokens."""
    if "budget_used" in body:
        body["budget_used"] = len(body["facts"]) + len(body.get("results", ()))


@area.answer("recall", clause="mv1/recall/budget-too-small")
async def zero_is_no_budget(call: ToolCall, honest: Honest) -> Result:
    """A budget of 0 is taken for none, and said to be kept."""
    if call.arguments.get("budget_tokens") != 0:
        return await honest(call)
    result = await honest(without(call, "budget_tokens"))
    if is_error(result):
        return result
    return with_body(result, {**body_of(result), "budget_tokens": 0, "budget_used": 0, "dropped_count": 0})
