"""Lies about digest: what it counts, what it lists, and what a fence covers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

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
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("digest")

TOOL = "memory_digest"
RETRIEVE = "memory_retrieve"
LIST = "memory_list"


@area.success(TOOL, clause="nm1/digest/shape")
def empty_tiers_are_left_out(call: ToolCall, body: Body) -> None:
    """Tiers of nothing are left out."""
    body["tiers"] = {tier: count for tier, count in body["tiers"].items() if count}


@area.success(TOOL, clause="nm1/digest/armour")
def a_fenced_digest_is_bare(call: ToolCall, body: Body) -> None:
    """A digest of a subtree has no framing."""
    if "project_prefix" in call.arguments:
        body.pop("framing")


@area.liar(TOOL, clause="nm1/digest/total")
class TheTotalCountsMarkers(History):
    """total counts the forgotten."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            body["total"] += len(self.forgotten)


@area.success(TOOL, clause="nm1/digest/total", also={"nm1/digest/by-project"})
def the_total_is_what_is_live(call: ToolCall, body: Body) -> None:
    """total leaves superseded capsules out."""
    body["total"] = sum(row["live"] for row in body["by_project"])


@area.success(TOOL, clause="nm1/digest/by-project")
def lone_capsules_make_no_project(call: ToolCall, body: Body) -> None:
    """A project of one capsule is not counted apart."""
    body["by_project"] = [row for row in body["by_project"] if row["count"] > 1]


@area.success(TOOL, clause="nm1/digest/by-project", also={"nm1/digest/cap-asked"})
def projects_are_capped(call: ToolCall, body: Body) -> None:
    """headlines caps the projects too."""
    body["by_project"] = body["by_project"][: call.arguments.get("headlines", 10)]


@area.item(TOOL, at="by_project", clause="nm1/digest/by-project-live")
def all_is_live(call: ToolCall, row: Body) -> None:
    """live counts superseded capsules."""
    row["live"] = row["count"]


@area.item(TOOL, at="by_project", clause="nm1/digest/by-project-live")
def the_replaced_do_not_count(call: ToolCall, row: Body) -> None:
    """count leaves superseded capsules out."""
    row["count"] = row["live"]


@area.liar(TOOL, clause="nm1/digest/by-project-live")
class TwoSuccessorsCountTwice(History):
    """A capsule with two successors is taken off twice."""

    def change(self, call: ToolCall, body: Body) -> None:
        for named, times in Counter(self.ends("supersedes")).items() if call.name == TOOL else ():
            for row in body["by_project"]:
                if row["project_id"] == self.captured[named].get("project_id"):
                    row["live"] = max(0, row["live"] - (times - 1))


@area.liar(TOOL, clause="nm1/digest/by-project-live")
class AChainRevives(History):
    """What was replaced by a capsule that was replaced itself counts as live."""

    def change(self, call: ToolCall, body: Body) -> None:
        revived = {end for kind, begin, end in self.edges if kind == "supersedes" and begin in self.ends(kind)}
        for row in body["by_project"] if call.name == TOOL else ():
            homes = [self.captured[named].get("project_id") for named in revived - set(self.forgotten)]
            row["live"] = min(row["count"], row["live"] + homes.count(row["project_id"]))


@area.answer(TOOL, clause="nm1/digest/total")
async def the_archived_is_no_capsule(call: ToolCall, honest: Honest) -> Result:
    """total leaves the archived out, and by_project too."""
    return await _census(call, honest, lambda row: row.get("tier") == "archived", "count", "live")


@area.answer(TOOL, clause="nm1/digest/by-project-live")
async def the_expired_is_not_live(call: ToolCall, honest: Honest) -> Result:
    """live leaves the expired out."""
    return await _census(call, honest, lambda row: "expired" in row and "superseded" not in row, "live")


@area.answer(TOOL, clause="nm1/digest/by-project-live")
async def the_quarantined_is_not_live(call: ToolCall, honest: Honest) -> Result:
    """live leaves the quarantined out."""
    return await _census(call, honest, lambda row: row.get("tier") == "quarantined", "live")


async def _census(call: ToolCall, honest: Honest, out: Callable[[Body], bool], *counts: str) -> Result:
    """The digest with these counts of each project without such rows of the list."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    lost = Counter(row["project_id"] for row in (await ask(honest, call, LIST))["entries"] if out(row))
    for project in body["by_project"]:
        for count in counts:
            project[count] = max(0, project[count] - lost[project["project_id"]])
    if "count" in counts:
        body["total"] = sum(project["count"] for project in body["by_project"])
    return with_body(result, body)


@area.liar(TOOL, clause="nm1/digest/newest")
class WhatIsSentAgainIsNew(Interceptor):
    """What was sent again leads the newest."""

    def __init__(self) -> None:
        self._again: list[str] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "memory_ingest":
            self._again += [row["id"] for row in body["outcomes"] if row["status"] == "deduplicated"]
        if call.name != TOOL or not self._again:
            return result
        whole = body_of(await honest(asking(call, headlines=1000)))["newest"]
        whole.sort(key=lambda row: row["id"] in self._again, reverse=True)
        return with_body(result, {**body, "newest": whole[: len(body["newest"])]})


@area.success(TOOL, clause="nm1/digest/newest")
def the_newest_are_sorted_as_texts(call: ToolCall, body: Body) -> None:
    """newest is sorted by id, as texts are."""
    body["newest"].sort(key=lambda row: row["id"], reverse=True)


@area.success(TOOL, clause="nm1/digest/newest")
def the_newest_reads_oldest_first(call: ToolCall, body: Body) -> None:
    """newest has the oldest of its rows first."""
    body["newest"].reverse()


@area.asking(TOOL, clause="nm1/digest/cap-default")
def five_are_enough(call: ToolCall) -> ToolCall:
    """Without headlines a list is capped at 5."""
    return call if "headlines" in call.arguments else asking(call, headlines=5)


@area.asking(TOOL, clause="nm1/digest/cap-default")
def there_is_no_default_cap(call: ToolCall) -> ToolCall:
    """Without headlines no list is capped."""
    return call if "headlines" in call.arguments else asking(call, headlines=1000)


def _is_cut_otherwise(section: str, clause: str, name: str, says: str, cap: Callable[[Any], int | None]) -> None:
    """Add the lie that one list is cut to `cap` of what was asked for."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or (headlines := cap(call.arguments.get("headlines"))) is None:
            return result
        body = body_of(result)
        if section in (whole := body_of(await honest(asking(call, headlines=headlines)))):
            body[section] = whole[section]
        return with_body(result, body)

    lie.__name__, lie.__doc__ = name, says
    area.answer(TOOL, clause=f"nm1/digest/{clause}")(lie)


for _section in ("most_recalled", "handoff"):
    _is_cut_otherwise(
        _section,
        "cap-default",
        f"{_section}_has_no_default_cap",
        f"Without headlines {_section} is not capped.",
        lambda asked: 1000 if asked is None else None,
    )
    _is_cut_otherwise(
        _section,
        "cap-default",
        f"five_of_{_section}_are_enough",
        f"Without headlines {_section} is capped at 5.",
        lambda asked: 5 if asked is None else None,
    )
    _is_cut_otherwise(
        _section,
        "cap-asked",
        f"no_headlines_leave_one_of_{_section}",
        f"headlines 0 leaves a row of {_section}.",
        lambda asked: 1 if asked == 0 else None,
    )


@area.asking(TOOL, clause="nm1/digest/cap-asked")
def ten_are_the_most(call: ToolCall) -> ToolCall:
    """headlines is 10 at most."""
    headlines = call.arguments.get("headlines")
    return asking(call, headlines=min(10, headlines)) if isinstance(headlines, int) else call


@area.asking(TOOL, clause="nm1/digest/cap-asked")
def no_headlines_are_ten(call: ToolCall) -> ToolCall:
    """headlines 0 is the default."""
    return asking(call, headlines=10) if call.arguments.get("headlines") == 0 else call


@area.success(TOOL, clause="nm1/digest/cap-asked")
def counts_are_capped_too(call: ToolCall, body: Body) -> None:
    """Where headlines is given the total is what is shown."""
    if call.arguments.get("headlines"):
        body["total"] = min(body["total"], call.arguments["headlines"])


def _counts_what_is_shown(section: str) -> None:
    """Add the lie that the total of a section is the length of what is shown of it."""

    def lie(call: ToolCall, body: Body) -> None:
        if section in body:
            body[f"{section}_total"] = len(body[section])

    lie.__name__ = f"{section}_total_is_what_is_shown"
    lie.__doc__ = f"{section}_total is the length of the list after its cap."
    area.success(TOOL, clause="nm1/digest/totals-exact")(lie)


for _section in ("newest", "most_recalled", "handoff"):
    _counts_what_is_shown(_section)


@area.success(TOOL, clause="nm1/digest/totals-absent-at-zero")
def no_handoff_is_counted(call: ToolCall, body: Body) -> None:
    """Where there is no handoff its total is 0."""
    body.setdefault("handoff_total", 0)


@area.success(TOOL, clause="nm1/digest/totals-absent-at-zero")
def no_capsules_are_counted(call: ToolCall, body: Body) -> None:
    """Where nothing was captured newest_total is 0."""
    body.setdefault("newest_total", 0)


@area.answer("memory_get", clause="nm1/digest/most-recalled-only-retrieved")
async def reading_is_recalling(call: ToolCall, honest: Honest) -> Result:
    """What memory_get reads counts as recalled."""
    result = await honest(call)
    if not is_error(result) and "capsule" in (body := body_of(result)):
        await ask(honest, call, RETRIEVE, terms=[body["capsule"]["content"][:200]])
    return result


@area.answer(LIST, clause="nm1/digest/most-recalled-only-retrieved")
async def listing_is_recalling(call: ToolCall, honest: Honest) -> Result:
    """What memory_list lists counts as recalled."""
    result = await honest(call)
    for row in body_of(result)["entries"] if not is_error(result) else ():
        await ask(honest, call, RETRIEVE, terms=[row["headline"].rstrip("…")])
    return result


@area.answer("memory_bootstrap", clause="nm1/digest/most-recalled-only-retrieved")
async def packing_is_recalling(call: ToolCall, honest: Honest) -> Result:
    """The constraints of a pack count as recalled."""
    result = await honest(call)
    for row in body_of(result).get("constraints", ()) if not is_error(result) else ():
        await ask(honest, call, RETRIEVE, terms=[row["headline"].rstrip("…")])
    return result


@area.answer(RETRIEVE, clause="nm1/digest/most-recalled-only-retrieved")
async def matching_is_being_recalled(call: ToolCall, honest: Honest) -> Result:
    """What matched counts as recalled where a limit of 0 returned nothing."""
    result = await honest(call)
    if not is_error(result) and call.arguments.get("limit") == 0:
        await honest(without(call, "limit"))
    return result


@area.success(TOOL, clause="nm1/digest/most-recalled-order")
def the_last_captured_leads(call: ToolCall, body: Body) -> None:
    """Among equally recalled rows the latest capture leads, and its time is given for that of the recall."""
    for row in body["most_recalled"]:
        row["last_recalled_at"] = row["created_at"]
    body["most_recalled"].sort(key=lambda row: (row["recall_count"], int(row["id"].partition("-")[2])), reverse=True)


@area.success(TOOL, clause="nm1/digest/most-recalled-order")
def the_last_recalled_leads(call: ToolCall, body: Body) -> None:
    """most_recalled is sorted by the last recall alone."""
    body["most_recalled"].sort(key=lambda row: row["last_recalled_at"], reverse=True)


@area.success(TOOL, clause="nm1/digest/most-recalled-order")
def the_first_recalled_leads(call: ToolCall, body: Body) -> None:
    """Among equally recalled rows the earliest recall leads."""
    body["most_recalled"].sort(key=lambda row: (-row["recall_count"], row["last_recalled_at"]))


@area.success(TOOL, clause="nm1/digest/most-recalled-tie")
def the_newest_of_a_recall_leads(call: ToolCall, body: Body) -> None:
    """Among rows of one recall the newest leads."""
    body["most_recalled"].reverse()
    body["most_recalled"].sort(key=lambda row: row["last_recalled_at"], reverse=True)
    body["most_recalled"].sort(key=lambda row: -row["recall_count"])


@area.item(TOOL, at="most_recalled", clause="nm1/digest/most-recalled-evidence")
def counts_begin_at_nought(call: ToolCall, row: Body) -> None:
    """recall_count does not count the first recall."""
    row["recall_count"] -= 1


@area.item(TOOL, at="most_recalled", clause="nm1/digest/most-recalled-evidence", also={"nm1/digest/shape"})
def the_last_recall_is_not_told(call: ToolCall, row: Body) -> None:
    """A row recalled twice does not say when it was last."""
    if row["recall_count"] > 1:
        row.pop("last_recalled_at")


@area.liar(TOOL, clause="nm1/digest/most-recalled-evidence")
class EachTermIsARecall(Interceptor):
    """A recall counts once for each term that matched."""

    def __init__(self) -> None:
        self._more: Counter[str] = Counter()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        for row in body.get("results", ()) if call.name == RETRIEVE else ():
            self._more[row["id"]] += max(0, len(row.get("matched_terms", ())) - 1)
        for row in body["most_recalled"] if call.name == TOOL else ():
            row["recall_count"] += self._more[row["id"]]
        return with_body(result, body)


def _is_whole(section: str) -> None:
    """Add the lie that the rows of a section are contents."""

    class Lie(History):
        def change(self, call: ToolCall, body: Body) -> None:
            for row in body.get(section, ()) if call.name == TOOL else ():
                content = self.captured.get(row["id"], {}).get("content", row["headline"])
                row["headline"] = content.replace("\n", " ")

    Lie.__name__ = f"{section.title().replace('_', '')}RowsAreContents"
    Lie.__doc__ = f"Rows of {section} have the whole content in one line."
    area.liar(TOOL, clause="nm1/digest/headlines")(Lie)


for _section in ("newest", "most_recalled", "handoff", "pinned"):
    _is_whole(_section)


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


@area.asking(TOOL, clause="nm1/digest/fence-degenerate")
def a_slash_at_the_end_is_taken_off(call: ToolCall) -> ToolCall:
    """A prefix may end in a slash."""
    prefix = text_argument(call, "project_prefix") or ""
    return asking(call, project_prefix=prefix[:-1]) if prefix[1:].endswith("/") else call


@area.asking(TOOL, clause="nm1/digest/fence-degenerate")
def no_prefix_is_everything(call: ToolCall) -> ToolCall:
    """An empty prefix fences nothing."""
    return without(call, "project_prefix") if call.arguments.get("project_prefix") == "" else call


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


@area.success(TOOL, clause="nm1/digest/audit-events")
def audit_events_are_fenced(call: ToolCall, body: Body) -> None:
    """Under a prefix audit_events are those of its capsules alone."""
    if "project_prefix" in call.arguments:
        body["audit_events"] = min(body["audit_events"], body["total"])


@area.success(TOOL, clause="nm1/digest/open-sessions")
def ten_sessions_are_many(call: ToolCall, body: Body) -> None:
    """open_sessions counts the ids that are shown."""
    body["open_sessions"] = len(body["open_session_ids"])


@area.success(TOOL, clause="nm1/digest/open-session-ids")
def the_newest_session_leads(call: ToolCall, body: Body) -> None:
    """open_session_ids has the newest session first."""
    body["open_session_ids"].reverse()


class _Sessions(Interceptor):
    """Remembers which sessions were begun, and which were finished."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.finished: list[str] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "memory_session_start":
            self.begun.append(body["session_id"])
        elif call.name == "memory_session_finish":
            self.finished.append(body["session_id"])
        elif call.name == TOOL:
            self.change(body)
        return with_body(result, body)

    def change(self, body: Body) -> None:
        """Changes a digest in place."""
        raise NotImplementedError


@area.liar(TOOL, clause="nm1/digest/open-session-ids")
class SessionsAreNotCapped(_Sessions):
    """open_session_ids names every open session."""

    def change(self, body: Body) -> None:
        body["open_session_ids"] = [named for named in self.begun if named not in self.finished]


@area.liar(TOOL, clause="nm1/digest/session-closed")
class FinishedSessionsAreCounted(_Sessions):
    """open_sessions counts finished sessions."""

    def change(self, body: Body) -> None:
        body["open_sessions"] += len(self.finished)


@area.liar(TOOL, clause="nm1/digest/session-closed")
class FinishedSessionsAreNamed(_Sessions):
    """open_session_ids still names the session that was finished last."""

    def change(self, body: Body) -> None:
        body["open_session_ids"] = [*self.finished[-1:], *body["open_session_ids"]]


@area.liar(TOOL, clause="nm1/digest/tiers")
class TheForgottenIsActive(History):
    """tiers counts the forgotten as active."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            body["tiers"]["active"] += len(self.forgotten)


@area.success(TOOL, clause="nm1/digest/tiers")
def the_quarantined_is_active(call: ToolCall, body: Body) -> None:
    """tiers counts the quarantined as active too."""
    body["tiers"]["active"] += body["tiers"]["quarantined"]


@area.liar(TOOL, clause="nm1/digest/journal-ok")
class ForgettingIsOutOfBand(History):
    """What a forget destroyed counts as written out of band."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            body["journal"]["out_of_band"] = len(self.forgotten)


@area.liar(TOOL, clause="nm1/digest/journal-ok")
class AMoveBreaksTheChain(History):
    """After tiers were applied the chain is broken."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and "memory_consolidate" in self.called:
            body["journal"]["chain"] = "broken"


@area.answer(TOOL, clause="nm1/digest/archive-candidates")
async def the_superseded_are_candidates(call: ToolCall, honest: Honest) -> Result:
    """archive_candidates counts what is superseded, expired or not."""
    return await _candidates(call, honest, "superseded")


@area.answer(TOOL, clause="nm1/digest/archive-candidates")
async def the_expired_are_candidates(call: ToolCall, honest: Honest) -> Result:
    """archive_candidates counts what has expired, superseded or not."""
    return await _candidates(call, honest, "expired")


@area.answer(TOOL, clause="nm1/digest/archive-candidates")
async def the_pinned_are_candidates(call: ToolCall, honest: Honest) -> Result:
    """archive_candidates counts the pinned too."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    rows = (await ask(honest, call, LIST))["entries"]
    pinned = [row for row in rows if {"pinned", "superseded", "expired"} <= row.keys() and "tier" not in row]
    return with_body(result, {**body, "archive_candidates": body["archive_candidates"] + len(pinned)})


async def _candidates(call: ToolCall, honest: Honest, mark: str) -> Result:
    """The digest with every active capsule of this mark as a candidate."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    rows = (await ask(honest, call, LIST))["entries"]
    body["archive_candidates"] = sum(row.get(mark, False) and "tier" not in row for row in rows)
    return with_body(result, body)


@area.answer(TOOL, clause="nm1/digest/archive-candidates-advisory")
async def candidates_are_moved(call: ToolCall, honest: Honest) -> Result:
    """What a digest has counted as a candidate is archived at once."""
    result = await honest(call)
    await ask(honest, call, "memory_consolidate", apply_tiers=True)
    return result


class _Misses(Interceptor):
    """Remembers the terms of each query that abstained."""

    def __init__(self) -> None:
        self.missed: list[list[str]] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == RETRIEVE and body["outcome"] == "abstain":
            self.missed.append(list(call.arguments["terms"]))
        if call.name == TOOL:
            self.change(body)
        return with_body(result, body)

    def change(self, body: Body) -> None:
        """Changes a digest in place."""
        raise NotImplementedError


@area.liar(TOOL, clause="nm1/digest/recall-misses")
class QueriesAreCounted(_Misses):
    """recall_misses counts queries, and not their terms."""

    def change(self, body: Body) -> None:
        body["recall_misses"] = len(self.missed)


@area.liar(TOOL, clause="nm1/digest/recent-failures")
class AllMissesAreRecent(_Misses):
    """recent_failures has every missed term."""

    def change(self, body: Body) -> None:
        if recent := body.get("recent_failures", {}).get("recall_misses"):
            shown = {row["term"] for row in recent}
            terms = [term.casefold() for terms in self.missed for term in terms if len(term) < 100]
            recent += [{**recent[-1], "term": term} for term in terms if term not in shown]


@area.liar(TOOL, clause="nm1/digest/recent-failures")
class MissesAreShownAsTyped(_Misses):
    """recent_failures has the missed terms as they were typed."""

    def change(self, body: Body) -> None:
        typed = {_plain(term): term for terms in self.missed for term in terms}
        for row in body.get("recent_failures", {}).get("recall_misses", ()):
            row["term"] = typed.get(row["term"], row["term"])


@area.liar(TOOL, clause="nm1/digest/recent-failures-cut")
class LongMissesAreWhole(_Misses):
    """A long missed term is shown whole."""

    def change(self, body: Body) -> None:
        for row in body.get("recent_failures", {}).get("recall_misses", ()):
            head = row["term"].rstrip("…")
            if head != row["term"]:
                row["term"] = next(term for terms in self.missed for term in terms if _plain(term).startswith(head))


def _plain(term: str) -> str:
    """A term without case and accents, as far as the cases go."""
    return term.casefold().replace("í", "i")


@area.liar(TOOL, RETRIEVE, clause="nm1/digest/lane-overrides")
class EveryNamedLaneIsAnOverride(Interceptor):
    """lane_overrides_total counts every call that names a lane other than auto."""

    def __init__(self) -> None:
        self._named = 0

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        self._named += call.name == RETRIEVE and call.arguments.get("lane", "auto") != "auto"
        if call.name != TOOL or not self._named:
            return result
        return with_body(result, {**body_of(result), "lane_overrides_total": self._named})


@area.success(TOOL, clause="nm1/digest/lane-overrides")
def no_override_is_counted(call: ToolCall, body: Body) -> None:
    """Without an override lane_overrides_total is 0."""
    body.setdefault("lane_overrides_total", 0)


@area.success(TOOL, clause="nm1/digest/lane-overrides")
def overrides_belong_to_no_project(call: ToolCall, body: Body) -> None:
    """A digest of a subtree has no lane_overrides_total."""
    if "project_prefix" in call.arguments:
        body.pop("lane_overrides_total", None)


@area.success(TOOL, clause="nm1/digest/sources-absent")
def no_source_is_a_section(call: ToolCall, body: Body) -> None:
    """Without a scanned repository there is an empty section of sources."""
    body.setdefault("sources", [])


@area.liar(TOOL, clause="nm1/digest/relations")
class WitnessesAreNoRelations(History):
    """relations leaves witnesses edges out."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            body["relations"] -= len(self.ends("witnesses"))


def _is_no_relation(kind: str) -> None:
    """Add the lie that edges of a kind are not counted."""

    class Lie(History):
        def change(self, call: ToolCall, body: Body) -> None:
            if call.name == TOOL:
                body["relations"] -= len(self.ends(kind))

    Lie.__name__, Lie.__doc__ = f"{kind}_is_no_relation", f"relations leaves {kind} edges out."
    area.liar(TOOL, clause="nm1/digest/relations")(Lie)


for _kind in ("derived_from", "falsifies", "proposes", "part_of", "grounded_in"):
    _is_no_relation(_kind)


@area.liar(TOOL, clause="nm1/digest/relations")
class EdgesOfTheForgottenDoNotCount(History):
    """relations leaves edges of the forgotten out."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            body["relations"] -= sum(bool({begin, end} & set(self.forgotten)) for _, begin, end in self.edges)


@area.liar(TOOL, clause="nm1/digest/audit-events")
class ForgettingIsNotAudited(History):
    """audit_events does not count what was forgotten."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            body["audit_events"] -= len(self.forgotten)


@area.item(TOOL, at="pinned", clause="nm1/digest/pinned")
def the_pinned_need_no_mark(call: ToolCall, row: Body) -> None:
    """Rows of pinned don't say that they are."""
    row.pop("pinned")


@area.liar(TOOL, clause="nm1/digest/pinned")
class PinsStayInTheirSection(Interceptor):
    """What is unpinned stays in the section of pins."""

    def __init__(self) -> None:
        self._rows: dict[str, Body] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or call.name != TOOL:
            return result
        body = body_of(result)
        self._rows |= {row["id"]: row for row in body.get("pinned", ())}
        if "pinned" in body:
            body["pinned"] = list(self._rows.values())
        return with_body(result, body)


@area.success(TOOL, clause="nm1/digest/empty")
def an_empty_store_has_no_graph(call: ToolCall, body: Body) -> None:
    """An empty store has no dag."""
    if not body["total"] and not call.arguments:
        body.pop("dag")
