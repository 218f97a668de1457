"""Short lives of a memory, a repertoire of doubles each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Tools with their arguments.
Life = tuple[tuple[str, dict[str, Any]], ...]

_PAGE = (
    "---\ntitle: Ann Lee\naliases: [annie]\nlinks: [{to: people/bo, type: knows}]\n---\n\nAnn mentions [[people/cy]].\n"
)
#: In which every verb is used well and badly.
_VERBS: Life = (
    ("put_page", {"slug": "people/ann", "content": _PAGE}),
    ("remember", {"fact": "Ann hums.", "provenance": "a test", "entity": "people/ann", "kind": "commitment"}),
    ("remember", {"fact": "Ann hums.", "provenance": "a test", "entity": "people/ann", "kind": "commitment"}),
    ("remember", {"fact": "Ann whispers.", "provenance": "a test", "entity": "people/ann", "visibility": "private"}),
    ("remember", {"fact": "It rains.", "provenance": "a test", "ttl": "45m"}),
    ("remember", {"fact": " ", "provenance": "a test"}),
    ("remember", {"fact": ["odd"], "provenance": 7, "entity": None, "ttl": {"odd": 1}, "kind": "odd"}),
    ("recall", {"entity": "people/ann", "query": "Ann", "limit": 2, "since": "2001-01-01", "budget_tokens": 40}),
    ("recall", {"grep": "HUMS", "include_expired": True}),
    ("recall", {"entity": " ", "limit": -1, "since": "yesterday", "query": 7, "budget_tokens": "odd"}),
    ("recall", {"limit": True, "budget_tokens": 1.5}),
    ("entity", {"name": "annie"}),
    ("entity", {"name": "people/ann"}),
    ("entity", {"name": "nobody"}),
    ("entity", {"name": " "}),
    ("entity", {"name": ["odd"]}),
    ("synthesize", {"question": "Who hums?"}),
    ("synthesize", {"question": ["odd"]}),
    ("context_pack", {"entities": "people/ann, people/bo", "budget_tokens": 60}),
    ("context_pack", {"entities": 7, "budget_tokens": "odd"}),
    ("delta", {"since": "2001-01-01T00:00:00+02:00"}),
    ("delta", {"since": "2001-01-01T00:00:00Z", "include_private": True}),
    ("delta", {"since": ["odd"], "session_id": 7}),
    ("forget", {"id": "1", "reason": "a test"}),
    ("forget", {"id": "1"}),
    ("forget", {"id": "999"}),
    ("forget", {"id": "\0"}),
    ("forget", {"id": ["odd"]}),
    ("no_such_tool", {}),
)

#: In which every memory tool is used well and badly.
_MEMORY: Life = (
    ("memory_session_start", {}),
    ("memory_ingest", {"content": "Ann hums in the morning.", "source": "a test", "anchor": "1", "kind": "fact"}),
    ("memory_ingest", {"content": "Ann hums in the morning.", "source": "another", "anchor": "2"}),
    ("memory_ingest", {"content": " ", "source": "a test", "anchor": "1"}),
    ("memory_ingest", {"content": 7}),
    ("memory_ingest", {"items": [{"content": "We chose the blue door.", "source": "a test", "anchor": "3"}, 7, {}]}),
    ("memory_ingest", {"items": "odd"}),
    ("memory_extract", {"content": "Decision: the door is blue. We must never paint it red."}),
    ("memory_extract", {"content": ["odd"]}),
    ("memory_classify", {"content": "Decision: the door is blue.", "capsule_id": "cap-2"}),
    ("memory_classify", {"content": "x", "kind": "odd"}),
    ("memory_classify", {"content": "x", "capsule_id": "cap-999"}),
    ("memory_import", {"source": "agents"}),
    ("memory_import", {"source": "odd"}),
    ("memory_retrieve", {"terms": ["hums"], "limit": 3, "token_budget": 400}),
    ("memory_retrieve", {"terms": ["nobody said this"]}),
    ("memory_retrieve", {"terms": "hums", "lane": "odd"}),
    ("memory_retrieve", {"terms": ["hums"], "project_prefix": "a/"}),
    ("memory_alias", {"term": "hums", "alias": "sings"}),
    ("memory_alias", {}),
    ("memory_alias", {"term": 7}),
    ("memory_vector", {"capsule_id": "cap-1", "embedding": [0.5, 0.5], "model_tag": "m"}),
    ("memory_vector", {}),
    ("memory_vector", {"capsule_id": "cap-1", "embedding": []}),
    ("memory_relate", {"kind": "blocks", "from": "cap-1", "to": "cap-2"}),
    ("memory_relate", {"kind": "blocks", "from": "cap-1", "to": "cap-1"}),
    ("memory_relate", {"kind": "odd", "from": "cap-1", "to": 7}),
    ("memory_outcome", {"description": "It hummed.", "capsule_id": "cap-1", "score": 1}),
    ("memory_outcome", {}),
    ("memory_outcome", {"description": "x", "capsule_id": "cap-999"}),
    ("memory_preference", {"preferred_id": "cap-1", "rejected_id": "cap-2", "context": "a test"}),
    ("memory_preference", {}),
    ("memory_preference", {"preferred_id": "cap-1", "rejected_id": "cap-1"}),
    ("memory_pin", {"id": "cap-1", "pinned": True, "reason": "a test"}),
    ("memory_pin", {"id": "cap-999", "pinned": True, "reason": "a test"}),
    ("memory_pin", {"id": 7}),
    ("memory_get", {"id": "cap-1"}),
    ("memory_get", {"id": "cap-999"}),
    ("memory_get", {"id": ["odd"]}),
    ("memory_list", {"limit": 2}),
    ("memory_list", {"tier": "odd"}),
    ("memory_digest", {}),
    ("memory_digest", {"project_prefix": " "}),
    ("memory_bootstrap", {"terms": ["hums"]}),
    ("memory_bootstrap", {"token_budget": -1}),
    ("memory_export", {"stamp": False}),
    ("memory_export", {"stamp": "odd"}),
    ("memory_visual", {"view": "lineage"}),
    ("memory_visual", {"view": "odd"}),
    ("memory_consolidate", {"apply_tiers": True}),
    ("memory_consolidate", {"apply_tiers": "odd"}),
    ("memory_merge", {"from": "/no/such/store.sqlite3"}),
    ("memory_merge", {}),
    ("memory_session_finish", {"session_id": "sess-1", "summary": "It hums."}),
    ("memory_session_finish", {"session_id": "sess-1"}),
    ("memory_session_finish", {"session_id": 7}),
    ("memory_forget", {"id": "cap-1", "mode": "purged", "reason": "a test"}),
    ("memory_forget", {"id": "cap-1", "mode": "purged", "reason": "a test"}),
    ("memory_forget", {"id": "cap-999", "mode": "odd", "reason": 7}),
    ("memory_retrieve", {"terms": ["hums"]}),
    ("no_such_tool", {}),
)

LIVES: Mapping[str, Life] = {"verbs": _VERBS, "memory": _MEMORY}
