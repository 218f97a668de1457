"""memory_visual: the four diagrams of a store that was filled through the tools."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
from nmemory_reference.capsules.faults import ProtocolFault, ShapeFault
from nmemory_reference.capsules.structure import outcome
from nmemory_reference.capsules.sync import merge
from nmemory_reference.capsules.views import digest, export, visual
from nmemory_reference.capsules.views.saved_view import parse
from reference.capsules.acts import ask, begin, capture, drop, edge, end, retier
from reference.capsules.inspection import audit
from reference.capsules.stage import Stage

VIEWS = ("dag", "relations", "tiers", "sessions")
HEADERS = {"dag": "graph TD", "relations": "graph LR", "tiers": "flowchart TB", "sessions": "flowchart TD"}


def drawn(stage: Stage, view: str, **arguments: Any) -> str:
    return str(stage.call(visual.TOOL, view=view, **arguments)["mermaid"])


def body(stage: Stage, view: str, **arguments: Any) -> list[str]:
    """The statements; checks the grammar that all views share."""
    text = drawn(stage, view, **arguments)
    assert text.endswith("\n")
    header, provenance, *statements = text[:-1].split("\n")
    assert header == HEADERS[view]
    declared = re.fullmatch(rf"%% nMEMORY visual · view={view} · (.+) · body sha256:([0-9a-f]{{64}})", provenance)
    assert declared
    assert hashlib.sha256("\n".join(statements).encode()).hexdigest() == declared[2]
    assert text.count('"') % 2 == 0
    assert text.count("[") == text.count("]")
    return statements


def counts(stage: Stage, view: str) -> str:
    return drawn(stage, view).split("\n")[1].split(" · ")[2]


def several(stage: Stage, count: int, **fields: Any) -> list[str]:
    return [capture(stage, f"number {number} of {fields}", **fields) for number in range(count)]


def classes(statements: list[str]) -> dict[str, list[str]]:
    """The members of each class of a dag."""
    found = (re.fullmatch(r"    class ([\w,]+) (\w+);", line) for line in statements)
    return {match[2]: match[1].replace("_", "-").split(",") for match in found if match}


def nodes(statements: list[str]) -> list[str]:
    return [line.split("[")[0].strip() for line in statements if re.match(r"\s+\w+\[", line)]


@pytest.fixture
def busy(stage: Stage) -> Stage:
    """A store that has something for each view."""
    one, two, three = several(stage, 3)
    edge(stage, one, "blocks", two)
    edge(stage, two, "blocks", three)
    begin(stage)
    return stage


@pytest.mark.parametrize("view", VIEWS)
def test_vis01_vis05_vis06_vis09_vis47_each_view_is_a_diagram_with_its_hash(busy: Stage, view: str) -> None:
    assert list(busy.call(visual.TOOL, view=view)) == ["label", "framing", "mermaid"]
    assert body(busy, view)


@pytest.mark.parametrize("view", VIEWS)
def test_vis03_vis04_vis07_vis37_the_same_bytes_at_any_time_and_no_trace(busy: Stage, view: str) -> None:
    before, text = audit(busy), drawn(busy, view)
    busy.later(days=500)
    assert drawn(busy, view) == text
    assert "2031" not in text
    assert audit(busy) == before


@pytest.mark.parametrize("view", VIEWS)
def test_vis36_an_empty_store_has_a_placeholder(stage: Stage, view: str) -> None:
    assert nodes(body(stage, view)) == ["empty"]
    zeros = re.findall(r"=(\d+)", counts(stage, view))
    assert set(zeros) == {"0"}


def test_a_chain_is_drawn_statement_by_statement(stage: Stage) -> None:
    first, then, last, proof = several(stage, 4)
    edge(stage, then, "blocks", last)
    edge(stage, first, "blocks", then)
    edge(stage, proof, "witnesses", first)
    statements = body(stage, "dag")
    assert statements[:5] == [
        '    cap_1["cap-1"]',
        '    cap_2["cap-2"]',
        '    cap_3["cap-3"]',
        "    cap_1 --> cap_2",
        "    cap_2 --> cap_3",
    ]
    assert [line.split()[:2] for line in statements[5:8]] == [
        ["classDef", name] for name in ("ready", "blocked", "done")
    ]
    assert statements[8:] == ["    class cap_2 ready;", "    class cap_3 blocked;", "    class cap_1 done;"]
    assert counts(stage, "dag") == "nodes=3 edges=2"


def test_vis10_vis15_only_who_blocks_or_is_blocked_is_drawn(stage: Stage) -> None:
    first, then, proof, bystander = several(stage, 4)
    edge(stage, first, "blocks", then)
    edge(stage, proof, "witnesses", first)
    edge(stage, bystander, "derived_from", first)
    assert nodes(body(stage, "dag")) == ["cap_1", "cap_2"]


@pytest.mark.parametrize("end_it", ["supersede", "forget"])
def test_vis11_the_dead_and_their_arrows_are_left_out(stage: Stage, end_it: str) -> None:
    first, then, last, other = several(stage, 4)
    edge(stage, first, "blocks", then)
    edge(stage, then, "blocks", last)
    if end_it == "forget":
        drop(stage, first)
    else:
        edge(stage, other, "supersedes", first)
    statements = body(stage, "dag")
    assert nodes(statements) == ["cap_2", "cap_3"]
    assert [line for line in statements if "-->" in line] == ["    cap_2 --> cap_3"]


def test_vis12_vis13_vis14_vis16_the_classes_are_what_the_digest_says(stage: Stage) -> None:
    capsules = several(stage, 14)
    for capsule in capsules[:11]:
        edge(stage, capsule, "blocks", capsules[11])
    edge(stage, capsules[11], "blocks", capsules[12])
    for capsule in capsules[:3]:
        edge(stage, capsules[13], "witnesses", capsule)
    dag = stage.call(digest.TOOL, headlines=99)["dag"]
    assert classes(body(stage, "dag")) == {name: dag[name] for name in ("ready", "blocked", "done")}
    assert dag["ready"][:2] == ["cap-10", "cap-11"], "in plain text order"


def test_vis17_vis18_vis19_under_a_cycle_nothing_else_is_drawn(stage: Stage) -> None:
    one, two = (capture(stage, name, project_id=name) for name in ("a", "b"))
    healthy, other, behind = several(stage, 3)
    for from_id, to_id in ((one, two), (two, one), (two, behind), (healthy, other)):
        edge(stage, from_id, "blocks", to_id)
    statements = body(stage, "dag")
    assert nodes(statements) == ["cap_1", "cap_2", "cycle_banner"]
    assert [line for line in statements if "-->" in line] == ["    cap_1 --> cap_2", "    cap_2 --> cap_1"]
    assert classes(statements)["cycle"] == stage.call(digest.TOOL)["dag"]["cycle"] == [one, two]
    banner = next(line for line in statements if "cycle_banner[" in line)
    for word in ("blocks-cycle fail-closed", "cap-1 → cap-2 → cap-1", "3 entangled"):
        assert word in banner
    assert counts(stage, "dag") == "cycle=2 entangled=3"


@pytest.mark.parametrize("repair", ["witness", "supersede", "forget"])
def test_vis20_how_a_cycle_is_dissolved(stage: Stage, repair: str) -> None:
    one, two, other = several(stage, 3)
    edge(stage, one, "blocks", two)
    edge(stage, two, "blocks", one)
    if repair == "forget":
        drop(stage, one)
    else:
        edge(stage, other, {"witness": "witnesses", "supersede": "supersedes"}[repair], one)
    statements = body(stage, "dag")
    assert nodes(statements) == (["cap_1", "cap_2"] if repair == "witness" else ["cap_2"])
    assert classes(statements) == ({"ready": [two], "done": [one]} if repair == "witness" else {"ready": [two]})


def test_vis21_vis22_vis23_vis24_vis25_every_edge_once_in_the_order_of_export(stage: Stage) -> None:
    capsules = several(stage, 11)
    stage.call(outcome.TOOL, description="seen", actor="kit")
    edge(stage, "out-1", "falsifies", capsules[0])
    for from_id, kind, to_id in (
        (capsules[2], "grounded_in", capsules[9]),
        (capsules[9], "blocks", capsules[2]),
        (capsules[2], "blocks", capsules[9]),
        (capsules[2], "blocks", capsules[0]),
        (capsules[1], "supersedes", capsules[0]),
    ):
        edge(stage, from_id, kind, to_id)
    drop(stage, capsules[0])
    statements = body(stage, "relations")
    assert nodes(statements) == ["cap_1", "cap_2", "cap_3", "cap_10", "out_1"]
    arrows = [line.strip() for line in statements if "-->" in line]
    assert arrows == [
        "cap_2 -->|supersedes| cap_1",
        "cap_3 -->|blocks| cap_1",
        "cap_3 -->|blocks| cap_10",
        "cap_10 -->|blocks| cap_3",
        "out_1 -->|falsifies| cap_1",
        "cap_3 -->|grounded_in| cap_10",
    ]
    listed = parse(stage.call(export.TOOL)["markdown"]).edges
    shown = [re.fullmatch(r"- (\S+) --(\w+)--> (\S+) · at .*", line) for line in listed]
    assert arrows == [f"{m[1]} -->|{m[2]}| {m[3]}".replace("-1", "_1").replace("cap-", "cap_") for m in shown if m]
    assert counts(stage, "relations") == "nodes=5 edges=6"


def test_vis26_vis27_vis28_vis29_capsules_by_tier(stage: Stage) -> None:
    capsules = several(stage, 10)
    long = capture(stage, "é" * 150)
    gone, old = capture(stage, "the secret"), capture(stage, "replaced\nsince")
    retier(stage, capsules[1], "quarantined")
    edge(stage, long, "supersedes", old)
    drop(stage, gone)
    statements = body(stage, "tiers")
    assert statements[0] == '    subgraph tier_active["active — 11"]'
    assert statements[10] == f'        cap_11["cap-11: {"é" * 140}…"]'
    assert statements[11:14] == [
        '        cap_13["cap-13: replaced…"]',
        "    end",
        '    subgraph tier_quarantined["quarantined — 1"]',
    ]
    assert statements[14].startswith('        cap_2["cap-2: number 1 of #123;#125;"]')
    assert counts(stage, "tiers") == "capsules=12 active=11 archived=0 quarantined=1"
    assert "secret" not in drawn(stage, "tiers")
    assert "cap-12" not in drawn(stage, "tiers")


def test_vis30_vis33_tiers_of_a_subtree(stage: Stage) -> None:
    for number, project in enumerate(("lab", "lab/x", "labs")):
        capture(stage, f"number {number}", project_id=project)
    assert nodes(body(stage, "tiers", project_prefix="lab")) == ["cap_1", "cap_2"]
    assert nodes(body(stage, "tiers", project_prefix="nowhere")) == ["empty"]


@pytest.mark.parametrize("view", ["dag", "relations", "sessions"])
@pytest.mark.parametrize("prefix", ["lab", "", "lab/"])
def test_vis31_the_other_views_take_no_prefix(stage: Stage, view: str, prefix: str) -> None:
    with pytest.raises(ProtocolFault, match="view=tiers only") as fault:
        drawn(stage, view, project_prefix=prefix)
    assert (fault.value.code, fault.value.data) == (-32602, None)


@pytest.mark.parametrize("prefix", ["", " ", "lab/"])
def test_vis32_a_prefix_that_can_match_nothing_is_refused(stage: Stage, prefix: str) -> None:
    with pytest.raises(ProtocolFault, match="project_prefix") as fault:
        drawn(stage, "tiers", project_prefix=prefix)
    assert (fault.value.code, fault.value.data) == (-32602, None)


def test_vis34_vis35_a_hostile_headline_is_no_syntax(stage: Stage) -> None:
    capture(stage, 'a"[b]{c}(d)<e>|f|`g`#h\ti\u2028j\x85k\rl%% m;end')
    (line,) = [line for line in body(stage, "tiers") if "cap_1[" in line]
    label = re.fullmatch(r'        cap_1\["cap-1: (.*)"\]', line)
    assert label
    assert label[1] == ("a#quot;#91;b#93;#123;c#125;#40;d#41;#lt;e#gt;#124;f#124;#96;g#96;#35;h i j k l%% m;end")


def sessions(stage: Stage) -> list[str]:
    """The labels of the sessions view."""
    found = [re.fullmatch(r'    session_(\d+)\["(.*)"\]', line) for line in body(stage, "sessions")]
    assert [int(match[1]) for match in found if match] == list(range(1, len(found) + 1))
    return [match[2] for match in found if match]


def test_vis38_the_worked_body_of_one_open_session(stage: Stage) -> None:
    begin(stage)
    assert drawn(stage, "sessions") == (
        "flowchart TD\n"
        "%% nMEMORY visual · view=sessions · sessions=1 open=1 closed=0 label_only=0 · body "
        "sha256:ac052d950580c2e201e9d6012427511f0488f335ea056b30540257f2dd76949d\n"
        '    session_1["sess-1 · 0 saves · 0 recalls · open"]\n'
    )


def test_vis44_sessions_stand_by_instants_however_many_digits_these_have(stage: Stage) -> None:
    opened = []
    for _ in range(3):  # at .0, .5 and .51 of a second
        opened.append(begin(stage))
        stage.later(microseconds=500_000 if len(opened) == 1 else 10_000)
    assert [label.split(" ")[0] for label in sessions(stage)] == opened


def test_vis39_vis40_vis41_what_a_session_saved_and_recalled(stage: Stage) -> None:
    one, other = begin(stage), begin(stage)
    kept, gone = capture(stage, "alpha", session_id=one), capture(stage, "alpha beta", session_id=one)
    assert sessions(stage)[0] == "sess-1 · 2 saves · 0 recalls · open"
    drop(stage, gone)
    ask(stage, "alpha", session_id=one)
    ask(stage, "alpha", session_id=one, limit=0)
    ask(stage, "unheard", session_id=one)
    ask(stage, "alpha", session_id=other)  # it abstains: the capsules are of another session
    assert kept == "cap-1"
    end(stage, one)
    assert sessions(stage) == [
        "sess-1 · 2 saves · 2 recalls · closed",
        "sess-2 · 0 saves · 0 recalls · open",
    ]


def test_vis42_vis43_vis44_merged_labels_join_brackets_or_stand_alone(stage: Stage, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    other = Stage.at(folder)
    labels = [begin(other) for _ in range(10)]
    for number in (0, 8, 9):
        capture(other, f"from the other store {number}", session_id=labels[number])
    other.store.database.close()
    begin(stage)
    end(stage, begin(stage))
    stage.call(merge.TOOL, **{"from": str(folder / "memory.sqlite3")})
    assert sessions(stage) == [
        "sess-1 · 1 saves · 0 recalls · open",
        "sess-2 · 0 saves · 0 recalls · closed",
        "sess-10 · 1 saves · 0 recalls · label only",
        "sess-9 · 1 saves · 0 recalls · label only",
    ]
    assert counts(stage, "sessions") == "sessions=4 open=1 closed=1 label_only=2"


def test_vis45_vis46_labels_that_only_a_merge_can_bring_stay_apart_and_on_their_lines(stage: Stage) -> None:
    labels = ["a\nb", "a\\nb", "a b", "a\x1bb", 'a"]b', "a\u2028b"]
    for number, label in enumerate(labels):
        stage.put(f"number {number}", session_id=label)
    shown = sessions(stage)
    assert len(set(shown)) == len(labels)
    assert "a\\u#123;A#125;b · 1 saves · 0 recalls · label only" in shown
    assert not [
        character for character in drawn(stage, "sessions") if character != "\n" and not character.isprintable()
    ]


@pytest.mark.parametrize("sent", [{}, {"view": "map"}, {"view": "DAG"}, {"view": None}, {"view": "dag", "x": 1}])
def test_vis02_vis48_arguments_of_another_shape_are_refused_in_band(stage: Stage, sent: dict[str, Any]) -> None:
    with pytest.raises(ShapeFault):
        stage.call(visual.TOOL, **sent)
