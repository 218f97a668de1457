"""What a run has made in somebody's store, written down until it is taken back.

One file a run, JSON Lines: ``{"made": {...}}`` for a thing and ``{"undone": number}`` once it is gone. A run that
crashes leaves its file, and ``nmemory protocol cleanup`` finishes the job: it only ever takes back what it names. The
run holds its file while it lives, so that nobody takes back what it still needs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from ..check import Answer
from ..check.vocabulary import compile_schema, show
from ..contract.pack import Recipe
from ..contract.template import NoSuchPlace, Unfilled, render, resolve
from ..target.held import hold

Json = Any


@dataclass(frozen=True, slots=True)
class Made:
    """A thing that a run made, and the call that takes it back, if there is one."""

    number: int
    #: The case that made it.
    case: str
    #: The thing in words.
    what: str
    tool: str | None = None
    arguments: Json = None
    credential: str | None = None
    #: A schema that the ``data`` of a JSON-RPC error meets if the thing is gone already.
    gone: Json = False


class LedgerHeld(Exception):
    """The run of this ledger is still under way."""


class Ledger:
    """The things of one run that are still there, in memory and, with a path, in a file."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._there: dict[int, Made] = {}
        self._count = 0
        self._file: TextIO | None = None

    @classmethod
    def load(cls, path: Path) -> Ledger:
        """Take over the ledger of a run that has ended; a torn last line is passed over. Raises ``LedgerHeld``."""
        ledger = cls(path)
        ledger._file = path.open("a", encoding="utf-8")
        if not hold(ledger._file):
            ledger._file.close()
            raise LedgerHeld
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if "made" in entry:
                made = Made(**entry["made"])
                ledger._there[made.number] = made
                ledger._count = max(ledger._count, made.number)
            else:
                ledger._there.pop(entry.get("undone"), None)
        return ledger

    def made(
        self,
        case: str,
        what: str,
        tool: str | None = None,
        arguments: Json = None,
        credential: str | None = None,
        gone: Json = False,
    ) -> None:
        """Write down a thing at once, so that a crash does not lose it."""
        self._count += 1
        made = Made(self._count, case, what, tool, arguments, credential, gone)
        self._there[made.number] = made
        self._write({"made": {name: getattr(made, name) for name in Made.__slots__}})

    def answered(self, case: str, tool: str, recipe: Recipe, answer: Answer, credential: str | None = None) -> None:
        """Write down what a call made, with the recipe that takes it back.

        Nothing where the answer names no id, or says by what it is that the thing was there before.
        """
        for item in _items(recipe, answer.body):
            try:
                taken = {name: resolve(item, pointer) for name, pointer in recipe.save.items()}
                arguments = render(recipe.arguments, taken, datetime.now(UTC))
            except (NoSuchPlace, Unfilled):
                continue
            self.made(case, f"{tool} answered {show(taken)}", recipe.tool, arguments, credential, recipe.gone)

    def undone(self, made: Made) -> None:
        """Strike out a thing that is gone."""
        self._there.pop(made.number, None)
        self._write({"undone": made.number})

    def there(self) -> tuple[Made, ...]:
        """The things that are still there, newest first."""
        return tuple(sorted(self._there.values(), key=lambda made: -made.number))

    def close(self) -> None:
        """Close the file, and remove it where nothing is left that could be taken back."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self.path is not None and not any(made.tool for made in self._there.values()):
            self.path.unlink(missing_ok=True)

    def _write(self, entry: Json) -> None:
        if self.path is None:
            return
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("a", encoding="utf-8")
            hold(self._file)
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()


def _items(recipe: Recipe, body: Json) -> list[Json]:
    """The parts of an answer that each say of one thing that was made."""
    if recipe.each is None:
        items: Json = [body]
    else:
        try:
            items = resolve(body, recipe.each)
        except NoSuchPlace:
            return []
    made = compile_schema(recipe.where)
    return [item for item in items if not any(True for _ in made.iter_errors(item))] if isinstance(items, list) else []
