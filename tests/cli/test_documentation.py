"""Every command line in the documents is one that the command understands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def command_lines() -> list[tuple[str, str]]:
    """The lines of console blocks that begin with ``$ nmemory``, each with its document."""
    found = []
    for document in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for block in re.findall(r"```console\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL):
            found += [(document.name, line[2:]) for line in block.splitlines() if line.startswith("$ nmemory ")]
    return found


@pytest.mark.parametrize(("document", "line"), command_lines(), ids=lambda value: value)
def test_a_documented_command_line_is_understood(document: str, line: str, nmemory):
    arguments = shlex.split(line)[1:]
    end = arguments.index("--") if "--" in arguments else len(arguments)
    ran = nmemory(*arguments[:end], "--help", *arguments[end:])
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Usage: nmemory ")


def test_every_command_and_option_is_documented(nmemory):
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    options = re.findall(r"^  (--[a-z-]+)", nmemory("protocol", "conformance", "--help").out, re.MULTILINE)
    commands = re.findall(r"^  ([a-z]+)  ", nmemory("--help").out + nmemory("protocol", "--help").out, re.MULTILINE)
    assert [name for name in {*options, *commands} - {"--help"} if name not in text] == []
