"""Laws: named checks in Python for what a schema cannot say.

A law takes an answer and its arguments (placeholders filled) and yields what is broken; it is pure and total: whatever
the target sent, it answers with findings, never with an exception. Each lives in a module named after what it is
about and is registered by its name; ``docs/cases.md`` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from ..answer import Answer
from ..broken import Broken

Law = Callable[[Answer, Mapping[str, Any]], Iterable[Broken]]

_registered: dict[str, Law] = {}


def law(name: str) -> Callable[[Law], Law]:
    """Register a law under its name."""

    def register(function: Law) -> Law:
        if name in _registered:
            raise ValueError(f"two laws are called {name!r}")
        _registered[name] = function
        return function

    return register


@cache
def laws() -> Mapping[str, Law]:
    """Every law by name."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return _registered
