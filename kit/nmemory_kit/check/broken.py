"""One broken expectation, before it is known in which case and step it happened."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Broken:
    """An expectation that an answer does not meet."""

    #: JSON Pointer into what was judged; the empty text is the whole.
    pointer: str
    #: What was expected, in words or as a value.
    expected: str
    #: What was there instead, cut to what matters.
    got: str
