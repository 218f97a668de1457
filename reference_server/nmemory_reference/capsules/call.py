"""What a handler is given: the store, the settings, the instant, and who asks."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from nmemory_reference.capsules.instants import Instant
from nmemory_reference.capsules.store.journal import Verifier
from nmemory_reference.capsules.store.words import Frequencies
from nmemory_reference.store.database import Database

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one server that capsules depend on."""

    #: The project that the server was booted with.
    project: str | None = None
    #: Where `path:line` anchors begin; nothing outside of it is ever read for them.
    anchor_root: Path = field(default_factory=Path.cwd)
    #: Where memory_import looks for a project's files, and for the user's.
    working_folder: Path | None = None
    home: Path | None = None
    #: The key of a forgotten content's fingerprint; without it a file beside the store holds one.
    hmac_key: str | None = field(default=None, repr=False)


class CapsuleStore:
    """The capsules of one file, with what is remembered of them between calls."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.journal = Verifier()
        self.frequencies = Frequencies()
        self._kept: dict[str, tuple[Hashable, Any]] = {}

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One state of the store for all statements of a call."""
        with self.database.reading() as db:
            yield db

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The one transaction of a call that changes something; what it raises undoes it."""
        with self.database.writing() as db:
            yield db

    def kept(self, name: str, revision: Hashable, build: Callable[[], Value]) -> Value:
        """What `build` made at this revision; it is made again only once the revision has moved on.

        Read the revision (store/counters.py) in the transaction that builds.
        """
        known = self._kept.get(name)
        if known is None or known[0] != revision:
            known = (revision, build())
            self._kept[name] = known
        value: Value = known[1]
        return value

    def scrub(self) -> None:
        """After a forget has committed: leave no destroyed byte in the write-ahead log.

        Best effort: a reader in another process may hold the log for a while.
        """
        with contextlib.suppress(sqlite3.OperationalError):
            self.database.truncate_log()


class Call(NamedTuple):
    """One call: everything that its answer may depend on besides the arguments and the store's state."""

    store: CapsuleStore
    settings: Settings
    #: The clock, read once.
    now: Instant
    #: Who the journal names.
    actor: str
    #: Where a capture goes that names no project.
    default_project: str
