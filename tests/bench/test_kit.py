"""What the kit costs: a verdict, a proof, a call, a start."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from bench.figures import say, timed
from nmemory_kit.contract import load_pack, pack_names
from nmemory_kit.contract.case import Parallel, Restart
from nmemory_kit.run.conduct import conduct
from nmemory_kit.run.options import Options
from nmemory_kit.run.result import Results
from nmemory_kit.target import Command, StdioTarget

pytestmark = pytest.mark.bench

NMEMORY = Path(sys.executable).with_name("nmemory")
PACK = load_pack("memory-verbs")
REPEATS = 5


def run(*arguments: str, environment: dict[str, str] | None = None) -> tuple[float, str]:
    """The wall time of a whole process, and what it printed."""
    began = time.perf_counter()
    done = subprocess.run(
        [str(NMEMORY), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(environment or {})},
    )
    return time.perf_counter() - began, done.stdout


def best(*arguments: str) -> float:
    return min(run(*arguments)[0] for _ in range(REPEATS))


def test_start() -> None:
    say("nmemory --help, whole process, best of 5", f"{best('--help') * 1e3:.0f} ms")
    say("nmemory protocol --json, whole process, best of 5", f"{best('protocol', '--json') * 1e3:.0f} ms")


def test_verdict(tmp_path: Path) -> None:
    prompt = [word for case in PACK.cases if not case.waits for word in ("--case", case.id)]
    say(
        "a verdict on stdio, cases that need no waiting, best of 5",
        f"{best('protocol', 'conformance', '--protocol', PACK.protocol, *prompt):.2f} s",
    )
    verbs = ("protocol", "conformance", "--protocol", PACK.protocol)
    say("a verdict on stdio, every case, best of 5", f"{best(*verbs):.2f} s")
    _, printed = run(*verbs, "--json")
    summary = json.loads(printed)
    say(
        "cases / MUST clauses proven",
        f"{len(summary['cases'])} / {sum(c['verdict'] == 'proven' for c in summary['clauses'])}",
    )


@pytest.mark.timeout(1800)
def test_both_contracts_on_our_own_server() -> None:
    """What `nmemory protocol conformance` does without a target."""
    cases = [case for pack in map(load_pack, pack_names()) for case in pack.cases if not case.waits]
    prompt = [word for case in cases for word in ("--case", case.path)]
    say(
        f"both contracts on stdio, the {len(cases)} cases that need no waiting, best of 5",
        f"{best('protocol', 'conformance', *prompt):.1f} s",
    )
    say("both contracts on stdio, every case, best of 5", f"{best('protocol', 'conformance'):.1f} s")


@pytest.mark.timeout(1800)
def test_whole_run_of_each_pack(tmp_path: Path) -> None:
    """Every case on stdio: wall time, what the kit and its servers cost, and how many processes it took."""
    for pack in map(load_pack, pack_names()):
        starts = tmp_path / f"{pack.protocol}.starts"
        # Each start of the server leaves a byte.
        server = f"printf . >> {starts}; exec {sys.executable} -P -m nmemory_reference"
        words = ("sh", "-c", f'{server} "$@"', "server", "--db", "{store}", "--anchor-root", "{folder}")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall, printed = run(
            *("protocol", "conformance", "--protocol", pack.protocol, "--synthesize", "--json", "--", *words),
            *("--surface", "full", "--embeddings", "hash"),
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        summary = json.loads(printed)
        say(f"{pack.path}, whole, on stdio: {summary['verdict']}", f"{wall:.1f} s")
        say(f"{pack.path}: CPU of the kit and its servers", f"{cpu:.1f} s")
        say(f"{pack.path}: cases / processes started", f"{len(summary['cases'])} / {starts.stat().st_size}")


def test_cost_of_a_call(tmp_path: Path) -> None:
    """What a call costs beyond the target's own share of it, on one connection, one case at a time."""
    command = [sys.executable, "-m", "nmemory_reference", "--db", "{store}"]
    cases = [
        case
        for case in PACK.cases
        if case.store == "shared"
        and not case.waits
        and not any(isinstance(step, Parallel | Restart) for step in case.steps)
    ]

    async def certify() -> tuple[Results, float]:
        target = StdioTarget(Command(command))
        try:
            began = time.perf_counter()
            results = await conduct(target, [PACK], cases, Options(jobs=1))
            return results, time.perf_counter() - began
        finally:
            await target.close()

    before = resource.getrusage(resource.RUSAGE_SELF)
    results, wall = asyncio.run(certify())
    after = resource.getrusage(resource.RUSAGE_SELF)
    replies = [exchange.took / 1e3 for case in results.cases for exchange in case.transcript]
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    cases_took = sum(case.took for case in results.cases)
    say(f"calls in {len(results.cases)} cases, one at a time", f"{len(replies)}")
    say(
        "the kit's own share: case time beyond the replies, a call",
        f"{(cases_took - sum(replies)) / len(replies) * 1e3:.2f} ms",
    )
    say("the kit's CPU, everything, a call", f"{cpu / len(replies) * 1e3:.2f} ms")
    say("the target's share: reply time, a call", f"{sum(replies) / len(replies) * 1e3:.2f} ms")
    say("wall time", f"{wall:.2f} s")


@pytest.mark.timeout(1800)
def test_memory_of_a_run() -> None:
    """Of both packs together."""
    script = (
        "import resource, sys\n"
        "from nmemory_kit.cli.main import run\n"
        "try: run(['protocol', 'conformance', '--json'])\n"
        "except SystemExit: pass\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,"
        " resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    kit, server = map(int, done.stderr.split()[-2:])
    say("peak memory of a run: the kit / the reference server", f"{kit // 1024} / {server // 1024} MiB")


@pytest.mark.timeout(1800)
def test_proof_of_each_pack() -> None:
    for pack in pack_names():
        with timed() as taken:
            _, printed = run("protocol", "prove", "--protocol", pack, "--json")
        proof: dict[str, Any] = json.loads(printed)
        doubles = f"{len(proof['lies'])} lies, {len(proof['variants'])} variants, {len(proof['nulls'])} null doubles"
        say(f"prove {pack}, {doubles}", f"{taken[0]:.1f} s")
