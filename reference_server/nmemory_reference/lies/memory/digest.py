"""Lies about digest: what it counts, what it lists, and how long its lists are."""

from __future__ import annotations

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
