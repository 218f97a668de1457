"""What a run says, as values: the header, a result a case, the footer. Everything that is shown is made from these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..contract.clause import Level

Json = Any

#: The number of the result file's format; a reader refuses a later one.
FORMAT = 1


class Verdict(StrEnum):
    """The verdict of a case."""

    PASS = "pass"  # noqa: S105
    FAIL = "fail"
    #: It does not apply to this target; the reason says why.
    SKIP = "skip"
    #: It should have been decided and was not.
    NOT_RUN = "not-run"
    #: The kit, the case or the transport is to blame.
    ERROR = "error"
    XFAIL = "xfail"
    XPASS = "xpass"


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken expectation."""

    clause: str
    level: Level
    #: The clause's sentence.
    text: str
    #: Which step, from 1; ``3.2`` is the second call of a group.
    step: str
    #: The step in words: ``recall {"entity": "people/x"}``, cut.
    doing: str
    #: JSON Pointer into what was judged.
    pointer: str
    expected: str
    got: str
    #: The last lines on the target's stderr, where the target died or hung.
    stderr: str | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request of a transcript and what came of it."""

    step: str
    method: str
    params: Json
    #: ``{"result": ...}``, ``{"error": ...}``, ``{"status": ...}`` or ``{"fault": sentence}``.
    reply: Json
    #: Milliseconds.
    took: float
    credential: str | None = None
    #: What the client called itself, where not as usual.
    client: str | None = None
    #: The store, where it is not the case's own.
    store: str | None = None


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What became of a case."""

    #: The full id, ``<protocol>/<version>/<id>``.
    case: str
    title: str
    verdict: Verdict
    clauses: tuple[str, ...]
    #: The clauses that this case decided in the target's favour.
    decided: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    #: Why it was skipped, not run, excused, or in error.
    reason: str | None = None
    #: Seconds.
    took: float = 0.0
    transcript: tuple[Exchange, ...] = ()
    #: Whether it was done a second time, alone, because the connection broke while others were in flight.
    again: bool = False

    @property
    def binding(self) -> bool:
        """Whether a finding breaks a MUST; otherwise a failure is a warning."""
        return any(finding.level is Level.MUST for finding in self.findings)


@dataclass(frozen=True, slots=True)
class ClauseResult:
    """What a run says of a clause."""

    clause: str
    level: Level
    text: str
    #: proven, violated, unverified, not-applicable or excluded.
    verdict: str
    reason: str | None = None
    #: The cases that decided it.
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Books:
    """planned = the sum of all verdicts; if not, the run lost a case and says so."""

    planned: int
    counts: Mapping[Verdict, int]

    @property
    def balance(self) -> bool:
        """Whether every planned case is accounted for."""
        return self.planned == sum(self.counts.values())

    @property
    def decided(self) -> int:
        """Cases that said something about the target."""
        return (
            self.counts[Verdict.PASS]
            + self.counts[Verdict.FAIL]
            + self.counts[Verdict.XFAIL]
            + self.counts[Verdict.XPASS]
        )


@dataclass(frozen=True, slots=True)
class TargetIdentity:
    """Who was judged."""

    #: ``stdio``, ``http`` or ``in-process``.
    kind: str
    #: The command or URL, without secrets.
    display: str
    name: str | None
    version: str | None
    mcp_version: str | None
    tools: tuple[str, ...]
    capabilities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PackIdentity:
    """Which contract it was judged by."""

    path: str
    #: SHA-256 over the pack's files, as in ``frozen.lock``.
    digest: str


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a result file."""

    kit: str
    packs: tuple[PackIdentity, ...]
    target: TargetIdentity
    #: The run's own word; each case's marker begins with it.
    run: str
    #: RFC 3339, UTC.
    started: str
    #: The command that repeats the run (``--case`` narrows it), without secrets.
    reproduce: str
    #: Python, platform, names of the environment variables passed to the target.
    environment: Mapping[str, Json]
    #: What was asked for: case and clause globs, jobs, limits, the profile's name.
    options: Mapping[str, Json] = field(default_factory=dict)
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class Footer:
    """The last line of a result file."""

    verdict: str
    #: Why, in a sentence, first of all for INCONCLUSIVE and NOT CONFORMANT.
    reason: str
    books: Books
    clauses: tuple[ClauseResult, ...]
    #: What the run made and could not take back.
    left_behind: tuple[str, ...]
    #: What the target sent that belongs to no request.
    noise: tuple[str, ...]
    #: Seconds.
    took: float
    #: Why the run ended before its time, or None.
    cut_short: str | None = None


@dataclass(frozen=True, slots=True)
class Results:
    """A whole run."""

    header: Header
    # Out of the text of a value: asyncio writes that of a task's result when it gives Ctrl-C back, only to drop it.
    cases: tuple[CaseResult, ...] = field(repr=False)
    footer: Footer = field(repr=False)

    @property
    def exit_code(self) -> int:
        """0 conformant, with or without gaps; 1 not conformant; 3 inconclusive (``--strict`` is the command's)."""
        return {"CONFORMANT": 0, "CONFORMANT WITH GAPS": 0, "NOT CONFORMANT": 1}.get(self.footer.verdict, 3)
