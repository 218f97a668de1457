"""Trying one double: a lie has to be caught, a variant to be found conformant, a null double not to be believed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from itertools import compress
from operator import not_
from typing import TYPE_CHECKING

from ..contract.case import Case
from ..contract.clause import Level
from ..run.conduct import conduct
from ..run.result import CaseResult, Finding, Verdict
from ..run.session import NotATarget, Session
from ..target import Unreachable
from .doubles import Cast
from .proof import Evidence, Fate, LieTrial, NullTrial, VariantTrial
from .stage import options_for, staged, target_of
from .vacuity import excuses

if TYPE_CHECKING:
    from nmemory_reference.lies import Lie, Variant

#: Cases at once, where those that name the lie's clause did not tell.
AT_ONCE = 8
#: Seconds for a call of a null double, which answers before anything else gets its turn, or never.
NULL_TIMEOUT = 0.05


async def try_lie(lie: Lie, cast: Cast, scent: Sequence[str] = ()) -> LieTrial:
    """Do the cases that name the lie's clause, one by one; then all others, until a finding names it.

    ``scent`` are the paths of cases that caught lies like this one; they are done before the others.
    """
    began = time.perf_counter()
    mishaps: list[str] = []
    found, done = None, 0
    try:
        async with staged(lie, cast, mishaps) as session:
            found, done = await _hunt(lie, cast, session, mishaps, scent)
    except (Unreachable, NotATarget) as error:
        mishaps.append(f"it could not be tried: {error}")
    fate = Fate.STUMBLED if mishaps else _fate(lie, found)
    return LieTrial(
        lie=lie.id,
        clause=lie.clause,
        says=lie.says,
        fate=fate,
        evidence=found,
        reason=mishaps[0] if mishaps else lie.elsewhere if fate is Fate.ELSEWHERE else None,
        cases=done,
        took=round(time.perf_counter() - began, 3),
        made=lie.made,
    )


def _fate(lie: Lie, found: Evidence | None) -> Fate:
    if found is None:
        return Fate.SURVIVED
    return Fate.CAUGHT if found.clause in _clauses(lie) else Fate.ELSEWHERE


async def try_kin(lies: Sequence[Lie], cast: Cast) -> list[LieTrial]:
    """Try lies that are alike, one after the other: what caught one of them is likely to catch the next."""
    trials: list[LieTrial] = []
    scent: list[str] = []
    for lie in lies:
        trial = await try_lie(lie, cast, scent)
        trials.append(trial)
        if trial.fate is Fate.CAUGHT and trial.evidence is not None:
            scent = [trial.evidence.case, *(case for case in scent if case != trial.evidence.case)]
    return trials


def waits(lie: Lie, cast: Cast) -> bool:
    """Whether every case that names the lie's clause waits for something."""
    clauses = _clauses(lie)
    targeted = [case for case in cast.pack.cases if clauses.intersection(case.clauses)]
    return bool(targeted) and all(case.waits for case in targeted)


async def _hunt(
    lie: Lie, cast: Cast, session: Session, mishaps: list[str], scent: Sequence[str]
) -> tuple[Evidence | None, int]:
    """The finding that tells, one for the lie's own clause if there is any, and how many cases it took.

    It ends with the first mishap; for a lie that says itself that only another clause's case can tell, with the first
    finding once those for its own clause have none.
    """
    targeted, others = _in_order(lie, [case for case in cast.pack.cases if not session.lacking(case)], scent)
    clauses = _clauses(lie)
    other: Evidence | None = None
    done = 0
    together = [others[start : start + AT_ONCE] for start in range(0, len(others), AT_ONCE)]
    for some in (*([case] for case in targeted), *together):
        results = await asyncio.gather(*map(session.do, some))
        done += len(results)
        if (named := _telling(results, clauses)) or mishaps:
            return named, done
        other = other or _telling(results)
        if other is not None and lie.elsewhere is not None and done >= len(targeted):
            break
    return other, done


def _in_order(lie: Lie, cases: Iterable[Case], scent: Sequence[str] = ()) -> tuple[list[Case], list[Case]]:
    """The cases that name the lie's clause or are on the scent, and the others; the likely ones first."""
    clauses = _clauses(lie)
    nearest = {case: place for place, case in enumerate(scent)}

    def likely(case: Case) -> tuple[int, bool, bool, bool, int]:
        return (
            nearest.get(case.path, len(nearest)),
            case.waits,
            lie.clause not in case.clauses,
            not lie.tools.intersection(case.tools()),
            len(case.steps),
        )

    ordered = sorted(cases, key=likely)
    aimed = [case.path in nearest or bool(clauses.intersection(case.clauses)) for case in ordered]
    return list(compress(ordered, aimed)), list(compress(ordered, map(not_, aimed)))


def _clauses(lie: Lie) -> frozenset[str]:
    return lie.also | {lie.clause}


def _telling(results: Iterable[CaseResult], clauses: frozenset[str] | None = None) -> Evidence | None:
    """The first finding, or the first that names one of the clauses."""
    for result in results:
        for finding in result.findings:
            if clauses is None or finding.clause in clauses:
                return _evidence(result, finding)
    return None


def _evidence(result: CaseResult, finding: Finding) -> Evidence:
    return Evidence(
        case=result.case,
        clause=finding.clause,
        step=finding.step,
        doing=finding.doing,
        pointer=finding.pointer,
        expected=finding.expected,
        got=finding.got,
    )


async def try_variant(variant: Variant, cast: Cast) -> VariantTrial:
    """Certify a variant as a user would."""
    began = time.perf_counter()
    mishaps: list[str] = []
    target = target_of(variant, cast.config, mishaps)
    try:
        results = await conduct(target, [cast.pack], cast.pack.cases, options_for(variant), complete=True, forced=True)
    finally:
        await target.close()
    failures = [
        _evidence(result, finding)
        for result in results.cases
        for finding in result.findings
        if finding.level is Level.MUST
    ]
    undecided = mishaps + [
        f"{result.case}: {result.reason}"
        for result in results.cases
        if result.verdict is Verdict.ERROR or (result.verdict is Verdict.NOT_RUN and variant.gaps is None)
    ]
    undecided += [
        f"{clause.clause}: {clause.reason}"
        for clause in results.footer.clauses
        if clause.verdict == "unverified" and clause.level is Level.MUST and variant.gaps is None
    ]
    return VariantTrial(
        variant=variant.id,
        says=variant.says,
        verdict=results.footer.verdict,
        reason=results.footer.reason,
        failures=tuple(failures),
        undecided=tuple(undecided),
        took=round(time.perf_counter() - began, 3),
    )


async def try_null(null: Variant, cast: Cast) -> NullTrial:
    """Certify a null double, and see which cases believe it."""
    began = time.perf_counter()
    target = target_of(null, cast.config, [])
    try:
        options = options_for(null, jobs=len(cast.pack.cases), call_timeout=NULL_TIMEOUT)
        results = await conduct(target, [cast.pack], cast.pack.cases, options, complete=True, forced=True)
    finally:
        await target.close()
    passed = [result.case for result in results.cases if result.verdict is Verdict.PASS]
    known = excuses(null.id)
    return NullTrial(
        null=null.id,
        says=null.says,
        believed=tuple(case for case in passed if case not in known),
        excused=tuple(case for case in passed if case in known),
        took=round(time.perf_counter() - began, 3),
    )
