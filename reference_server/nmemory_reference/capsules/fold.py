"""Folding text for comparison, and cutting it into the words that are indexed and looked for."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import Final

#: A longer word, in characters, stands in the index by its beginning and its hash: FTS5 cuts words after 32,768
#: bytes, where they would match by their beginning alone, or end in the middle of a character.
MAX_WORD: Final = 1_024

_BEGINNING: Final = 64
#: Whatever is neither a letter nor a digit; combining marks among it are kept, see `_separate`.
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_ASCII_BETWEEN_WORDS = re.compile(r"[^0-9a-z]+")
_MARKS_ON_LATIN = re.compile(r"(?<=[a-z])[\u0300-\u036f]+")


def fold(text: str) -> str:
    """`text` trimmed, in lower case, Latin letters without their diacritics; other scripts keep theirs.

    A letter written as base and combining mark folds like the one that is a single character.
    """
    lowered = text.strip().lower()
    if lowered.isascii():
        return lowered
    return unicodedata.normalize("NFC", _MARKS_ON_LATIN.sub("", unicodedata.normalize("NFD", lowered)))


def words(text: str) -> list[str]:
    """The words of `text`, folded, in order. One function for index and query, so that a word matches exactly itself.

    Scripts without spaces come as whole runs.
    """
    return [word if len(word) <= MAX_WORD else _shortened(word) for word in cut(fold(text))]


def cut(lowered: str) -> list[str]:
    """The runs of letters, digits and the marks on them in a text of lower case."""
    if lowered.isascii():
        return _ASCII_BETWEEN_WORDS.sub(" ", lowered).split()
    return [word for word in _BETWEEN_WORDS.sub(_separate, lowered).split() if has_word(word)]


def has_word(text: str) -> bool:
    """Whether `text` has a letter or a digit at all."""
    return any(map(str.isalnum, text))


def _separate(found: re.Match[str]) -> str:
    """What stays of a run between letters: combining marks belong to the letter before them."""
    between = found.group()
    if between.isascii():
        return " "
    return "".join(char if unicodedata.category(char)[0] == "M" else " " for char in between)


def _shortened(word: str) -> str:
    return word[:_BEGINNING] + hashlib.sha256(word.encode()).hexdigest()
