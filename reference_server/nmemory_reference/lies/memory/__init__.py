"""The doubles of nMEMORY."""

from __future__ import annotations

from nmemory_reference.lies.forms import forms
from nmemory_reference.lies.memory import (
    alias,
    bootstrap,
    budget,
    classify,
    consolidate,
    digest,
    errors,
    export,
    extract,
    fences,
    forget,
    get,
    graphs,
    handoffs,
    imports,
    ingest,
    lanes,
    lists,
    merge,
    neighbours,
    outcome,
    pin,
    preference,
    ranking,
    recall,
    receipts,
    relate,
    rows,
    session,
    store,
    stories,
    vector,
    visual,
    windows,
    wire,
    words,
)
from nmemory_reference.lies.memory.answers import MEMORY_TOOLS
from nmemory_reference.lies.memory.nulls import NULLS
from nmemory_reference.lies.memory.variants import VARIANTS
from nmemory_reference.lies.repertoire import Repertoire
from nmemory_reference.lies.variant import Variant

_REFERENCES = (
    Variant("honest", "The reference as it is."),
    Variant("full-surface", "The reference on the surface of all its tools.", config={"surface": "full"}),
)

MEMORY = Repertoire(
    name="memory",
    protocol="nmemory",
    config={"surface": "memory"},
    areas=(
        ingest.area,
        neighbours.area,
        extract.area,
        classify.area,
        imports.area,
        relate.area,
        pin.area,
        outcome.area,
        preference.area,
        recall.area,
        alias.area,
        vector.area,
        words.area,
        stories.area,
        store.area,
        errors.area,
        wire.area,
        fences.area,
        lanes.area,
        receipts.area,
        rows.area,
        budget.area,
        ranking.area,
        windows.area,
        session.area,
        get.area,
        lists.area,
        digest.area,
        handoffs.area,
        graphs.area,
        bootstrap.area,
        forget.area,
        consolidate.area,
        export.area,
        visual.area,
        merge.area,
    ),
    own_variants=(*_REFERENCES, *forms(MEMORY_TOOLS, errors=False), *VARIANTS),
    own_nulls=NULLS,
    # Nothing was scanned, no store of the reference holds duplicates, and no row of an import names what it replaced.
    seldom={
        "memory_digest/sources": [],
        # No case waits until something that was recalled has expired.
        "memory_digest/most_recalled/last/expired": True,
        "memory_consolidate/plan/exact_dupes": [{"keep": "cap-1"}],
        "memory_import/outcomes/last/superseded": "cap-1",
    },
)
