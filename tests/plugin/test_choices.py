"""What is chosen on the command line and in the configuration, and what is said of a wrong choice."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from nmemory_kit.plugin import CHOICES
from plugin.conftest import QUICK, command

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]


def _refused(result: pytest.RunResult, message: str) -> None:
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    result.stderr.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*Traceback*")


def test_everything_can_stand_in_the_configuration(pytester: pytest.Pytester, state: object) -> None:
    pytester.makepyprojecttoml(
        f"""
        [tool.pytest.ini_options]
        addopts = "{QUICK}"
        nmemory_target = {command()!r}
        nmemory_case = ["wire-annotations", "wire-expensive-mark"]
        nmemory_clause = ["mv1/wire/annotations"]
        nmemory_protocol = "memory-verbs"
        nmemory_xfail = "excuses.yaml"
        nmemory_timeout = "7.5"
        nmemory_strict = true
        """
    )
    (pytester.path / "excuses.yaml").write_text("- {case: wire-annotations, reason: soon}")
    folder = pytester.mkdir("below")
    pytester.chdir()
    pytester.runpytest_inprocess(str(folder)).assert_outcomes(xfailed=1)


def test_the_command_line_goes_before_the_configuration(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml(
        f"""
        [tool.pytest.ini_options]
        addopts = "{QUICK}"
        nmemory_target = "no-such-program"
        nmemory_case = ["wire-annotations"]
        """
    )
    (pytester.path / "tox.ini").unlink()
    run(cases="wire-advertises").assert_outcomes(passed=1)


def test_a_profile_names_the_target(pytester: pytest.Pytester, run: Run) -> None:
    (pytester.path / "server.yaml").write_text(f"target: {command()}\nclaims: [verbs-surface]\n")
    result = pytester.runpytest_inprocess("--nmemory-profile", "server.yaml", "--nmemory-case", "wire-verbs-surface")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["rerun     pytest -m nmemory --nmemory-profile server.yaml --nmemory-case *"])


def test_a_profile_limits_how_long_all_cases_may_take(pytester: pytest.Pytester, run: Run) -> None:
    (pytester.path / "server.yaml").write_text(f"target: {command()}\nlimits: {{run: 0.000001}}\n")
    result = pytester.runpytest_inprocess("--nmemory-profile", "server.yaml", "--nmemory-case", "remember-kind-*")
    assert set(result.parseoutcomes()) == {"errors"}
    result.stdout.fnmatch_lines(["not-run: the cases were not done within 1e-06 s"])


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.name)
def test_each_choice_has_an_option_and_a_place_in_the_configuration(
    choice: object, pytestconfig: pytest.Config
) -> None:
    assert pytestconfig.getoption(choice.dest, "missing") != "missing"
    assert pytestconfig.getini(choice.dest) in ("", [], False)


def test_an_option_without_a_server_is_refused(pytester: pytest.Pytester, run: Run) -> None:
    result = pytester.runpytest_inprocess("--nmemory-case", "x")
    _refused(result, "--nmemory-case says nothing without a server: add --nmemory-target URL|COMMAND")


def test_a_program_that_is_not_there_is_one_usage_error(run: Run) -> None:
    result = run(server="no-such-program --serve")
    _refused(result, "nmemory: the target could not be reached: *no-such-program*")
    assert len(result.errlines) <= 4


def test_a_server_that_ends_at_once_is_one_usage_error_with_its_last_words(run: Run) -> None:
    result = run(server=f"{sys.executable} -c \"import sys; sys.exit('no licence')\"")
    _refused(result, "nmemory: the target could not be reached: *exit code 1*")
    result.stderr.fnmatch_lines(["  | no licence"])


def test_a_url_without_a_server_is_one_usage_error(run: Run) -> None:
    _refused(run(server="http://127.0.0.1:9/mcp"), "nmemory: the target could not be reached: *")


def test_a_server_of_another_kind_is_one_usage_error(run: Run) -> None:
    result = run(server=command("--foreign"))
    _refused(result, "nmemory: the target offers no tool of a contract that this kit knows; its tools: paint, draw")


def test_a_foreign_server_is_judged_where_the_contract_is_named(run: Run) -> None:
    result = run("--nmemory-protocol", "memory-verbs", cases="wire-advertises", server=command("--foreign"))
    result.assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--nmemory-case", "remember-provenence-missing"), "nmemory: no case is called*remember-provenance-missing*"),
        (("--nmemory-clause", "mv1/wire/none"), "nmemory: no clause is called 'mv1/wire/none'*"),
        (("--nmemory-protocol", "none"), "nmemory: there is no pack 'none'; there are: memory-verbs/v1, nmemory/v1"),
        (("--nmemory-timeout", "soon"), "--nmemory-timeout: 'soon' is no number of seconds above 0"),
        (("--nmemory-mcp-version", "9"), "--nmemory-mcp-version: '9' is none of auto, legacy, modern"),
        (("--nmemory-profile", "gone.yaml"), "nmemory: *gone.yaml*"),
        (("--nmemory-token-env", "NOT_SET"), "nmemory: the environment variable NOT_SET is not set*"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_wrong_choice_is_a_usage_error(run: Run, option: tuple[str, str], message: str) -> None:
    _refused(run(*option), message)


def test_a_server_that_falls_silent_is_given_up(run: Run) -> None:
    result = run("--nmemory-timeout", "0.05", cases="remember-*", server=command("--mute"))
    outcomes = result.parseoutcomes()
    assert outcomes["failed"] <= 16
    assert outcomes["errors"] > 10
    result.stdout.fnmatch_lines(["not-run: the target gave no answer in 6 cases in a row"])


def test_the_plugin_loads_nothing_of_the_kit_unless_it_is_asked() -> None:
    loaded = "import sys, nmemory_kit.plugin; print([m for m in sys.modules if m.startswith('nmemory_kit')])"
    ran = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "['nmemory_kit', 'nmemory_kit.plugin']"
