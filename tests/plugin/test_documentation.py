"""What the documents say of the plugin is so: each command line collects, each example works."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from nmemory_kit.plugin import CHOICES
from plugin.conftest import command

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "plugin.md").read_text(encoding="utf-8")
Run = Callable[..., pytest.RunResult]


def _lines() -> list[str]:
    texts = [file.read_text(encoding="utf-8") for file in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))]
    blocks = [block for text in texts for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL)]
    return sorted({line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ pytest ")})


def _example(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


@pytest.mark.parametrize("line", _lines())
def test_a_documented_command_line_collects(
    line: str, run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GB_TOKEN", "a-token-of-ours")
    pytester.makefile(".yaml", server=f"target: {command()}")
    pytester.makepyfile("def test_mine(): pass")
    listed = ("--collect-only", "-q", "--nmemory-protocol", "memory-verbs")
    result = pytester.runpytest_inprocess(*shlex.split(line)[1:], *listed)
    assert result.ret == pytest.ExitCode.OK
    wanted = "test_a_documented*::test_mine" if "not nmemory" in line else "memory-verbs/v1/*"
    result.stdout.fnmatch_lines([wanted])


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
