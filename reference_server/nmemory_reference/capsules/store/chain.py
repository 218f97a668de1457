"""The rule that chains the journal's rows: each hash covers its row and the hash before it."""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple

from nmemory_reference.capsules.wire import dumps

#: What the first row is chained to.
START: Final = ""


class Entry(NamedTuple):
    """One row of the journal, without its hash."""

    seq: int
    at: str
    actor: str
    action: str
    subject: str
    reason: str | None = None

    def json(self) -> bytes:
        """What is hashed."""
        return dumps(
            {
                "seq": self.seq,
                "at": self.at,
                "actor": self.actor,
                "action": self.action,
                "subject": self.subject,
                "reason": self.reason,
            }
        ).encode()


def chained_hash(previous: str, entry: bytes) -> str:
    """Lower-case hex SHA-256 over the previous row's hash text followed by this row's JSON in UTF-8."""
    return hashlib.sha256(previous.encode() + entry).hexdigest()
