"""The lies of the reference server, as the commands need them: all of them, or one by its id."""

import difflib
from typing import TYPE_CHECKING

from .complaint import Complaint
from .options import load

if TYPE_CHECKING:
    from nmemory_reference.lies import Lie


def lie_called(name: str) -> "Lie":
    """The lie with this id. Raises ``Complaint`` that names the nearest."""
    from ..prove.doubles import lies_of

    lies = {lie.id: lie for lie in lies_of(load(None))}
    if name not in lies:
        near = difflib.get_close_matches(name, lies, n=2)
        hint = f"Did you mean {' or '.join(near)}?" if near else "See `nmemory serve --list-lies`"
        raise Complaint(f"there is no lie {name!r}", hint)
    return lies[name]


def listed() -> str:
    """Every lie with the clause that it breaks, a line each."""
    from ..prove.doubles import lies_of

    return "\n".join(f"{lie.id}  ({lie.clause})  {lie.says}" for lie in lies_of(load(None)))
