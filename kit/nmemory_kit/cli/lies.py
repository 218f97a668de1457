"""The lies of the reference server, as the commands need them: all of them, or one by its id."""

import difflib
from typing import TYPE_CHECKING

from .complaint import Complaint
from .options import load

if TYPE_CHECKING:
    from nmemory_reference.lies import Lie

    from ..contract import Pack


def known_lies(packs: "tuple[Pack, ...] | None" = None) -> "tuple[Lie, ...]":
    """Every lie: those made by hand, and those made from the response schemas of the packs."""
    from nmemory_reference.lies import Demand, all_lies

    return all_lies(
        [
            Demand(standing.clause, standing.on, standing.schema, standing.tools)
            for pack in (packs if packs is not None else load(None))
            for standing in pack.standing
            if standing.schema is not None
        ]
    )


def lie_called(name: str) -> "Lie":
    """The lie with this id. Raises ``Complaint`` that names the nearest."""
    lies = {lie.id: lie for lie in known_lies()}
    if name not in lies:
        near = difflib.get_close_matches(name, lies, n=2)
        hint = f"Did you mean {' or '.join(near)}?" if near else "See `nmemory serve --list-lies`"
        raise Complaint(f"there is no lie {name!r}", hint)
    return lies[name]


def listed() -> str:
    """Every lie with the clause that it breaks, a line each."""
    return "\n".join(f"{lie.id}  ({lie.clause})  {lie.says}" for lie in known_lies())
