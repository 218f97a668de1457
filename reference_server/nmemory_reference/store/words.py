"""How text becomes search words, and search words a query that no text can break out of."""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from collections.abc import Iterable

#: Scripts written without spaces; runs of them are cut into overlapping pairs of characters.
_UNSPACED = (
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+)"
)
_WORD = re.compile(r"\w+")
#: A query of ten thousand words finds nothing that its first few dozen don't.
MAX_QUERY_WORDS = 32


def fold(text: str) -> str:
    """`text` for comparison: compatibility forms, case and white space folded."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def contains_folded(text: str, needle: str) -> bool:
    """Whether `text` holds `needle` (already case-folded), case ignored; SQL function of the same name."""
    return needle in text.casefold()


def words(text: str) -> list[str]:
    """The search words of `text`, in order."""
    found: list[str] = []
    for run in _WORD.findall(fold(text)):
        for index, part in enumerate(_unspaced().split(run) if not run.isascii() else [run]):
            if index % 2:
                found.extend(part[i : i + 2] for i in range(max(1, len(part) - 1)))
                found.extend(part if len(part) > 1 else "")  # single characters find single characters
            elif part:
                found.extend(part.replace("_", " ").split())
    return found


def query_words(text: str) -> list[str]:
    """The distinct words to look for; pairs of characters stand for the single ones within them."""
    distinct = dict.fromkeys(words(text[:20_000]))
    pairs = {word for word in distinct if len(word) == 2 and not word.isascii() and _unspaced().fullmatch(word)}
    covered = set("".join(pairs))
    return [word for word in distinct if word not in covered][:MAX_QUERY_WORDS]


def index_text(*texts: str) -> str:
    """What is indexed for these texts."""
    return " ".join(word for text in texts for word in words(text))


def scope_word(tenant: str) -> str:
    """One word that stands for a tenant in the full-text tables."""
    return "t" + hashlib.blake2b(tenant.encode(), digest_size=8).hexdigest()


def any_of(terms: Iterable[str]) -> str:
    """An FTS5 expression that matches any of `terms`, each taken literally."""
    return "(" + " OR ".join(f'"{term}"' for term in terms) + ")"


def all_of(terms: Iterable[str]) -> str:
    """An FTS5 expression that matches all of `terms`, each taken literally."""
    return "(" + " AND ".join(f'"{term}"' for term in terms) + ")"


@functools.cache
def _unspaced() -> re.Pattern[str]:
    """Finds such runs. It takes a millisecond to compile, and most processes never meet one."""
    return re.compile(_UNSPACED)
