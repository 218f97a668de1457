"""The documents as a reader meets them: their command lines, what these print, and the files that they speak of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

#: Programs whose lines count as command lines also where no ``$`` stands before them.
_PROGRAMS = ("nmemory", "pytest", "make", "claude", "python")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_FILE_NAME = re.compile(r'(?:# |""")([\w.-]+\.\w+)(?:""")?\n')


@dataclass(frozen=True)
class Shown:
    """A command line of a document, and the lines that the document shows below it."""

    line: str
    output: tuple[str, ...] = ()


@dataclass(frozen=True)
class Block:
    """Command lines that a reader types one after the other."""

    document: Path
    number: int
    commands: tuple[Shown, ...]

    def __str__(self) -> str:
        return f"{self.document.name}-{self.number}"


def blocks() -> list[Block]:
    """Every block with command lines in it, by document."""
    found = []
    for document in DOCUMENTS:
        fences = _FENCE.findall(document.read_text(encoding="utf-8"))
        told = [commands for language, text in fences if (commands := _commands(language, text))]
        found += [Block(document, number, commands) for number, commands in enumerate(told, 1)]
    return found


def files(document: Path) -> dict[str, str]:
    """The files that a document shows whole: blocks whose first line is the file's name in a comment."""
    fences = _FENCE.findall(document.read_text(encoding="utf-8"))
    return {name[1]: text for _, text in fences if (name := _FILE_NAME.match(text))}


def _commands(language: str, text: str) -> tuple[Shown, ...]:
    lines = text.replace("\\\n", " ").splitlines()
    if language == "console":
        commands: list[Shown] = []
        for line in lines:
            if line.startswith("$ "):
                commands.append(Shown(line[2:]))
            else:
                last = commands.pop()
                commands.append(Shown(last.line, (*last.output, line)))
        return tuple(commands)
    if language:
        return ()
    # A table of command lines: what stands behind a gap explains them.
    told = [line.removeprefix("$ ") for line in lines if line.removeprefix("$ ").startswith(_PROGRAMS)]
    return tuple(Shown(re.split(r"\s{2,}", line)[0]) for line in told)
