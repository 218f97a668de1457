"""memory_alias: teaching recall a synonym, one way (seed: memory_alias; sheet B 4)."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.faults import value_fault
from nmemory_reference.capsules.fold import fold
from nmemory_reference.capsules.parameters import shape_of, text
from nmemory_reference.capsules.store import aliases, journal
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.vocabulary import LABEL
from nmemory_reference.tools.failure import shown

NAME: Final = "memory_alias"


class AliasArguments(NamedTuple):
    """A pair, as it is sent; nothing at all lists those that there are."""

    term: str | None = text("The word or phrase that will be asked for; folded before it is kept.", optional=True)
    alias: str | None = text("What to look for as well whenever term is asked for; folded too.", optional=True)


def alias(call: Call, given: AliasArguments) -> dict[str, Any]:
    """Record the pair, or find it recorded already; list the table if nothing is given.

    Raises -32602 for half a pair, a blank side, and a pair that folds to one text.
    """
    if given.term is None and given.alias is None:
        with call.store.reading() as db:
            rows = aliases.rows(db)
            return {"label": LABEL, "aliases": rows, "total": len(rows)}
    if given.term is None or given.alias is None:
        raise value_fault("term and alias belong together: send both to teach a pair, or neither to list the table.")
    term, taught = _folded("term", given.term), _folded("alias", given.alias)
    if term == taught:
        raise value_fault(
            f"term and alias both fold to {shown(term)}: recall finds the one by the other already, without an alias."
        )
    with call.store.writing() as db:
        fresh = aliases.teach(db, term, taught, call.now.text)
        if fresh:
            journal.append(db, call, NAME, term, f"alias={taught}")
        return {
            "label": LABEL,
            "recorded": True,
            "already_recorded": not fresh,
            "aliases_for_term": aliases.of(db, term),
        }


def _folded(field: str, sent: str) -> str:
    folded = fold(sent)
    if not folded:
        raise value_fault(f"{field} is blank: name the word or phrase.")
    return folded


TOOL: Final = MemoryTool(
    name=NAME,
    title="Teach recall a synonym",
    description=(
        "Records that whoever asks memory_retrieve for `term` also means `alias`. Both are folded first (lower case, "
        "Latin letters without diacritics). ONE WAY, as taught: alias does not find term; teach the reverse pair too "
        "if you want both. One step: the aliases of an alias are not followed. A capsule that was found only by an "
        "alias shows `alias:<your term>` in matched_terms. `recorded` says that the pair is there now; "
        "`already_recorded` that it was there before, and then it keeps its first `at`. Send neither field to list all "
        "pairs with term, alias and at. Aliases are derived data that can be taught again; they decide nothing."
    ),
    shape=shape_of(AliasArguments),
    handler=alias,
    writes=True,
    idempotent=True,
)
