"""The order of changes: every fact and page of a tenant gets a stamp of its own, in order of commit.

Readers that follow the changes with a cursor (delta) then can't miss one: a stamp that is already
visible is never followed by an earlier or an equal one.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta

from nmemory_reference.instant import iso, parse_instant

_LAST = """
    SELECT max((SELECT coalesce(max(created_at), '') FROM fact WHERE tenant = :tenant),
               (SELECT coalesce(max(updated_at), '') FROM page WHERE tenant = :tenant))
"""
_TICK = timedelta(microseconds=1)


def next_stamp(db: sqlite3.Connection, tenant: str, now: datetime) -> str:
    """The stamp of the change being written: `now`, or just after the last change if that is later."""
    last: str = db.execute(_LAST, {"tenant": tenant}).fetchone()[0]
    stamp = iso(now)
    return stamp if stamp > last else after(last)


def after(stamp: str) -> str:
    """The earliest stamp later than `stamp`."""
    return iso(parse_instant(stamp) + _TICK)
