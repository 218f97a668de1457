"""The closed sets of nMEMORY v1, each in the order of the contract."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

LABEL: Final = "ADVISORY_NOT_AUTHORITY"
FRAMING: Final = "DATA"

KINDS: Final = (
    "fact",
    "procedure",
    "decision",
    "task",
    "epic",
    "brainstorm",
    "doc",
    "constraint",
    "capability",
    "failure_pattern",
)
TIERS: Final = ("active", "archived", "quarantined")
AUTHORITY_CLASSES: Final = ("observed-fact", "user-stated", "agent-inferred", "externally-imported")
EVIDENCE_STATES: Final = ("observed", "inferred", "unverified")
SCOPES: Final = ("project", "global", "session")
FORGET_MODES: Final = ("purged", "redacted")
LANES: Final = ("auto", "term", "vector", "fused")
VISUAL_VIEWS: Final = ("dag", "relations", "tiers", "sessions")
IMPORT_SOURCES: Final = ("user-claude-md", "project-claude-md", "project-agents-md", "memory-dir")
#: Kinds of edges; a kind's place here is its rank in every listing.
RELATION_KINDS: Final = (
    "supersedes",
    "derived_from",
    "witnesses",
    "blocks",
    "falsifies",
    "proposes",
    "part_of",
    "grounded_in",
)
RELATION_RANK: Final[Mapping[str, int]] = MappingProxyType({kind: rank for rank, kind in enumerate(RELATION_KINDS)})
#: Why a match was not evidence; a capsule counts under the first that applies.
FENCES: Final = (
    "quarantined",
    "falsified",
    "archived",
    "superseded",
    "expired",
    "not_yet_valid",
    "outside_time_window",
    "undated",
    "tombstoned",
)

DEFAULT_CONFIDENCE: Final = 0.6
DEFAULT_TOKEN_BUDGET: Final = 1500
#: The source of a capsule that memory_session_finish captured.
HANDOFF_SOURCE: Final = "memory_session_finish"


class Origin(NamedTuple):
    """What the origin of a content says about it (memory_classify)."""

    authority_class: str
    scope: str
    tainted: bool = False


ORIGINS: Final[Mapping[str, Origin]] = MappingProxyType(
    {
        "extracted-candidate": Origin("agent-inferred", "project"),
        "owner-stated": Origin("user-stated", "project"),
        "tool-observation": Origin("observed-fact", "project"),
        "external-import": Origin("externally-imported", "global", tainted=True),
        "session-note": Origin("agent-inferred", "session"),
    }
)
