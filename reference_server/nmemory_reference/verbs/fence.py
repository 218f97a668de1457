"""Private parts of a page: what stands between `<!-- private -->` and `<!-- /private -->`.

A fence may span lines and may stand inside one. One that is never closed reaches to the end of the page,
and fences do not nest: the first closing mark ends them. Nothing in a fence is searched, linked, summarised
or shown to a remote caller.
"""

from __future__ import annotations

import re

_FENCED = re.compile(r"<!--\s*private\s*-->.*?(?:<!--\s*/private\s*-->|\Z)", re.DOTALL | re.IGNORECASE)


def without_private(markdown: str) -> str:
    """`markdown` without its private parts."""
    return _FENCED.sub("", markdown)
