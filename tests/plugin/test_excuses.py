"""Known failures: excused with a reason, and strictly."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def excused(run: Run, pytester: pytest.Pytester) -> Run:
    """Run with the excuses that are given as YAML."""

    def excused(text: str, *args: str, cases: str = "") -> pytest.RunResult:
        (pytester.path / "excuses.yaml").write_text(text)
        return run("--nmemory-xfail", "excuses.yaml", *args, cases=cases)

    return excused


def test_an_excused_failure_is_an_xfail_with_its_reason(excused: Run) -> None:
    text = "- {case: wire-expensive-mark, reason: the next release has it, link: 'https://example.org/7'}"
    result = excused(text, "-rx", cases="wire-expensive-mark")
    result.assert_outcomes(xfailed=1)
    result.stdout.fnmatch_lines(["XFAIL *wire-expensive-mark - the next release has it (https://example.org/7)"])


def test_an_excused_case_that_passes_fails(excused: Run) -> None:
    result = excused("- {case: remember-provenance-missing, reason: once}", cases="remember-provenance-missing")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["xpass: it no longer fails; take out the excuse: once"])


def test_an_excuse_that_names_no_case_is_a_usage_error(excused: Run) -> None:
    result = excused("- {case: wire-expensive-marc, reason: once}", cases="wire-advertises")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: nmemory: the excuse for 'wire-expensive-marc' names no case*"])


def test_excuses_that_cannot_be_read_are_a_usage_error(run: Run) -> None:
    result = run("--nmemory-xfail", "gone.yaml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: nmemory: cannot read the excuses *gone.yaml*"])


def test_a_run_with_excuses_is_never_called_conformant(excused: Run) -> None:
    result = excused("- {case: wire-expensive-mark, reason: soon}", cases="wire-*-mark remember-provenance-missing")
    result.stdout.fnmatch_lines(["CONFORMANT WITH GAPS *", "books     planned 2 = 1 pass + 1 xfail"])
