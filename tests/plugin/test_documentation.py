"""What the documents say of the plugin is so: each example works. Its command lines are run with all others."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from nmemory_kit.plugin import CHOICES

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "plugin.md").read_text(encoding="utf-8")
Run = Callable[..., pytest.RunResult]


def _example(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def test_every_option_is_documented() -> None:
    rows = re.findall(r"^\| `(--nmemory-[a-z-]+).*?` \| `(nmemory_[a-z_]+)` \|", PAGE, re.MULTILINE)
    assert rows == [(choice.flag, choice.dest) for choice in CHOICES]


def test_the_example_of_a_configuration_works(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml(_example("toml"))
    (pytester.path / "tox.ini").unlink()
    (pytester.mkdir("tests") / "known.yaml").write_text(_example("yaml"), encoding="utf-8")
    result = pytester.runpytest_inprocess("--collect-only", "-q", "--nmemory-protocol", "memory-verbs")
    result.stdout.fnmatch_lines(["memory-verbs/v1/recall-round-trip"])


def test_the_example_of_an_own_case_works(run: Run, pytester: pytest.Pytester) -> None:
    (pytester.mkdir("tests") / "umlauts.nmemory.json").write_text(_example("json"), encoding="utf-8")
    result = run("-v", cases="wire-advertises")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["own/tests/umlauts PASSED*"])


def test_the_examples_in_python_work(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(_example("python"))
    run("-m", "not nmemory", cases="wire-advertises").assert_outcomes(passed=2, deselected=1)
