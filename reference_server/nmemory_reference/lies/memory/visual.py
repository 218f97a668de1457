"""Lies about visual: what holds for all diagrams, as their counts, their hash and their labels."""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    asking,
    body_of,
    is_error,
    text_argument,
    with_body,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.documents import Reopened, lines, parts, rebuilt, replaced
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("visual")

TOOL = "memory_visual"
AT = "mermaid"
Draw = Callable[[str], str]


def node(named: str) -> str:
    """A capsule's id as a node's."""
    return named.replace("-", "_")


def draw(call: ToolCall, body: Body, view: str, change: Draw) -> None:
    """Change one of the diagrams, and its hash with it."""
    if call.arguments.get("view") == view:
        body[AT] = rebuilt(body[AT], change)


def redrawn(pattern: str, new: str) -> Draw:
    """Puts another text in wherever a pattern is met."""
    return lambda body: re.sub(pattern, new, body)


def names(nodes: list[str]) -> Callable[[str], bool]:
    """Whether a line names one of some nodes."""
    return lambda line: not set(nodes).isdisjoint(re.findall(r"\w+", line))


def arrows_reversed(given: list[str]) -> list[str]:
    """The lines of a diagram with its arrows in reverse."""
    places = [place for place, line in enumerate(given) if "-->" in line]
    arrows = [given[place] for place in places]
    for place, arrow in zip(places, reversed(arrows), strict=True):
        given[place] = arrow
    return given


class Draws(History, ABC):
    """Draws by what has happened."""

    view = "dag"

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            draw(call, body, self.view, self.drawn)

    @abstractmethod
    def drawn(self, text: str) -> str:
        """The statements to draw instead."""


@area.success(TOOL, clause="nm1/visual/shape")
def a_diagram_is_its_lines(call: ToolCall, body: Body) -> None:
    """The diagram of sessions comes as a list of lines."""
    if call.arguments.get("view") == "sessions":
        body[AT] = body[AT].split("\n")


@area.success(TOOL, clause="nm1/visual/armour")
def tiers_are_not_wrapped(call: ToolCall, body: Body) -> None:
    """The diagram of tiers has no label."""
    if call.arguments.get("view") == "tiers":
        body.pop("label")


def _is_drawn_as(view: str, old: str, new: str) -> None:
    """Add the lie that a view is another sort of diagram."""

    def lie(call: ToolCall, body: Body) -> None:
        if call.arguments.get("view") == view:
            body[AT] = body[AT].replace(old, new, 1)

    lie.__name__ = f"{view}_is_another_graph"
    lie.__doc__ = f"The view {view} begins with {new}."
    area.success(TOOL, clause="nm1/visual/headers", also={"nm1/visual/syntax"})(lie)


_is_drawn_as("dag", "graph TD", "graph LR")
_is_drawn_as("relations", "graph LR", "graph TD")
_is_drawn_as("sessions", "flowchart TD", "flowchart LR")


@area.asking(TOOL, clause="nm1/visual/closed-views")
def views_may_be_capitals(call: ToolCall) -> ToolCall:
    """A view is read without case."""
    view = text_argument(call, "view")
    return call if view is None else asking(call, view=view.lower())


@area.asking(TOOL, clause="nm1/visual/closed-views")
def tiers_are_the_default(call: ToolCall) -> ToolCall:
    """Without a view it is tiers."""
    return call if "view" in call.arguments else asking(call, view="tiers")


@area.liar(TOOL, clause="nm1/visual/reproducible")
class EveryOtherDiagramIsReversed(Interceptor):
    """The arrows of every second diagram of relations stand in reverse."""

    def __init__(self) -> None:
        self._drawn = 0

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != TOOL or is_error(result) or call.arguments.get("view") != "relations":
            return result
        body = body_of(result)
        self._drawn += 1
        if self._drawn % 2 == 0:
            draw(call, body, "relations", lines(arrows_reversed))
        return with_body(result, body)


@area.liar(TOOL, clause="nm1/visual/reproducible")
class NodesAreShuffledByAStart(Reopened):
    """Once the server was started again the nodes of tiers stand in another order."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            draw(call, body, "tiers", lines(_nodes_reversed))


def _nodes_reversed(given: list[str]) -> list[str]:
    places = [place for place, line in enumerate(given) if line.startswith("        ")]
    nodes = [given[place] for place in places]
    for place, drawn in zip(places, reversed(nodes), strict=True):
        given[place] = drawn
    return given


@area.success(TOOL, clause="nm1/visual/no-time")
def a_diagram_has_a_date(call: ToolCall, body: Body) -> None:
    """A diagram ends with a comment that names a day."""
    for view in ("dag", "relations", "tiers", "sessions"):
        draw(call, body, view, lambda text: f"{text.rstrip()}\n    %% as of 2026-11-30\n")


@area.success(TOOL, clause="nm1/visual/digest")
def indents_are_not_hashed(call: ToolCall, body: Body) -> None:
    """The hash does not cover what the statements are indented by."""
    head, text = parts(body[AT])
    digest = hashlib.sha256(re.sub(r"(?m)^ +", "", text).encode()).hexdigest()
    body[AT] = re.sub(r"sha256:[0-9a-f]{64}", f"sha256:{digest}", head) + text


@area.success(TOOL, clause="nm1/visual/digest")
def nothing_is_counted(call: ToolCall, body: Body) -> None:
    """The counts of a diagram are noughts."""
    head, text = parts(body[AT])
    counts, _, digest = head.partition("sha256:")
    body[AT] = f"{re.sub(r'=[0-9]+', '=0', counts)}sha256:{digest}{text}"


@area.success(TOOL, clause="nm1/visual/syntax")
def brackets_end_a_label(call: ToolCall, body: Body) -> None:
    """Quotation marks in a headline end its label."""
    draw(call, body, "tiers", replaced("#quot;", '"'))


def _is_drawn_raw(name: str, character: str, code: str) -> None:
    """Add the lie that a character of a headline is not encoded."""

    def lie(call: ToolCall, body: Body) -> None:
        draw(call, body, "tiers", replaced(code, character))

    lie.__name__ = f"{name}_are_drawn_raw"
    lie.__doc__ = f"In a headline {character} stands as it is."
    area.success(TOOL, clause="nm1/visual/syntax")(lie)


for _name, _character, _code in (
    ("brackets", "[", "#91;"),
    ("braces", "{", "#123;"),
    ("parentheses", "(", "#40;"),
    ("angles", "<", "#lt;"),
    ("pipes", "|", "#124;"),
    ("backticks", "`", "#96;"),
):
    _is_drawn_raw(_name, _character, _code)


@area.success(TOOL, clause="nm1/visual/labels")
def hashes_are_left_out(call: ToolCall, body: Body) -> None:
    """A hash in a headline is not drawn."""
    draw(call, body, "tiers", replaced("#35;", ""))


@area.success(TOOL, clause="nm1/visual/labels")
def angles_are_left_out(call: ToolCall, body: Body) -> None:
    """Brackets in a headline are not drawn."""
    draw(call, body, "tiers", redrawn("#(91|93|123|125);", ""))
