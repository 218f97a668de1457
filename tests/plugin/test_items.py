"""Each case is an item like any other: collected, chosen, run, reported."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest
from nmemory_kit.contract import load_pack
from plugin.conftest import command

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]

PASSING = "remember-provenance-missing"
FAILING = "wire-expensive-mark"
SHOULD = "wire-annotations"
SKIPPED = "wire-verbs-surface"
UNDECIDED = "entity-by-slug"
EVERY_KIND = f"{PASSING} {FAILING} {SHOULD} {SKIPPED} {UNDECIDED}"


def test_each_verdict_has_its_outcome(run: Run) -> None:
    result = run(cases=EVERY_KIND)
    result.assert_outcomes(passed=2, failed=1, skipped=1, errors=1, warnings=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_an_item_is_called_as_its_case(run: Run) -> None:
    run("-v", cases=PASSING).stdout.fnmatch_lines([f"memory-verbs/v1/{PASSING} PASSED*"])


def test_a_failure_tells_the_finding_and_no_traceback(run: Run) -> None:
    result = run(cases=FAILING)
    result.stdout.fnmatch_lines(
        [
            f"*memory-verbs/v1/{FAILING}*",
            f"memory-verbs/v1/{FAILING}: The description of synthesize begins with*",
            "MUST mv1/wire/expensive-mark",
            "step      1: tools/list*",
            "at        /tools",
            "expected  an item like*",
            "got       *",
            f"rerun     pytest -m nmemory --nmemory-target * --nmemory-case {FAILING}",
            f"FAILED memory-verbs/v1/{FAILING} - mv1/wire/expensive-mark: *",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*kit/nmemory_kit/plugin*")


def test_a_failure_shows_the_transcript(run: Run) -> None:
    run(cases=FAILING).stdout.fnmatch_lines(["*nmemory transcript*", "1    tools/list null -> *synthesize*"])


def test_a_case_that_nobody_decided_is_an_error_and_says_why(run: Run) -> None:
    result = run(cases=UNDECIDED)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["not-run: could not make a page with put_page: *unavailable*", "rerun *"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_skip_says_what_the_target_lacks(run: Run) -> None:
    run("-rs", cases=SKIPPED).stdout.fnmatch_lines(["SKIPPED*'verbs-surface' is not claimed*"])


def test_a_broken_should_is_a_warning(run: Run) -> None:
    result = run(cases=SHOULD)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines([f"*BrokenShouldWarning: memory-verbs/v1/{SHOULD}: SHOULD mv1/wire/annotations: *"])


def test_strict_makes_a_broken_should_a_failure(run: Run) -> None:
    run("--nmemory-strict", cases=SHOULD).assert_outcomes(failed=1)


def test_cases_stand_beside_the_tests_of_the_project(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_mine(): pass")
    run(cases=PASSING).assert_outcomes(passed=2)


def test_a_keyword_chooses_among_cases_and_tests(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_mine(): pass")
    run("-k", "provenance-missing").assert_outcomes(passed=1, deselected=_all_cases())
    run("-k", "memory-verbs and wire-expensive").assert_outcomes(failed=1, deselected=_all_cases())


def test_a_mark_chooses_the_cases(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_mine(): pass")
    run("-m", "nmemory", "--strict-markers", cases=PASSING).assert_outcomes(passed=1, deselected=1)
    run("-m", "not nmemory", cases=PASSING).assert_outcomes(passed=1, deselected=1)


def test_the_first_failure_can_end_the_run(run: Run) -> None:
    result = run("-x", cases=f"{FAILING} remember-*")
    assert result.parseoutcomes()["failed"] == 1
    result.stdout.fnmatch_lines(["*stopping after 1 failures*"])


def test_the_id_of_an_item_can_be_given_as_pytest_prints_it(run: Run) -> None:
    run(f"memory-verbs/v1/{PASSING}").assert_outcomes(passed=1)


def test_a_clause_chooses_the_cases_that_decide_it(run: Run) -> None:
    result = run("--nmemory-clause", "mv1/wire/expensive-mark", "--collect-only", "-q")
    result.stdout.fnmatch_lines([f"memory-verbs/v1/{FAILING}"])
    result.stdout.no_fnmatch_line("*remember*")


def test_the_cases_can_be_listed_without_a_server(run: Run) -> None:
    result = run("--collect-only", "-q", "--nmemory-protocol", "memory-verbs", server="no-such-program")
    result.stdout.fnmatch_lines([f"memory-verbs/v1/{PASSING}"])


def test_the_dots_of_a_pack_are_in_one_line(run: Run) -> None:
    result = run(cases=f"{PASSING} {SHOULD} {SKIPPED}")
    result.stdout.re_match_lines([r"memory-verbs/v1 [.s]{3} .*100%"])


def test_junit_names_the_pack_the_case_and_its_clauses(run: Run, pytester: pytest.Pytester) -> None:
    run("--junitxml=r.xml", cases=EVERY_KIND)
    cases = {case.attrib["name"]: case for case in ET.parse(pytester.path / "r.xml").iter("testcase")}
    assert {case.attrib["classname"] for case in cases.values()} == {"memory-verbs.v1"}
    properties = {one.attrib["name"]: one.attrib["value"] for one in cases[FAILING].iter("property")}
    assert properties == {"clauses": "mv1/wire/expensive-mark", "verdict": "fail"}
    failure = cases[FAILING].find("failure")
    assert failure is not None
    assert "mv1/wire/expensive-mark" in failure.attrib["message"]
    assert "rerun" in (failure.text or "")
    error = cases[UNDECIDED].find("error")
    assert error is not None
    assert "could not be decided (not-run)" in error.attrib["message"]
    assert cases[SKIPPED].find("skipped") is not None


def test_the_summary_has_the_verdict_and_the_books(run: Run) -> None:
    run(cases=EVERY_KIND).stdout.fnmatch_lines(
        [
            "*nMEMORY conformance*",
            "NOT CONFORMANT  memory-verbs/v1: 1 MUST violated",
            "violated  MUST mv1/wire/expensive-mark (wire-expensive-mark)",
            "violated  SHOULD mv1/wire/annotations (wire-annotations)",
            "books     planned 5 = 1 pass + 2 fail + 1 skip + 1 not-run",
        ]
    )


def test_the_header_says_who_is_judged(run: Run) -> None:
    run(cases=PASSING).stdout.fnmatch_lines(["nmemory: *small_server.py (small 1, MCP *) by memory-verbs/v1, run nmk*"])


def test_a_run_that_decided_nothing_is_not_green(run: Run) -> None:
    result = run(cases=SKIPPED)
    result.assert_outcomes(skipped=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["INCONCLUSIVE  memory-verbs/v1: nothing was decided"])


def test_what_a_case_made_is_taken_back(run: Run, pytester: pytest.Pytester) -> None:
    log = pytester.path / "calls.txt"
    run(cases=PASSING, server=command("--log", str(log))).assert_outcomes(passed=1)
    asked = [json.loads(line) for line in log.read_text().splitlines()[1:]]
    kept = [arguments for arguments in asked if arguments.get("provenance")]
    forgotten = [arguments for arguments in asked if "id" in arguments]
    assert len(forgotten) == len(kept)


def _all_cases() -> int:
    return len(load_pack("memory-verbs").cases)
