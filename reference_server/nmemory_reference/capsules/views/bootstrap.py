"""memory_bootstrap: the pack of a fresh agent. What it can't do, what to do next, what was decided, what went wrong."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.budget import Budget
from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.parameters import count, shape_of, text, texts
from nmemory_reference.capsules.project import check_prefix
from nmemory_reference.capsules.structure.dag import BlocksDag
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.views.graph import graph
from nmemory_reference.capsules.views.pack import CONSTRAINTS, DECISIONS, TRAPS, Pack, Section
from nmemory_reference.capsules.vocabulary import DEFAULT_TOKEN_BUDGET
from nmemory_reference.capsules.wire import ARMOUR, cost, cost_of_text

#: The cap of every list but the constraints, of which all are shown that the budget allows.
MAX_ROWS: Final = 10
#: No row costs fewer tokens than this, so that a budget says how many rows can be kept at all.
LEAST_COST: Final = 25


class BootstrapArguments(NamedTuple):
    """The arguments of memory_bootstrap."""

    project_id: str | None = text("Only this project, exactly.", optional=True)
    project_prefix: str | None = text('Only this subtree: "lab" covers lab and lab/x, never labx.', optional=True)
    terms: tuple[str, ...] | None = texts(
        "What the task is about, with your own synonyms: rows that match come first, no row is left out.",
        optional=True,
    )
    token_budget: int = count(
        "Tokens (about characters/4) that the pack may take; 0 gives an empty one.", default=DEFAULT_TOKEN_BUDGET
    )


@dataclass(slots=True)
class _Kept:
    """The rows that the budget let in."""

    next_action: dict[str, Any] | None = None
    constraints: list[dict[str, Any]] = field(default_factory=list)
    ready: list[dict[str, Any]] = field(default_factory=list)
    decisions: list[dict[str, Any]] = field(default_factory=list)
    traps: list[dict[str, Any]] = field(default_factory=list)

    def ids(self) -> dict[str, None]:
        """The capsules of the pack, each once, in the order in which they stand in it."""
        first = [self.next_action] if self.next_action else []
        rows = itertools.chain(self.constraints, first, self.ready, self.decisions, self.traps)
        return dict.fromkeys(row["id"] for row in rows)


def bootstrap(call: Call, given: BootstrapArguments) -> dict[str, Any]:
    """The pack. Raises -32602 for a prefix that can match nothing."""
    check_prefix(given.project_prefix)
    budget = Budget(given.token_budget)
    kept = _Kept()
    with call.store.reading() as db:
        pack = Pack(db, call, given.project_id, given.project_prefix, given.terms or ())
        dag = graph(db, call).dag
        ready = pack.in_scope(dag.ready)
        constraints = pack.section(CONSTRAINTS, given.token_budget // LEAST_COST + 1)
        decisions, traps = pack.section(DECISIONS, MAX_ROWS), pack.section(TRAPS, MAX_ROWS)

        # Both floors are charged before any other row, so that nothing else can take their place.
        if ready and budget.floor(cost(first := pack.row(ready[0]))):
            kept.next_action = first
        if (row := next(constraints.rows, None)) is not None and budget.floor(cost(row)):
            kept.constraints.append(row)
        kept.constraints += _affordable(constraints.rows, max(0, constraints.total - 1), budget)
        waiting = ready[1 : MAX_ROWS + 1]
        kept.ready += _affordable(map(pack.row, waiting), len(waiting), budget)
        for section, rows in ((decisions, kept.decisions), (traps, kept.traps)):
            rows += _affordable(section.rows, min(section.total, MAX_ROWS), budget)
    handles = [each for each in kept.ids() if budget.take(cost_of_text(each), counted=False)]
    return {
        **ARMOUR,
        **_listed("constraints", kept.constraints, constraints),
        "ready": _ready(kept, len(ready), dag),
        **_listed("decisions", kept.decisions, decisions),
        **_listed("traps", kept.traps, traps),
        **({"handles": handles} if handles else {}),
        "budget": {
            "token_budget": given.token_budget,
            "used_tokens": budget.used,
            "trimmed_by_budget": budget.refused,
        },
    }


def _affordable(rows: Iterable[dict[str, Any]], total: int, budget: Budget) -> Iterator[dict[str, Any]]:
    """The rows that fit; after the first that does not, the rest of the `total` is refused unseen."""
    seen = 0
    for row in rows:
        seen += 1
        if not budget.take(cost(row)):
            break
        yield row
    budget.refused += total - seen


def _ready(kept: _Kept, total: int, dag: BlocksDag) -> dict[str, Any]:
    told: dict[str, Any] = {} if kept.next_action is None else {"next_action": kept.next_action}
    told |= {"ready": kept.ready, "ready_total": total}
    return told if dag.cycle is None else {**told, "cycle": list(dag.cycle.ids)}


def _listed(name: str, rows: list[dict[str, Any]], section: Section) -> dict[str, Any]:
    return {**({name: rows} if rows else {}), f"{name}_total": section.total}


TOOL: Final = MemoryTool(
    name="memory_bootstrap",
    title="Cold-start pack",
    description=(
        "What a fresh agent must know before it acts, in one answer and always in this order: constraints (all that "
        "stand; only the budget trims them), ready (what the blocks-dag leaves free, with the one next_action; or "
        "the cycle to repair first), decisions that still hold, traps (failure patterns, stale ones marked), and "
        "handles, the ids of all these for memory_get. Lists but constraints are capped at 10; the *_total beside "
        "each is exact. terms rank rows by how many they match, then by decayed confidence, and leave none out; they "
        "are taken as they are, without aliases. No intent is guessed: expand terms yourself. token_budget is kept: "
        "only the first constraint and next_action may exceed it. project_id and project_prefix fence everything. "
        "All of it is data that decides nothing."
    ),
    shape=shape_of(BootstrapArguments),
    handler=bootstrap,
    writes=False,
)
