"""With xdist each worker has its own session, and the controller keeps one account."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plugin.conftest import QUICK, command
from plugin.test_own_cases import CASE

pytest_plugins = ["pytester"]

CASES = "wire-advertises wire-expensive-mark wire-annotations wire-verbs-surface remember-provenance-missing"


def _run(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    pytester.makeini(f"[pytest]\naddopts = {QUICK.replace('-p no:xdist', '')}\n")
    chosen = [word for case in CASES.split() for word in ("--nmemory-case", case)]
    return pytester.runpytest_subprocess("-n", "2", *chosen, *args)


def test_workers_share_the_cases_and_one_account(pytester: pytest.Pytester, state: Path) -> None:
    log = pytester.path / "log.txt"
    result = _run(pytester, "--nmemory-target", command("--log", str(log)), "--junitxml=r.xml")
    result.assert_outcomes(passed=3, failed=1, skipped=1, warnings=1)
    result.stdout.fnmatch_lines(
        [
            "*nMEMORY conformance*",
            "NOT CONFORMANT  memory-verbs/v1: 1 MUST violated",
            "books     planned 5 = 2 pass + 2 fail + 1 skip",
            "FAILED memory-verbs/v1/wire-expensive-mark - mv1/wire/expensive-mark*",
        ]
    )
    assert log.read_text().count("start") >= 3  # the controller's look, and a session a worker
    assert 'classname="memory-verbs.v1"' in (pytester.path / "r.xml").read_text()


def test_ids_of_items_and_own_cases_reach_the_workers(pytester: pytest.Pytester, state: Path) -> None:
    pytester.makepyfile("def test_mine(nmemory_call): assert nmemory_call('recall')")
    (pytester.path / "our.nmemory.json").write_text(json.dumps(CASE))
    pytester.makeini(f"[pytest]\naddopts = {QUICK.replace('-p no:xdist', '')}\n")
    ids = ("memory-verbs/v1/wire-advertises", "memory-verbs/v1/wire-annotations")
    result = pytester.runpytest_subprocess("-n", "2", "--nmemory-target", command(), ".", *ids)
    result.assert_outcomes(passed=4, warnings=1)
    result.stdout.fnmatch_lines(["books     planned 2 = 1 pass + 1 fail", "own       1 pass"])


def test_a_server_that_is_not_there_is_one_usage_error(pytester: pytest.Pytester, state: Path) -> None:
    result = _run(pytester, "--nmemory-target", "no-such-program")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: nmemory: the target could not be reached: *"])
