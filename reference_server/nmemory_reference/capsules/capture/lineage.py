"""Which capsule succeeds which, when an imported file has changed.

A block that changed is superseded by what stands in its place now, and a block that came back is revived. Both are
told by what the file held before and holds now, as sets of capsules and so of content hashes, never by how
alike two texts are. The machine acts only on what it made itself:

- only capsules that an import captured are superseded, revived, or supersede another;
- blocks are paired, in document order, only if as many went as came;
- an edge that a caller recorded is never taken back, and wherever one stands on a chain, nothing is done to it;
- a block that still stands in any imported file is never superseded.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final, NamedTuple

from nmemory_reference.capsules.capture.engine import Captured, Deduplicated, Outcome
from nmemory_reference.capsules.store import journal, relations
from nmemory_reference.capsules.store.ids import capsule_id, seq_of

if TYPE_CHECKING:
    from nmemory_reference.capsules.call import Call

SUPERSEDES: Final = "supersedes"
IMPORT: Final = "import"
#: How the journal calls what the machine does.
ACTION: Final = "memory_import"

_PRESENT = "SELECT seq FROM import_block WHERE path = ? AND present ORDER BY position, seq"
_LEAVE = "UPDATE import_block SET present = 0 WHERE path = ? AND present"
_ENTER = """
    INSERT INTO import_block (path, seq, position, present, captured) VALUES (?, ?, ?, 1, ?)
    ON CONFLICT (path, seq) DO UPDATE SET position = excluded.position, present = 1
"""
_OF_FILE = "SELECT 1 FROM import_block WHERE path = ? AND seq = ?"
_IS_PRESENT = "SELECT 1 FROM import_block WHERE seq = ? AND present"
_IS_IMPORTED = "SELECT 1 FROM import_block WHERE seq = ? AND captured"
#: '0' is the character after '/': all paths below a folder, by the primary key.
_PATHS_BELOW = (
    "SELECT DISTINCT path FROM import_block WHERE path > :folder || '/' AND path < :folder || '0' AND present"
)


class Change(NamedTuple):
    """What an import did to one file's blocks: the capsules that went and came, each in document order."""

    path: str
    gone: tuple[int, ...]
    come: tuple[int, ...]


def note(db: sqlite3.Connection, path: str, outcomes: list[Outcome]) -> Change:
    """Keep which capsules the blocks of the file are now; gives what has changed since its last import."""
    before = [seq for (seq,) in db.execute(_PRESENT, (path,))]
    now: dict[int, bool] = {}
    for outcome in outcomes:
        if isinstance(outcome, Captured | Deduplicated):
            now.setdefault(outcome.seq, isinstance(outcome, Captured))
    db.execute(_LEAVE, (path,))
    db.executemany(_ENTER, [(path, seq, position, captured) for position, (seq, captured) in enumerate(now.items())])
    known = set(before)
    return Change(
        path,
        gone=tuple(seq for seq in before if seq not in now),
        come=tuple(seq for seq in now if seq not in known),
    )


def note_removed(db: sqlite3.Connection, folder: str, paths: set[str]) -> None:
    """Of the files directly in a folder, only `paths` are left: the blocks of the others stand nowhere any more."""
    for (path,) in db.execute(_PATHS_BELOW, {"folder": folder}).fetchall():
        if path not in paths and "/" not in path[len(folder) + 1 :]:
            db.execute(_LEAVE, (path,))


def succeed(db: sqlite3.Connection, call: Call, change: Change) -> None:
    """Supersede and revive what a file's change asks for. Note the changes of all files of the call before."""
    revived = [(seq, _revive(db, call, change, seq)) for seq in change.come if _superseders(db, seq)]
    came_back = {seq for seq, _ in revived}
    replaced = {head for _, head in revived if head is not None}
    come = [seq for seq in change.come if seq not in came_back]
    gone = [seq for seq in change.gone if seq not in replaced]
    if len(gone) != len(come):
        return
    for old, new in zip(gone, come, strict=True):
        if _is_imported(db, old) and _is_imported(db, new) and not _superseders(db, old) and not _stands(db, old):
            _record(db, call, new, old, f"supersedes {capsule_id(old)}, whose block changed")


def _revive(db: sqlite3.Connection, call: Call, change: Change, seq: int) -> int | None:
    """Let a superseded capsule that came back stand again, in the place of the head of its chain.

    Gives the head that it replaces, or None if nothing was done.
    """
    chain = _chain(db, seq)
    if not chain:
        return None
    head = chain[-1]
    if not (_is_imported(db, seq) and _is_imported(db, head) and _is_of_file(db, change.path, head)):
        return None
    relations.reverse(db, SUPERSEDES, capsule_id(chain[0]), capsule_id(seq))
    if _stands(db, head):
        journal.append(db, call, ACTION, capsule_id(seq), f"revived; {capsule_id(head)} still stands beside it")
        return None
    _record(db, call, seq, head, f"revived; supersedes {capsule_id(head)}")
    return head


def _chain(db: sqlite3.Connection, seq: int) -> list[int]:
    """Who supersedes the capsule, who supersedes that one, and so on to the one that stands.

    Empty if a caller's edge is among them, if one has two superseders, or if they go round in a circle: then it
    isn't the machine's to take back.
    """
    chain: list[int] = []
    met = {seq}
    while edges := _superseders(db, seq):
        if len(edges) > 1 or edges[0].origin != IMPORT:
            return []
        above = seq_of(edges[0].from_id)
        if above is None or above in met:
            return []
        chain.append(above)
        met.add(above)
        seq = above
    return chain


def _record(db: sqlite3.Connection, call: Call, new: int, old: int, reason: str) -> None:
    relations.record(db, SUPERSEDES, capsule_id(new), capsule_id(old), call.now.text, origin=IMPORT)
    journal.append(db, call, ACTION, capsule_id(new), reason)


def _superseders(db: sqlite3.Connection, seq: int) -> list[relations.Edge]:
    return relations.leading_to(db, SUPERSEDES, capsule_id(seq))


def _stands(db: sqlite3.Connection, seq: int) -> bool:
    """Whether the capsule is a block of any imported file."""
    return db.execute(_IS_PRESENT, (seq,)).fetchone() is not None


def _is_imported(db: sqlite3.Connection, seq: int) -> bool:
    """Whether an import of this store captured it. Forgotten ones don't count any more."""
    return db.execute(_IS_IMPORTED, (seq,)).fetchone() is not None


def _is_of_file(db: sqlite3.Connection, path: str, seq: int) -> bool:
    """Whether the capsule is, or was, a block of this file."""
    return db.execute(_OF_FILE, (path, seq)).fetchone() is not None
