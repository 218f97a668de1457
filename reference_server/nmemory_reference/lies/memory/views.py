"""Lies about visual: the diagrams of relations, tiers and sessions."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping

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
from nmemory_reference.lies.memory import prefixes
from nmemory_reference.lies.memory.documents import lines, replaced, without_lines
from nmemory_reference.lies.memory.history import History
from nmemory_reference.lies.memory.visual import Draw, Draws, arrows_reversed, draw, names, node, redrawn
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("visual")

TOOL = "memory_visual"
AT = "mermaid"


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
    draw(call, body, "relations", lines(arrows_reversed))


@area.liar(TOOL, clause="nm1/visual/relations-forgotten", also={"nm1/visual/relations"})
class EdgesOfTheForgottenGo(Draws):
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
        return _among_active(found[1], rest)

    draw(call, body, "tiers", moved)


@area.success(TOOL, clause="nm1/visual/tiers")
def the_quarantined_is_not_drawn(call: ToolCall, body: Body) -> None:
    """Quarantined capsules are not drawn."""
    draw(call, body, "tiers", redrawn(r"(?m)^    subgraph tier_quarantined\[.*\]\n(        .*\n)*    end\n", ""))


@area.success(TOOL, clause="nm1/visual/tiers-headline")
def cuts_are_not_shown(call: ToolCall, body: Body) -> None:
    """A headline that was cut does not say so."""
    draw(call, body, "tiers", replaced('…"]', '"]'))


def _among_active(rows: str, text: str) -> str:
    """Draw some rows first among the active capsules."""
    return re.sub(r"(?m)^(    subgraph tier_active\[.*\]\n)", lambda head: head[1] + rows, text)


class _LeavesOut(Draws, ABC):
    """Does not draw some of the capsules."""

    view = "tiers"

    def drawn(self, text: str) -> str:
        return without_lines(names([node(named) for named in self.unseen()]))(text)

    @abstractmethod
    def unseen(self) -> list[str]:
        """What is not drawn."""


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
class TheForgottenIsActive(Draws):
    """A forgotten capsule is drawn among the active ones."""

    view = "tiers"

    def drawn(self, text: str) -> str:
        more = "".join(f'        {node(named)}["{named}: forgotten"]\n' for named in self.forgotten)
        return _among_active(more, text)


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


class _Likes(Draws, ABC):
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
        return _among_active(rows, text)

    @abstractmethod
    def likes(self, project: str) -> bool:
        """Whether a project passes for one below the prefix."""


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


prefixes.forgive(area, TOOL, "nm1/visual/prefix-degenerate")


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
class SavesOfTheForgottenGo(Draws):
    """A session's saves leave the forgotten out."""

    view = "sessions"

    def drawn(self, text: str) -> str:
        for named in self.forgotten:
            label = self.captured.get(named, {}).get("session_id")
            if label:
                text = re.sub(rf'(\["{re.escape(label)} · )(\d+)', lambda found: f"{found[1]}{int(found[2]) - 1}", text)
        return text


class _Recounts(History, ABC):
    """Draws more recalls than a session had."""

    def __init__(self) -> None:
        super().__init__()
        self._more: Counter[str] = Counter()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == "memory_retrieve":
            self._more.update(self.recalled(body, text_argument(call, "session_id")))
        if call.name == TOOL:
            for label, more in self._more.items():
                draw(call, body, "sessions", _recalled(label, more))

    @abstractmethod
    def recalled(self, body: Body, label: str | None) -> Mapping[str, int]:
        """How many recalls more an answer, to a query with this label, is for some sessions."""


@area.liar(TOOL, clause="nm1/visual/sessions-recalls")
class RowsAreRecalls(_Recounts):
    """A session's recalls count the capsules that they returned."""

    def recalled(self, body: Body, label: str | None) -> Mapping[str, int]:
        return {label: len(body["results"]) - 1} if label and body["outcome"] == "grounded" else {}


@area.liar(TOOL, clause="nm1/visual/sessions-recalls")
class WhatIsFoundIsRecalled(_Recounts):
    """A session's recalls count those without a label that found a capsule of it."""

    def recalled(self, body: Body, label: str | None) -> Mapping[str, int]:
        found = [self.captured.get(row["id"], {}).get("session_id") for row in body.get("results", ())]
        return {} if label else dict.fromkeys(filter(None, found), 1)


@area.liar(TOOL, clause="nm1/visual/sessions-recalls")
class MissesAreRecalls(_Recounts):
    """A session's recalls count queries that found nothing."""

    def recalled(self, body: Body, label: str | None) -> Mapping[str, int]:
        return {label: 1} if label and body["outcome"] != "grounded" else {}


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
