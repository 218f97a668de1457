"""The four diagrams: the worked bodies of the contract, their order, and that no label is syntax."""

from __future__ import annotations

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_reference.capsules.store.relations import Edge
from nmemory_reference.capsules.structure.dag import project_blocks
from nmemory_reference.capsules.views.diagram import (
    SessionRow,
    TierNode,
    dag_diagram,
    encoded,
    relations_diagram,
    sessions_diagram,
    tiers_diagram,
    visible,
)


def parts(diagram: str) -> tuple[str, str, list[str]]:
    """Header, provenance and body lines; checks the grammar that all views share."""
    assert diagram.endswith("\n")
    header, provenance, *body = diagram[:-1].split("\n")
    declared = re.fullmatch(r"%% nMEMORY visual · view=\w+ · .* · body sha256:([0-9a-f]{64})", provenance)
    assert declared
    assert hashlib.sha256("\n".join(body).encode()).hexdigest() == declared[1]
    return header, provenance, body


def edge(kind: str, one: str, other: str) -> Edge:
    return Edge(kind, one, other, "2031-05-01T08:00:00Z")


def test_the_worked_relations_body() -> None:
    header, provenance, body = parts(relations_diagram([edge("blocks", "cap-1", "cap-2")]))
    assert header == "graph LR"
    assert "view=relations · nodes=2 edges=1 · " in provenance
    assert body == ['    cap_1["cap-1"]', '    cap_2["cap-2"]', "    cap_1 -->|blocks| cap_2"]
    assert provenance.endswith("83b903cad7caae96760c09592614d6334926a94515db8dca4e635a2504eb8c72")


def test_the_worked_relations_body_of_four_edges() -> None:
    edges = [
        edge("grounded_in", "cap-10", "cap-3"),
        edge("part_of", "cap-2", "cap-3"),
        edge("proposes", "cap-2", "cap-10"),
        edge("blocks", "cap-2", "cap-3"),
    ]
    _, provenance, _ = parts(relations_diagram(edges))
    assert provenance.endswith("3729e5a9e8ac394b3ead2ba699fc4befaa32afa1268113a2ceb3f4fef7c553e5")
    assert relations_diagram(edges[::-1]) == relations_diagram(edges)


def test_vis24_outcomes_come_after_capsules() -> None:
    _, _, body = parts(relations_diagram([edge("falsifies", "out-1", "cap-10"), edge("falsifies", "cap-9", "cap-10")]))
    assert body[:3] == ['    cap_9["cap-9"]', '    cap_10["cap-10"]', '    out_1["out-1"]']


def test_the_worked_tiers_body() -> None:
    header, provenance, body = parts(tiers_diagram([TierNode(1, "active", 'use "x[0]"')]))
    assert header == "flowchart TB"
    assert "capsules=1 active=1 archived=0 quarantined=0" in provenance
    assert body == [
        '    subgraph tier_active["active — 1"]',
        '        cap_1["cap-1: use #quot;x#91;0#93;#quot;"]',
        "    end",
    ]
    assert provenance.endswith("d9106aff921fdaa12ee0d686ff0073923c7f064ab7e1ebd66e86eff8b315b482")


def test_vis28_tiers_omit_empty_groups_and_keep_their_order() -> None:
    _, _, body = parts(
        tiers_diagram([TierNode(3, "quarantined", "c"), TierNode(10, "active", "b"), TierNode(9, "active", "a")])
    )
    assert [line.strip().split("[")[0] for line in body] == [
        *("subgraph tier_active", "cap_9", "cap_10", "end", "subgraph tier_quarantined", "cap_3", "end"),
    ]


def test_the_worked_sessions_bodies() -> None:
    header, provenance, body = parts(sessions_diagram([SessionRow("sess-1", 0, 0, "open")]))
    assert header == "flowchart TD"
    assert "view=sessions · sessions=1 open=1 closed=0 label_only=0 · " in provenance
    assert body == ['    session_1["sess-1 · 0 saves · 0 recalls · open"]']
    assert provenance.endswith("ac052d950580c2e201e9d6012427511f0488f335ea056b30540257f2dd76949d")
    rows = [
        SessionRow("sess-1", 2, 1, "open"),
        SessionRow("sess-2", 0, 0, "closed"),
        SessionRow("sess-9", 1, 0, "label only"),
    ]
    _, provenance, _ = parts(sessions_diagram(rows))
    assert provenance.endswith("e8e3cbfaf8da43eeaa17b08fbf360b17073eb68f3787e7ccb0ab80e86253e59d")


def test_vis45_labels_that_differ_unseen_differ_in_the_diagram() -> None:
    assert visible("a\nb\\n\u2028") == r"a\u{A}b\\n\u{2028}"
    _, _, body = parts(sessions_diagram([SessionRow("a\nb", 0, 0, "open")]))
    assert r"a\u#123;A#125;b" in body[0]


def test_a_healthy_dag_is_drawn_whole() -> None:
    blocks = [("cap-9", "cap-10"), ("cap-10", "cap-11"), ("cap-2", "cap-10"), ("cap-7", "cap-2")]
    header, provenance, body = parts(dag_diagram(project_blocks(blocks, {"cap-7"}, {"cap-9"})))
    assert header == "graph TD"
    assert "view=dag · nodes=4 edges=3 · " in provenance
    assert body[:4] == [f'    cap_{n}["cap-{n}"]' for n in (2, 9, 10, 11)]
    assert body[4:7] == ["    cap_2 --> cap_10", "    cap_9 --> cap_10", "    cap_10 --> cap_11"]
    assert [line.split()[:2] for line in body[7:10]] == [["classDef", name] for name in ("ready", "blocked", "done")]
    assert body[10:] == ["    class cap_2 ready;", "    class cap_10,cap_11 blocked;", "    class cap_9 done;"]


def test_vis17_a_cycle_is_drawn_alone_with_a_banner() -> None:
    blocks = [("cap-3", "cap-1"), ("cap-1", "cap-2"), ("cap-2", "cap-3"), ("cap-3", "cap-4"), ("cap-8", "cap-9")]
    _, provenance, body = parts(dag_diagram(project_blocks(blocks, set(), set())))
    assert "cycle=3 entangled=4" in provenance
    assert body[:6] == [
        *('    cap_1["cap-1"]', '    cap_2["cap-2"]', '    cap_3["cap-3"]'),
        *("    cap_1 --> cap_2", "    cap_2 --> cap_3", "    cap_3 --> cap_1"),
    ]
    assert "blocks-cycle fail-closed" in body[6]
    assert "cap-1 → cap-2 → cap-3 → cap-1" in body[6]
    assert "4 entangled" in body[6]
    assert body[-2:] == [
        "    class cap_1,cap_2,cap_3 cycle;",
        "    class cycle_banner banner;",
    ]
    assert not any("cap_8" in line or "cap_4" in line for line in body)


@pytest.mark.parametrize(
    "diagram",
    [dag_diagram(project_blocks([], set(), set())), relations_diagram([]), tiers_diagram([]), sessions_diagram([])],
    ids=["dag", "relations", "tiers", "sessions"],
)
def test_vis36_an_empty_store_has_one_node(diagram: str) -> None:
    _, provenance, body = parts(diagram)
    assert len(body) == 1
    assert body[0].startswith("    empty[")
    assert "=0 " in provenance


@given(st.text())
def test_vis34_no_stored_character_is_syntax(text: str) -> None:
    shown = encoded(text)
    assert not re.search(r"""["\[\]{}()<>|`\x00-\x1f\x7f-\x9f\u2028\u2029]""", shown)
    diagram = tiers_diagram([TierNode(1, "active", text)])
    _, _, body = parts(diagram)
    assert len(body) == 3
    assert diagram.count('"') % 2 == 0
    assert diagram.count("[") == diagram.count("]")


@given(st.text(), st.text())
def test_different_labels_stay_different(one: str, other: str) -> None:
    assert (visible(one) == visible(other)) == (one == other)
