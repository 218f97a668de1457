"""The closed sets of MEMORY_VERBS v1, and the forms that several verbs answer in."""

from __future__ import annotations

from typing import Any

from nmemory_reference.store.facts import Fact
from nmemory_reference.tools.caller import Caller
from nmemory_reference.tools.failure import PROTOCOL_VERSION

KINDS = ("event", "preference", "commitment", "belief", "fact")
VISIBILITIES = ("world", "private")


def answer(**fields: Any) -> dict[str, Any]:
    """A success body: `protocol_version` and the fields given."""
    return {"protocol_version": PROTOCOL_VERSION, **fields}


def fact_body(fact: Fact) -> dict[str, Any]:
    """A fact as recall answers it: v1's fields, and the older keys (mv1/recall/older-keys).

    What this server doesn't judge (notability, confidence) or do (consolidation) is null.
    """
    return {
        "id": fact.id,
        "fact_id": str(fact.id),
        "fact": fact.fact,
        "kind": fact.kind,
        "entity_slug": fact.entity_slug,
        "visibility": fact.visibility,
        "provenance": fact.provenance,
        "notability": None,
        "valid_from": fact.created_at,
        "valid_until": fact.valid_until,
        "expired_at": fact.expired_at,
        "superseded_by": fact.superseded_by,
        "consolidated_at": None,
        "consolidated_into": None,
        "source": fact.provenance,
        "source_session": fact.source_session,
        "confidence": None,
        "created_at": fact.created_at,
    }


def sees_private(caller: Caller) -> bool:
    """Whether the caller may see private facts and private parts of pages: only a local one may."""
    return not caller.remote
