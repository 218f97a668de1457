"""A project's own cases: ``*.nmemory.json`` in its test folders."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import pytest

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]
CASE: dict[str, Any] = {
    "id": "our-notes",
    "title": "A note of ours comes back",
    "clauses": ["mv1/recall/round-trip"],
    "steps": [
        {"call": "remember", "with": {"fact": "{{marker}} ours", "provenance": "us", "entity": "{{marker}}"}},
        {"call": "recall", "with": {"entity": "{{marker}}"}, "shows": ["{{marker}} ours"]},
    ],
}


@pytest.fixture
def own(run: Run, pytester: pytest.Pytester) -> Run:
    """Run with a file ``tests/our.nmemory.json``, and one case of the pack."""

    def own(*args: str, text: str | None = None, **members: Any) -> pytest.RunResult:
        folder = pytester.path / "tests"
        folder.mkdir(exist_ok=True)
        (folder / "our.nmemory.json").write_text(text or json.dumps({**CASE, **members}))
        return run(*args, cases="wire-advertises")

    return own


def test_an_own_case_is_collected_beside_those_of_the_pack(own: Run) -> None:
    result = own("-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["own/tests/our PASSED*", "memory-verbs/v1/wire-advertises PASSED*"])


def test_an_own_case_certifies_nothing(own: Run) -> None:
    own().stdout.fnmatch_lines(["books     planned 1 = 1 pass", "own       1 pass"])


def test_an_own_case_that_fails_says_how_to_do_it_again(own: Run) -> None:
    steps = [CASE["steps"][0], {**CASE["steps"][1], "shows": ["{{marker}} theirs"]}]
    result = own(steps=steps)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["MUST mv1/recall/round-trip", "rerun *tests/our.nmemory.json*"])


def test_junit_sets_own_cases_apart(own: Run, pytester: pytest.Pytester) -> None:
    own("--junitxml=r.xml")
    cases = [(case.attrib["classname"], case.attrib["name"]) for case in ET.parse("r.xml").iter("testcase")]
    assert cases == [("own.tests", "our"), ("memory-verbs.v1", "wire-advertises")]


def test_the_file_can_be_named_alone(own: Run) -> None:
    own("tests/our.nmemory.json", "-k", "our-notes").assert_outcomes(passed=1, deselected=1)


@pytest.mark.parametrize("pack", ["memory-verbs", "memory-verbs/v1"])
def test_an_own_case_can_name_its_contract(own: Run, pack: str) -> None:
    own(pack=pack).assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"text": "{"}, "*our.nmemory.json: this is not JSON that can be used: *"),
        ({"text": "[]"}, "*our.nmemory.json: (top): * is not of type 'object'"),
        ({"clauzes": []}, "*our.nmemory.json: (top): there is no member 'clauzes' (did you mean 'clauses'?)"),
        ({"clauses": ["mv1/recall/none"]}, "*our.nmemory.json: there is no clause 'mv1/recall/none'*"),
        ({"steps": [{"call": "recal"}]}, "*our.nmemory.json: step 1: the protocol has no tool 'recal'*"),
        ({"pack": "other/v1"}, "*our.nmemory.json: this run has no pack 'other/v1'; it has memory-verbs/v1"),
    ],
    ids=["json", "array", "member", "clause", "tool", "pack"],
)
def test_a_bad_case_is_an_error_that_says_what_is_wrong(own: Run, members: dict[str, Any], message: str) -> None:
    result = own(**members)
    result.stdout.fnmatch_lines([message])
    result.stdout.no_fnmatch_line("*Traceback*")
    assert result.ret == pytest.ExitCode.INTERRUPTED


def test_without_a_server_own_cases_are_left_alone(own: Run, pytester: pytest.Pytester) -> None:
    own(text="{")
    pytester.makepyfile("def test_mine(): pass")
    pytester.runpytest_inprocess().assert_outcomes(passed=1)
