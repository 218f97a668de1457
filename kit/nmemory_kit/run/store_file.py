"""Asking the file of a store, where the kit has made its place and the store is SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

Json = Any

#: Seconds to wait for a lock of the target's.
_PATIENCE = 5.0


class NotAsked(Exception):
    """The file could not be asked; the message says why."""


def ask(file: Path, sql: str, parameters: Sequence[Json]) -> Json:
    """Put one statement to a file, in one transaction: ``{"rows": [{column: value}], "changed": n}``.

    Blobs are answered as hexadecimal text. Never makes the file. Raises ``NotAsked``.
    """
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=rw", timeout=_PATIENCE, uri=True)) as db, db:
            db.row_factory = sqlite3.Row
            cursor = db.execute(sql, tuple(parameters))
            rows = [{name: _value(row[name]) for name in row.keys()} for row in cursor.fetchall()]  # noqa: SIM118
            return {"rows": rows, "changed": max(cursor.rowcount, 0)}
    except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError) as error:
        raise NotAsked(f"the file of the store could not be asked: {error}") from error


def _value(value: Any) -> Json:
    return value.hex() if isinstance(value, bytes) else value
