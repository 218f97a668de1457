"""Laws about a Mermaid diagram."""

from __future__ import annotations

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_kit.check import Answer
from nmemory_kit.check.laws import laws
from nmemory_kit.check.laws.mermaid import drawn, read_diagram

DAG = """    cap_1["cap-1"]
    cap_2["cap-2"]
    cap_10["cap-10"]
    cap_1 --> cap_2
    cap_2 --> cap_10
    classDef ready fill:#e6f4ea,stroke:#137333
    classDef blocked fill:#fce8e6
    classDef done fill:#e8eaed,stroke-dasharray:4 2
    class cap_2 ready;
    class cap_10 blocked;
    class cap_1 done;"""
RELATIONS = """    cap_1["cap-1"]
    cap_2["cap-2"]
    cap_3["cap-3"]
    cap_1 -->|blocks| cap_2
    cap_1 -->|part_of| cap_3"""
TIERS = """    subgraph tier_active["active — 1"]
        cap_1["cap-1: use #quot;x#91;0#93;#quot; of cap-2"]
    end
    subgraph tier_archived["archived — 1"]
        cap_2["cap-2: an old habit"]
    end"""
SESSIONS = """    session_1["sess-1 · 2 saves · 1 recalls · open"]
    session_2["sess-2 · 0 saves · 0 recalls · closed"]
    session_3["sess-9 · 1 saves · 0 recalls · label only"]"""
HEADERS = {"dag": "graph TD", "relations": "graph LR", "tiers": "flowchart TB", "sessions": "flowchart TD"}
BODIES = {"dag": DAG, "relations": RELATIONS, "tiers": TIERS, "sessions": SESSIONS}


def document(view, body=None, digest=None, counts="nodes=3 edges=2"):
    body = BODIES[view] if body is None else body
    digest = digest or hashlib.sha256(body.encode()).hexdigest()
    return f"{HEADERS[view]}\n%% a view · view={view} · {counts} · body sha256:{digest}\n{body}\n"


def broken(law, mermaid, **args):
    answer = Answer.of_document({"mermaid": mermaid})
    return [one.expected for one in laws()[law](answer, {"at": "/mermaid", **args})]


@pytest.mark.parametrize("view", BODIES)
def test_a_faithful_diagram_can_be_read_and_verified(view):
    assert not broken("diagram-digest", document(view))
    assert not broken("diagram-syntax", document(view), view=view)


def test_the_hashes_worked_out_in_the_contract_hold():
    digest = "e8e3cbfaf8da43eeaa17b08fbf360b17073eb68f3787e7ccb0ab80e86253e59d"
    assert not broken("diagram-digest", document("sessions", digest=digest))


def test_the_comment_may_stand_before_the_header_and_the_hash_may_cover_the_last_line_end():
    digest = hashlib.sha256(f"{DAG}\n".encode()).hexdigest()
    header, comment, rest = document("dag", digest=digest).split("\n", 2)
    swapped = f"{comment}\n{header}\n{rest}"
    assert not broken("diagram-digest", swapped)
    assert not broken("diagram-syntax", swapped, view="dag")


@given(st.integers(0, len(DAG) - 1), st.sampled_from('xyz "#]\n'))
def test_any_changed_character_breaks_the_digest(place, character):
    changed = DAG[:place] + character + DAG[place + 1 :]
    digest = hashlib.sha256(DAG.encode()).hexdigest()
    assert bool(broken("diagram-digest", document("dag", changed, digest))) == (changed != DAG)


def test_a_comment_without_counts_or_digest_breaks_the_law():
    assert broken("diagram-digest", document("dag", counts="some"))
    assert broken("diagram-digest", document("dag", counts="v1.2 of e5"))
    assert broken("diagram-digest", document("dag").replace("sha256", "md5"))


def test_counts_stand_anywhere_in_the_comments_and_one_of_them_is_right():
    assert not broken("diagram-digest", document("dag"), counts=[7, 3])
    assert not broken("diagram-digest", document("dag", counts="11 statements"), counts=[3])
    assert not broken("diagram-digest", document("dag"), counts=[7])  # three nodes and two arrows are drawn
    assert broken("diagram-digest", document("dag", counts="nodes=4 edges=4"), counts=[7])
    assert broken("diagram-digest", document("sessions", counts="sessions=0 open=0"), counts=[7])
    assert broken("diagram-digest", document("dag", counts="nodes=0 edges=0"), counts=[3, 2])
    header, _, rest = document("dag").split("\n", 2)
    digest = hashlib.sha256(DAG.encode()).hexdigest()
    assert not broken("diagram-digest", f"{header}\n%% sha256:{digest} over 3 nodes.\n{rest}", counts=[3])
    assert not broken("diagram-digest", f"%% sha256:{digest}\n{header};\n%% 3 nodes\n{rest}", counts=[3])


@pytest.mark.parametrize("mermaid", ["", "hello", None, []])
def test_what_is_no_diagram_breaks_the_laws(mermaid):
    assert broken("diagram-digest", mermaid)
    assert broken("diagram-syntax", mermaid, view="dag")
    assert broken("diagram-syntax", mermaid)


def test_a_diagram_of_nothing_needs_no_node():
    assert not broken("diagram-digest", document("dag", "", counts="nodes=0"))
    assert not broken("diagram-syntax", document("dag", "", counts="nodes=0"), view="dag")
    assert broken("diagram-digest", "graph TD\n%% nodes=0 sha256:00\n")


@pytest.mark.parametrize(
    "line",
    [
        '    cap_3["a "quote" inside"]',
        "    cap_3[brackets [0]]",
        "    cap_3[a | pipe]",
        '    cap_3["two\n    lines"]',
        '    cap_3["a\ttab"]',
        "    end",
        "    subgraph open",
        "    cap_1 -->",
        "    what is this?",
    ],
)
def test_stored_text_that_becomes_syntax_breaks_the_law(line):
    assert broken("diagram-syntax", document("dag", f"{DAG}\n{line}"), view="dag")


def test_a_label_between_quotes_may_hold_what_it_likes():
    assert not broken("diagram-syntax", document("dag", f'{DAG}\n    stop["a cycle (cap-1 --> cap-2), [fail|closed]"]'))


@pytest.mark.parametrize("view", ["dag", "relations", "sessions"])
def test_each_view_has_its_header(view):
    other = document(view).replace(HEADERS[view], "graph BT")
    assert broken("diagram-syntax", other, view=view)


@pytest.mark.parametrize(
    "statement",
    [
        "a --> b",
        "a-->b",
        'a["x"] --> b["y"]',
        "a ==> b",
        "a -.-> b",
        "a --> b --> c",
        "a(x):::s --> b{{y}}",
        "a --> b;",
    ],
)
def test_other_styles_of_mermaid_are_read_too(statement):
    diagram = read_diagram(f"graph TD\n  {statement}\n")
    assert not diagram.strange
    assert (diagram.arrows[0].tail, diagram.arrows[0].head) == ("a", "b")


@pytest.mark.parametrize(
    "statement", ["a -->|blocks| b", 'a -->|"blocks"| b', "a -- blocks --> b", "a -. blocks .-> b"]
)
def test_an_arrow_may_carry_its_label_in_several_ways(statement):
    (arrow,) = read_diagram(f"graph LR\n{statement}\n").arrows
    assert (arrow.tail, arrow.head, arrow.label) == ("a", "b", "blocks")


@given(st.text())
def test_no_text_surprises_the_reader(text):
    read_diagram(text)


def test_entities_are_drawn_as_what_they_stand_for():
    assert drawn("#quot;#35;#91;0#93; #lt;b#gt; &amp; #124;") == '"#[0] <b> & |'


def test_nodes_are_those_of_the_ids():
    assert not broken("diagram-nodes", document("dag"), drawn=["cap-1", "cap-2", "cap-10"], hidden=["cap-3"], only=0)
    assert broken("diagram-nodes", document("dag"), drawn=["cap-3"])
    assert broken("diagram-nodes", document("dag"), hidden=["cap-10"])
    assert broken("diagram-nodes", document("dag"), drawn=["cap-1"], only=0)


def test_an_id_in_anothers_label_is_no_node_of_it():
    assert not broken("diagram-nodes", document("tiers"), drawn=["cap-1", "cap-2"], only=0)
    banner = document("dag", f'{DAG}\n    banner["a cycle: cap-1 and cap-2"]')
    assert not broken("diagram-nodes", banner, drawn=["cap-1", "cap-2", "cap-10"], only=1)
    assert not broken("diagram-nodes", banner, drawn=["cap-1", "cap-2", "cap-10"], banner=True)
    assert broken("diagram-nodes", banner, drawn=["cap-1", "cap-2"], banner=True)
    assert broken("diagram-nodes", document("dag"), drawn=["cap-1", "cap-2", "cap-10"], banner=True)
    grouped = document("dag", f'    subgraph stop["a cycle"]\n{DAG}\n    end')
    assert not broken("diagram-nodes", grouped, drawn=["cap-1", "cap-2", "cap-10"], banner=True)
    assert broken("diagram-nodes", grouped, drawn=["cap-1"], banner=True)
    renamed = document("tiers").replace("cap_1[", "a[").replace("cap_2[", "b[")
    assert not broken("diagram-nodes", renamed, drawn=["cap-1", "cap-2"], only=0)


def test_arrows_are_those_between_the_ids():
    both = [["cap-1", "cap-2"], ["cap-2", "cap-10"]]
    assert not broken(
        "diagram-arrows", document("dag"), drawn=both, hidden=[["cap-2", "cap-1"]], only=True, ordered=True
    )
    assert broken("diagram-arrows", document("dag"), drawn=both[::-1], ordered=True)
    assert broken("diagram-arrows", document("dag"), drawn=both[:1], only=True)
    assert broken("diagram-arrows", document("dag"), hidden=both)
    assert not broken("diagram-arrows", document("relations"), drawn=[["cap-1", "cap-3", "part_of"]])
    assert broken("diagram-arrows", document("relations"), drawn=[["cap-1", "cap-3", "blocks"]])


MORE = DAG.replace("    classDef ready", '    cap_11["cap-11"]\n    cap_10 --> cap_11\n    classDef ready', 1)


def test_beside_what_was_drawn_before_only_the_new_is_counted():
    before, after = document("dag"), document("dag", body=MORE)
    assert not broken("diagram-nodes", after, drawn=["cap-11"], only=0, beside=before)
    assert not broken("diagram-arrows", after, drawn=[["cap-10", "cap-11"]], only=True, beside=before)
    assert broken("diagram-nodes", after, drawn=[], only=0, beside=before)
    assert broken("diagram-arrows", after, drawn=[], only=True, beside=before)


def test_what_was_drawn_before_is_there_yet():
    before = document("dag", body=MORE)
    assert broken("diagram-nodes", document("dag"), drawn=[], beside=before)
    turned = document("dag", body=MORE.replace("cap_1 --> cap_2", "cap_2 --> cap_1"))
    assert broken("diagram-arrows", turned, drawn=[], only=True, beside=before)


def test_states_are_styled_apart():
    assert not broken("diagram-styles", document("dag"), alike=[["cap-1"], ["cap-2"], ["cap-10"]])
    assert broken("diagram-styles", document("dag"), alike=[["cap-1", "cap-2"], ["cap-10"]])
    alike = document("dag").replace("class cap_1 done;", "class cap_1 ready;")
    assert broken("diagram-styles", alike, alike=[["cap-1"], ["cap-2"]])
    assert broken("diagram-styles", document("dag").replace("class cap_1 done;", ""), alike=[["cap-1"]])


def test_groups_hold_their_members():
    assert not broken("diagram-groups", document("tiers"), members={"active": ["cap-1"], "archived": ["cap-2"]})
    titled = document("tiers").replace("tier_active", "first").replace("active —", "Active:")
    assert not broken("diagram-groups", titled, members={"active": ["cap-1"]})
    assert broken("diagram-groups", document("tiers"), members={"active": ["cap-2"]})
    assert broken("diagram-groups", document("tiers"), members={"active": ["cap-3"]})


def test_a_label_is_matched_as_it_is_drawn():
    assert not broken("diagram-label", document("tiers"), id="cap-1", matches=[r'use "x\[0\]"', "^cap-1"])
    assert broken("diagram-label", document("tiers"), id="cap-1", matches=["quot"])
    assert broken("diagram-label", document("tiers"), id="cap-4", matches=["x"])


ROWS = [
    {"label": "sess-1", "saves": 2, "recalls": 1, "state": "open"},
    {"label": "sess-2", "saves": 0, "recalls": 0, "state": "closed"},
    {"label": "sess-9", "saves": 1, "recalls": 0, "state": "label only"},
]


def test_sessions_say_what_they_are():
    assert not broken("diagram-sessions", document("sessions"), rows=ROWS)
    other = document("sessions").replace("2 saves", "saves: 2").replace("label only", "label_only")
    assert not broken("diagram-sessions", other, rows=ROWS)
    worded = re.sub(
        r'"(sess-\d+) · (\d) saves · (\d) recalls', r'"session \1 · saves \2 · recalls \3', document("sessions")
    )
    assert not broken("diagram-sessions", worded, rows=ROWS)


@pytest.mark.parametrize(
    "change", [("2 saves", "3 saves"), ("1 recalls", "2 recalls"), ("open", "closed"), ("sess-1", "sess-3")]
)
def test_sessions_that_say_something_else_break_the_law(change):
    assert broken("diagram-sessions", document("sessions").replace(*change), rows=ROWS)


def test_sessions_stand_in_their_order_and_are_named_by_ordinals():
    assert broken("diagram-sessions", document("sessions"), rows=ROWS[::-1])
    assert broken("diagram-sessions", document("sessions").replace("session_3", "session_9"), rows=ROWS)


def test_labels_only_stand_last_in_the_order_of_their_bytes():
    rows = [*ROWS, {"label": "sess-10", "state": "label only"}]
    last = '    session_3["sess-9 · 1 saves · 0 recalls · label only"]'
    more = '    session_{}["sess-10 · 1 saves · 0 recalls · label only"]'.format
    before = SESSIONS.replace(last, f"{more(3)}\n{last.replace('session_3', 'session_4')}")
    assert not broken("diagram-sessions", document("sessions", before), rows=rows)
    assert broken("diagram-sessions", document("sessions", f"{SESSIONS}\n{more(4)}"), rows=rows)


def index(*edges):
    rows = "\n".join(f"- {one} --{kind}--> {other} · at noon" for one, kind, other in edges)
    return f"> capsules=3 · sha256:{'0' * 64}\n\n## relations\n\n{rows}\n"


def test_arrows_are_the_edges_of_the_index_in_its_order():
    edges = [("cap-1", "blocks", "cap-2"), ("cap-1", "part_of", "cap-3")]
    assert not broken("diagram-arrows-as-indexed", document("relations"), index=index(*edges))
    assert broken("diagram-arrows-as-indexed", document("relations"), index=index(*edges[::-1]))
    assert broken("diagram-arrows-as-indexed", document("relations"), index=index(*edges[:1]))
    assert broken(
        "diagram-arrows-as-indexed", document("relations"), index=index(edges[0], ("cap-3", "part_of", "cap-1"))
    )
    assert broken("diagram-arrows-as-indexed", document("relations"), index="no index")
