"""Every command line in the documents is run, and prints what its document shows.

Stand-ins: a server of ours for the URL, a temporary folder for the reader's own, one case for all of them (and one lie
for all lies) where the document shows no output, ``make -n`` for make, and the server alone for a line that hands it
to an agent.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cli.commands import command
from cli.documents import ROOT, Block, Shown, blocks, files

URL = "http://127.0.0.1:3131/mcp"
TOKENS = {
    "GB_TOKEN": "the-token-of-the-reader",
    "GB_READER_TOKEN": "a-token-that-only-reads",
    "OTHER": "of-a-neighbour",
}
CASE = "remember-provenance-blank"
#: ...and where a line is about the other contract.
MEMORY_CASE = "ingest-anchor-drift"
#: Plugins of pytest that have no part here and take long to load.
QUICK = "-p no:xdist -p no:hypothesispytest -p no:anyio -p no:timeout"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the reference server listens, in the place of somebody's own."""
    folder = tmp_path_factory.mktemp("server")
    tokens = folder / "tokens.yaml"
    scopes = {"GB_TOKEN": "[read, write]", "GB_READER_TOKEN": "[read]", "OTHER": "[read, write]"}
    tokens.write_text(
        "".join(
            f"- {{token: {token}, name: {name}, tenant: {'b' if name == 'OTHER' else 'a'}, scopes: {scopes[name]}}}\n"
            for name, token in TOKENS.items()
        )
    )
    options = ("--http", "--port", "0", "--db", folder / "m.sqlite3", "--tokens", tokens)
    started = subprocess.Popen(command("serve", *options), stderr=subprocess.PIPE, text=True)
    try:
        yield started.stderr.readline().split()[-1]
    finally:
        started.terminate()
        started.communicate(timeout=30)


@dataclass(frozen=True)
class Reader:
    """Somebody who has the kit on the path and types what a document says, in a folder of their own."""

    folder: Path
    env: dict[str, str]

    def types(self, words: list[str]) -> tuple[int, str]:
        """The exit code of a command line, and what the terminal shows."""
        if words[:2] == ["nmemory", "serve"] and "--http" in words:
            return self._serves([*words, "--port", "0"])
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=110,
        )
        return done.returncode, done.stdout

    def _serves(self, words: list[str]) -> tuple[int, str]:
        """Start a server that goes on, and end it once it listens."""
        started = subprocess.Popen(words, cwd=self.folder, env=self.env, stderr=subprocess.PIPE, text=True)
        try:
            told = next((line for line in iter(started.stderr.readline, "") if "http://" in line), "")
        finally:
            started.terminate()
            started.communicate(timeout=30)
        return 0 if told else 1, told


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    folder = tmp_path / "work"
    folder.mkdir()
    env = {name: value for name, value in os.environ.items() if not name.startswith(("NMEMORY", "PYTEST", "XDG"))}
    env["PYTEST_ADDOPTS"] = QUICK
    env |= {"HOME": str(tmp_path / "home"), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}", **TOKENS}
    return Reader(folder, env)


def stand_in(shown: Shown, url: str) -> list[str]:
    """The words that are run for a line of a document."""
    words = [word.replace(URL, url) for word in shlex.split(shown.line)]
    if words[0] == "make":
        return ["make", "-n", "-C", str(ROOT), *words[1:]]
    if words[0] == "claude":
        return words[words.index("--") + 1 :]
    if words[0] == "pytest" and not {"-k", "not nmemory"}.intersection(words):
        return [*words, "--nmemory-case", CASE]
    if words[:3] == ["nmemory", "protocol", "prove"] and "--only" not in words:
        return [*words, "--only", "verbs/wire/version-is-2"]
    narrowed = {"--case", "--clause", "--list", "--strict"}.intersection(words)
    if words[:3] == ["nmemory", "protocol", "conformance"] and not narrowed and not shown.output:
        return [*words[:3], "--case", MEMORY_CASE if "--protocol nmemory" in shown.line else CASE, *words[3:]]
    return words


def masked(text: str) -> str:
    """A text without what differs from one run, machine or case set to the next."""
    text = re.sub(r"nmk[a-z0-9]{6,9}", "nmk", text)
    text = re.sub(r"^(passed|report) .*", r"\1", text, flags=re.MULTILINE)
    text = re.sub(r"[^\s']*/python[\d.]*", "python", text)
    return re.sub(r"\d+", "0", text)


def as_pattern(shown: tuple[str, ...]) -> str:
    """Shown lines as a pattern; a line ``...`` stands for any lines."""
    parts = [r"(?:.*\n)*?" if line == "..." else re.escape(masked(line).rstrip()) + r"\s*\n" for line in shown]
    return "".join(parts)


@pytest.mark.parametrize("block", blocks(), ids=str)
def test_the_command_lines_of_a_document_run(block: Block, reader: Reader, url: str) -> None:
    for name, text in files(block.document).items():
        (reader.folder / name).write_text(text, encoding="utf-8")
    (reader.folder / "server.yaml").write_text('command: [python, -m, nmemory_reference, --db, "{store}"]\n')
    (reader.folder / "test_mine.py").write_text("def test_mine(): pass\n")
    for shown in block.commands:
        code, told = reader.types(stand_in(shown, url))
        broken = any(line.startswith("NOT CONFORMANT") for line in shown.output)
        assert code == (1 if broken else 0), f"$ {shown.line}\n{told}"
        if shown.output:
            assert re.fullmatch(as_pattern(shown.output), masked(told)), f"$ {shown.line}\n{told}"


def test_every_command_and_option_is_documented(nmemory):
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    options = re.findall(r"^  (--[a-z-]+)", nmemory("protocol", "conformance", "--help").out, re.MULTILINE)
    commands = re.findall(r"^  ([a-z]+)  ", nmemory("--help").out + nmemory("protocol", "--help").out, re.MULTILINE)
    assert [name for name in {*options, *commands} - {"--help"} if name not in text] == []
