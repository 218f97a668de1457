"""Reading a Mermaid flowchart: as much of its syntax as a view of a graph needs, in any style that Mermaid draws."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

_HEADER = re.compile(r"(?:graph|flowchart)(?:\s+(?:TB|TD|BT|LR|RL))?\s*;?")
_IDENTIFIER = r"\w+(?:-\w+)*"
#: ``a``, ``a["text"]``, ``a(text)``, ``a{{"text"}}``, each perhaps with ``:::class``.
_NODE = re.compile(
    rf"(?P<name>{_IDENTIFIER})"
    r'(?:\s*[\[({>/\\]{1,3}\s*(?:"(?P<quoted>[^"]*)"|(?P<bare>[^"\[\](){}<>|]+))\s*[\])}/\\]{1,3})?'
    r"(?::::(?P<style>[\w-]+))?"
)
#: ``-->``, ``-->|text|``, ``-- text -->``, and the thick and dotted ones likewise.
_ARROW = re.compile(
    r"\s*[<xo]?(?:--\s+(?P<middle>[^-|]+?)\s+-{2,}[>xo]?|-{2,}[>xo]?|={2,}[>xo]?|-\.+->?|-\.\s+(?P<dotted>[^.|]+?)\s+\.->?)"
    r"\s*(?:\|(?P<piped>[^|]*)\|)?\s*"
)
_SUBGRAPH = re.compile(rf"subgraph\s+(?:(?P<name>{_IDENTIFIER})\s*\[(?P<title>.*)\]|(?P<alone>.+))")
_CLASS = re.compile(rf"class\s+(?P<names>{_IDENTIFIER}(?:\s*,\s*{_IDENTIFIER})*)\s+(?P<style>[\w-]+)")
_STYLE = re.compile(rf"style\s+(?P<name>{_IDENTIFIER})\s+(?P<style>\S.*)")
_PLAIN = re.compile(r"(?:classDef|linkStyle)\s+\S+\s+\S.*|direction\s+(?:TB|TD|BT|LR|RL)")
_ENTITY = re.compile(r"[#&](#?\w+);")


@dataclass(frozen=True, slots=True)
class Node:
    """A node: the name that statements use, and the text that is drawn (entities resolved)."""

    name: str
    label: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from one node's name to another's; ``label`` is empty where it has none."""

    tail: str
    head: str
    label: str


@dataclass(slots=True)
class Diagram:
    """What a document draws."""

    header: str = ""
    comments: list[str] = field(default_factory=list)
    #: What follows the header line and the comments at the head.
    statements: str = ""
    nodes: dict[str, Node] = field(default_factory=dict)
    arrows: list[Arrow] = field(default_factory=list)
    #: Names of nodes by the text of the subgraph that they stand in.
    groups: dict[str, list[str]] = field(default_factory=dict)
    #: What a node is styled by: its classes and style statements.
    styles: dict[str, set[str]] = field(default_factory=dict)
    #: Labels as they are written, entities and all.
    written: list[str] = field(default_factory=list)
    #: Lines that are no statement.
    strange: list[str] = field(default_factory=list)


@lru_cache(maxsize=2)
def read_diagram(document: str) -> Diagram:
    """Read a document whole; what is no Mermaid is kept in ``strange``. Lines end at LF only.

    The laws that judge one answer read the same document, or it and an earlier one, one after another.
    """
    diagram = Diagram()
    lines = document.split("\n")
    head = 0
    while head < len(lines) and (
        lines[head].startswith("%%") or (not diagram.header and _HEADER.fullmatch(lines[head]))
    ):
        if lines[head].startswith("%%"):
            diagram.comments.append(lines[head])
        else:
            diagram.header = lines[head]
        head += 1
    diagram.statements = "\n".join(lines[head:])
    groups: list[str] = []
    for line in lines[head:]:
        _read(diagram, line.strip(" ").removesuffix(";").rstrip(" "), groups)
    if groups:
        diagram.strange.append(f"subgraph {groups[-1]} without an end")
    return diagram


def drawn(text: str) -> str:
    """A label as it is drawn: Mermaid's entity codes (``#quot;``, ``#35;``) and HTML's resolved."""
    return _ENTITY.sub(lambda found: html.unescape(f"&{_numbered(found[1])};"), text)


def _numbered(name: str) -> str:
    return f"#{name}" if name.isdecimal() else name


def _read(diagram: Diagram, line: str, groups: list[str]) -> None:
    if not line or line.startswith("%%") or _PLAIN.fullmatch(line):
        return
    if line == "end":
        if groups:
            groups.pop()
        else:
            diagram.strange.append(line)
    elif found := _SUBGRAPH.fullmatch(line):
        title = drawn((found["title"] if found["name"] else found["alone"]).strip().strip('"'))
        groups.append(f"{found['name'] or ''} {title}".strip())
        diagram.groups.setdefault(groups[-1], [])
    elif found := _CLASS.fullmatch(line):
        for name in re.split(r"\s*,\s*", found["names"]):
            diagram.styles.setdefault(name, set()).add(found["style"])
    elif found := _STYLE.fullmatch(line):
        diagram.styles.setdefault(found["name"], set()).add(found["style"])
    else:
        _chain(diagram, line, groups)


def _chain(diagram: Diagram, line: str, groups: list[str]) -> None:
    """A node, or nodes joined by arrows."""
    position, tail, label = 0, "", ""
    arrows: list[Arrow] = []
    nodes: list[re.Match[str]] = []
    while found := _NODE.match(line, position):
        nodes.append(found)
        if tail:
            arrows.append(Arrow(tail, found["name"], label))
        position = found.end()
        if position == len(line):
            for node in nodes:
                _keep(diagram, node, groups)
            diagram.arrows += arrows
            return
        arrow = _ARROW.match(line, position)
        if not arrow or arrow.end() == position:
            break
        text = next(filter(None, (arrow["piped"], arrow["middle"], arrow["dotted"])), "")
        tail, label, position = found["name"], drawn(text.strip().strip('"')), arrow.end()
    diagram.strange.append(line)


def _keep(diagram: Diagram, found: re.Match[str], groups: list[str]) -> None:
    name = found["name"]
    written = found["quoted"] if found["quoted"] is not None else found["bare"]
    if written is not None:
        diagram.written.append(written)
        diagram.nodes[name] = Node(name, drawn(written))
    else:
        diagram.nodes.setdefault(name, Node(name, name))
    if found["style"]:
        diagram.styles.setdefault(name, set()).add(found["style"])
    if groups and name not in diagram.groups[groups[-1]]:
        diagram.groups[groups[-1]].append(name)


def nodes_of(diagram: Diagram, any_id: str) -> Iterator[Node]:
    """The nodes that stand for a stored id: named after it, or else with a label that begins with it."""
    family = any_id.partition("-")[0]
    for node in diagram.nodes.values():
        name = node.name.replace("_", "-")
        if not re.fullmatch(rf"{re.escape(family)}-\d+", name):
            found = re.match(r"\W*([a-z]+-\d+)(?![\w-])", node.label)
            name = found[1] if found else ""
        if name == any_id:
            yield node
