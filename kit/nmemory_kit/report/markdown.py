"""Markdown for a CI step summary or a comment: what the terminal says, in at most one mebibyte.

Every text of a target stands in a code span or a fenced block, whose fences are longer than any run of backticks
inside: it can neither format, link, mention, nor load anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..contract.clause import Level
from ..run.result import Results
from .foreign import harmless, harmless_lines
from .outline import (
    Breach,
    Group,
    books_line,
    breaches,
    count,
    excused,
    names,
    outdated,
    reproduce,
    short,
    undecided,
    unverified,
)

#: Bytes; a step summary over 1 MiB is refused whole.
LIMIT = 1024 * 1024
_SHOWN = 1000
_NAMES = 20


def render(results: Results) -> str:
    """The report as GitHub-flavoured Markdown, cut between its parts where it would grow too long."""
    parts = list(_parts(results))
    kept: list[str] = []
    room = LIMIT - 1024
    for number, part in enumerate(parts):
        room -= len(part.encode("utf-8")) + 2
        if room < 0:
            kept.append(f"{len(parts) - number} more parts are left out; the result file has them.")
            break
        kept.append(part)
    return "\n\n".join(kept) + "\n"


def code(text: str, limit: int = _SHOWN) -> str:
    """A foreign text as a code span."""
    text = harmless(text, limit)
    fence = "`" * (_longest_ticks(text) + 1)
    pad = " " if not text or text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{pad}{text or ' '}{pad}{fence}"


def block(lines: Iterable[str]) -> str:
    """Foreign lines as a fenced block."""
    text = "\n".join(harmless(line, _SHOWN) for line in lines)
    fence = "`" * max(3, _longest_ticks(text) + 1)
    return f"{fence}text\n{text}\n{fence}"


def groups(title: str, found: tuple[Group, ...]) -> Iterator[str]:
    """A list of what stayed open, under its title; nothing where nothing did."""
    if found:
        yield f"### {title}"
        yield "\n".join(
            f"- {code(group.reason)}: {names([f'`{name}`' for name in group.members], _NAMES)}" for group in found
        )


def _longest_ticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _parts(results: Results) -> Iterator[str]:
    header, footer = results.header, results.footer
    packs = ", ".join(pack.path for pack in header.packs)
    yield f"## {footer.verdict}: {packs}" if packs else f"## {footer.verdict}"
    yield f"Reason: {code(footer.reason)}"
    target = header.target
    facts = [f"target: {code(f'{target.kind}: {target.display}')}"]
    if target.name:
        facts.append(f"server: {code(' '.join(filter(None, (target.name, target.version))))}")
    facts.append(f"books: {books_line(footer.books)}")
    facts.append(f"time: {footer.took:.2f} s")
    facts.append(f"kit: {code(header.kit)}, run {code(header.run)}, started {code(header.started)}")
    if footer.cut_short:
        facts.append(f"cut short: {code(footer.cut_short)}")
    yield "\n".join(f"- {fact}" for fact in facts)
    yield from _breaches("Broken promises", breaches(results, Level.MUST), results)
    yield from _breaches("Warnings", breaches(results, Level.SHOULD, Level.MAY), results)
    if cases := excused(results):
        yield "### Excused failures"
        yield "\n".join(f"- `{short(case.case)}`: {code(case.reason or '')}" for case in cases)
    if cases := outdated(results):
        yield "### Excuses no longer needed"
        yield "\n".join(f"- `{short(case.case)}` passes" for case in cases)
    yield from groups("Not decided", undecided(results))
    if footer.books.decided:
        yield from groups("Not verified", unverified(results, Level.MUST))
    if footer.left_behind:
        yield "### Left behind in the target"
        yield "\n".join(f"- {code(thing, 200)}" for thing in footer.left_behind[:100])


def _breaches(title: str, found: tuple[Breach, ...], results: Results) -> Iterator[str]:
    if found:
        yield f"### {title} ({count(len(found), 'clause')})"
    for breach in found:
        yield _breach(breach, results)


def _breach(breach: Breach, results: Results) -> str:
    finding, case = breach.finding, breach.case
    facts: list[str] = []
    if breach.like is None:
        facts.append(f"case: {code(short(case.case))}, {code(case.title)}")
        facts.append(f"step {finding.step}: {code(finding.doing)}")
        facts += [f"at: {code(finding.pointer)}"] if finding.pointer else []
        facts += [f"expected: {code(finding.expected)}", f"got: {code(finding.got)}"]
    else:
        facts.append(f"got: as under `{breach.like}`")
    if breach.others:
        others = names([f"`{name}`" for name in breach.others], _NAMES)
        facts.append(f"{count(len(breach.others), 'more case')}: {others}")
    text = f"**{breach.level} `{breach.clause}`** {code(breach.text)}\n\n" + "\n".join(f"- {fact}" for fact in facts)
    if finding.stderr and breach.like is None:
        text += "\n\n" + block(harmless_lines(finding.stderr))
    return text + "\n\n" + block([reproduce(results.header, case.case)])
