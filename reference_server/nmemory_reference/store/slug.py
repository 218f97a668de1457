"""Slugs: the lower-case, URL-safe form of a name, in segments (people/alice-example)."""

from __future__ import annotations

import re
import unicodedata

MAX_SLUG = 255

_DASHES = re.compile(r"-{2,}")


def slugify(name: str) -> str:
    """The slug of `name`: letters, marks and digits of any script, `/` between segments; may be empty."""
    text = unicodedata.normalize("NFC", name).lower()
    kept = "".join(c if c in "/._-" or unicodedata.category(c)[0] in "LMN" else "-" for c in text)
    segments = (_DASHES.sub("-", segment).strip("-.") for segment in kept.split("/"))
    return "/".join(segment for segment in segments if segment)
