"""The doubles of MEMORY_VERBS."""

from __future__ import annotations

from nmemory_reference.lies.forms import forms
from nmemory_reference.lies.lie import CLAIMS
from nmemory_reference.lies.repertoire import Repertoire
from nmemory_reference.lies.systematic import Backdrop
from nmemory_reference.lies.variant import Variant
from nmemory_reference.lies.verbs import (
    budget,
    card,
    dedup,
    entity,
    errors,
    forget,
    hidden,
    kept,
    later_verbs,
    lost,
    recall,
    remember,
    search,
    shapes,
    since,
    store,
    synthesize,
    trust,
    ttl,
    undead,
    wire,
)
from nmemory_reference.lies.verbs.answers import ALL_VERBS
from nmemory_reference.lies.verbs.freedoms import FREEDOMS
from nmemory_reference.lies.verbs.nulls import NULLS
from nmemory_reference.lies.verbs.refusals import REFUSALS
from nmemory_reference.lies.verbs.wordings import WORDINGS

_REFERENCES = (
    Variant("honest", "The reference as it is, without embeddings."),
    Variant("hash-embeddings", "The reference with embeddings.", config={"embeddings": "hash"}),
    Variant(
        "verbs-surface",
        "The reference on the surface of the five verbs.",
        config={"surface": "verbs"},
        claims=CLAIMS | {"verbs-surface"},
        gaps="on the verbs surface the kit cannot make pages",
    ),
    Variant("language-model", "synthesize has a model, and answers.", synthesize.Answering, claims=frozenset()),
)

VERBS = Repertoire(
    name="verbs",
    protocol="memory-verbs",
    config={"surface": "full"},
    areas=(
        wire.area,
        shapes.area,
        store.area,
        lost.area,
        remember.area,
        kept.area,
        ttl.area,
        dedup.area,
        recall.area,
        since.area,
        search.area,
        hidden.area,
        undead.area,
        budget.area,
        entity.area,
        card.area,
        synthesize.area,
        forget.area,
        later_verbs.area,
        errors.area,
        trust.area,
    ),
    own_variants=(*_REFERENCES, *forms(ALL_VERBS, errors=True), *WORDINGS, *FREEDOMS, *REFUSALS),
    own_nulls=NULLS,
    # Only a server with a language model sends all that synthesize may send.
    backdrops={"synthesize": Backdrop(synthesize.Answering, claims=frozenset())},
    seldom={
        "errors/detail": "no such thing",
        "delta/degraded_reason": "no index",
        "context_pack/degraded_reason": "no index",
    },
)
