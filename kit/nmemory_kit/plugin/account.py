"""The account of a run: which cases were planned, what became of each, and what that says of the target."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..contract import Level, Pack
from ..report.foreign import harmless
from ..report.outline import books_line, short
from ..run import record
from ..run.conduct import reason_of
from ..run.result import Books, CaseResult, ClauseResult, TargetIdentity
from ..run.session import not_run
from ..run.verdict import ClauseVerdict, TargetVerdict, judge_clauses, judge_target, keep_books
from .own import OWN

_LISTED = 20


@dataclass(frozen=True, slots=True)
class Balance:
    """What a run says in the end."""

    verdict: TargetVerdict
    reason: str
    books: Books
    clauses: tuple[ClauseResult, ...]
    #: Whether every case of the packs was chosen.
    complete: bool


@dataclass(slots=True)
class Account:
    """What is known of a run so far. Cases of the project's own are counted apart: they certify nothing."""

    packs: tuple[Pack, ...] = ()
    identity: TargetIdentity | None = None
    capabilities: frozenset[str] = frozenset()
    #: The ids of the cases that were chosen.
    planned: frozenset[str] = frozenset()
    results: dict[str, CaseResult] = field(default_factory=dict)
    own: dict[str, CaseResult] = field(default_factory=dict)
    left: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()

    def add(self, result: CaseResult) -> None:
        """Enter the result of a case."""
        (self.own if OWN in result.case else self.results)[result.case] = result

    def plan(self, nodeids: Sequence[str]) -> None:
        """Enter the cases that were chosen, by the ids of their items."""
        every = {case.path for pack in self.packs for case in pack.cases}
        self.planned = frozenset(every.intersection(nodeids))

    def balance(self) -> Balance:
        """Judge the target by what was done; a planned case that was not done is not-run."""
        cases = [case for pack in self.packs for case in pack.cases]
        done = [
            self.results.get(case.path) or not_run(case, "the run was cut short")
            for case in cases
            if case.path in self.planned
        ]
        books = keep_books(len(self.planned), done)
        clauses = {name: clause for pack in self.packs for name, clause in pack.clauses.items()}
        judged = judge_clauses(clauses, done, self.capabilities)
        complete = len(self.planned) == len(cases)
        verdict = judge_target(judged, books, complete=complete)
        return Balance(verdict, reason_of(verdict, judged, books, complete, None), books, judged, complete)


def wire(result: CaseResult) -> str:
    """A result as a text that a test report can carry, without its transcript."""
    return record.line("case", replace(result, transcript=()))


def unwire(text: str) -> CaseResult:
    """The result in such a text."""
    data = json.loads(text)
    del data["type"]
    return record.case_result(data)


def lines(account: Account) -> Iterator[str]:
    """The account in lines, the verdict first."""
    balance = account.balance()
    yield f"{balance.verdict}  {', '.join(pack.path for pack in account.packs)}: {harmless(balance.reason, 600)}"
    violated = [clause for clause in balance.clauses if clause.verdict == ClauseVerdict.VIOLATED]
    violated.sort(key=lambda clause: clause.level is not Level.MUST)
    for clause in violated[:_LISTED]:
        cases = ", ".join(short(case) for case in clause.cases[:4])
        more = f" and {len(clause.cases) - 4} more" if len(clause.cases) > 4 else ""
        yield f"violated  {clause.level} {clause.clause} ({cases}{more})"
    if len(violated) > _LISTED:
        yield f"          and {len(violated) - _LISTED} more clauses"
    if balance.complete:
        open_ = [c for c in balance.clauses if c.verdict == ClauseVerdict.UNVERIFIED and c.level is Level.MUST]
        yield from (f"open      {clause.clause}: {harmless(clause.reason or '', 200)}" for clause in open_[:_LISTED])
        if len(open_) > _LISTED:
            yield f"          and {len(open_) - _LISTED} more clauses"
    yield f"books     {books_line(balance.books)}"
    if account.own:
        counts = Counter(result.verdict for result in account.own.values())
        yield "own       " + " + ".join(f"{number} {verdict}" for verdict, number in counts.items())
    if account.left:
        yield f"left      {len(account.left)} things could not be taken back:"
        yield from (f"          {harmless(thing, 200)}" for thing in account.left[:_LISTED])
    if account.noise:
        yield f"noise     {len(account.noise)} messages of the target belong to no request:"
        yield from (f"          {harmless(noise, 200)}" for noise in account.noise[:5])
