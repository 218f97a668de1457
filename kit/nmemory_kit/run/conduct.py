"""Conducting a run: every chosen case against one target, overlapping where they may, with books that balance."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from .. import __version__
from ..contract.case import Case
from ..contract.pack import Pack
from ..target import Fault, Target, Unreachable
from ..target.excerpt import excerpt
from .docket import AN_ANSWER
from .excuse import Excuse, excuse
from .options import Options
from .result import (
    Books,
    CaseResult,
    ClauseResult,
    Footer,
    Header,
    PackIdentity,
    Results,
    TargetIdentity,
    Verdict,
)
from .session import NotATarget, Session, fit, not_run
from .verdict import ClauseVerdict, TargetVerdict, judge_clauses, judge_target, keep_books

#: After so many cases in a row that end without an answer the target is given up.
PATIENCE = 6


def ignore(*_: object) -> None:
    """Nobody wants to know."""


@dataclass(slots=True)
class Watch:
    """What a run tells while it goes on."""

    on_start: Callable[[Header, int], None] = ignore
    on_case: Callable[[CaseResult], None] = ignore


@dataclass(slots=True)
class _Progress:
    """The results so far, and why the run should not go on."""

    cases: Sequence[Case]
    results: dict[str, CaseResult] = field(default_factory=dict)
    silent: int = 0
    stopped: str | None = None

    def add(self, result: CaseResult) -> None:
        self.results[result.case] = result
        self.silent = self.silent + 1 if silent(result) else 0
        if self.silent >= PATIENCE and self.stopped is None:
            self.stopped = f"the target gave no answer in {PATIENCE} cases in a row"

    def all(self) -> tuple[CaseResult, ...]:
        """A result for every planned case, in order."""
        reason = self.stopped or "the run was cut short"
        return tuple(self.results.get(case.path) or not_run(case, reason) for case in self.cases)


async def conduct(
    target: Target,
    packs: Sequence[Pack],
    cases: Sequence[Case],
    options: Options,
    *,
    excuses: Sequence[Excuse] = (),
    complete: bool = True,
    forced: bool = False,
    watch: Watch | None = None,
) -> Results:
    """Do the cases against a target and judge it.

    ``complete`` says whether the cases are all that the packs have; ``forced`` whether the user named the packs, so
    that a target that offers none of their tools is judged and not passed over. Never raises for the target's doing:
    one that cannot be reached is INCONCLUSIVE.
    """
    watch = watch or Watch()
    began, started = time.perf_counter(), datetime.now(UTC)
    try:
        session = await Session.open(target, packs, options)
    except Unreachable as error:
        reason = options.redact(f"the target could not be reached: {why(error.fault)}")
        return _nothing(target, packs, cases, options, started, began, reason, watch)
    except NotATarget as error:
        reason = options.redact(f"the target could not be judged: {error}")
        return _nothing(target, packs, cases, options, started, began, reason, watch)

    fitting = tuple(packs) if forced else fit(packs, session.identity.tools)
    cases = [case for case in cases if any(case.path.startswith(pack.path + "/") for pack in fitting)]
    header = _header(session.identity, fitting or packs, options, started)
    watch.on_start(header, len(cases))
    progress = _Progress(cases)

    async def one(case: Case, gate: asyncio.Semaphore) -> None:
        async with gate:
            if progress.stopped is not None:
                return
            result = excuse(await session.do(case), case, excuses)
            progress.add(result)
            watch.on_case(result)

    left: tuple[str, ...] = ()
    try:
        async with asyncio.timeout(options.run_timeout):
            gate = asyncio.Semaphore(options.jobs)
            for wave in session.waves(cases):
                async with asyncio.TaskGroup() as group:
                    for case in wave:
                        group.create_task(one(case, gate))
    except TimeoutError:
        progress.stopped = f"the run was not done within {options.run_timeout:g} s"
    finally:
        left = await session.close()

    results = progress.all()
    footer = _footer(session, fitting, results, complete, left, time.perf_counter() - began, progress.stopped)
    return Results(header, results, footer)


def silent(result: CaseResult) -> bool:
    """Whether a case ended because no answer came."""
    if result.verdict is Verdict.ERROR:
        return True
    return bool(result.findings) and all(finding.expected == AN_ANSWER for finding in result.findings)


def _header(identity: TargetIdentity, packs: Sequence[Pack], options: Options, started: datetime) -> Header:
    return Header(
        kit=__version__,
        packs=tuple(PackIdentity(pack.path, pack.digest) for pack in packs),
        target=identity,
        run=options.run,
        started=started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        reproduce=options.reproduce,
        environment={
            "python": platform.python_version(),
            "platform": platform.platform(),
            "passed": list(options.environment),
        },
        options={
            "jobs": options.jobs,
            "call_timeout": options.call_timeout,
            "run_timeout": options.run_timeout,
            "synthesize": options.synthesize,
            "profile": options.profile,
        },
    )


def _footer(
    session: Session,
    packs: Sequence[Pack],
    results: Sequence[CaseResult],
    complete: bool,
    left: tuple[str, ...],
    took: float,
    stopped: str | None,
) -> Footer:
    books = keep_books(len(results), results)
    clauses = {name: clause for pack in packs for name, clause in pack.clauses.items()}
    judged = judge_clauses(clauses, results, session.capabilities)
    verdict = judge_target(judged, books, complete=complete and stopped is None)
    offered = ", ".join(session.identity.tools[:8]) or "none"
    reason = (
        reason_of(verdict, judged, books, complete, stopped)
        if packs
        else f"the target offers no tool of any contract that this kit knows; its tools: {offered}"
    )
    return Footer(
        verdict=verdict,
        reason=reason,
        books=books,
        clauses=judged,
        left_behind=left,
        noise=session.noise(),
        took=round(took, 3),
        cut_short=stopped,
    )


def reason_of(
    verdict: TargetVerdict, clauses: Sequence[ClauseResult], books: Books, complete: bool, stopped: str | None
) -> str:
    """A target's verdict in a sentence."""
    count = {
        name: sum(clause.verdict == name and clause.level == "MUST" for clause in clauses) for name in ClauseVerdict
    }
    match verdict:
        case TargetVerdict.NOT_CONFORMANT:
            reason = f"{_many(count[ClauseVerdict.VIOLATED], 'MUST')} violated"
        case TargetVerdict.WITH_GAPS:
            reason = (
                f"no MUST violated, {count[ClauseVerdict.PROVEN]} proven, {count[ClauseVerdict.UNVERIFIED]} unverified"
            )
            open_ = books.counts[Verdict.ERROR] + books.counts[Verdict.NOT_RUN]
            reason += f", {_many(open_, 'case')} not decided" if open_ and complete else ""
            reason += "" if complete else " (only some of the cases were asked for)"
        case TargetVerdict.CONFORMANT:
            reason = f"every MUST that applies is proven ({count[ClauseVerdict.PROVEN]})"
        case TargetVerdict.INCONCLUSIVE:
            reason = "nothing was decided"
    return f"{reason}; {stopped}" if stopped else reason


def why(fault: Fault) -> str:
    """A fault in sentences: what happened, what to do, what came instead, and the target's last words."""
    remedy = f". {fault.remedy[0].upper()}{fault.remedy[1:]}" if fault.remedy else ""
    wrote = f"\nIt sent: {excerpt(fault.received, 160)}" if fault.received else ""
    stderr = f"\nIts last words on stderr:\n{fault.stderr}" if fault.stderr else ""
    return f"{fault.message}{remedy}{wrote}{stderr}"


def _many(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _nothing(
    target: Target,
    packs: Sequence[Pack],
    cases: Sequence[Case],
    options: Options,
    started: datetime,
    began: float,
    reason: str,
    watch: Watch,
) -> Results:
    """The results of a run in which no case could be begun."""
    identity = TargetIdentity(target.kind, target.display, None, None, None, (), ())
    header = _header(identity, packs, options, started)
    watch.on_start(header, len(cases))
    results = tuple(not_run(case, reason) for case in cases)
    clauses = {name: clause for pack in packs for name, clause in pack.clauses.items()}
    footer = Footer(
        verdict=TargetVerdict.INCONCLUSIVE,
        reason=reason,
        books=keep_books(len(results), results),
        clauses=judge_clauses(clauses, results, frozenset()),
        left_behind=(),
        noise=(),
        took=round(time.perf_counter() - began, 3),
        cut_short=reason,
    )
    return Results(header, results, footer)
