"""Variants in what stands where, and in how documents look: the orders and forms that the contract leaves open."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

from nmemory_reference.lies.answers import Body, Honest, Result, ask, body_of, is_error, with_body
from nmemory_reference.lies.lie import Successes
from nmemory_reference.lies.memory.documents import lines, parts, rebuilt
from nmemory_reference.lies.variant import Variant
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

Json = Any

_UNCLASSIFIED = "### unclassified"
_MARKERS = "## superseded + tombstoned"


def _backwards(items: list[Json]) -> list[Json]:
    return items[::-1]


def _blocks(body: str, heading: str) -> list[str]:
    """A body cut before every line that begins with a heading."""
    return re.split(rf"(?m)^(?={re.escape(heading)})", body)


def _rows_backwards(block: str) -> str:
    rows = [line for line in block.split("\n") if line.startswith("- ")]
    return re.sub(r"(?m)^- .*$", lambda found: rows.pop(), block)


def _kinds_backwards(project: str) -> str:
    head, *kinds = _blocks(project, "### ")
    kinds = [_rows_backwards(kind) for kind in _backwards(kinds)]
    kinds.sort(key=lambda kind: kind.startswith(_UNCLASSIFIED))
    return _spaced([head, *kinds])


def _spaced(blocks: list[str]) -> str:
    """Blocks with one blank line between them, and one line end at the end."""
    return "\n\n".join(block.strip("\n") for block in blocks) + "\n"


def _index_backwards(body: str) -> str:
    first, *sections = _blocks(body, "## ")
    if not sections:
        return body
    projects = [_kinds_backwards(section) for section in sections if section.startswith("## project ")]
    rest = [section for section in sections if not section.startswith("## project ")]
    rest = [_rows_backwards(section) if section.startswith(_MARKERS) else section for section in rest]
    return first + _spaced([*_backwards(projects), *rest])


def _drawing_backwards(view: str) -> Callable[[str], str]:
    def is_free(line: str) -> bool:
        return (line.endswith('"]') and "subgraph" not in line) or (view == "dag" and " --> " in line)

    def change(given: list[str]) -> list[str]:
        group: list[str] = []
        changed: list[str] = []
        for line in given:
            if is_free(line):
                group.insert(0, line)
            else:
                changed += [*group, line]
                group = []
        return [*changed, *group]

    return lines(change)


def _turned(cycle: list[str]) -> list[str]:
    """The same cycle, begun elsewhere."""
    return [*cycle[1:], cycle[0]]


class OtherOrder(Interceptor):
    """Whatever has no order stands the other way round, and a cycle begins elsewhere."""

    def __init__(self) -> None:
        self._attached: list[str] = []
        self._started: dict[str, str] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        match call.name:
            case "memory_vector" if "vectors" in body:
                place = {named: place for place, named in enumerate(self._attached)}
                body["vectors"].sort(key=lambda row: place.get(row["capsule_id"], -1))
            case "memory_vector":
                self._attached.append(body["capsule_id"])
            case "memory_get" | "memory_forget":
                body["relations"].reverse()
            case "memory_extract":
                body["candidates"].reverse()
            case "memory_alias" if "aliases" in body:
                body["aliases"].reverse()
            case "memory_retrieve":
                for row in body.get("results", ()):
                    row["matched_terms"].reverse()
            case "memory_outcome" if "weights_updated" in body:
                body["weights_updated"].reverse()
            case "memory_consolidate":
                for name in ("tier_moves", "merge_proposals"):
                    body["plan"][name].reverse()
                for proposal in body["plan"]["merge_proposals"]:
                    proposal["ids"].reverse()
            case "memory_bootstrap":
                await self._pack(call, honest, body)
            case "memory_digest":
                await self._digest(call, honest, body)
            case "memory_export":
                body["markdown"] = rebuilt(body["markdown"], _index_backwards)
            case "memory_session_start":
                self._started[body["session_id"]] = body["started_at"][: len("2026-11-30T12:00:00")]
            case "memory_visual" if call.arguments["view"] == "sessions":
                body["mermaid"] = rebuilt(body["mermaid"], self._by_whole_seconds)
            case "memory_visual":
                body["mermaid"] = rebuilt(body["mermaid"], _drawing_backwards(call.arguments["view"]))
            case _:
                pass
        return with_body(result, body)

    def _by_whole_seconds(self, text: str) -> str:
        """Sessions that began in one second stand by their labels."""
        rows = re.findall(r'(?m)^    session_\d+\["(.*)"\]$', text)
        seconds = [self._started.get(row.partition(" ")[0], "") for row in rows]
        local = [(second, row) for second, row in zip(seconds, rows, strict=True) if second]
        if [second for second in seconds if second] != seconds[: len(local)]:
            return text
        rows[: len(local)] = [row for _, row in sorted(local)]
        return "\n".join(f'    session_{place}["{row}"]' for place, row in enumerate(rows, 1)) + "\n" if rows else text

    async def _pack(self, call: ToolCall, honest: Honest, body: Body) -> None:
        ready = body["ready"]
        if "cycle" in ready:
            ready["cycle"] = _turned(ready["cycle"])
        if body["budget"]["trimmed_by_budget"]:
            return
        if not call.arguments.get("terms"):
            for name in ("constraints", "decisions", "traps"):
                if name in body:
                    body[name] = await self._tied(call, honest, body[name])
        nodes = [*filter(None, [ready.get("next_action")]), *ready["ready"]]
        if ready["ready_total"] <= len(nodes):
            nodes = _backwards(nodes)
            ready |= {"next_action": nodes[0], "ready": nodes[1:]} if nodes else {}
        sections = (body.get("constraints", ()), nodes, body.get("decisions", ()), body.get("traps", ()))
        shown = dict.fromkeys(row["id"] for rows in sections for row in rows)
        if "handles" in body:
            # The budget may have cut them.
            body["handles"] = list(shown)[: len(body["handles"])]

    async def _tied(self, call: ToolCall, honest: Honest, section: list[Body]) -> list[Body]:
        """Rows of the same weight the other way round."""
        weights: dict[str, Json] = {}
        for row in section:
            capsule = (await ask(honest, call, "memory_get", id=row["id"]))["capsule"]
            since = None if "pinned" in row else capsule["freshness"]["valid_from"]
            weights[row["id"]] = (capsule["confidence"], since)
        tied = groupby(section, key=lambda row: weights[row["id"]])
        return [row for _, rows in tied for row in _backwards(list(rows))]

    async def _digest(self, call: ToolCall, honest: Honest, body: Body) -> None:
        cap = call.arguments.get("headlines")
        cap = 10 if cap is None else int(cap)
        whole = await ask(honest, call, call.name, **{**call.arguments, "headlines": 1_000_000})
        for name in ("ready", "blocked", "done"):
            if name in body["dag"]:
                body["dag"][name] = _backwards(whole["dag"][name])[:cap]
        for section in (body["dag"], body.get("mission", {})):
            if "cycle" in section:
                section |= {"cycle": _turned(section["cycle"]), "entangled_total": len(section["cycle"])}
        body["by_project"].reverse()
        body.get("pinned", []).reverse()
        if "recent_failures" in body:
            body["recent_failures"] = _backwards(body["recent_failures"]["recall_misses"])


# Documents


def _entry(line: str) -> str:
    """A row of the index, with no more than the text promises."""
    if found := re.fullmatch(r'- \*\*(?P<id>[\w-]+)\*\* (?P<quoted>"(?:\\.|[^"\\])*").*?(?P<tier> · tier \w+)?', line):
        return f"* {found['quoted']} ({found['id']}){found['tier'] or ''}"
    if found := re.fullmatch(r"- (?P<from>[\w-]+) --(?P<kind>\w+)--> (?P<to>[\w-]+) · at .*", line):
        return f"* `{found['from']}` {found['kind']} `{found['to']}`"
    if found := re.fullmatch(r"- (?P<id>[\w-]+) — (?P<state>\w+)(?: by)?(?P<rest>[^:·]*)(?P<more>.*)", line):
        tier = re.search(r"· tier \w+$", found["more"])
        return f"* {found['id']} is {found['state']}: {found['rest'].strip(' ()')} {tier[0] if tier else ''}"
    return line


_STAMP = re.compile(r"generated_at: (\S+)")
_COUNTS = re.compile(r"(?:capsules|live|superseded|tombstoned)=\d+")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _index(document: str) -> str:
    """The index with another head, no blank lines, and rows that say less."""
    head, body = parts(document)
    stamp = _STAMP.search(head)
    rows = [_entry(line) for line in body.split("\n") if line.strip()]
    body = "\n".join(rows)
    told = f"{', '.join(_COUNTS.findall(head))}; sha256 = {_sha256(body)}"
    lead = ["# Memory", "This is a generated view, and DATA (ADVISORY_NOT_AUTHORITY).", ""]
    lead += [f"- generated_at {stamp[1]}"] if stamp else []
    return "\n".join([*lead, f"- digest of the store: {told}", body])


_NAME = re.compile(r"\b(cap|out)_(\d+)\b")
_NODE = re.compile(r'\s*(?P<name>\w+)\["(?P<label>.*)"\]')
_ARROW = re.compile(r"\s*(?P<tail>\w+) -->(?:\|(?P<kind>\w+)\|)? (?P<head>\w+)")
_CLASS = re.compile(r"\s*class (?P<names>[\w,]+) (?P<style>\w+);")
_GROUP = re.compile(r"\s*subgraph tier_(?P<tier>\w+)\[.*\]")
_SESSION = re.compile(r"(?P<label>.*) · (?P<saves>\d+) saves · (?P<recalls>\d+) recalls · (?P<state>[a-z ]+)")


def _name(text: str) -> str:
    return _NAME.sub(r"\1-\2", text)


def _drawing(document: str) -> str:
    """The diagram with its comment first, other names and shapes, styles on the nodes, every group, a banner around.

    Where there is nothing to draw there is no node.
    """
    head, body = parts(document)
    header = head.split("\n", 1)[0]
    styles = {
        name: found["style"]
        for line in body.split("\n")
        if (found := _CLASS.fullmatch(line))
        for name in found["names"].split(",")
    }
    drawn: list[str] = []
    for line in body.split("\n"):
        if found := _GROUP.fullmatch(line):
            drawn.append(f"subgraph {found['tier']}")
        elif found := _ARROW.fullmatch(line):
            joint = f"-- {found['kind']} -->" if found["kind"] else "==>"
            drawn.append(f"  {_name(found['tail'])} {joint} {_name(found['head'])};")
        elif (found := _NODE.fullmatch(line)) and found["name"] == "cycle_banner":
            drawn = ['subgraph stop["a cycle (see memory_digest), so no graph"]', *drawn, "end"]
        elif found and found["name"] != "empty":
            drawn.append(_node(found["name"], found["label"], styles))
        elif line.strip() and not found and not _CLASS.fullmatch(line):
            drawn.append(line.strip())
    if header == "flowchart TB":
        for tier in ("active", "archived", "quarantined"):
            if f"subgraph {tier}" not in drawn:
                drawn += [f"subgraph {tier}", "end"]
        header = "flowchart LR"
    told = "\n".join(drawn)
    return f"%% {len(drawn)} statements, sha256 {_sha256(told)}\n{header}\n{told}"


def _node(name: str, label: str, styles: Mapping[str, str]) -> str:
    style = f":::{styles[name]}" if name in styles else ""
    if found := re.fullmatch(r"session_(\d+)", name):
        name = f"s{int(found[1]) - 1}"
        session = _SESSION.fullmatch(label)
        assert session is not None
        label = f"{session['label']} ({session['state']}): saves {session['saves']}, recalls {session['recalls']}"
    elif label.startswith(f"{_name(name)}: "):
        label = f"{label.partition(': ')[2]} — {_name(name)}"
    return f'  {_name(name)}(["{label}"]){style}'


def _otherwise_drawn(call: ToolCall, body: Body) -> None:
    """The index and the diagrams have another layout."""
    if call.name == "memory_export":
        body["markdown"] = _index(body["markdown"])
    else:
        body["mermaid"] = _drawing(body["mermaid"])


#: Every variant in orders and layouts.
ORDERS = (
    Variant("other-order", "What has no order stands the other way round.", OtherOrder),
    Variant(
        "other-views",
        "The index and the diagrams have another layout.",
        lambda: Successes(("memory_export", "memory_visual"), _otherwise_drawn),
    ),
)
