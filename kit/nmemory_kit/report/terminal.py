"""The report for people: the verdict first, then each broken promise with the command that shows it again.

On a terminal it is set with rich (colours, wrapped to the width); elsewhere it is plain lines, one fact a line, so
that a log can be searched. ``NO_COLOR`` is honoured.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TextIO

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

#: Characters of one foreign text that are shown here; the result file has all of it.
_SHOWN = 600
_LABEL = 10
_NAMES = 8
_FEW = 5

_COLOURS = {
    "CONFORMANT": "bold green",
    "CONFORMANT WITH GAPS": "bold yellow",
    "NOT CONFORMANT": "bold red",
    "INCONCLUSIVE": "bold magenta",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the report; every text in it is harmless already."""

    text: str = ""
    indent: int = 0
    label: str | None = None
    style: str = ""
    #: Never broken by us, so that it can be copied.
    whole: bool = False


def write(results: Results, stream: TextIO, *, report: str | None = None) -> None:
    """Write the report to ``stream``; ``report`` says where the result file is."""
    put(lines(results, report=report), stream)


def render(results: Results) -> str:
    """The report as plain text."""
    return "".join(plain(line) + "\n" for line in lines(results))


def put(report: Iterable[Line], stream: TextIO) -> None:
    """Write lines as the stream can show them best."""
    if stream.isatty():
        _put_rich(report, stream)
    else:
        stream.writelines(plain(line) + "\n" for line in report)


def plain(line: Line) -> str:
    """A line without any styling."""
    label = "" if line.label is None else f"{line.label:<{_LABEL}}"
    return " " * line.indent + label + line.text


def lines(results: Results, *, report: str | None = None) -> Iterator[Line]:
    """The report, line by line."""
    header, footer = results.header, results.footer
    colour = _COLOURS.get(footer.verdict, "bold")
    packs = ", ".join(pack.path for pack in header.packs)
    yield Line(f"{footer.verdict}  {packs}".rstrip(), style=colour)
    for text in harmless_lines(footer.reason):
        yield Line(text, 2)
    yield Line()
    yield Line(_target(results), label="target")
    if passed := header.environment.get("passed"):
        yield Line(harmless(" ".join(map(str, passed)), _SHOWN), label="passed")
    if footer.cut_short and footer.cut_short not in footer.reason:
        yield Line(harmless(footer.cut_short, _SHOWN), label="cut short", style="yellow")
    yield from _breaches("Broken promises", "red", breaches(results, Level.MUST), results)
    yield from _breaches("Warnings", "yellow", breaches(results, Level.SHOULD, Level.MAY), results)
    yield from _excuses(results)
    yield from _groups("Not decided", "case", undecided(results), footer.reason)
    yield from _gaps(results)
    yield Line()
    yield from _run_facts(results)
    if report is not None:
        yield Line(harmless(report), label="report", whole=True)
    yield Line(footer.verdict, label="verdict", style=colour)


def _gaps(results: Results) -> Iterator[Line]:
    """What stayed unverified; where nothing was decided that goes without saying."""
    if not results.footer.books.decided:
        return
    yield from _groups("Not verified", "clause", unverified(results, Level.MUST), results.footer.reason)
    if soft := sum(len(group.members) for group in unverified(results, Level.SHOULD, Level.MAY)):
        yield Line(f"and {count(soft, 'clause')} of level SHOULD or MAY (see the result file)", 2)


def _target(results: Results) -> str:
    target = results.header.target
    if target.mcp_version is None and not target.tools:
        return harmless(f"{target.kind}: {target.display}", _SHOWN)
    name = " ".join(filter(None, (target.name, target.version))) or "no name given"
    facts = [
        name,
        f"MCP {target.mcp_version}" if target.mcp_version else None,
        count(len(target.tools), "tool"),
    ]
    return harmless(f"{target.kind}: {target.display} ({', '.join(filter(None, facts))})", _SHOWN)


def _breaches(title: str, colour: str, found: tuple[Breach, ...], results: Results) -> Iterator[Line]:
    if not found:
        return
    yield Line()
    yield Line(f"{title} ({count(len(found), 'clause')})", style="bold")
    for breach in found:
        yield Line()
        yield Line(f"{breach.level} {breach.clause}", style=colour)
        yield Line(harmless(breach.text, _SHOWN), 2)
        yield from _proof(breach, results)


def _proof(breach: Breach, results: Results) -> Iterator[Line]:
    case, finding = breach.case, breach.finding
    if breach.like is None:
        yield Line(f"{short(case.case)}: {harmless(case.title)}", 4, "case")
        yield Line(f"{finding.step}: {harmless(finding.doing, _SHOWN)}", 4, "step")
        if finding.pointer:
            yield Line(harmless(finding.pointer, _SHOWN), 4, "at")
        yield Line(harmless(finding.expected, _SHOWN), 4, "expected")
        yield Line(harmless(finding.got, _SHOWN), 4, "got")
        for number, text in enumerate(harmless_lines(finding.stderr or "")):
            yield Line(f"| {text}", 4, "" if number else "stderr", "dim")
    else:
        yield Line(f"as under {breach.like}", 4, "got")
    yield Line(harmless(reproduce(results.header, case.case)), 4, "rerun", "cyan", whole=True)
    if breach.others:
        yield Line(f"{count(len(breach.others), 'more case')}: {names(breach.others, _NAMES)}", 4, "and")


def _excuses(results: Results) -> Iterator[Line]:
    if cases := excused(results):
        yield Line()
        yield Line(f"Excused failures ({count(len(cases), 'case')})", style="bold")
        for case in cases:
            yield Line(f"{short(case.case)}: {harmless(case.reason or '', _SHOWN)}", 2)
    if cases := outdated(results):
        yield Line()
        yield Line(f"Excuses no longer needed ({count(len(cases), 'case')})", style="bold")
        for case in cases:
            yield Line(f"{short(case.case)}: {harmless(case.reason or 'it passes', _SHOWN)}", 2, style="red")


def _groups(title: str, noun: str, groups: tuple[Group, ...], above: str) -> Iterator[Line]:
    if not groups:
        return
    yield Line()
    yield Line(f"{title} ({count(sum(len(group.members) for group in groups), noun)})", style="bold")
    for group in groups:
        if group.reason == above:
            yield Line(f"for the reason above: {count(len(group.members), noun)}", 2)
            continue
        yield Line(f"{harmless(group.reason, _SHOWN)}: {names(group.members, _NAMES)}", 2)


def _run_facts(results: Results) -> Iterator[Line]:
    footer = results.footer
    yield Line(books_line(footer.books), label="books")
    yield Line(f"{footer.took:.2f} s", label="time")
    if repeated := [short(case.case) for case in results.cases if case.again]:
        yield Line(f"done again, alone, after a broken connection: {', '.join(repeated)}", label="again")
    if footer.left_behind:
        yield Line(f"{count(len(footer.left_behind), 'thing')} could not be taken back:", label="left")
        yield from _first(footer.left_behind)
    else:
        yield Line("nothing stays behind in the target", label="left")
    if footer.noise:
        yield Line(f"{count(len(footer.noise), 'message')} without a request:", label="noise")
        yield from _first(footer.noise)


def _first(things: tuple[str, ...]) -> Iterator[Line]:
    """The first few of many things, and how many more there are."""
    for thing in things[:_FEW]:
        yield Line(harmless(thing, 120), _LABEL)
    if len(things) > _FEW:
        yield Line(f"and {len(things) - _FEW} more (in the result file)", _LABEL)


def _put_rich(report: Iterable[Line], stream: TextIO) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    bare = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    size = shutil.get_terminal_size()
    console = Console(
        file=stream,
        highlight=False,
        markup=False,
        emoji=False,
        color_system=None if bare else "auto",
        # rich takes a dumb terminal for one of 80 columns unless it is told both.
        width=size.columns,
        height=size.lines,
    )
    for line in report:
        text = Text(line.text, style=line.style, overflow="fold")
        if line.whole:
            label = Text(f"{' ' * line.indent}{line.label or '':<{_LABEL}}", style="dim")
            console.print(Text.assemble(label, text), soft_wrap=True)
            continue
        if not line.text:
            console.print()
            continue
        if line.label is None:
            console.print(Padding(text, (0, 0, 0, line.indent), expand=False))
            continue
        grid = Table.grid(padding=0)
        grid.add_column(width=_LABEL)
        grid.add_column(overflow="fold")
        grid.add_row(Text(line.label, style="dim"), text)
        console.print(Padding(grid, (0, 0, 0, line.indent), expand=False))
