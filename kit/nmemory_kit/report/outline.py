"""What every report says of a run, in the order in which people need it: breaches, then what stayed open.

One root cause is told once: findings are gathered by clause, and a clause that broke in the same way as an
earlier one points there.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..contract.clause import Level
from ..run.result import Books, CaseResult, Finding, Header, Results, Verdict

#: Verdicts of cases that nobody decided though they should have been.
OPEN = (Verdict.NOT_RUN, Verdict.ERROR)


@dataclass(frozen=True, slots=True)
class Breach:
    """A clause that the target broke, with the case that shows it best and the names of the others."""

    clause: str
    level: Level
    #: The clause's sentence.
    text: str
    case: CaseResult
    finding: Finding
    #: Short ids of the other cases that broke it.
    others: tuple[str, ...] = ()
    #: The clause of an earlier breach with the same expectation and the same answer.
    like: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Things that stayed open for one and the same reason."""

    reason: str
    #: Clause ids, or short ids of cases.
    members: tuple[str, ...]


def short(case: str) -> str:
    """A case's id within its pack."""
    return case.rpartition("/")[2]


def reproduce(header: Header, case: str) -> str:
    """The command line that does this one case again."""
    return f"{header.reproduce} --case {shlex.quote(short(case))}"


def count(number: int, noun: str) -> str:
    """``1 case``, ``2 cases``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def books_line(books: Books) -> str:
    """The books in a line: ``planned 131 = 123 pass + 8 skip``; it says so if they do not balance."""
    counts = " + ".join(f"{number} {verdict}" for verdict, number in books.counts.items() if number) or "0"
    line = f"planned {books.planned} = {counts}"
    return line if books.balance else f"{line} (the books do not balance: this is the kit's fault)"


def names(members: Sequence[str], limit: int) -> str:
    """The first few names, and how many more there are."""
    more = len(members) - limit
    return ", ".join(members[:limit]) + (f" and {more} more" if more > 0 else "")


def breaches(results: Results, *levels: Level) -> tuple[Breach, ...]:
    """The clauses of these levels that cases failed for, each once; excused failures are no breaches."""
    found: dict[str, list[tuple[CaseResult, Finding]]] = {}
    for case in results.cases:
        if case.verdict is Verdict.FAIL:
            for finding in case.findings:
                if finding.level in levels:
                    found.setdefault(finding.clause, []).append((case, finding))
    return tuple(_with_causes(found, results.header.run))


def excused(results: Results) -> tuple[CaseResult, ...]:
    """The cases that failed as an excuse said they would."""
    return tuple(case for case in results.cases if case.verdict is Verdict.XFAIL)


def outdated(results: Results) -> tuple[CaseResult, ...]:
    """The cases that passed though an excuse said they would fail."""
    return tuple(case for case in results.cases if case.verdict is Verdict.XPASS)


def undecided(results: Results) -> tuple[Group, ...]:
    """Cases that should have been decided and were not, by reason."""
    return _grouped(
        ((case.reason or case.verdict, short(case.case)) for case in results.cases if case.verdict in OPEN),
        results.header.run,
    )


def skipped(results: Results) -> tuple[Group, ...]:
    """Cases that do not apply to the target, by reason."""
    return _grouped(
        ((case.reason or case.verdict, short(case.case)) for case in results.cases if case.verdict is Verdict.SKIP),
        results.header.run,
    )


def unverified(results: Results, *levels: Level) -> tuple[Group, ...]:
    """Clauses of these levels that nothing decided, by reason."""
    return _grouped(
        (
            (clause.reason or "no reason was given", clause.clause)
            for clause in results.footer.clauses
            if clause.verdict == "unverified" and clause.level in levels
        ),
        results.header.run,
    )


def _with_causes(found: Mapping[str, list[tuple[CaseResult, Finding]]], run: str) -> Iterator[Breach]:
    unmarked = unmark(run)
    seen: dict[tuple[str, str, str], str] = {}
    for clause, hits in found.items():
        case, finding = min(hits, key=lambda hit: _beside(hit[0], clause))
        cause = (finding.pointer, unmarked(finding.expected), unmarked(finding.got))
        others = dict.fromkeys(short(other.case) for other, _ in hits if other is not case)
        yield Breach(clause, finding.level, finding.text, case, finding, tuple(others), seen.get(cause))
        seen.setdefault(cause, clause)


def _beside(case: CaseResult, clause: str) -> tuple[bool, int]:
    """How far a case is from being about this clause alone; the nearest shows best what is broken."""
    return clause != next(iter(case.clauses), None), len(case.clauses)


def _grouped(reasons: Iterable[tuple[str, str]], run: str) -> tuple[Group, ...]:
    unmarked = unmark(run)
    groups: dict[str, tuple[str, dict[str, None]]] = {}
    for reason, member in reasons:
        groups.setdefault(unmarked(reason), (reason, {}))[1][member] = None
    return tuple(Group(reason, tuple(members)) for reason, members in groups.values())


def unmark(run: str) -> Callable[[str], str]:
    """Text with the markers of the run's cases made equal, so that one cause in two cases reads the same."""
    marker = re.compile(re.escape(run) + r"[a-z0-9]*")
    return (lambda text: marker.sub("{marker}", text)) if run else (lambda text: text)
