"""The rule that chains the journal's rows: each hash covers its row and the hash before it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from nmemory_reference.capsules.wire import dumps

#: What the first row is chained to.
START: Final = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the journal, without its hash."""

    seq: int
    at: str
    actor: str
    action: str
    subject: str
    reason: str | None = None

    def text(self) -> str:
        """The JSON that is hashed."""
        return dumps(
            {
                "seq": self.seq,
                "at": self.at,
                "actor": self.actor,
                "action": self.action,
                "subject": self.subject,
                "reason": self.reason,
            }
        )


def chained_hash(previous: str, entry_text: str) -> str:
    """Lower-case hex SHA-256 over the previous row's hash text followed by this row's JSON."""
    return hashlib.sha256((previous + entry_text).encode()).hexdigest()
