"""memory_consolidate: what could be tidied up, and on demand the demotions among it (sheet B 11)."""

from __future__ import annotations

import sqlite3
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.lifecycle import plan
from nmemory_reference.capsules.lifecycle.plan import TierMove, Vocabulary
from nmemory_reference.capsules.parameters import flag, shape_of
from nmemory_reference.capsules.store import journal
from nmemory_reference.capsules.store.ids import capsule_id
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.wire import ARMOUR

NAME: Final = "memory_consolidate"

_SET_TIER = """
    INSERT INTO tier (seq, tier, at) VALUES (?, ?, ?)
    ON CONFLICT (seq) DO UPDATE SET tier = excluded.tier, at = excluded.at
"""


class ConsolidateArguments(NamedTuple):
    """Whether to act."""

    apply_tiers: bool = flag("true carries out the tier moves; nothing else of the plan ever is.", default=False)


class _Survey(NamedTuple):
    """All that a plan needs to know of the store."""

    considered: int
    dupes: list[dict[str, Any]]
    moves: list[TierMove]
    aliases: list[dict[str, Any]]
    pool: list[Vocabulary]


def consolidate(call: Call, given: ConsolidateArguments) -> dict[str, Any]:
    """The plan; with `apply_tiers` its tier moves are made too, each audited, in one transaction."""
    if given.apply_tiers:
        with call.store.writing() as db:
            survey = _survey(db, call)
            for move in survey.moves:
                db.execute(_SET_TIER, (move.seq, move.to, call.now.text))
                journal.append(db, call, NAME, capsule_id(move.seq), f"to={move.to}: {move.reason}")
    else:
        with call.store.reading() as db:
            survey = _survey(db, call)
    return {
        **ARMOUR,
        "considered": survey.considered,
        "plan": {
            "exact_dupes": survey.dupes,
            # The one slow part needs the store no more: nobody waits for it.
            "merge_proposals": plan.merge_proposals(survey.pool),
            "tier_moves": [move.row() for move in survey.moves],
            "alias_proposals": survey.aliases,
        },
        "store_invariant_breach": bool(survey.dupes),
        "applied": given.apply_tiers,
        "applied_tier_moves": len(survey.moves) if given.apply_tiers else 0,
    }


def _survey(db: sqlite3.Connection, call: Call) -> _Survey:
    return _Survey(
        considered=plan.considered(db),
        dupes=plan.exact_dupes(db),
        moves=plan.tier_moves(db, call.now),
        aliases=plan.alias_proposals(db),
        pool=plan.vocabularies(db),
    )


TOOL: Final = MemoryTool(
    name=NAME,
    title="Plan a tidy-up",
    description=(
        "Looks at all live capsules and answers a plan. exact_dupes: capsules of the same bytes, which would mean a "
        "damaged store. merge_proposals: clusters of near duplicates by their words; tainted ones stay among "
        "themselves. tier_moves: quarantine for imports on which a taint rule fires now, archive for superseded "
        "capsules that expired, or that are older than 180 days and were never recalled (pinned ones are not). "
        "alias_proposals: terms that recall missed, each with words of the store that begin with the same four "
        "characters or more; at most 20, the most missed first, candidate null where there is none. Writes nothing "
        "unless apply_tiers is true, and then makes the tier moves only, each audited. Merging, and teaching an alias "
        "with memory_alias, stay up to you."
    ),
    shape=shape_of(ConsolidateArguments),
    handler=consolidate,
    writes=True,
    lengthy=True,
)
