"""Conforming variants: the reference with one difference that the contract allows. Each has to be found conformant."""

from __future__ import annotations

from nmemory_reference.lies.forms import FORMS
from nmemory_reference.lies.freedoms import FREEDOMS
from nmemory_reference.lies.lie import CLAIMS
from nmemory_reference.lies.refusals import REFUSALS
from nmemory_reference.lies.synthesize import Answering
from nmemory_reference.lies.variant import Variant

#: The reference itself, as it may be set up.
REFERENCES = (
    Variant("honest", "The reference as it is, without embeddings."),
    Variant("hash-embeddings", "The reference with embeddings.", config={"embeddings": "hash"}),
    Variant(
        "verbs-surface",
        "The reference on the surface of the five verbs.",
        config={"surface": "verbs"},
        claims=CLAIMS | {"verbs-surface"},
        gaps="on the verbs surface the kit cannot make pages",
    ),
    Variant("language-model", "synthesize has a language model, and answers.", Answering, claims=frozenset()),
)


def all_variants() -> tuple[Variant, ...]:
    """Every conforming variant; the first ones are the reference itself."""
    return (*REFERENCES, *FORMS, *FREEDOMS, *REFUSALS)
