"""The docket of a case: what has been found against the target so far, and why the case cannot go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..check import Broken
from ..contract.pack import Pack
from ..target import Blame, Fault
from .result import Finding, Verdict
from .wording import Doing

#: What a finding expects where no answer came at all.
AN_ANSWER = "an answer"


class Stop(Exception):
    """The case cannot go on. ``verdict`` is None where findings already say why.

    ``unmet`` says that it is only an expectation of the step's own, which a later answer may still meet.
    """

    def __init__(
        self,
        verdict: Verdict | None = None,
        reason: str | None = None,
        *,
        lost: bool = False,
        unmet: bool = False,
    ) -> None:
        super().__init__(reason)
        self.verdict, self.reason, self.lost, self.unmet = verdict, reason, lost, unmet


@dataclass(slots=True)
class Docket:
    """The findings of one case. What ends the case is answered as a ``Stop``, for the caller to raise."""

    pack: Pack
    redact: Callable[[Any], Any]
    findings: list[Finding] = field(default_factory=list)
    #: Those of them that a step's own expectations found, not the standing checks.
    own: list[Finding] = field(default_factory=list)
    #: The clauses that something was judged by, whatever came of it.
    judged: set[str] = field(default_factory=set)
    #: Whether the connection broke in one of its calls.
    lost: bool = False

    def find(
        self, label: str, clause: str, what: str | Doing, broken: Broken, stderr: str | None = None
    ) -> tuple[Finding, ...]:
        """Take down one finding, once; answers it if it is new."""
        known = self.pack.clauses[clause]
        finding = Finding(
            clause=clause,
            level=known.level,
            text=known.text,
            step=label,
            doing=self.redact(str(what)),
            pointer=broken.pointer,
            expected=broken.expected,
            got=self.redact(broken.got),
            stderr=self.redact(stderr),
        )
        if finding in self.findings:
            return ()
        self.findings.append(finding)
        return (finding,)

    def take_back(self, since: int) -> None:
        """Strike out what the steps' own expectations found after the first ``since`` findings."""
        for finding in self.own[since:]:
            self.findings.remove(finding)
        del self.own[since:]

    def broken(
        self, label: str, clause: str, what: str | Doing, broken: Sequence[Broken], *, precondition: bool = False
    ) -> Stop:
        """A step's own expectation is broken: a finding for each place, or, for a precondition, no one's fault."""
        if precondition:
            one = broken[0]
            place = f" at {one.pointer}" if one.pointer else ""
            reason = f"step {label} ({what}){place}: expected {one.expected}, got {one.got}"
            return Stop(Verdict.NOT_RUN, self.redact(reason), unmet=True)
        for one in broken:
            self.own += self.find(label, clause, what, one)
        return Stop(unmet=True)

    def faulty(self, label: str, clause: str, what: str | Doing, fault: Fault) -> Stop:
        """No answer came: a finding where the target is to blame, otherwise an error of the case."""
        self.lost = self.lost or fault.lost
        if fault.blame is not Blame.TARGET:
            remedy = f" ({fault.remedy})" if fault.remedy else ""
            return Stop(Verdict.ERROR, f"step {label} ({what}): {fault.message}{remedy}", lost=fault.lost)
        got = f"{fault.message}: {fault.received}" if fault.received else fault.message
        self.find(label, clause, what, Broken("", AN_ANSWER, got), fault.stderr)
        return Stop(lost=True)

    def reported(self, label: str) -> bool:
        """Whether something has been found in a step."""
        return any(finding.step == label for finding in self.findings)
