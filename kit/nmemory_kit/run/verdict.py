"""Verdicts: of a case, of a clause, of a target; and how each follows from the one before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

from ..contract.clause import Clause, Level
from .lack import lacking
from .result import Books, CaseResult, ClauseResult, Verdict

#: Why a case that failed leaves a clause undecided that no finding names.
_BROKE_ANOTHER = "the case that would decide it found another promise broken"


class ClauseVerdict(StrEnum):
    """What a run says of a clause."""

    PROVEN = "proven"
    VIOLATED = "violated"
    UNVERIFIED = "unverified"
    #: The target's own nature puts it outside the clause (no such tool, not on HTTP...).
    NOT_APPLICABLE = "not-applicable"
    #: The registry says why no case decides it.
    EXCLUDED = "excluded"


class TargetVerdict(StrEnum):
    """What a run says of a target."""

    CONFORMANT = "CONFORMANT"
    WITH_GAPS = "CONFORMANT WITH GAPS"
    NOT_CONFORMANT = "NOT CONFORMANT"
    INCONCLUSIVE = "INCONCLUSIVE"


def keep_books(planned: int, results: Iterable[CaseResult]) -> Books:
    """Count the verdicts; every planned case is in exactly one of them."""
    counts = Counter(result.verdict for result in results)
    return Books(planned=planned, counts={verdict: counts.get(verdict, 0) for verdict in Verdict})


def judge_clauses(
    clauses: Mapping[str, Clause], results: Iterable[CaseResult], capabilities: frozenset[str]
) -> tuple[ClauseResult, ...]:
    """A verdict for each clause, in the registry's order.

    Violated: a finding names it, unless the case is excused. Proven: a case decided it and no finding names it.
    A clause whose ``where`` the target does not meet does not apply. Everything else is unverified, with the reasons
    of the cases that did not decide it.
    """
    violated: dict[str, list[str]] = {}
    proven: dict[str, list[str]] = {}
    undecided: dict[str, list[str]] = {}
    for result in results:
        for finding in result.findings if result.verdict is not Verdict.XFAIL else ():
            violated.setdefault(finding.clause, []).append(result.case)
        for clause in result.decided:
            proven.setdefault(clause, []).append(result.case)
        for clause in result.clauses:
            if clause not in result.decided:
                undecided.setdefault(clause, []).append(result.reason or _BROKE_ANOTHER)
    return tuple(_clause_result(clause, violated, proven, undecided, capabilities) for clause in clauses.values())


def judge_target(clauses: Iterable[ClauseResult], books: Books, *, complete: bool = True) -> TargetVerdict:
    """The verdict of a target by the clauses of one pack (or of several together).

    ``complete`` is False where only some of the cases were asked for, or the run was cut short: then nothing can be
    called conformant without gaps. Nor can a run with excused failures, or with cases that should have been decided and
    were not, even if others prove their clauses.
    """
    judged = [clause for clause in clauses if clause.level is Level.MUST]
    verdicts = {ClauseVerdict(clause.verdict) for clause in judged}
    if ClauseVerdict.VIOLATED in verdicts:
        return TargetVerdict.NOT_CONFORMANT
    if not books.decided or ClauseVerdict.PROVEN not in verdicts:
        return TargetVerdict.INCONCLUSIVE
    open_ = sum(books.counts[verdict] for verdict in (Verdict.XFAIL, Verdict.XPASS, Verdict.ERROR, Verdict.NOT_RUN))
    if ClauseVerdict.UNVERIFIED in verdicts or not complete or open_:
        return TargetVerdict.WITH_GAPS
    return TargetVerdict.CONFORMANT


def _clause_result(
    clause: Clause,
    violated: Mapping[str, list[str]],
    proven: Mapping[str, list[str]],
    undecided: Mapping[str, list[str]],
    capabilities: frozenset[str],
) -> ClauseResult:
    reason: str | None = None
    cases: tuple[str, ...] = ()
    if clause.id in violated:
        verdict, cases = ClauseVerdict.VIOLATED, tuple(dict.fromkeys(violated[clause.id]))
    elif clause.excluded:
        verdict, reason = ClauseVerdict.EXCLUDED, clause.excluded
    elif clause.id in proven:
        verdict, cases = ClauseVerdict.PROVEN, tuple(dict.fromkeys(proven[clause.id]))
    elif missing := [name for name in clause.where if _ruled_out(name, capabilities)]:
        verdict, reason = ClauseVerdict.NOT_APPLICABLE, lacking(missing, capabilities)
    else:
        verdict = ClauseVerdict.UNVERIFIED
        parts = (part for why in undecided.get(clause.id, ()) for part in why.split("; "))
        reason = "; ".join(dict.fromkeys(parts)) or "no case of this run decides it"
    return ClauseResult(clause.id, clause.level, clause.text, verdict, reason, cases)


def _ruled_out(capability: str, capabilities: frozenset[str]) -> bool:
    """Whether a target is known to lack a capability; of what was to be observed and was not, nothing is known."""
    kind, _, trait = capability.partition(":")
    if kind != "observed":
        return capability not in capabilities
    opposite = trait.removeprefix("no-") if trait.startswith("no-") else f"no-{trait}"
    return f"observed:{opposite}" in capabilities
