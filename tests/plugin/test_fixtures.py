"""Tests of a project's own, in Python, against the server."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def mine(run: Run, pytester: pytest.Pytester) -> Run:
    """Run a test file of the project with one case of the pack."""

    def mine(text: str) -> pytest.RunResult:
        pytester.makepyfile(text)
        return run("-m", "not nmemory", cases="wire-advertises")

    return mine


def test_a_call_answers_the_body(mine: Run) -> None:
    mine(
        """
        def test_mine(nmemory_call):
            kept = nmemory_call("remember", fact="the well is deep", provenance="a diver", entity="places/well")
            assert kept["status"] == "inserted"
            assert nmemory_call("recall", entity="places/well")["total"] == 1
        """
    ).assert_outcomes(passed=1, deselected=1)


def test_an_error_fails_the_test_and_is_shown(mine: Run) -> None:
    result = mine(
        """
        def test_mine(nmemory_call):
            nmemory_call("remember", fact="from nowhere", provenance=" ")
        """
    )
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(['E *AssertionError: remember answered an error: *"provenance_required"*'])
    result.stdout.no_fnmatch_line("*handle.py*")


def test_any_answer_can_be_looked_at(mine: Run) -> None:
    mine(
        """
        def test_mine(nmemory_target):
            answer = nmemory_target.ask("remember", {"fact": "from nowhere", "provenance": " "})
            assert answer.outcome == "error"
            assert answer.body["error"] == "provenance_required"
        """
    ).assert_outcomes(passed=1, deselected=1)


def test_the_target_says_who_it_is_and_what_it_can(mine: Run) -> None:
    mine(
        """
        def test_mine(nmemory_target):
            assert nmemory_target.identity.name == "small"
            assert "recall" in nmemory_target.identity.tools
            assert "tool:recall" in nmemory_target.capabilities
        """
    ).assert_outcomes(passed=1, deselected=1)


def test_without_a_server_such_tests_are_skipped(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_mine(nmemory_call): pass")
    result = pytester.runpytest_inprocess("-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*no server to test: give --nmemory-target*"])
