"""Stores that are the kit's own to throw away: files in a temporary folder."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from . import leftovers
from .connection import Store


class ThrowAwayStores:
    """A temporary folder with a file for each store; it is made when first needed and goes with the target."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._given = 0

    def fresh(self) -> Store:
        """The name of a store that nobody has used."""
        self._given += 1
        return Store(f"store-{self._given}")

    def path(self, store: Store | None) -> Path:
        """Where the file of a store is to be, in a folder of its own; None is the main store."""
        if self._folder is None:
            folder = self._folder = Path(tempfile.mkdtemp(prefix="nmemory-store-"))
            leftovers.keep(self, lambda: shutil.rmtree(folder, ignore_errors=True))
        home = self._folder / ("main" if store is None else store.name)
        home.mkdir(exist_ok=True)
        return home / "store.db"

    def remove(self) -> None:
        """Remove every store."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            leftovers.forget(self)
            self._folder = None
