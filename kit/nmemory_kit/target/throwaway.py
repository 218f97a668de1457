"""Stores that are the kit's own to throw away, and a folder for files beside them: all in a temporary folder.

A run removes its folder; one that was killed cannot. The next run that needs such a folder removes what dead runs left.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from . import leftovers
from .connection import Store
from .held import TELLS, hold

_PREFIX = "nmemory-store-"
#: Held by the run whose folder it is.
_LOCK = "in-use"
#: Where files are in memory, and the bytes that have to be free there: many times what a run needs.
_IN_MEMORY = Path("/dev/shm")  # noqa: S108
_ROOM = 2**30
#: Seconds after which a folder that nobody holds is no longer one that is just being made.
_NEW = 60.0


@contextmanager
def in_memory() -> Iterator[None]:
    """Meanwhile temporary folders are in memory, if the machine has a place for that with room enough.

    For servers of our own, whose stores are small; nobody waits for a disk then.
    """
    before = tempfile.tempdir
    with contextlib.suppress(OSError):
        if os.access(_IN_MEMORY, os.W_OK) and shutil.disk_usage(_IN_MEMORY).free >= _ROOM:
            tempfile.tempdir = str(_IN_MEMORY)
    try:
        yield
    finally:
        tempfile.tempdir = before


class ThrowAwayStores:
    """A temporary folder with a file for each store; it is made when first needed and goes with the target."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._given = 0
        self._lock: TextIO | None = None

    def fresh(self) -> Store:
        """The name of a store that nobody has used."""
        self._given += 1
        return Store(f"store-{self._given}")

    def path(self, store: Store | None) -> Path:
        """Where the file of a store is to be, in a folder of its own; None is the main store."""
        return self._home("main" if store is None else store.name) / "store.db"

    def files(self) -> Path:
        """A folder for files that are no stores."""
        return self._home("files")

    def remove(self) -> None:
        """Remove every store."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            leftovers.forget(self)
            self._folder = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _home(self, name: str) -> Path:
        if self._folder is None:
            _sweep(Path(tempfile.gettempdir()))
            # Resolved, because a path through a link is another path to whoever compares them.
            folder = self._folder = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
            self._lock = (folder / _LOCK).open("w", encoding="utf-8")
            hold(self._lock)
            leftovers.keep(self, lambda: shutil.rmtree(folder, ignore_errors=True))
        home = self._folder / name
        home.mkdir(exist_ok=True)
        return home


def _sweep(temporary: Path) -> None:
    """Remove the folders of runs that were killed: those with a lock that nobody holds."""
    for folder in temporary.glob(f"{_PREFIX}*") if TELLS else ():
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime < _NEW:
                continue
            with (folder / _LOCK).open("r+", encoding="utf-8") as lock:
                if hold(lock):
                    shutil.rmtree(folder, ignore_errors=True)
