"""One double at a time: what becomes of a lie, a variant, a null double."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from nmemory_kit.contract.pack import Pack, load_pack
from nmemory_kit.prove import Cast, Evidence, Fate, LieTrial, NullTrial, VariantTrial
from nmemory_kit.prove.trial import try_kin, try_lie, try_null, try_variant, waits
from nmemory_reference.lies import Area, Body, Interceptor, Lie, Result, RpcFault, ToolCall, Variant, text_result

FULL = {"surface": "full"}


def tried(small: Pack, lie: Lie) -> LieTrial:
    return asyncio.run(try_lie(lie, Cast(small, config=FULL)))


def certified(small: Pack, variant: Variant) -> VariantTrial:
    return asyncio.run(try_variant(variant, Cast(small, config=FULL)))


def believed(small: Pack, null: Variant) -> NullTrial:
    return asyncio.run(try_null(null, Cast(small, config=FULL)))


def never_expires(clause: str, **terms: str) -> Lie:
    area = Area("mine")

    @area.success("forget", clause=clause, **terms)  # type: ignore[arg-type]
    def nothing_was_forgotten(call: ToolCall, body: Body) -> None:
        """Says that nothing was forgotten."""
        body["expired"] = False

    return area.lies[0]


def test_a_lie_that_a_finding_names_is_caught_by_the_first_case(small: Pack) -> None:
    trial = tried(small, never_expires("mv1/forget/idempotent"))
    assert (trial.fate, trial.good, trial.cases) == (Fate.CAUGHT, True, 1)
    assert trial.evidence is not None
    assert (trial.evidence.case, trial.evidence.pointer) == ("memory-verbs/v1/forget-idempotent", "/expired")


def test_a_lie_that_only_another_clause_tells_is_found_elsewhere(small: Pack) -> None:
    trial = tried(small, never_expires("mv1/recall/newest-first"))
    assert (trial.fate, trial.good, trial.reason) == (Fate.ELSEWHERE, False, None)
    assert trial.cases == len(small.cases)


def test_a_reason_excuses_what_is_found_elsewhere(small: Pack) -> None:
    trial = tried(small, never_expires("mv1/recall/newest-first", elsewhere="nothing shows it"))
    assert (trial.fate, trial.good, trial.reason) == (Fate.ELSEWHERE, True, "nothing shows it")


def no_id(name: str) -> Lie:
    area = Area("mine")

    @area.success("forget", clause="mv1/forget/shape")
    def id_is_left_out(call: ToolCall, body: Body) -> None:
        """Leaves out the id."""
        body.pop("id")

    return replace(area.lies[0], id=name, made=True)


def test_what_caught_a_lie_is_done_first_for_the_next_of_its_kin(small: Pack) -> None:
    first, second = asyncio.run(try_kin([no_id("mine/one"), no_id("mine/two")], Cast(small, config=FULL)))
    assert (first.fate, second.fate) == (Fate.CAUGHT, Fate.CAUGHT)
    assert first.evidence is not None
    assert second.evidence is not None
    assert first.evidence.case == second.evidence.case == "memory-verbs/v1/forget-idempotent"
    assert (first.cases, second.cases) == (len(small.cases), 1)


def test_a_lie_waits_if_every_case_of_its_clause_does(small: Pack) -> None:
    pack = load_pack("memory-verbs")
    lie = never_expires("mv1/remember/ttl-expires")
    assert waits(lie, Cast(pack))
    assert not waits(replace(lie, also=frozenset({"mv1/forget/idempotent"})), Cast(pack))
    assert not waits(lie, Cast(small))


def test_the_same_demanded_by_two_clauses_may_be_told_by_either(small: Pack) -> None:
    found = tried(small, never_expires("mv1/recall/newest-first")).evidence
    assert found is not None
    lie = replace(never_expires("mv1/recall/newest-first"), also=frozenset({found.clause}))
    assert tried(small, lie).fate is Fate.CAUGHT


def test_a_lie_that_nothing_tells_survives(small: Pack) -> None:
    trial = tried(small, Lie("mine/honest", "mv1/forget/expires", "Is honest.", Interceptor))
    assert (trial.fate, trial.evidence, trial.good) == (Fate.SURVIVED, None, False)


class Clumsy(Interceptor):
    """Trips over each call of recall."""

    async def call_tool(self, call: ToolCall, honest: Callable[[ToolCall], object]) -> Result:
        if call.name == "recall":
            raise KeyError("facts")
        return await honest(call)  # type: ignore[misc, no-any-return]


def test_a_lie_that_raises_stumbles_whatever_was_found(small: Pack) -> None:
    trial = tried(small, Lie("mine/clumsy", "mv1/recall/round-trip", "Trips.", Clumsy))
    assert (trial.fate, trial.good) == (Fate.STUMBLED, False)
    assert trial.reason is not None
    assert trial.reason.startswith("it raised KeyError: 'facts' on recall {")


def unopened() -> Interceptor:
    raise ValueError("no such thing")


@pytest.mark.parametrize(
    "lie",
    [
        Lie("mine/unopened", "mv1/forget/expires", "Cannot be made.", unopened),
        Lie("mine/unknown", "mv1/forget/expires", "Wants what is not there.", Interceptor, config={"surface": "odd"}),
    ],
    ids=["make", "config"],
)
def test_a_lie_that_cannot_be_opened_stumbles(lie: Lie, small: Pack) -> None:
    trial = tried(small, lie)
    assert trial.fate is Fate.STUMBLED
    assert "could not be tried" in str(trial.reason)


def test_an_error_of_json_rpc_is_an_answer_and_no_stumble(small: Pack) -> None:
    area = Area("mine")

    @area.answer("forget", clause="mv1/forget/idempotent")
    async def nothing_can_be_forgotten(call: ToolCall, honest: object) -> Result:
        """forget is refused."""
        raise RpcFault(-32000, "not today")

    assert tried(small, area.lies[0]).fate is not Fate.STUMBLED


def test_a_legal_variant_is_found_conformant(small: Pack) -> None:
    trial = certified(small, Variant("honest", "The reference.", gaps="three cases decide little"))
    assert (trial.good, trial.failures, trial.undecided) == (True, (), ())


def test_what_a_variant_leaves_open_has_to_be_said(small: Pack) -> None:
    trial = certified(small, Variant("honest", "The reference."))
    assert not trial.good
    assert any(told.startswith("mv1/entity/shape: ") for told in trial.undecided)


def test_a_variant_that_breaks_a_promise_is_refused(small: Pack) -> None:
    lie = never_expires("mv1/forget/expires")
    trial = certified(small, Variant("odd", "Is no variant.", lie.make, gaps="three cases decide little"))
    assert [type(failure) for failure in trial.failures] == [Evidence]
    assert not trial.good


def test_a_variant_that_raises_is_not_good(small: Pack) -> None:
    trial = certified(small, Variant("clumsy", "Trips.", Clumsy, gaps="three cases decide little"))
    assert any("it raised KeyError" in told for told in trial.undecided)


class Nothing(Interceptor):
    """Answers every call with an empty object."""

    async def call_tool(self, call: ToolCall, honest: object) -> Result:
        return text_result("{}")


def test_no_case_believes_a_null_double_but_those_that_are_excused(small: Pack) -> None:
    trial = believed(small, Variant("nothing", "Does nothing.", Nothing))
    assert (trial.believed, trial.excused) == ((), ("memory-verbs/v1/wire-advertises",))
    assert trial.good


def test_a_case_that_believes_a_double_is_named(small: Pack) -> None:
    trial = believed(small, Variant("true", "Does everything."))
    assert "memory-verbs/v1/recall-round-trip" in trial.believed
    assert not trial.good
