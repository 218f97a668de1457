"""Lies about digest: what its rows say of themselves, and its fences."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    ask,
    body_of,
    is_error,
    with_body,
    without,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory import prefixes
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import ToolCall

area = Area("digest")

TOOL = "memory_digest"
LIST = "memory_list"


@area.item(TOOL, at="most_recalled", clause="nm1/digest/rows-marked")
def the_recalled_has_no_kind(call: ToolCall, row: Body) -> None:
    """Rows of most_recalled carry no kind."""
    row.pop("kind", None)


@area.item(TOOL, at="most_recalled", clause="nm1/digest/rows-marked")
def the_recalled_is_never_superseded(call: ToolCall, row: Body) -> None:
    """Rows of most_recalled don't say that they are superseded."""
    row.pop("superseded", None)


@area.item(TOOL, at="most_recalled", clause="nm1/digest/rows-marked")
def the_recalled_is_not_pinned(call: ToolCall, row: Body) -> None:
    """Rows of most_recalled don't say that they are pinned."""
    row.pop("pinned", None)


@area.item(TOOL, at="newest", clause="nm1/digest/rows-marked")
def the_newest_is_clean(call: ToolCall, row: Body) -> None:
    """Rows of newest are never tainted."""
    row["instruction_taint"] = False


@area.item(TOOL, at="mission/roots", clause="nm1/digest/rows-marked")
def roots_are_clean(call: ToolCall, row: Body) -> None:
    """Rows of a mission are never tainted."""
    row["instruction_taint"] = False


@area.item(TOOL, at="newest", clause="nm1/digest/rows-marked")
def all_is_tainted(call: ToolCall, row: Body) -> None:
    """Rows of newest are always tainted."""
    row["instruction_taint"] = True


@area.item(TOOL, at="newest", clause="nm1/digest/rows-marked")
def the_newest_has_no_kind(call: ToolCall, row: Body) -> None:
    """Rows of newest carry no kind."""
    row.pop("kind", None)


@area.item(TOOL, at="newest", clause="nm1/digest/rows-marked")
def the_newest_never_expires(call: ToolCall, row: Body) -> None:
    """Rows of newest don't say that they have expired."""
    row.pop("expired", None)


@area.item(TOOL, at="newest", clause="nm1/digest/rows-marked")
def the_newest_is_never_superseded(call: ToolCall, row: Body) -> None:
    """Rows of newest don't say that they are superseded."""
    row.pop("superseded", None)


@area.item(TOOL, at="newest", clause="nm1/digest/rows-marked")
def the_newest_is_always_active(call: ToolCall, row: Body) -> None:
    """Rows of newest tell no tier."""
    row.pop("tier", None)


@area.item(TOOL, at="handoff", clause="nm1/digest/rows-marked")
def handoffs_have_no_kind(call: ToolCall, row: Body) -> None:
    """Rows of handoff carry no kind."""
    row.pop("kind", None)


@area.item(TOOL, at="handoff", clause="nm1/digest/rows-marked")
def handoffs_never_expire(call: ToolCall, row: Body) -> None:
    """Rows of handoff don't say that they have expired."""
    row.pop("expired", None)


@area.item(TOOL, at="handoff", clause="nm1/digest/rows-marked")
def handoffs_are_always_active(call: ToolCall, row: Body) -> None:
    """Rows of handoff tell no tier."""
    row.pop("tier", None)


@area.item(TOOL, at="pinned", clause="nm1/digest/rows-marked")
def the_pinned_is_never_superseded(call: ToolCall, row: Body) -> None:
    """Rows of pinned don't say that they are superseded."""
    row.pop("superseded", None)


@area.item(TOOL, at="pinned", clause="nm1/digest/rows-marked")
def the_pinned_is_archived_at_worst(call: ToolCall, row: Body) -> None:
    """What is pinned and quarantined says that it is archived."""
    if "tier" in row:
        row["tier"] = "archived"


@area.item(TOOL, at="mission/roots", clause="nm1/digest/rows-marked")
def roots_are_not_pinned(call: ToolCall, row: Body) -> None:
    """Rows of a mission don't say that they are pinned."""
    row.pop("pinned", None)


@area.item(TOOL, at="most_recalled", clause="nm1/digest/rows-marked")
def the_recalled_is_always_active(call: ToolCall, row: Body) -> None:
    """Rows of most_recalled tell no tier."""
    row.pop("tier", None)


def _is_not_fenced(section: str, clause: str, *also: str) -> None:
    """Add the lie that a section is that of the whole store."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or "project_prefix" not in call.arguments:
            return result
        whole, body = body_of(await honest(without(call, "project_prefix"))), body_of(result)
        for name in (section, f"{section}_total"):
            if name in whole:
                body[name] = whole[name]
        return with_body(result, body)

    lie.__name__ = f"{section}_is_not_fenced"
    lie.__doc__ = f"Whatever the prefix, {section} is that of the whole store."
    area.answer(TOOL, clause=clause, also=also)(lie)


for _section in ("total", "by_project"):
    _is_not_fenced(_section, "nm1/digest/fence", "nm1/digest/by-project")
for _section in ("newest", "most_recalled", "handoff"):
    _is_not_fenced(_section, "nm1/digest/fence")
for _section in ("mission", "unanchored"):
    _is_not_fenced(_section, "nm1/digest/fence-missions")
_is_not_fenced("pinned", "nm1/digest/pinned")
_is_not_fenced("recent_failures", "nm1/digest/recent-failures-fenced")


def _is_capped_before_the_fence(section: str) -> None:
    """Add the lie that a section has what the fence leaves of the whole store's."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or "project_prefix" not in call.arguments:
            return result
        body = body_of(result)
        ids = {row["id"] for row in body_of(await honest(without(call, "project_prefix"))).get(section, ())}
        if section in body:
            body[section] = [row for row in body[section] if row["id"] in ids]
        return with_body(result, body)

    lie.__name__ = f"{section}_is_capped_before_the_fence"
    lie.__doc__ = f"{section} has what a fence leaves of the whole store's first rows."
    area.answer(TOOL, clause="nm1/digest/fence")(lie)


for _section in ("newest", "most_recalled", "handoff"):
    _is_capped_before_the_fence(_section)


@area.success(TOOL, clause="nm1/digest/fence")
def a_fence_has_no_subtree(call: ToolCall, body: Body) -> None:
    """A prefix fences newest to the project of that name."""
    if prefix := call.arguments.get("project_prefix"):
        body["newest"] = [row for row in body["newest"] if row["project_id"] == prefix]


def _matches_otherwise(name: str, says: str, matches: Callable[[str, str], bool]) -> None:
    """Add the lie that a fence lets newest rows of other projects in."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        prefix = call.arguments.get("project_prefix")
        if is_error(result) or not isinstance(prefix, str):
            return result
        body = body_of(result)
        shown = {row["id"] for row in body["newest"]}
        more = [row for row in (await ask(honest, call, LIST))["entries"] if matches(row["project_id"], prefix)]
        body["newest"] = [*(row for row in reversed(more) if row["id"] not in shown), *body["newest"]]
        if body["newest"]:
            body["newest_total"] = max(body.get("newest_total", 0), len(body["newest"]))
        return with_body(result, body)

    lie.__name__, lie.__doc__ = name, says
    area.answer(TOOL, clause="nm1/digest/fence")(lie)


_matches_otherwise(
    "prefixes_have_no_case",
    "A prefix takes what is below a project whose name has other capitals.",
    lambda project, fence: project.lower().startswith(f"{fence.lower()}/"),
)
_matches_otherwise(
    "prefixes_are_patterns",
    "In a prefix an underscore is any letter.",
    lambda project, fence: bool(re.match(fence.replace("_", ".") + "/", project)),
)


class _ShowsTheForgotten(History):
    """Goes on showing the rows of a section once they are forgotten."""

    section: str

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, Body] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            self._rows |= {row["id"]: row for row in body.get(self.section, ())}
            gone = [{**row, "headline": "[forgotten]"} for named, row in self._rows.items() if named in self.forgotten]
            if gone:
                body[self.section] = [*gone, *body.get(self.section, ())]
                body[f"{self.section}_total"] = body.get(f"{self.section}_total", 0) + len(gone)


@area.liar(TOOL, clause="nm1/digest/pinned")
class ForgottenPinsStand(_ShowsTheForgotten):
    """What was pinned and then forgotten stays in the section of pins."""

    section = "pinned"


@area.liar(TOOL, clause="nm1/digest/most-recalled-only-retrieved")
class ForgottenRecallsStand(_ShowsTheForgotten):
    """What was recalled and then forgotten stays among the most recalled."""

    section = "most_recalled"


@area.liar(TOOL, clause="nm1/digest/newest")
class TheForgottenIsNews(_ShowsTheForgotten):
    """What was forgotten stays among the newest."""

    section = "newest"


prefixes.forgive(area, TOOL, "nm1/digest/fence-degenerate")


def _is_fenced(section: str, nothing: Any) -> None:
    """Add the lie that a section of the whole store is empty where the fence holds nothing."""

    def lie(call: ToolCall, body: Body) -> None:
        if "project_prefix" in call.arguments and not body["total"]:
            body[section] = nothing

    lie.__name__ = f"{section}_is_fenced"
    lie.__doc__ = f"Under a prefix that holds nothing {section} is empty."
    area.success(TOOL, clause="nm1/digest/store-global")(lie)


for _section in ("relations", "open_sessions", "archive_candidates", "recall_misses"):
    _is_fenced(_section, 0)
_is_fenced("open_session_ids", [])
_is_fenced("tiers", {"active": 0, "archived": 0, "quarantined": 0})
_is_fenced(
    "dag",
    {
        "status": "ok",
        **{name: [] for name in ("ready", "blocked", "done")},
        **{f"{name}_total": 0 for name in ("ready", "blocked", "done")},
    },
)
