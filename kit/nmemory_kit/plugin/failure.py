"""How a case that did not pass is told: the promise, what was done, what was expected and what came."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ..report.foreign import harmless, harmless_lines
from ..run.result import CaseResult, Exchange, Finding, Verdict

#: Characters of one foreign text that are shown.
_SHOWN = 600
#: Requests of a transcript that are shown: the last ones.
_REQUESTS = 40


class CaseFailedError(Exception):
    """A case in which the target broke a promise, or whose excuse no longer holds."""


class CaseUndecidedError(Exception):
    """A case that should have been decided and was not."""


class BrokenShouldWarning(UserWarning):
    """The target broke a SHOULD: no failure, but worth knowing."""


def headline(result: CaseResult) -> str:
    """What happened, in a line."""
    if result.verdict in (Verdict.NOT_RUN, Verdict.ERROR):
        return harmless(f"could not be decided ({result.verdict}): {result.reason}", _SHOWN)
    if not result.findings:
        return harmless(result.reason or result.verdict, _SHOWN)
    first, more = result.findings[0], len({finding.clause for finding in result.findings}) - 1
    others = f" (and {more} more {'clause' if more == 1 else 'clauses'})" if more else ""
    place = f" at {first.pointer}" if first.pointer else ""
    return harmless(f"{first.clause}: expected {first.expected}, got {first.got}{place}", 200) + others


def told(result: CaseResult, again: str) -> list[str]:
    """The whole of it, in lines; ``again`` is the command that does this case again."""
    lines = [harmless(f"{result.case}: {result.title}")]
    if result.reason:
        lines += ["", harmless(f"{result.verdict}: {result.reason}", _SHOWN)]
    for finding in result.findings:
        lines += ["", *_finding(finding)]
    return [*lines, "", f"rerun     {harmless(again)}"]


def warning(result: CaseResult) -> str:
    """The broken SHOULDs of a case, in a text."""
    return "; ".join(
        harmless(f"{finding.level} {finding.clause}: expected {finding.expected}, got {finding.got}", 300)
        for finding in result.findings
    )


def transcript(exchanges: tuple[Exchange, ...]) -> str:
    """The last requests of a case and what came of them, one a line."""
    lines = [
        f"{exchange.step:<5}{_cut(exchange.method, exchange.params)} -> {_cut('', exchange.reply)} ({exchange.took} ms)"
        for exchange in exchanges[-_REQUESTS:]
    ]
    return "\n".join(lines)


def _finding(finding: Finding) -> Iterator[str]:
    yield harmless(f"{finding.level} {finding.clause}")
    yield "  " + harmless(finding.text)
    yield "step      " + harmless(f"{finding.step}: {finding.doing}", _SHOWN)
    if finding.pointer:
        yield "at        " + harmless(finding.pointer, _SHOWN)
    yield "expected  " + harmless(finding.expected, _SHOWN)
    yield "got       " + harmless(finding.got, _SHOWN)
    for number, line in enumerate(harmless_lines(finding.stderr or "")):
        yield f"{'' if number else 'stderr':<10}| {line}"


def _cut(method: str, value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return harmless(f"{method} {text}".strip(), 400)
