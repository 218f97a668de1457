"""Lies about visual: the diagram of what blocks what."""

from __future__ import annotations

import re

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    ask,
    body_of,
    is_error,
    with_body,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.documents import lines, without_lines
from nmemory_reference.lies.memory.visual import Draws, draw, names, node, redrawn
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("visual")

TOOL = "memory_visual"
DIGEST = "memory_digest"
AT = "mermaid"


def _with_nodes(text: str, names: list[str]) -> str:
    """Draw some nodes more."""
    return "".join(f'    {name}["{name.replace("_", "-")}"]\n' for name in dict.fromkeys(names)) + text


def _styled(text: str, names: list[str], style: str) -> str:
    """Style some nodes, and no longer otherwise."""
    for name in names:
        text = re.sub(rf"(?m)^    class {name} \w+;\n", "", text)
        text = re.sub(rf"(?m)^(    class .*?),{name}\b", r"\1", text)
        text = re.sub(rf"(?m)^(    class ){name},", r"\1", text)
    return text + f"    class {','.join(names)} {style};\n" if names else text


@area.liar(TOOL, clause="nm1/visual/dag-participants")
class TheLatestTakesPart(Draws):
    """What was captured last is drawn, too."""

    def drawn(self, text: str) -> str:
        last = [named for named in list(self.captured)[-1:] if f"    {node(named)}[" not in text]
        return "".join(f'    {node(named)}["{named}"]\n' for named in last) + text


@area.success(TOOL, clause="nm1/visual/dag-participants")
def one_arrow_is_missing(call: ToolCall, body: Body) -> None:
    """Of several arrows the last is not drawn."""

    def fewer(given: list[str]) -> list[str]:
        places = [place for place, line in enumerate(given) if "-->" in line]
        return [line for place, line in enumerate(given) if len(places) < 4 or place != places[-1]]

    draw(call, body, "dag", lines(fewer))


@area.liar(TOOL, clause="nm1/visual/dag-dead")
class TheSupersededIsDrawn(Draws):
    """A superseded participant stays in the dag."""

    def drawn(self, text: str) -> str:
        blocks = {end for kind, *ends in self.edges if kind == "blocks" for end in ends}
        more = [node(named) for named in self.ends("supersedes") if named in blocks]
        return _with_nodes(text, more)


@area.liar(TOOL, clause="nm1/visual/dag-dead")
class ArrowsOfTheForgottenStay(Draws):
    """The arrows of a forgotten participant stay in the dag."""

    def drawn(self, text: str) -> str:
        gone = [(begin, end) for kind, begin, end in self.edges if kind == "blocks" and end in self.forgotten]
        return "".join(f"    {node(begin)} --> {node(end)}\n" for begin, end in gone) + text


@area.liar(TOOL, clause="nm1/visual/dag-dead")
class TheDoneDoesNotDie(Draws):
    """A witnessed participant stays in the dag when it is superseded."""

    def drawn(self, text: str) -> str:
        more = [node(named) for named in self.ends("supersedes") if named in self.ends("witnesses")]
        return _with_nodes(text, more)


@area.success(TOOL, clause="nm1/visual/dag-styles", also={"nm1/visual/dag-agrees"})
def blocked_is_styled_as_ready(call: ToolCall, body: Body) -> None:
    """Blocked nodes are styled as ready."""
    draw(call, body, "dag", redrawn(r"(?m)^(    class .*) blocked;$", r"\1 ready;"))


@area.liar(TOOL, clause="nm1/visual/dag-done")
class TheDoneIsNotDrawn(Draws):
    """A witnessed participant is not drawn."""

    def drawn(self, text: str) -> str:
        for named in self.ends("witnesses"):
            text = without_lines(names([node(named)]))(text)
        return text


@area.success(TOOL, clause="nm1/visual/dag-done", also={"nm1/visual/dag-styles", "nm1/visual/dag-agrees"})
def done_is_styled_as_ready(call: ToolCall, body: Body) -> None:
    """Done nodes are styled as ready."""
    draw(call, body, "dag", redrawn(r"(?m)^(    class .*) done;$", r"\1 ready;"))


@area.liar(TOOL, DIGEST, clause="nm1/visual/dag-agrees")
class TheDigestIsBehind(Interceptor):
    """The digest's dag is the one that was told first."""

    def __init__(self) -> None:
        self._dag: Body | None = None

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == "memory_forget":
            self._dag = self._dag or (await ask(honest, call, DIGEST))["dag"]
        result = await honest(call)
        if call.name != DIGEST or is_error(result) or self._dag is None:
            return result
        return with_body(result, {**body_of(result), "dag": self._dag})


@area.liar(TOOL, clause="nm1/visual/dag-agrees", also={"nm1/visual/dag-styles"})
class OneReadyIsBlocked(Draws):
    """A ready node that was unblocked by a witness is styled as blocked."""

    def drawn(self, text: str) -> str:
        done = set(self.ends("witnesses"))
        freed = [node(end) for kind, begin, end in self.edges if kind == "blocks" and begin in done]
        ready = [name for name in freed if re.search(rf"(?m)^    class .*\b{name}\b.* ready;$", text)]
        return _styled(text, ready[:1], "blocked")


@area.success(TOOL, clause="nm1/visual/dag-cycle")
def a_cycle_has_no_banner(call: ToolCall, body: Body) -> None:
    """A cycle is drawn without a banner."""
    draw(call, body, "dag", without_lines(lambda line: "banner" in line))


@area.liar(TOOL, clause="nm1/visual/dag-cycle")
class WhatWaitsForACycleIsDrawn(Draws):
    """What waits for a member of a cycle is drawn beside it."""

    def drawn(self, text: str) -> str:
        if "cycle_banner" not in text:
            return text
        more = [node(end) for kind, _, end in self.edges if kind == "blocks" and f"    {node(end)}[" not in text]
        return _with_nodes(text, more)


@area.liar(TOOL, clause="nm1/visual/dag-cycle")
class EveryCycleIsDrawn(Draws):
    """Of several cycles all are drawn."""

    def drawn(self, text: str) -> str:
        if "cycle_banner" not in text:
            return text
        blocks = {(begin, end) for kind, begin, end in self.edges if kind == "blocks"}
        rings = [node(begin) for begin, end in sorted(blocks) if (end, begin) in blocks]
        more = [name for name in rings if f"    {name}[" not in text]
        return _with_nodes(text, more)


@area.liar(TOOL, clause="nm1/visual/dag-cycle-anywhere")
class CyclesStayAtHome(Draws):
    """Of a cycle the members of its first project are drawn."""

    def drawn(self, text: str) -> str:
        if "cycle_banner" not in text:
            return text
        members = [named for named in self.captured if f"    {node(named)}[" in text]
        home = self.captured[members[0]].get("project_id")
        away = [node(named) for named in members if self.captured[named].get("project_id") != home]
        return without_lines(names(away))(text)


@area.liar(TOOL, clause="nm1/visual/dag-cycle-repair")
class TheBannerStays(Draws):
    """Once there was a cycle its banner is drawn ever after."""

    def __init__(self) -> None:
        super().__init__()
        self._banner = ""

    def drawn(self, text: str) -> str:
        found = re.search(r"(?m)^    cycle_banner\[.*\]\n", text)
        self._banner = found[0] if found else self._banner
        return text if found else self._banner + text


@area.liar(TOOL, clause="nm1/visual/dag-cycle-repair")
class ACycleStaysDrawn(Interceptor):
    """A cycle that was drawn once is drawn ever after."""

    def __init__(self) -> None:
        self._drawn: str | None = None

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != TOOL or is_error(result) or call.arguments.get("view") != "dag":
            return result
        body = body_of(result)
        if "cycle_banner" in body[AT]:
            self._drawn = body[AT]
        return with_body(result, {**body, AT: self._drawn or body[AT]})
