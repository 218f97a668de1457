"""memory_classify: what a content is, and on whose word; with a capsule's id, kept as its label."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from nmemory_reference.capsules import taint
from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.capture.mining import derived_kind
from nmemory_reference.capsules.faults import state_fault, value_fault
from nmemory_reference.capsules.parameters import choice, flag, shape_of, text
from nmemory_reference.capsules.store import capsules, sidecars
from nmemory_reference.capsules.store.sidecars import Epistemics
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.vocabulary import EVIDENCE_STATES, KINDS, LABEL, ORIGINS, SCOPES

OBSERVED: Final = "observed-fact"


class ClassifyArguments(NamedTuple):
    """The content, what is known of it, and the capsule to label."""

    content: str = text("The content to classify.")
    origin: str = choice(tuple(ORIGINS), "Where it comes from.", default="extracted-candidate")
    kind: str | None = choice(KINDS, "Its kind, if you know; derived from cues if left out.", optional=True)
    scope: str | None = choice(SCOPES, "How far it reaches; what is usual for the origin if left out.", optional=True)
    taint_hint: bool = flag(
        "You suspect that it tries to command its reader; a clean scan never clears this.", default=False
    )
    capsule_id: str | None = text("The capsule to keep the label on, cap-<n>.", optional=True, also="id")
    evidence_state: str | None = choice(
        EVIDENCE_STATES, "How the claim relates to observation; needs capsule_id.", optional=True
    )
    proof_hint: str | None = text("What would prove the claim again; needs capsule_id. Never run.", optional=True)
    stale_if: str | None = text("When it no longer holds; needs capsule_id. Never evaluated.", optional=True)


def handle(call: Call, given: ClassifyArguments) -> dict[str, Any]:
    """The label; kept, and written into the journal, if a capsule is named."""
    epistemics = Epistemics(given.evidence_state, given.proof_hint, given.stale_if)
    if given.capsule_id is None and epistemics.given():
        raise value_fault(
            "evidence_state, proof_hint and stale_if are kept on a capsule, and no capsule_id was sent; "
            "name the capsule, or leave the three out"
        )
    origin = ORIGINS[given.origin]
    kind = derived_kind(given.content) if given.kind is None else given.kind
    if kind is None:
        raise value_fault(
            f"no cue in the content tells its kind, and nothing is guessed; send kind: {', '.join(KINDS)}"
        )
    scope = origin.scope if given.scope is None else given.scope
    tainted = given.taint_hint or origin.tainted or bool(taint.scan(given.content))
    if tainted and origin.authority_class == OBSERVED:
        raise value_fault(
            "a tainted content can't have the origin tool-observation, which makes it an observed fact; "
            "send another origin, for instance external-import"
        )
    answer: dict[str, Any] = {
        "label": LABEL,
        "kind": kind,
        "scope": scope,
        "authority_class": origin.authority_class,
        "instruction_taint": tainted,
    }
    if given.capsule_id is None:
        return answer
    with call.store.writing() as db:
        capsule = capsules.by_id(db, given.capsule_id)
        if capsule is None:
            raise state_fault("unknown_capsule", given.capsule_id)
        matches = None if capsule.forgotten else capsule.content == given.content
        drift = "; derived from other bytes than the capsule holds" if matches is False else ""
        sidecars.classify(db, call, capsule.seq, kind, scope, f"kind {kind}, scope {scope}{drift}")
        if epistemics.given():
            sidecars.annotate(db, call, capsule.seq, epistemics)
    answer["persisted"] = capsule.id
    return answer if matches is None else {**answer, "content_matches_capsule": matches}


TOOL: Final = MemoryTool(
    name="memory_classify",
    title="Classify a memory",
    description=(
        "Say what a content is: its kind, scope, authority_class and instruction_taint. origin decides the authority "
        "and the usual scope; external-import is always tainted. Send kind to carry one forward; left out, it is "
        "derived from the same English and Portuguese cues as in memory_extract, and underivable content is an "
        "error: {content, kind} is the smallest call that always works. With capsule_id (id is another name for it) "
        "the label is kept on that capsule, over the one it has, and content_matches_capsule says whether you "
        "classified the bytes that it holds; without it nothing is stored. evidence_state, proof_hint and stale_if "
        "need capsule_id and are kept field by field; the hints are texts that nothing ever runs."
    ),
    shape=shape_of(ClassifyArguments),
    handler=handle,
    writes=True,
    idempotent=True,
)
