"""The summary object: a run without its transcripts, for programs (``--json``, ``summary.json``)."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from ..run.result import CaseResult, Results, Verdict
from .outline import reproduce


def summary(results: Results) -> dict[str, Any]:
    """The run as one JSON object; ``docs/results.md`` describes its members."""
    header, footer = results.header, results.footer
    return {
        "verdict": footer.verdict,
        "reason": footer.reason,
        "format": header.format,
        "kit": header.kit,
        "run": header.run,
        "started": header.started,
        "took": footer.took,
        "cut_short": footer.cut_short,
        "reproduce": header.reproduce,
        "packs": [asdict(pack) for pack in header.packs],
        "target": asdict(header.target),
        "environment": dict(header.environment),
        "options": dict(header.options),
        "books": {
            "planned": footer.books.planned,
            **{verdict.value: footer.books.counts.get(verdict, 0) for verdict in Verdict},
            "balance": footer.books.balance,
        },
        "clauses": [asdict(clause) for clause in footer.clauses],
        "cases": [_case(results, case) for case in results.cases],
        "left_behind": list(footer.left_behind),
        "noise": list(footer.noise),
    }


def render(results: Results) -> str:
    """The summary as indented JSON in ASCII, which no text of a target can break."""
    return json.dumps(summary(results), indent=2, ensure_ascii=True) + "\n"


def _case(results: Results, case: CaseResult) -> dict[str, Any]:
    told = asdict(case)
    del told["transcript"]
    if case.verdict in (Verdict.FAIL, Verdict.ERROR, Verdict.NOT_RUN):
        told["reproduce"] = reproduce(results.header, case.case)
    return told
