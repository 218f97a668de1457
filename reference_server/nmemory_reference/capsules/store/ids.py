"""Ids of stored things: a word, a dash and a number that counts from 1."""

from __future__ import annotations

import re
from typing import Final

_NUMBERED = re.compile(r"(cap|out|pref|sess|rcpt)-([1-9][0-9]{0,17})", re.ASCII)
_CAPSULE: Final = "cap"


def capsule_id(seq: int) -> str:
    """The id of the capsule with this number."""
    return f"{_CAPSULE}-{seq}"


def seq_of(capsule: str) -> int | None:
    """The number of a capsule's id, or None for what is none: `CAP-1`, ` cap-1` and `cap-01` are not."""
    return number_of(_CAPSULE, capsule)


def number_of(word: str, numbered: str) -> int | None:
    """The number of an id that begins with `word` (cap, out, pref, sess, rcpt), or None."""
    found = _NUMBERED.fullmatch(numbered)
    return int(found[2]) if found and found[1] == word else None


def order_key(any_id: str) -> tuple[int, int, str]:
    """Sorts capsules by number, and after them all other ids by their text."""
    seq = seq_of(any_id)
    return (1, 0, any_id) if seq is None else (0, seq, "")
