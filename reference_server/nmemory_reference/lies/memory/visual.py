"""Lies about visual: the four diagrams, their counts and their hash."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    ask,
    asking,
    body_of,
    is_error,
    text_argument,
    with_body,
    without,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.documents import Reopened, lines, parts, rebuilt, replaced, without_lines
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("visual")

TOOL = "memory_visual"
DIGEST = "memory_digest"
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
            draw(call, body, "relations", lines(_arrows_reversed))
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


def _arrows_reversed(given: list[str]) -> list[str]:
    places = [place for place, line in enumerate(given) if "-->" in line]
    arrows = [given[place] for place in places]
    for place, arrow in zip(places, reversed(arrows), strict=True):
        given[place] = arrow
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


class _Draws(History):
    """Draws by what has happened."""

    view = "dag"

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            draw(call, body, self.view, self.drawn)

    def drawn(self, text: str) -> str:
        """The statements to draw instead."""
        raise NotImplementedError


def _styled(text: str, names: list[str], style: str) -> str:
    """Style some nodes, and no longer otherwise."""
    for name in names:
        text = re.sub(rf"(?m)^    class {name} \w+;\n", "", text)
        text = re.sub(rf"(?m)^(    class .*?),{name}\b", r"\1", text)
        text = re.sub(rf"(?m)^(    class ){name},", r"\1", text)
    return text + f"    class {','.join(names)} {style};\n" if names else text


@area.liar(TOOL, clause="nm1/visual/dag-participants")
class TheLatestTakesPart(_Draws):
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
class TheSupersededIsDrawn(_Draws):
    """A superseded participant stays in the dag."""

    def drawn(self, text: str) -> str:
        blocks = {end for kind, *ends in self.edges if kind == "blocks" for end in ends}
        more = [node(named) for named in self.ends("supersedes") if named in blocks]
        return "".join(f'    {name}["{name.replace("_", "-")}"]\n' for name in dict.fromkeys(more)) + text


@area.liar(TOOL, clause="nm1/visual/dag-dead")
class ArrowsOfTheForgottenStay(_Draws):
    """The arrows of a forgotten participant stay in the dag."""

    def drawn(self, text: str) -> str:
        gone = [(begin, end) for kind, begin, end in self.edges if kind == "blocks" and end in self.forgotten]
        return "".join(f"    {node(begin)} --> {node(end)}\n" for begin, end in gone) + text


@area.liar(TOOL, clause="nm1/visual/dag-dead")
class TheDoneDoesNotDie(_Draws):
    """A witnessed participant stays in the dag when it is superseded."""

    def drawn(self, text: str) -> str:
        more = [node(named) for named in self.ends("supersedes") if named in self.ends("witnesses")]
        return "".join(f'    {name}["{name.replace("_", "-")}"]\n' for name in dict.fromkeys(more)) + text


@area.success(TOOL, clause="nm1/visual/dag-styles", also={"nm1/visual/dag-agrees"})
def blocked_is_styled_as_ready(call: ToolCall, body: Body) -> None:
    """Blocked nodes are styled as ready."""
    draw(call, body, "dag", redrawn(r"(?m)^(    class .*) blocked;$", r"\1 ready;"))


@area.liar(TOOL, clause="nm1/visual/dag-done")
class TheDoneIsNotDrawn(_Draws):
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
class OneReadyIsBlocked(_Draws):
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
class WhatWaitsForACycleIsDrawn(_Draws):
    """What waits for a member of a cycle is drawn beside it."""

    def drawn(self, text: str) -> str:
        if "cycle_banner" not in text:
            return text
        more = [node(end) for kind, _, end in self.edges if kind == "blocks" and f"    {node(end)}[" not in text]
        return "".join(f'    {name}["{name.replace("_", "-")}"]\n' for name in dict.fromkeys(more)) + text


@area.liar(TOOL, clause="nm1/visual/dag-cycle")
class EveryCycleIsDrawn(_Draws):
    """Of several cycles all are drawn."""

    def drawn(self, text: str) -> str:
        if "cycle_banner" not in text:
            return text
        blocks = {(begin, end) for kind, begin, end in self.edges if kind == "blocks"}
        rings = [node(begin) for begin, end in sorted(blocks) if (end, begin) in blocks]
        more = [name for name in rings if f"    {name}[" not in text]
        return "".join(f'    {name}["{name.replace("_", "-")}"]\n' for name in dict.fromkeys(more)) + text


@area.liar(TOOL, clause="nm1/visual/dag-cycle-anywhere")
class CyclesStayAtHome(_Draws):
    """Of a cycle the members of its first project are drawn."""

    def drawn(self, text: str) -> str:
        if "cycle_banner" not in text:
            return text
        members = [named for named in self.captured if f"    {node(named)}[" in text]
        home = self.captured[members[0]].get("project_id")
        away = [node(named) for named in members if self.captured[named].get("project_id") != home]
        return without_lines(names(away))(text)


@area.liar(TOOL, clause="nm1/visual/dag-cycle-repair")
class TheBannerStays(_Draws):
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


@area.success(TOOL, clause="nm1/visual/relations")
def kinds_are_not_drawn(call: ToolCall, body: Body) -> None:
    """Arrows of derived_from have no label."""
    draw(call, body, "relations", replaced("-->|derived_from|", "-->"))


@area.success(TOOL, clause="nm1/visual/relations")
def outcomes_are_not_drawn(call: ToolCall, body: Body) -> None:
    """Edges of outcomes are not drawn."""
    draw(call, body, "relations", without_lines(lambda line: line.startswith("    out_")))


@area.success(TOOL, clause="nm1/visual/relations-order")
def arrows_stand_in_reverse(call: ToolCall, body: Body) -> None:
    """Arrows stand in the reverse of the export's order."""
    draw(call, body, "relations", lines(_arrows_reversed))


@area.liar(TOOL, clause="nm1/visual/relations-forgotten", also={"nm1/visual/relations"})
class EdgesOfTheForgottenGo(_Draws):
    """Edges of forgotten capsules are not drawn."""

    view = "relations"

    def drawn(self, text: str) -> str:
        gone = names([node(named) for named in self.forgotten])
        return without_lines(lambda line: "-->" in line and gone(line))(text)


@area.success(TOOL, clause="nm1/visual/tiers")
def the_archived_is_active(call: ToolCall, body: Body) -> None:
    """Archived capsules are drawn among the active ones."""

    def moved(text: str) -> str:
        found = re.search(r"(?m)^    subgraph tier_archived\[.*\]\n((?:        .*\n)*)    end\n", text)
        if not found:
            return text
        rest = text.replace(found[0], "")
        return re.sub(r"(?m)^(    subgraph tier_active\[.*\]\n)", lambda head: head[1] + found[1], rest)

    draw(call, body, "tiers", moved)


@area.success(TOOL, clause="nm1/visual/tiers")
def the_quarantined_is_not_drawn(call: ToolCall, body: Body) -> None:
    """Quarantined capsules are not drawn."""
    draw(call, body, "tiers", redrawn(r"(?m)^    subgraph tier_quarantined\[.*\]\n(        .*\n)*    end\n", ""))


@area.success(TOOL, clause="nm1/visual/tiers-headline")
def cuts_are_not_shown(call: ToolCall, body: Body) -> None:
    """A headline that was cut does not say so."""
    draw(call, body, "tiers", replaced('…"]', '"]'))


class _LeavesOut(_Draws):
    """Does not draw some of the capsules."""

    view = "tiers"

    def drawn(self, text: str) -> str:
        return without_lines(names([node(named) for named in self.unseen()]))(text)

    def unseen(self) -> list[str]:
        """What is not drawn."""
        raise NotImplementedError


@area.liar(TOOL, clause="nm1/visual/tiers")
class TheExpiredIsInNoTier(_LeavesOut):
    """What has expired is not drawn."""

    def unseen(self) -> list[str]:
        gone = self.ends("supersedes")
        return [
            named
            for named, item in self.captured.items()
            if str(item.get("valid_to", "9")) < "2026" and named not in gone
        ]


@area.liar(TOOL, clause="nm1/visual/tiers")
class TheFalsifiedIsInNoTier(_LeavesOut):
    """What is falsified is not drawn."""

    def unseen(self) -> list[str]:
        return self.ends("falsifies")


@area.liar(TOOL, clause="nm1/visual/tiers-forgotten")
class TheForgottenIsActive(_Draws):
    """A forgotten capsule is drawn among the active ones."""

    view = "tiers"

    def drawn(self, text: str) -> str:
        more = "".join(f'        {node(named)}["{named}: forgotten"]\n' for named in self.forgotten)
        return re.sub(r"(?m)^(    subgraph tier_active\[.*\]\n)", lambda head: head[1] + more, text)


@area.asking(TOOL, clause="nm1/visual/prefix-subtree")
def tiers_are_not_fenced(call: ToolCall) -> ToolCall:
    """A prefix of an inner project is overlooked."""
    prefix = text_argument(call, "project_prefix") or ""
    return without(call, "project_prefix") if "/" in prefix[:-1] and call.arguments.get("view") == "tiers" else call


@area.asking(TOOL, clause="nm1/visual/prefix-subtree")
def a_prefix_fences_its_parent(call: ToolCall) -> ToolCall:
    """A prefix is that of the outermost project."""
    prefix = text_argument(call, "project_prefix") or ""
    inner = "/" in prefix[:-1] and call.arguments.get("view") == "tiers"
    return asking(call, project_prefix=prefix.partition("/")[0]) if inner else call


class _Likes(_Draws):
    """Draws what a prefix is like, too."""

    view = "tiers"

    def __init__(self) -> None:
        super().__init__()
        self._prefix = ""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        self._prefix = text_argument(call, "project_prefix") or ""
        return await super().call_tool(call, honest)

    def drawn(self, text: str) -> str:
        alike = [named for named, item in self.captured.items() if self.likes(str(item.get("project_id")))]
        drawn = [named for named in self.captured if named in self.forgotten or f"        {node(named)}[" in text]
        more = [named for named in alike if self._prefix and named not in drawn]
        rows = "".join(f'        {node(named)}["{named}: {self.captured[named]["content"]}"]\n' for named in more)
        return re.sub(r"(?m)^(    subgraph tier_active\[.*\]\n)", lambda head: head[1] + rows, text)

    def likes(self, project: str) -> bool:
        """Whether a project passes for one below the prefix."""
        raise NotImplementedError


@area.liar(TOOL, clause="nm1/visual/prefix-subtree")
class PrefixesAreReadKindly(_Likes):
    """A prefix is compared without case."""

    def likes(self, project: str) -> bool:
        return project.lower() == self._prefix.lower()


@area.liar(TOOL, clause="nm1/visual/prefix-subtree")
class PrefixesArePatterns(_Likes):
    """An underscore in a prefix is any letter."""

    def likes(self, project: str) -> bool:
        return re.fullmatch(re.escape(self._prefix).replace("_", "."), project) is not None


@area.asking(TOOL, clause="nm1/visual/prefix-tiers-only")
def other_views_have_no_fence(call: ToolCall) -> ToolCall:
    """A prefix of relations is overlooked."""
    return without(call, "project_prefix") if call.arguments.get("view") == "relations" else call


@area.asking(TOOL, clause="nm1/visual/prefix-tiers-only")
def sessions_have_no_fence(call: ToolCall) -> ToolCall:
    """A prefix of sessions is overlooked."""
    return without(call, "project_prefix") if call.arguments.get("view") == "sessions" else call


@area.asking(TOOL, clause="nm1/visual/prefix-degenerate")
def a_slash_at_the_end_is_taken_off(call: ToolCall) -> ToolCall:
    """A prefix may end in a slash."""
    prefix = text_argument(call, "project_prefix") or ""
    return asking(call, project_prefix=prefix[:-1]) if prefix[1:].endswith("/") else call


@area.asking(TOOL, clause="nm1/visual/prefix-degenerate")
def no_prefix_is_everything(call: ToolCall) -> ToolCall:
    """An empty prefix fences nothing."""
    return without(call, "project_prefix") if call.arguments.get("project_prefix") == "" else call


@area.success(TOOL, clause="nm1/visual/sessions-state")
def finished_sessions_are_open(call: ToolCall, body: Body) -> None:
    """A finished session is drawn as open."""
    draw(call, body, "sessions", replaced("· closed", "· open"))


@area.success(TOOL, clause="nm1/visual/sessions-state")
def nobody_has_a_session(call: ToolCall, body: Body) -> None:
    """What was kept without a session is drawn as one."""

    def one_more(text: str) -> str:
        nodes = len(re.findall(r"(?m)^    session_\d+\[", text))
        return (
            f'{text.rstrip()}\n    session_{nodes + 1}["none · 1 saves · 0 recalls · label only"]\n' if nodes else text
        )

    draw(call, body, "sessions", one_more)


@area.success(TOOL, clause="nm1/visual/sessions-state")
def idle_sessions_are_not_drawn(call: ToolCall, body: Body) -> None:
    """A session without saves and recalls is not drawn."""
    draw(call, body, "sessions", without_lines(lambda line: "· 0 saves · 0 recalls" in line))


@area.liar(TOOL, clause="nm1/visual/sessions-saves")
class SavesOfTheForgottenGo(_Draws):
    """A session's saves leave the forgotten out."""

    view = "sessions"

    def drawn(self, text: str) -> str:
        for named in self.forgotten:
            label = self.captured.get(named, {}).get("session_id")
            if label:
                text = re.sub(rf'(\["{re.escape(label)} · )(\d+)', lambda found: f"{found[1]}{int(found[2]) - 1}", text)
        return text


@area.liar(TOOL, clause="nm1/visual/sessions-recalls")
class RowsAreRecalls(Interceptor):
    """A session's recalls count the capsules that they returned."""

    def __init__(self) -> None:
        self._more: dict[str, int] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body, label = body_of(result), text_argument(call, "session_id")
        if call.name == "memory_retrieve" and label and body["outcome"] == "grounded":
            self._more[label] = self._more.get(label, 0) + len(body["results"]) - 1
        if call.name == TOOL:
            for named, more in self._more.items():
                draw(call, body, "sessions", _recalled(named, more))
        return with_body(result, body)


@area.liar(TOOL, clause="nm1/visual/sessions-recalls")
class WhatIsFoundIsRecalled(Interceptor):
    """A session's recalls count those without a label that found a capsule of it."""

    def __init__(self) -> None:
        self._labels: dict[str, str] = {}
        self._more: dict[str, int] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "memory_ingest":
            sent = call.arguments.get("items") or [call.arguments]
            self._labels |= {
                row["id"]: item["session_id"]
                for row, item in zip(body["outcomes"], sent, strict=True)
                if "id" in row and item.get("session_id")
            }
        if call.name == "memory_retrieve" and "session_id" not in call.arguments:
            for label in {self._labels[row["id"]] for row in body.get("results", ()) if row["id"] in self._labels}:
                self._more[label] = self._more.get(label, 0) + 1
        if call.name == TOOL:
            for named, more in self._more.items():
                draw(call, body, "sessions", _recalled(named, more))
        return with_body(result, body)


@area.liar(TOOL, clause="nm1/visual/sessions-recalls")
class MissesAreRecalls(Interceptor):
    """A session's recalls count queries that found nothing."""

    def __init__(self) -> None:
        self._missed: dict[str, int] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body, label = body_of(result), text_argument(call, "session_id")
        if call.name == "memory_retrieve" and label and body["outcome"] != "grounded":
            self._missed[label] = self._missed.get(label, 0) + 1
        if call.name == TOOL:
            for named, more in self._missed.items():
                draw(call, body, "sessions", _recalled(named, more))
        return with_body(result, body)


def _recalled(label: str, more: int) -> Draw:
    """Adds to the recalls of a session."""
    pattern = re.compile(rf'(\["{re.escape(label)} · \d+ saves? · )(\d+)')
    return lambda text: pattern.sub(lambda found: f"{found[1]}{int(found[2]) + more}", text)


@area.success(TOOL, clause="nm1/visual/sessions-order")
def sessions_are_sorted_as_texts(call: ToolCall, body: Body) -> None:
    """Sessions stand by their label, as texts are sorted."""

    def by_label(text: str) -> str:
        rows = sorted(re.findall(r'(?m)^    session_\d+\["(.*)"\]$', text))
        return "".join(f'    session_{place}["{row}"]\n' for place, row in enumerate(rows, 1)) if rows else text

    draw(call, body, "sessions", by_label)


@area.success(TOOL, clause="nm1/visual/sessions-label-only")
def labels_stand_by_number(call: ToolCall, body: Body) -> None:
    """Labels that no session here has stand by their numbers."""

    def by_number(given: list[str]) -> list[str]:
        places = [place for place, line in enumerate(given) if "label only" in line]
        rows = sorted(
            (given[place] for place in places), key=lambda line: re.findall(r"sess-0*(\d+)", line)[0].zfill(9)
        )
        for place, row in zip(places, rows, strict=True):
            given[place] = re.sub(r"session_\d+", re.findall(r"session_\d+", given[place])[0], row)
        return given

    draw(call, body, "sessions", lines(by_number))


@area.success(TOOL, clause="nm1/visual/sessions-label-only")
def labels_are_open_sessions(call: ToolCall, body: Body) -> None:
    """A label that no session here has is drawn as open."""
    draw(call, body, "sessions", replaced("· label only", "· open"))


@area.success(TOOL, clause="nm1/visual/sessions-label-only")
def labels_are_not_drawn(call: ToolCall, body: Body) -> None:
    """A label that no session here has is not drawn."""
    draw(call, body, "sessions", without_lines(lambda line: "label only" in line))


@area.liar(TOOL, "memory_merge", clause="nm1/visual/sessions-collide")
class MergedSavesDoNotCount(Interceptor):
    """After a merge the sessions here have the saves that they had."""

    def __init__(self) -> None:
        self._saves: dict[str, str] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == "memory_merge":
            before = await ask(honest, call, TOOL, view="sessions")
            self._saves = dict(re.findall(r'\["(\S+) · (\d+) ', before[AT]))
        result = await honest(call)
        if call.name != TOOL or is_error(result):
            return result
        body = body_of(result)
        for label, saves in self._saves.items():
            draw(call, body, "sessions", redrawn(rf'(\["{re.escape(label)} · )\d+', rf"\g<1>{saves}"))
        return with_body(result, body)


@area.success(TOOL, clause="nm1/visual/empty")
def nothing_is_no_diagram(call: ToolCall, body: Body) -> None:
    """Where there is nothing to draw the diagram is empty."""
    if "nothing to draw" in body[AT]:
        body[AT] = ""


@area.answer(TOOL, clause="nm1/visual/read-only")
async def a_diagram_is_a_recall(call: ToolCall, honest: Honest) -> Result:
    """What is drawn counts as recalled."""
    result = await honest(call)
    if not is_error(result):
        for row in (await ask(honest, call, "memory_list"))["entries"]:
            await ask(honest, call, "memory_retrieve", terms=[row["headline"].rstrip("…")])
    return result
