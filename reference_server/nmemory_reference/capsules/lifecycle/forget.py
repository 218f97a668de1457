"""memory_forget: a content is destroyed for good, a marker stays (seed: memory_forget; sheet B 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.faults import ShapeFault, state_fault, value_fault
from nmemory_reference.capsules.parameters import Shape, choice, shape_of, text
from nmemory_reference.capsules.store import capsules, journal, tombstones, words
from nmemory_reference.capsules.store.fingerprint import content_hmac, key_of
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.vocabulary import FORGET_MODES

NAME: Final = "memory_forget"

_CONTRACT: Final = (
    'memory_forget needs all three of `id` (cap-<n>), `mode` ("purged" keeps nothing, "redacted" keeps source and '
    "anchor on the marker) and `reason` (not blank)."
)


class ForgetArguments(NamedTuple):
    """A forget, as it is sent."""

    id: str = text("The capsule to forget, cap-<n>.")
    mode: str = choice(FORGET_MODES, "purged keeps nothing, redacted keeps source and anchor on the marker.")
    reason: str = text("Why; it stays on the marker and in the journal.")


def forget(call: Call, given: ForgetArguments) -> dict[str, Any]:
    """Destroy the content; the answer is the marker, as memory_get shows it from then on.

    Raises -32602 for a blank reason; -32002 for an id that is not stored or forgotten already; -32603 where no
    key for the fingerprint can be had.
    """
    if not given.reason.strip():
        raise value_fault("reason is blank: a forget can't be undone, so say why. Nothing was forgotten.")
    with call.store.writing() as db:
        key = key_of(call)
        capsule = capsules.by_id(db, given.id)
        if capsule is None:
            raise state_fault("unknown_capsule", given.id)
        if capsule.content is None:
            raise state_fault("tombstoned_capsule", given.id)
        fingerprint = content_hmac(key, capsule.id, capsule.content)
        tombstones.bury(db, capsule.seq, given.mode, call.now.text, given.reason, fingerprint)
        words.purge(db)
        journal.append(db, call, NAME, capsule.id, given.reason)
        marker = tombstones.envelope(db, capsule.seq)
    call.store.scrub()
    return marker


def _teaching(shape: Shape[ForgetArguments]) -> Shape[ForgetArguments]:
    """The shape, every fault of which says what a forget needs."""

    def read(sent: Mapping[str, Any]) -> ForgetArguments:
        try:
            return shape.read(sent)
        except ShapeFault as fault:
            raise ShapeFault(f"{fault.detail}. {_CONTRACT}") from None

    return Shape(shape.schema, read)


TOOL: Final = MemoryTool(
    name=NAME,
    title="Forget a memory for good",
    description=(
        "Destroys the content of one capsule, with its place in the index and its vector; this can't be undone. mode "
        "purged keeps nothing, redacted keeps source and anchor on the marker. The marker stays: id, mode, at, reason, "
        "a keyed HMAC-SHA-256 fingerprint of the content, and the edges of the id. From then on memory_get answers the "
        "marker, lists leave the id out, its words find nothing (only the id itself, as a term, counts it as "
        "tombstoned), and the same content is refused if it is captured again. Forgetting an id twice is an error."
    ),
    shape=_teaching(shape_of(ForgetArguments)),
    handler=forget,
    writes=True,
    destructive=True,
)
