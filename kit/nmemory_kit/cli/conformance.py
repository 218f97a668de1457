"""``nmemory protocol conformance`` and ``cleanup``: a target judged, and what a crashed run left behind taken back."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from .complaint import FAILED, Complaint, say
from .options import (
    Seconds,
    command_argument,
    header_option,
    json_option,
    load,
    profile_option,
    protocol_option,
    start_option,
    target_option,
    timeout_option,
    token_env_option,
    token_file_option,
    token_option,
    version_option,
)
from .progress import Progress
from .runs import Recorder, prepare

if TYPE_CHECKING:
    from ..contract import Case, Pack
    from ..report import Format
    from ..run.cleanup import Cleaned
    from ..run.excuse import Excuse
    from ..run.options import Options
    from ..run.result import CaseResult, Header, Results
    from ..target import McpVersion, Target


@click.command
@command_argument
@target_option
@start_option
@profile_option
@protocol_option
@token_option
@token_env_option
@token_file_option
@header_option
@version_option
@click.option("--synthesize", is_flag=True, help="Allow expensive calls: they may cost the target money.")
@click.option("--case", multiple=True, metavar="GLOB", help="Only cases whose id matches; repeatable.")
@click.option("--clause", multiple=True, metavar="GLOB", help="Only cases that decide such a clause; repeatable.")
@click.option("--jobs", type=click.IntRange(1, 256), default=8, metavar="N", help="Cases at once.")
@timeout_option
@click.option("--run-timeout", type=Seconds(), metavar="S", help="Seconds for the whole run (900).")
@click.option("--xfail", type=Path, metavar="FILE", help="Failures that are known, with their reasons.")
@click.option("--strict", is_flag=True, help="Exit 1 on gaps too.")
@click.option("--list", "list_cases", is_flag=True, help="Print the cases and run nothing.")
@json_option
@click.option("--junit", type=Path, metavar="FILE", help="Write JUnit XML for a CI system.")
@click.option("--markdown", type=Path, metavar="FILE", help="Write Markdown for a step summary.")
@click.option("--lasting", is_flag=True, help="Make the Markdown one to keep: each clause, nothing that differs a run.")
@click.option("--report", type=Path, metavar="DIR", help="Write the result file and every report there.")
def conformance(
    command: tuple[str, ...],
    target: str | None,
    start: str | None,
    profile: Path | None,
    protocol: str | None,
    token: str | None,
    token_env: str | None,
    token_file: Path | None,
    header: tuple[str, ...],
    mcp_version: "McpVersion | None",
    synthesize: bool,
    case: tuple[str, ...],
    clause: tuple[str, ...],
    jobs: int,
    timeout: float | None,
    run_timeout: float | None,
    xfail: Path | None,
    strict: bool,
    list_cases: bool,
    as_json: bool,
    junit: Path | None,
    markdown: Path | None,
    lasting: bool,
    report: Path | None,
) -> None:
    """Judge a server by the contract. Without a target the kit certifies its own reference server."""
    import asyncio
    from contextlib import nullcontext

    from ..run.declared import check_declared
    from ..run.excuse import check_excuses, read_excuses
    from ..run.reach import Address, reach
    from ..run.select import choose, concerned
    from ..target.throwaway import in_memory
    from . import own_server

    token_from = (token, token_env, token_file)
    address = Address.of(target, command, profile, token_from, header, mcp_version, timeout, own_server.COMMAND, start)
    packs = load(protocol)
    everything, cases = choose(packs), choose(packs, case, clause)
    if not cases:
        raise Complaint("no case meets both --case and --clause", "Leave one of them out, or widen its glob")
    if list_cases:
        click.echo(_listed(cases, as_json=as_json))
        return
    excuses = read_excuses(xfail) if xfail is not None else ()
    check_excuses(excuses, everything, _today())
    reached = reach(address)
    if reached.profile is not None:
        check_declared(reached.profile, load(None))
    options = reached.options(
        protocol=protocol,
        jobs=jobs,
        run_timeout=run_timeout,
        synthesize=synthesize or not address.given,
        claims=frozenset() if address.given else own_server.CLAIMS,
    )
    writers = _writers(junit, markdown, report, lasting=lasting)
    run = _Run(concerned(packs, cases), cases, excuses, complete=cases == everything, forced=protocol is not None)
    if options.ledger is None and not reached.target.disposable:
        say("the kit's own folder cannot be written: if this run crashes, what it made stays in the target")
    if not address.given:
        say("no target was given: this certifies the kit's own reference server, over stdio")
    with Recorder(report, options.run) as recorder, nullcontext() if address.given else in_memory():
        results = asyncio.run(_conduct(reached.target, run, options, recorder))
    try:
        _tell(results, recorder.path, as_json=as_json)
    finally:
        # Also where nobody reads what is told.
        for form, write in writers:
            write(form.render(results))
    raise Exit(_exit_code(results, strict=strict))


@click.command
@command_argument
@target_option
@start_option
@profile_option
@token_option
@token_env_option
@token_file_option
@header_option
@version_option
@timeout_option
@click.option("--run", metavar="RUN", help="Only what this run made.")
def cleanup(
    command: tuple[str, ...],
    target: str | None,
    start: str | None,
    profile: Path | None,
    token: str | None,
    token_env: str | None,
    token_file: Path | None,
    header: tuple[str, ...],
    mcp_version: "McpVersion | None",
    timeout: float | None,
    run: str | None,
) -> None:
    """Take back what crashed runs left behind in a target: only what their ledgers name."""
    import asyncio

    from ..report.foreign import harmless
    from ..run.cleanup import clean_up
    from ..run.reach import Address, reach
    from ..run.state import ledgers

    token_from = (token, token_env, token_file)
    address = Address.of(target, command, profile, token_from, header, mcp_version, timeout, start=start)
    if not address.given:
        raise Complaint("no target was given", "Name the one that the runs were against, as then: --target, --profile")
    reached = reach(address)
    known = sorted(ledgers(reached.target).glob("*.jsonl"))
    chosen = [path for path in known if run is None or path.stem == run]
    if run is not None and not chosen:
        there = ", ".join(path.stem for path in known) or "none"
        raise Complaint(f"no run {run!r} left anything behind in this target; runs that did: {there}")
    if not chosen:
        click.echo("no run left anything behind in this target")
        return

    async def clean() -> "tuple[Cleaned, ...]":
        try:
            return await clean_up(reached.target, chosen, reached.options())
        finally:
            await reached.target.close()

    for cleaned in asyncio.run(clean()):
        if cleaned.under_way:
            click.echo(f"run {cleaned.ledger.stem}: still under way, left alone")
            continue
        click.echo(f"run {cleaned.ledger.stem}: {cleaned.taken_back} taken back, {len(cleaned.left)} left")
        for thing in cleaned.left:
            click.echo(f"  {harmless(thing, 200)}")


@dataclass(frozen=True)
class _Run:
    """What is done against the target."""

    packs: "tuple[Pack, ...]"
    cases: "tuple[Case, ...]"
    excuses: "tuple[Excuse, ...]"
    complete: bool
    forced: bool


async def _conduct(target: "Target", run: _Run, options: "Options", recorder: Recorder) -> "Results":
    """Do the run, write it down as it goes on, and leave no store of the target's behind."""
    from ..run.conduct import Watch, conduct

    with Progress("reaching the target") as progress:

        def on_start(header: "Header", planned: int) -> None:
            recorder.start(header)
            progress.start(planned)

        def on_case(result: "CaseResult") -> None:
            recorder.add(result)
            progress.add(good=result.verdict not in ("fail", "error", "xpass"))

        try:
            results = await conduct(
                target,
                run.packs,
                run.cases,
                options,
                excuses=run.excuses,
                complete=run.complete,
                forced=run.forced,
                watch=Watch(on_start, on_case),
            )
        finally:
            await target.close()
    recorder.finish(results)
    return results


def _tell(results: "Results", path: Path | None, *, as_json: bool) -> None:
    """Print the verdict; with ``--json`` nothing but the object goes to stdout."""
    from ..report import summary, terminal

    where = str(path) if path is not None else "nowhere: the kit's own folder cannot be written (use --report DIR)"
    if as_json:
        sys.stdout.write(summary.render(results))
        say(f"the result file is {where}")
    else:
        terminal.write(results, sys.stdout, report=where)


def _writers(
    junit: Path | None, markdown: Path | None, report: Path | None, *, lasting: bool
) -> "list[tuple[Format, Callable[[str], None]]]":
    """The reports that were asked for, each with what writes it; a file that cannot be written is told now."""
    from ..report import FORMATS

    if lasting and markdown is None:
        raise Complaint("--lasting says what Markdown to write, and none is asked for", "Add --markdown FILE")
    asked = [(FORMATS["junit"], junit), (FORMATS["record" if lasting else "markdown"], markdown)]
    if report is not None:
        asked += [(FORMATS[name], report / FORMATS[name].file) for name in ("json", "junit", "markdown")]
    return [(form, prepare(path)) for form, path in asked if path is not None]


def _exit_code(results: "Results", *, strict: bool) -> int:
    """The exit code of a run; gaps count with ``--strict``, and an excuse that is no longer needed always does."""
    code = results.exit_code
    needless = any(case.verdict == "xpass" for case in results.cases)
    if code == 0 and (needless or (strict and results.footer.verdict != "CONFORMANT")):
        return FAILED
    return code


def _listed(cases: "Sequence[Case]", *, as_json: bool) -> str:
    if as_json:
        told = [
            {"case": case.path, "title": case.title, "clauses": list(case.clauses), "needs": list(case.needs)}
            for case in cases
        ]
        return json.dumps(told, indent=2)
    lines = []
    for case in cases:
        needs = f" (needs {', '.join(case.needs)})" if case.needs else ""
        lines += [f"{case.path}: {case.title}{needs}", f"    {', '.join(case.clauses)}"]
    return "\n".join([*lines, f"{len(cases)} case{'' if len(cases) == 1 else 's'}"])


def _today() -> date:
    return datetime.now(UTC).astimezone().date()
