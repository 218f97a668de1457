"""memory_outcome: observations, and the scores that they give to a recall (seed: memory_outcome; sheet B 8, C 4.2)."""

from __future__ import annotations

import sqlite3
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.faults import state_fault, value_fault
from nmemory_reference.capsules.parameters import number, shape_of, text
from nmemory_reference.capsules.store import capsules, journal, records, telemetry
from nmemory_reference.capsules.store.ids import capsule_id
from nmemory_reference.capsules.store.records import Outcome
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.wire import ARMOUR, rounded

NAME: Final = "memory_outcome"
ADVISORY: Final = (
    "An outcome here is what somebody says to have observed. It is no witnessed close and proves nothing; recall "
    "leaves no capsule out because of it."
)
WEIGHT_DIGITS: Final = 4


class OutcomeArguments(NamedTuple):
    """An observation, as it is sent; nothing at all lists those that there are."""

    description: str | None = text("What was observed; needed to record.", optional=True)
    actor: str | None = text("Who observed it; needed to record.", optional=True)
    evidence_ref: str | None = text("Where the evidence is: a path, an address, an id.", optional=True)
    capsule_id: str | None = text("The capsule that it bears on, cap-<n>.", optional=True)
    receipt_id: str | None = text("The receipt of the recall that is scored, rcpt-<n>; goes with score.", optional=True)
    score: float | None = number("How useful that recall was, from 0.0 to 1.0; goes with receipt_id.")


def outcome(call: Call, given: OutcomeArguments) -> dict[str, Any]:
    """Record an outcome, or list them all if nothing is given (blank texts count as nothing).

    Raises -32602 for half a scoring pair, a score outside 0 to 1, and a missing description or actor; -32002 for
    a receipt or a capsule that is not stored.
    """
    description, actor = _filled(given.description), _filled(given.actor)
    score = None if given.score is None else given.score + 0.0  # makes -0.0 the 0 that it is
    evidence, about, receipt_id = _filled(given.evidence_ref), _filled(given.capsule_id), _filled(given.receipt_id)
    if all(sent is None for sent in (description, actor, evidence, about, receipt_id, score)):
        with call.store.reading() as db:
            rows = records.outcomes(db)
            return {**ARMOUR, "advisory": ADVISORY, "outcomes": rows, "total": len(rows)}
    if (receipt_id is None) != (score is None):
        raise value_fault("receipt_id and score belong together: send both to score a recall, or neither.")
    if score is not None and not 0 <= score <= 1:
        raise value_fault(f"score has to lie between 0.0 and 1.0; {score} does not.")
    if description is None or actor is None:
        raise value_fault(
            "An outcome needs description and actor, neither of them blank: what was observed, and by whom. "
            "Send no field at all to list the outcomes."
        )
    with call.store.writing() as db:
        scored = None if receipt_id is None else _scored(db, receipt_id)
        if about is not None and not capsules.stored(db, about):
            raise state_fault("unknown_capsule", about)
        new = Outcome(description, actor, evidence, about, receipt_id, score, call.now.text)
        row = records.add_outcome(db, new)
        body: dict[str, Any] = {**ARMOUR, "advisory": ADVISORY, "recorded": row}
        if scored is not None and score is not None:
            body["weights_updated"] = [
                {"capsule_id": capsule_id(seq), "weight": rounded(weight, WEIGHT_DIGITS)}
                for seq, weight in records.adjust(db, scored, score)
            ]
        journal.append(db, call, NAME, row["id"])
        return body


def _scored(db: sqlite3.Connection, receipt_id: str) -> tuple[int, ...]:
    receipt = telemetry.receipt(db, receipt_id)
    if receipt is None:
        raise state_fault("receipt", receipt_id)
    return receipt.items


def _filled(sent: str | None) -> str | None:
    """A text as it was sent, or None for a blank one."""
    return sent if sent is not None and sent.strip() else None


TOOL: Final = MemoryTool(
    name=NAME,
    title="Record or list outcomes",
    description=(
        "Keeps advisory notes that an outcome was observed. To record one, send description and actor (who saw it; "
        "there is no default), and if you like evidence_ref and capsule_id, the capsule that it bears on; the answer "
        "is the stored row with its id out-<n>. Send receipt_id (from a grounded memory_retrieve) and score (0.0 to "
        "1.0) together to say how useful what was returned has been: the advisory weight of each returned capsule "
        "moves a tenth of the way to the score, from 0.5 on; only memory_retrieve's weight_blend reads it. Send "
        "nothing to list all rows in the order they came. Rows are never changed or deleted. An outcome never "
        "makes a capsule ineligible for recall; relate out-<n> falsifies cap-<n> if that is meant."
    ),
    shape=shape_of(OutcomeArguments),
    handler=outcome,
    writes=True,
)
