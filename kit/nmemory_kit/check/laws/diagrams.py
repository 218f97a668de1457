"""Laws about a Mermaid diagram: that it can be read and verified, what it draws, and how.

``at`` leads to the document. Ids are those of stored things; a node stands for one by its name (``cap_3``) or label.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..answer import Answer
from ..broken import Broken
from ..vocabulary import show
from . import law
from .index_document import RELATIONS, ids_in, read_index
from .mermaid import Arrow, Diagram, Node, nodes_of, read_diagram
from .places import fitting, text_at

#: The beginning of each view's header line.
_HEADERS: Mapping[str, tuple[str, ...]] = {
    "dag": ("graph TD",),
    "relations": ("graph LR",),
    "tiers": ("flowchart", "graph"),
    "sessions": ("flowchart TD",),
}
_ANY_HEADER = ("graph", "flowchart")
_DIGEST = re.compile(r"sha256\W{0,3}(?P<hex>[0-9a-f]{64})(?![0-9a-f])")
_COUNT = re.compile(r"(?<![\w.])\d+(?!\w|\.\d)")
_LABEL_ONLY = "label only"
#: What is drawn by nothing, or ends a line somewhere.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@law("diagram-digest")
@fitting
def diagram_digest(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """A comment at the head holds counts and the SHA-256 of the diagram's statements.

    The statements are what follows the head, with or without the document's last line end. With ``counts`` one of these
    numbers, or that of the statements, nodes or arrows, is among the counts: what is counted is free, how many there
    are is not.
    """
    document = text_at(answer.body, args["at"])
    diagram = read_diagram(document)
    found = next(filter(None, map(_DIGEST.search, diagram.comments)), None)
    if found is None:
        yield Broken(args["at"], "a leading %% comment with sha256 and 64 hexadecimal digits", show(document[:200]))
        return
    counts = [int(number) for comment in diagram.comments for number in _COUNT.findall(_DIGEST.sub("", comment))]
    if not counts:
        yield Broken(args["at"], "counts in the leading comment", show(found.string))
    statements = sum(bool(line.strip()) for line in diagram.statements.split("\n"))
    # A nought would be right by mere chance.
    right = [*args.get("counts", ()), statements, *filter(None, (len(diagram.nodes), len(diagram.arrows)))]
    if "counts" in args and not set(counts) & set(right):
        expected = f"one of {show(right)} among the counts in the leading comment"
        yield Broken(args["at"], expected, show(found.string))
    spans = {part for whole in (diagram.statements, f"{diagram.header}\n{diagram.statements}") for part in _ends(whole)}
    if found["hex"] not in {hashlib.sha256(span.encode(errors="surrogatepass")).hexdigest() for span in spans}:
        yield Broken(args["at"], "the SHA-256 of the statements", show(found["hex"]))


@law("diagram-syntax")
@fitting
def diagram_syntax(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """Each line is a statement, and no label holds a control; with ``view`` it begins as that view does."""
    diagram = read_diagram(text_at(answer.body, args["at"]))
    headers = _HEADERS[args["view"]] if "view" in args else _ANY_HEADER
    if not diagram.header.startswith(headers):
        yield Broken(args["at"], f"a header line {' or '.join(headers)}", show(diagram.header))
    for line in diagram.strange[:3]:
        yield Broken(args["at"], "only statements of a Mermaid flowchart", show(line))
    for label in diagram.written:
        if control := _CONTROL.search(label):
            yield Broken(args["at"], f"no {control[0]!r} in a label", show(label))


@law("diagram-nodes")
@fitting
def diagram_nodes(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """Each id of ``drawn`` has one node, and none of ``hidden`` has one.

    ``only`` names how many nodes there are besides. With ``banner`` there is one, or a subgraph. With ``beside``, an
    earlier diagram, its nodes are there too, by their labels, and neither among ``drawn`` nor counted by ``only``.
    """
    diagram = read_diagram(text_at(answer.body, args["at"]))
    earlier = [node.label for node in _earlier(args).nodes.values()]
    there = Counter(node.label for node in diagram.nodes.values())
    if gone := Counter(earlier) - there:
        yield Broken(args["at"], "the nodes of the earlier diagram", f"none for {show(sorted(gone))}")
    for each in args.get("drawn", ()):
        found = list(nodes_of(diagram, each))
        if len(found) != 1:
            yield Broken(args["at"], f"one node for {each}", f"{len(found)} of {_names(diagram)}")
    for each in args.get("hidden", ()):
        if any(nodes_of(diagram, each)):
            yield Broken(args["at"], f"no node for {each}", _names(diagram))
    others = len(diagram.nodes) - len(args.get("drawn", ())) - len(earlier)
    if "only" in args and others != args["only"]:
        yield Broken(args["at"], f"{args['only']} other nodes", _names(diagram))
    if args.get("banner") and others not in ((0, 1) if diagram.groups else (1,)):
        yield Broken(args["at"], "a banner and no other node", _names(diagram))


@law("diagram-arrows")
@fitting
def diagram_arrows(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """Each of ``drawn`` ([from, to] or [from, to, label]) is one arrow, none of ``hidden`` is.

    With ``ordered`` they stand in this order, with ``only`` there is no other. With ``beside``, an earlier diagram, its
    arrows are there too; they are not among ``drawn``.
    """
    diagram = read_diagram(text_at(answer.body, args["at"]))
    before = _earlier(args)
    if gone := Counter(_joined(before)) - Counter(_joined(diagram)):
        yield Broken(args["at"], "the arrows of the earlier diagram", f"not {show(sorted(gone))}")
    places: list[int] = []
    for wanted in args.get("drawn", ()):
        found = _arrows(diagram, wanted)
        if len(found) != 1:
            yield Broken(args["at"], f"one arrow {_told(wanted)}", str(len(found)))
        places += found[:1]
    for unwanted in args.get("hidden", ()):
        if _arrows(diagram, unwanted):
            yield Broken(args["at"], f"no arrow {_told(unwanted)}", "one")
    if args.get("ordered") and places != sorted(places):
        yield Broken(args["at"], f"the arrows in the order {show(args['drawn'])}", f"at {show(places)}")
    expected = len(args.get("drawn", ())) + len(before.arrows)
    if args.get("only") and len(diagram.arrows) != expected:
        yield Broken(args["at"], f"{expected} arrows", str(len(diagram.arrows)))


@law("diagram-arrows-as-indexed")
@fitting
def diagram_arrows_as_indexed(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The arrows are the rows of relations in the saved Markdown index ``index``, in its order, with their kinds."""
    diagram = read_diagram(text_at(answer.body, args["at"]))
    rows = read_index(text_at(args["index"], "")).rows_of(RELATIONS)
    if len(diagram.arrows) != len(rows):
        yield Broken(args["at"], f"{len(rows)} arrows, one a row of the index", str(len(diagram.arrows)))
    for arrow, row in zip(diagram.arrows, rows, strict=False):
        ends = ids_in(row)[:2]
        fits = [
            any(node.name == name for node in nodes_of(diagram, end))
            for end, name in zip(ends, (arrow.tail, arrow.head), strict=False)
        ]
        if fits != [True, True] or not re.search(rf"(?<!\w){re.escape(arrow.label)}(?!\w)", row):
            yield Broken(args["at"], f"the arrow of the row {row!r}", f"{arrow.tail} {arrow.label} {arrow.head}")
            return


@law("diagram-styles")
@fitting
def diagram_styles(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The ids of each group in ``alike`` are styled alike, and otherwise than those of the other groups."""
    diagram = read_diagram(text_at(answer.body, args["at"]))
    seen: dict[frozenset[str], int] = {}
    for number, group in enumerate(args["alike"]):
        for each in group:
            style = frozenset(kind for node in nodes_of(diagram, each) for kind in diagram.styles.get(node.name, ()))
            if not style:
                yield Broken(args["at"], f"a style for {each}", "none")
            elif seen.setdefault(style, number) != number:
                yield Broken(
                    args["at"], f"{each} styled otherwise than {args['alike'][seen[style]]}", show(sorted(style))
                )
        if len(group) > 1 and sum(number == other for other in seen.values()) > 1:
            yield Broken(args["at"], f"{show(group)} styled alike", "several styles")


@law("diagram-groups")
@fitting
def diagram_groups(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """Each id of ``members`` ({name: [ids]}) stands in the one group whose text has the name, and in no other."""
    diagram = read_diagram(text_at(answer.body, args["at"]))
    for name, ids in args["members"].items():
        for each in ids:
            nodes = [node.name for node in nodes_of(diagram, each)]
            found = [text for text, members in diagram.groups.items() if any(node in members for node in nodes)]
            if len(found) != 1 or not re.search(rf"(?i)(?<![a-z]){re.escape(name)}(?![a-z])", found[0]):
                yield Broken(args["at"], f"{each} in the group {name}", f"in {show(found)}")


@law("diagram-label")
@fitting
def diagram_label(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The label of the node of ``id``, as it is drawn, meets each pattern of ``matches`` (regular expressions)."""
    diagram = read_diagram(text_at(answer.body, args["at"]))
    nodes = list(nodes_of(diagram, args["id"]))
    if len(nodes) != 1:
        yield Broken(args["at"], f"one node for {args['id']}", str(len(nodes)))
        return
    for pattern in args["matches"]:
        if not re.search(pattern, nodes[0].label):
            yield Broken(args["at"], f"a label that matches {pattern!r}", show(nodes[0].label))


@law("diagram-sessions")
@fitting
def diagram_sessions(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """Each of ``rows`` ({label, saves?, recalls?, state}) is one node that says so; they stand in this order.

    A state is open, closed or label only; labels only stand behind the others, in the order of their bytes. Nodes are
    named by ordinals, never by labels.
    """
    diagram = read_diagram(text_at(answer.body, args["at"]))
    order = list(diagram.nodes)
    local = [row for row in args["rows"] if row["state"] != _LABEL_ONLY]
    others = [row for row in args["rows"] if row["state"] == _LABEL_ONLY]
    rows = [*local, *sorted(others, key=lambda row: row["label"].encode(errors="surrogatepass"))]
    places: list[int] = []
    for row in rows:
        found = [node for node in diagram.nodes.values() if _is_labelled(node, row["label"])]
        if len(found) != 1:
            yield Broken(args["at"], f"one node for the session {row['label']}", str(len(found)))
            continue
        places.append(order.index(found[0].name))
        for what in ("saves", "recalls"):
            if what in row and _counted(found[0].label, what) != row[what]:
                yield Broken(args["at"], f"{row[what]} {what} of {row['label']}", show(found[0].label))
        if not re.search(rf"(?<![a-z]){row['state'].replace(' ', '[ _-]')}(?![a-z])", found[0].label):
            yield Broken(args["at"], f"{row['label']} is {row['state']}", show(found[0].label))
    ordinals = [int("".join(re.findall(r"\d+", name)[:1]) or -1) for name in order]
    if ordinals not in ([*range(1, len(order) + 1)], [*range(len(order))]):
        yield Broken(args["at"], "nodes named by ordinals, in order", show(order))
    if places != sorted(places):
        yield Broken(args["at"], f"the sessions in the order {show([row['label'] for row in rows])}", show(places))


def _earlier(args: Mapping[str, Any]) -> Diagram:
    """The diagram that the others of a store were drawn in before; an empty one where none is given."""
    return read_diagram(text_at(args["beside"], "")) if "beside" in args else Diagram()


def _joined(diagram: Diagram) -> list[tuple[str, str, str]]:
    """The labels of what each arrow joins, and its own."""
    return [(diagram.nodes[arrow.tail].label, diagram.nodes[arrow.head].label, arrow.label) for arrow in diagram.arrows]


def _ends(text: str) -> tuple[str, str]:
    return text, text.removesuffix("\n")


def _names(diagram: Diagram) -> str:
    return show(sorted(diagram.nodes))


def _arrows(diagram: Diagram, wanted: Sequence[str]) -> list[int]:
    """The places of the arrows between two ids, with a label if one is given."""
    tails = {node.name for node in nodes_of(diagram, wanted[0])}
    heads = {node.name for node in nodes_of(diagram, wanted[1])}

    def fits(arrow: Arrow) -> bool:
        return arrow.tail in tails and arrow.head in heads and (len(wanted) < 3 or arrow.label == wanted[2])

    return [place for place, arrow in enumerate(diagram.arrows) if fits(arrow)]


def _told(wanted: Sequence[str]) -> str:
    return f"from {wanted[0]} to {wanted[1]}" + (f" with the label {wanted[2]}" if len(wanted) > 2 else "")


def _is_labelled(node: Node, label: str) -> bool:
    return bool(re.search(rf"(?<![\w-]){re.escape(label)}(?![\w-])", node.label))


def _counted(text: str, what: str) -> int | None:
    found = re.search(rf"(\d+)\s*{what[:-1]}|{what}\s*[:=]?\s*(\d+)", text)
    return int(found[1] or found[2]) if found else None
