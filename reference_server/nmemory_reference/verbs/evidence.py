"""Why a page matched a query, and whether it is safe to create another (the derivation is ours to choose)."""

from __future__ import annotations

from collections.abc import Sequence

from nmemory_reference.store.words import fold, query_words, words

#: From this similarity on, query and page are about the same.
HIGH_SIMILARITY = 0.6

CREATE_SAFETY = {
    "alias_hit": "exists",
    "exact_title_match": "exists",
    "high_vector_match": "probable",
    "keyword_exact": "probable",
    "weak_semantic": "unknown",
}


def evidence(query: str, *, title: str, slug: str, aliases: Sequence[str], text: str, similarity: float | None) -> str:
    """One of the keys of CREATE_SAFETY: the strongest reason that holds."""
    folded = fold(query)
    if any(fold(alias) == folded for alias in aliases):
        return "alias_hit"
    if folded in (fold(title), slug):
        return "exact_title_match"
    if similarity is not None and similarity >= HIGH_SIMILARITY:
        return "high_vector_match"
    wanted = set(query_words(query))
    if wanted and wanted <= {word for part in (title, *aliases, text) for word in words(part)}:
        return "keyword_exact"
    return "weak_semantic"
