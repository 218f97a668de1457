"""Markdown to keep: what became of every clause, in a form that can be committed.

Nothing in it differs from one run of the same target to the next: no times, no word of the run, nothing of the machine.
How a clause was broken is for the other reports to tell; here it is a row like any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter

from ..contract.clause import Level
from ..run.result import Results, Verdict
from .markdown import code, groups
from .outline import Group, skipped, undecided, unmark, unverified

#: The verdicts that the books have a column for even where they are empty.
_ALWAYS = (Verdict.PASS, Verdict.FAIL, Verdict.SKIP)


def render(results: Results) -> str:
    """The record as GitHub-flavoured Markdown: the books of each pack, what stayed open and why, a row a clause."""
    return unmark(results.header.run)("\n\n".join(_parts(results))) + "\n"


def _parts(results: Results) -> Iterator[str]:
    header, footer = results.header, results.footer
    target = header.target
    yield f"# {footer.verdict}: {', '.join(pack.path for pack in header.packs) or 'no contract'}"
    yield f"Reason: {code(footer.reason)}"
    server = " ".join(filter(None, (target.name, target.version))) or "without a name"
    facts = [
        f"target: {code(f'{target.kind}: {target.display}')}",
        f"server: {code(server)}, MCP {code(target.mcp_version or 'unknown')}, tools: {len(target.tools)}",
    ]
    if footer.cut_short:
        facts.append(f"cut short: {code(footer.cut_short)}")
    yield "\n".join(f"- {fact}" for fact in facts)
    yield "## Books"
    yield "\n".join(_books(results))
    yield from groups("Not decided", _in_order(undecided(results)))
    yield from groups("Cases that do not apply", _in_order(skipped(results)))
    yield from groups("MUST that stay unverified", _in_order(unverified(results, Level.MUST)))
    yield "## Clauses"
    rows = (
        f"| `{clause.clause}` | {clause.level} | {clause.verdict} | {len(clause.cases)} |" for clause in footer.clauses
    )
    yield "\n".join(["| clause | level | verdict | decided by cases |", "|---|---|---|---|", *rows])


def _in_order(found: tuple[Group, ...]) -> tuple[Group, ...]:
    """By name: cases end in another order each time."""
    return tuple(
        sorted((replace(group, members=tuple(sorted(group.members))) for group in found), key=attrgetter("reason"))
    )


def _books(results: Results) -> Iterator[str]:
    """A row a pack: how many cases were planned, and what became of them."""
    counts = results.footer.books.counts
    shown = [verdict for verdict in Verdict if verdict in _ALWAYS or counts[verdict]]
    yield f"| pack | planned | {' | '.join(shown)} |"
    yield "|---" * (len(shown) + 2) + "|"
    for pack in results.header.packs:
        found = Counter(case.verdict for case in results.cases if case.case.startswith(f"{pack.path}/"))
        yield f"| {pack.path} | {found.total()} | {' | '.join(str(found[verdict]) for verdict in shown)} |"
