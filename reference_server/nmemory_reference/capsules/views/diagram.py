"""The four diagrams of memory_visual, in Mermaid: the same bytes for the same store, and no stored byte is syntax."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from nmemory_reference.capsules.store.ids import capsule_id, order_key
from nmemory_reference.capsules.store.relations import Edge, in_order
from nmemory_reference.capsules.structure.dag import BlocksDag, Cycle
from nmemory_reference.capsules.vocabulary import TIERS

_INDENT: Final = "    "
_PLACEHOLDER: Final = _INDENT + 'empty["nothing to draw"]'
_NOT_IDENTIFIER = re.compile(r"[^A-Za-z0-9_]")
_ENTITIES: Final = str.maketrans(
    {
        "#": "#35;",
        '"': "#quot;",
        "[": "#91;",
        "]": "#93;",
        "{": "#123;",
        "}": "#125;",
        "(": "#40;",
        ")": "#41;",
        "<": "#lt;",
        ">": "#gt;",
        "|": "#124;",
        "`": "#96;",
        "\u2028": " ",
        "\u2029": " ",
        **{chr(code): " " for code in (*range(0x20), *range(0x7F, 0xA0))},
    }
)
_DAG_CLASSES: Final = (
    _INDENT + "classDef ready fill:#e6f4ea,stroke:#137333,color:#0d3b1e",
    _INDENT + "classDef blocked fill:#fce8e6,stroke:#a50e0e,color:#5c0b0b",
    _INDENT + "classDef done fill:#e8eaed,stroke:#5f6368,color:#3c4043,stroke-dasharray:4 2",
)
_CYCLE_CLASSES: Final = (
    _INDENT + "classDef cycle fill:#fef7e0,stroke:#b06000,color:#5c3b00",
    _INDENT + "classDef banner fill:#a50e0e,stroke:#5c0b0b,color:#ffffff",
)


class TierNode(NamedTuple):
    """A live capsule in the view of tiers."""

    seq: int
    tier: str
    headline: str


class SessionRow(NamedTuple):
    """A label in the view of sessions. `state`: open, closed, or label only."""

    label: str
    saves: int
    recalls: int
    state: str


def dag_diagram(dag: BlocksDag) -> str:
    """The blocks-dag; under a cycle nothing but its members and a banner."""
    if dag.cycle is not None:
        counts = f"cycle={len(dag.cycle.ids)} entangled={dag.cycle.entangled}"
        return _document("graph TD", "dag", counts, _cycle(dag.cycle))
    nodes = sorted((*dag.ready, *dag.blocked, *dag.done), key=order_key)
    arrows = sorted(dag.edges, key=lambda pair: (order_key(pair[0]), order_key(pair[1])))
    body = [_node(each, each) for each in nodes]
    body += [f"{_INDENT}{identifier(one)} --> {identifier(other)}" for one, other in arrows]
    if body:
        body += _DAG_CLASSES
        for name, members in (("ready", dag.ready), ("blocked", dag.blocked), ("done", dag.done)):
            body += _class(name, members)
    return _document("graph TD", "dag", f"nodes={len(nodes)} edges={len(arrows)}", body)


def relations_diagram(edges: Iterable[Edge]) -> str:
    """Every edge once, labelled with its kind."""
    ordered = list(dict.fromkeys((edge.kind, edge.from_id, edge.to_id) for edge in in_order(edges)))
    nodes = sorted({end for _, *ends in ordered for end in ends}, key=order_key)
    body = [_node(each, each) for each in nodes]
    body += [f"{_INDENT}{identifier(one)} -->|{kind}| {identifier(other)}" for kind, one, other in ordered]
    return _document("graph LR", "relations", f"nodes={len(nodes)} edges={len(ordered)}", body)


def tiers_diagram(nodes: Iterable[TierNode]) -> str:
    """Live capsules, grouped by tier."""
    by_tier: dict[str, list[TierNode]] = {tier: [] for tier in TIERS}
    for node in sorted(nodes, key=lambda node: node.seq):
        by_tier[node.tier].append(node)
    body: list[str] = []
    for tier, members in by_tier.items():
        if members:
            body.append(f'{_INDENT}subgraph tier_{tier}["{tier} — {len(members)}"]')
            body += [
                _INDENT + _node(capsule_id(each.seq), f"{capsule_id(each.seq)}: {each.headline}") for each in members
            ]
            body.append(f"{_INDENT}end")
    counts = " ".join(f"{tier}={len(members)}" for tier, members in by_tier.items())
    total = sum(map(len, by_tier.values()))
    return _document("flowchart TB", "tiers", f"capsules={total} {counts}", body)


def sessions_diagram(rows: Sequence[SessionRow]) -> str:
    """The rows as they are ordered; their nodes are named by ordinals, since labels may hold anything."""
    body = [
        _node(
            f"session_{ordinal}",
            f"{visible(row.label)} · {row.saves} saves · {row.recalls} recalls · {row.state}",
        )
        for ordinal, row in enumerate(rows, 1)
    ]
    counts = " ".join(
        f"{name}={sum(row.state == state for row in rows)}"
        for name, state in (("open", "open"), ("closed", "closed"), ("label_only", "label only"))
    )
    return _document("flowchart TD", "sessions", f"sessions={len(rows)} {counts}", body)


def identifier(any_id: str) -> str:
    """An id as Mermaid may name a node."""
    return _NOT_IDENTIFIER.sub("_", any_id)


def encoded(text: str) -> str:
    """A text as it may stand in a label: what could be syntax as entities, control characters as spaces."""
    return text.translate(_ENTITIES)


def visible(label: str) -> str:
    r"""A session's label with every invisible character written out (`\u{A}`); different labels stay different."""
    return "".join(_visible(char) for char in label)


def _visible(char: str) -> str:
    if char == "\\":
        return "\\\\"
    if char in "\u2028\u2029" or unicodedata.category(char) == "Cc":
        return f"\\u{{{ord(char):X}}}"
    return char


def _document(header: str, view: str, counts: str, body: Sequence[str]) -> str:
    statements = "\n".join(body or (_PLACEHOLDER,))
    digest = hashlib.sha256(statements.encode()).hexdigest()
    return f"{header}\n%% nMEMORY visual · view={view} · {counts} · body sha256:{digest}\n{statements}\n"


def _node(name: str, label: str) -> str:
    return f'{_INDENT}{identifier(name)}["{encoded(label)}"]'


def _class(name: str, members: Iterable[str]) -> list[str]:
    named = ",".join(map(identifier, sorted(members)))
    return [f"{_INDENT}class {named} {name};"] if named else []


def _cycle(cycle: Cycle) -> list[str]:
    ring = list(cycle.ids)
    path = " → ".join((*ring, ring[0]))
    banner = (
        f"blocks-cycle fail-closed: {path}; repair: supersede, forget or witness a member, then digest again; "
        f"{cycle.entangled} entangled"
    )
    return [
        *(_node(each, each) for each in ring),
        *(
            f"{_INDENT}{identifier(one)} --> {identifier(other)}"
            for one, other in zip(ring, [*ring[1:], ring[0]], strict=True)
        ),
        _node("cycle_banner", banner),
        *_CYCLE_CLASSES,
        *_class("cycle", ring),
        *_class("banner", ["cycle_banner"]),
    ]
