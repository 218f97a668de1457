"""An export can be made again, byte for byte, from what memory_get tells of each capsule: nothing else is in it."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from typing import Any

import pytest
from nmemory_reference.serve.config import Config
from nmemory_reference.serve.endpoint import Endpoint
from nmemory_reference.serve.interceptor import RpcFault, ToolCall
from nmemory_reference.tools.caller import Caller
from reference.capsules.recorded_session import play

RELATIONS = (
    *("supersedes", "derived_from", "witnesses", "blocks"),
    *("falsifies", "proposes", "part_of", "grounded_in"),
)
KINDS = (
    *("fact", "procedure", "decision", "task", "epic", "brainstorm", "doc", "constraint", "capability"),
    *("failure_pattern", "unclassified"),
)
Told = dict[str, Any]


def body(told: list[Told]) -> str:
    """The body of the document about these answers of memory_get, written from the grammar alone."""
    edges = {
        (RELATIONS.index(edge["kind"]), place(edge["from"]), place(edge["to"]), edge["at"]): edge
        for each in told
        for edge in each["relations"]
    }
    superseders: dict[str, set[str]] = defaultdict(set)
    for edge in edges.values():
        if edge["kind"] == "supersedes":
            superseders[edge["to"]].add(edge["from"])
    entries: dict[bytes, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    markers: list[str] = []
    for each in told:
        if each.get("outcome") == "tombstoned":
            markers.append(tombstone(each))
        elif by := superseders[each["id"]]:
            project = escaped(each["capsule"]["scope"]["project_id"])
            named = ", ".join(sorted(by, key=place))
            markers.append(f"- {each['id']} — superseded by {named} (project {project}){tier(each)}")
        else:
            key = escaped(each["capsule"]["scope"]["project_id"]).encode()
            kind = each.get("classification", {}).get("kind", "unclassified")
            entries[key][KINDS.index(kind)].append(entry(each))
    lines: list[str] = []
    for key in sorted(entries):
        lines += ["", f"## project {key.decode()}"]
        for kind in sorted(entries[key]):
            lines += ["", f"### {KINDS[kind]}", "", *entries[key][kind]]
    if edges:
        shown = (edges[key] for key in sorted(edges))
        lines += ["", "## relations", ""]
        lines += [f"- {edge['from']} --{edge['kind']}--> {edge['to']} · at {edge['at']}" for edge in shown]
    if markers:
        lines += ["", "## superseded + tombstoned", "", *markers]
    return "".join(f"{line}\n" for line in lines)


def entry(told: Told) -> str:
    capsule = told["capsule"]
    origin, freshness = capsule["provenance"], capsule["freshness"]
    return (
        f'- **{told["id"]}** "{escaped(headline(capsule["content"]))}" · conf {capsule["confidence"]:.2f}'
        f" · {capsule['authority_class']} · taint:{'yes' if capsule['instruction_taint'] else 'no'}"
        f" · {escaped(origin['source'])} @ {escaped(origin['anchor'])}"
        f" · {freshness['valid_from']} → {freshness['valid_to'] or 'open'}{tier(told)}"
    )


def tombstone(told: Told) -> str:
    reason = escaped(told["reason"])
    reason = reason if len(reason) <= 120 else reason[:120] + "…"
    kept = ""
    if origin := told.get("provenance"):
        kept = f" · was {escaped(origin['source'])} @ {escaped(origin['anchor'])}"
    return f'- {told["id"]} — tombstoned ({told["mode"]}) · reason: "{reason}" · {told["content_hmac"][:28]}…{kept}'


def headline(content: str) -> str:
    first, broken, rest = content.partition("\n")
    first = first[:-1] if broken and first.endswith("\r") else first
    return first[:140] + ("…" if len(first) > 140 or rest else "")


def escaped(text: str) -> str:
    return text.replace("\r", "\\r").replace("\n", "\\n").replace('"', '\\"')


def tier(told: Told) -> str:
    return "" if told["tier"] == "active" else f" · tier {told['tier']}"


def place(named: str) -> tuple[int, int, str]:
    """Capsules by number, all others after them by text."""
    prefix, _, number = named.partition("-")
    return (0, int(number), "") if prefix == "cap" else (1, 0, named)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Told]]:
    """The document at the end of the recorded session, and what memory_get tells of each capsule then."""
    folder = tmp_path_factory.mktemp("again")
    *_, (_, document) = play(folder / "store.sqlite3", folder / "files")
    endpoint = Endpoint.open(Config(db=folder / "store.sqlite3", surface="memory", usage_log=None))
    told: list[Told] = []
    with asyncio.Runner() as runner:
        while True:
            call = ToolCall("memory_get", {"id": f"cap-{len(told) + 1}"}, Caller())
            try:
                told.append(json.loads(runner.run(endpoint.call_tool(call))["content"][0]["text"]))
            except RpcFault:
                break
    endpoint.close()
    return document, told


def test_the_body_is_made_again_from_what_get_tells(recorded: tuple[str, list[Told]]) -> None:
    document, told = recorded
    head, _, shown = document.partition(" · body sha256:")
    assert shown[64:] == "\n" + body(told)
    assert f"capsules={len(told)} " in head


def test_the_recorded_store_has_every_sort_of_line(recorded: tuple[str, list[Told]]) -> None:
    _, told = recorded
    written = body(told)
    for sort in ("### unclassified", "### task", "tombstoned (purged)", "tombstoned (redacted)", "superseded by", "\\"):
        assert sort in written
    assert len({edge["kind"] for each in told for edge in each["relations"]}) >= 6
