"""Lies about list: which rows there are, in which order, and what they say."""

from __future__ import annotations

from collections.abc import Callable

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
from nmemory_reference.lies.memory import prefixes
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import ToolCall

area = Area("list")

TOOL = "memory_list"


def number(row: Body) -> int:
    """The number in a row's id."""
    return int(row["id"].partition("-")[2])


def keep(body: Body, rows: list[Body]) -> None:
    """Make these rows the answer."""
    body["entries"], body["returned"] = rows, len(rows)


@area.success(TOOL, clause="nm1/list/shape")
def nothing_is_no_list(call: ToolCall, body: Body) -> None:
    """Where nothing is listed there are no entries."""
    if not body["entries"]:
        body.pop("entries")


@area.item(TOOL, at="entries", clause="nm1/list/shape")
def nothing_listed_is_tainted(call: ToolCall, row: Body) -> None:
    """instruction_taint is false in every row."""
    row["instruction_taint"] = False


@area.liar(TOOL, clause="nm1/list/shape")
class RowsAreAsOldAsTheirFacts(History):
    """created_at is the instant since when a capsule is valid."""

    def change(self, call: ToolCall, body: Body) -> None:
        for row in body["entries"] if call.name == TOOL else ():
            row["created_at"] = self.captured.get(row["id"], {}).get("valid_from", row["created_at"])


@area.success(TOOL, clause="nm1/list/armour")
def lists_are_instructions(call: ToolCall, body: Body) -> None:
    """A filtered list is framed as instructions."""
    if call.arguments:
        body["framing"] = "INSTRUCTION"


@area.success(TOOL, clause="nm1/list/append-order")
def ids_are_sorted_as_texts(call: ToolCall, body: Body) -> None:
    """Rows are sorted by id, as texts are."""
    body["entries"].sort(key=lambda row: row["id"])


@area.success(TOOL, clause="nm1/list/append-order")
def the_replaced_come_last(call: ToolCall, body: Body) -> None:
    """Superseded rows stand behind the others."""
    body["entries"].sort(key=lambda row: row.get("superseded", False))


@area.success(TOOL, clause="nm1/list/append-order")
def the_pinned_come_first(call: ToolCall, body: Body) -> None:
    """Pinned rows stand before the others."""
    body["entries"].sort(key=lambda row: not row.get("pinned", False))


@area.liar(TOOL, clause="nm1/list/append-order")
class RowsStandByTheirFacts(History):
    """Rows stand in the order in which their capsules became valid."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            body["entries"].sort(key=lambda row: self.captured.get(row["id"], {}).get("valid_from", "9"))


@area.success(TOOL, clause="nm1/list/everything-but-forgotten")
def the_replaced_are_left_out(call: ToolCall, body: Body) -> None:
    """Without a filter superseded rows are left out."""
    if not call.arguments:
        keep(body, [row for row in body["entries"] if not row.get("superseded")])


@area.asking(TOOL, clause="nm1/list/everything-but-forgotten")
def ten_rows_will_do(call: ToolCall) -> ToolCall:
    """Without any argument ten rows are listed."""
    return call if call.arguments else asking(call, limit=10)


@area.asking(TOOL, clause="nm1/list/everything-but-forgotten")
def a_hundred_rows_will_do(call: ToolCall) -> ToolCall:
    """Without a limit it is 100."""
    return call if "limit" in call.arguments else asking(call, limit=100)


class _ListsTheForgotten(History):
    """Lists a forgotten capsule where one argument is given."""

    given: str

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and self.given in call.arguments and body["entries"]:
            gone = [
                {**body["entries"][0], "id": named, "headline": self.captured[named]["content"]}
                for named in self.forgotten
                if named in self.captured
            ]
            keep(body, sorted([*body["entries"], *gone], key=number))


@area.liar(TOOL, clause="nm1/list/forgotten-never")
class TheForgottenHasAKind(_ListsTheForgotten):
    """A list of one kind still has the forgotten."""

    given = "kind"


@area.liar(TOOL, clause="nm1/list/forgotten-never")
class TheForgottenHasATier(_ListsTheForgotten):
    """A list of one tier still has the forgotten."""

    given = "tier"


@area.liar(TOOL, clause="nm1/list/forgotten-never")
class TheForgottenHasASubtree(_ListsTheForgotten):
    """A list of a subtree still has the forgotten."""

    given = "project_prefix"


@area.liar(TOOL, "memory_forget", clause="nm1/list/forgotten-never")
class TheRedactedIsListed(History):
    """A capsule that was redacted keeps its row, without a word."""

    def __init__(self) -> None:
        super().__init__()
        self._redacted: list[str] = []

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == "memory_forget" and call.arguments.get("mode") == "redacted":
            self._redacted.append(body["id"])
        if call.name == TOOL and body["entries"]:
            rest = [{**body["entries"][0], "id": named, "headline": ""} for named in self._redacted]
            keep(body, sorted([*body["entries"], *rest], key=number))


@area.liar(TOOL, clause="nm1/list/falsified-listed")
class TheFalsifiedIsLeftOut(History):
    """What is falsified is not listed."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            keep(body, [row for row in body["entries"] if row["id"] not in self.ends("falsifies")])


@area.liar(TOOL, clause="nm1/list/compact")
class RowsHaveContents(History):
    """A row of several lines has its content beside the headline."""

    def change(self, call: ToolCall, body: Body) -> None:
        for row in body["entries"] if call.name == TOOL else ():
            if "\n" in (content := self.captured.get(row["id"], {}).get("content", "")):
                row["content"] = content


@area.liar(TOOL, clause="nm1/list/compact")
class LongRowsHaveTheirRest(History):
    """A row whose line was cut has the rest of it beside the headline."""

    def change(self, call: ToolCall, body: Body) -> None:
        for row in body["entries"] if call.name == TOOL else ():
            content = self.captured.get(row["id"], {}).get("content", "")
            if len(content) > 141 and "\n" not in content:
                row["rest"] = content[140:]


@area.liar(TOOL, clause="nm1/list/headline")
class HeadlinesAreLong(History):
    """A headline is cut at 280 characters."""

    def change(self, call: ToolCall, body: Body) -> None:
        for row in body["entries"] if call.name == TOOL else ():
            content = self.captured.get(row["id"], {}).get("content", "")
            if len(content) > 280:
                row["headline"] = content[:280] + "…"


@area.item(TOOL, at="entries", clause="nm1/list/headline")
def headlines_are_cut_by_bytes(call: ToolCall, row: Body) -> None:
    """A headline has at most 140 bytes."""
    if len(row["headline"].encode()) > 150:
        row["headline"] = row["headline"].encode()[:140].decode(errors="ignore") + "…"


@area.item(TOOL, at="entries", clause="nm1/list/headline")
def headlines_are_cut_with_dots(call: ToolCall, row: Body) -> None:
    """A headline that was cut ends in three full stops."""
    row["headline"] = row["headline"].replace("…", "...")


@area.answer(TOOL, clause="nm1/list/limit-newest")
async def limit_keeps_the_oldest(call: ToolCall, honest: Honest) -> Result:
    """limit keeps the rows that were captured first."""
    limit = call.arguments.get("limit")
    result = await honest(without(call, "limit"))
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0 or is_error(result):
        return await honest(call)
    body = body_of(result)
    keep(body, body["entries"][:limit])
    return with_body(result, body)


@area.success(TOOL, clause="nm1/list/limit-newest")
def a_limit_reads_newest_first(call: ToolCall, body: Body) -> None:
    """Where a limit is given the newest row comes first."""
    if "limit" in call.arguments:
        body["entries"].reverse()


@area.answer(TOOL, clause="nm1/list/limit-after-filters")
async def kinds_are_filtered_last(call: ToolCall, honest: Honest) -> Result:
    """limit counts the rows of every kind."""
    result = await honest(without(call, "kind"))
    if "kind" not in call.arguments or "limit" not in call.arguments or is_error(result):
        return await honest(call)
    body = body_of(result)
    keep(body, [row for row in body["entries"] if row.get("kind") == call.arguments["kind"]])
    return with_body(result, body)


@area.answer(TOOL, clause="nm1/list/limit-after-filters")
async def expiry_is_filtered_last(call: ToolCall, honest: Honest) -> Result:
    """limit counts expired rows that are left out."""
    result = await honest(without(call, "expired"))
    if call.arguments.get("expired") is not False or "limit" not in call.arguments or is_error(result):
        return await honest(call)
    body = body_of(result)
    keep(body, [row for row in body["entries"] if not row.get("expired")])
    return with_body(result, body)


async def _cut_before(call: ToolCall, honest: Honest, fence: str) -> Result:
    """The answer where limit was taken before one fence was looked at."""
    result = await honest(call)
    if fence not in call.arguments or "limit" not in call.arguments or is_error(result):
        return result
    wide = body_of(await honest(without(call, fence)))["entries"]
    body = body_of(result)
    ids = {row["id"] for row in wide}
    keep(body, [row for row in body["entries"] if row["id"] in ids])
    return with_body(result, body)


@area.answer(TOOL, clause="nm1/list/limit-after-filters")
async def projects_are_filtered_last(call: ToolCall, honest: Honest) -> Result:
    """limit counts rows of every project."""
    return await _cut_before(call, honest, "project_id")


@area.answer(TOOL, clause="nm1/list/limit-after-filters")
async def subtrees_are_filtered_last(call: ToolCall, honest: Honest) -> Result:
    """limit counts rows outside of the subtree."""
    return await _cut_before(call, honest, "project_prefix")


@area.answer(TOOL, clause="nm1/list/limit-after-filters")
async def tiers_are_filtered_last(call: ToolCall, honest: Honest) -> Result:
    """limit counts rows of every tier."""
    return await _cut_before(call, honest, "tier")


@area.asking(TOOL, clause="nm1/list/limit-zero")
def no_limit_is_all(call: ToolCall) -> ToolCall:
    """A limit of 0 is none."""
    return without(call, "limit") if call.arguments.get("limit") == 0 else call


@area.asking(TOOL, clause="nm1/list/project-exact")
def projects_have_subtrees(call: ToolCall) -> ToolCall:
    """project_id lists the projects below it too."""
    if "project_id" not in call.arguments or "project_prefix" in call.arguments:
        return call
    return asking(without(call, "project_id"), project_prefix=call.arguments["project_id"])


@area.answer(TOOL, clause="nm1/list/project-exact")
async def projects_have_no_case(call: ToolCall, honest: Honest) -> Result:
    """project_id is compared without case."""
    return await _where(call, honest, "project_id", lambda row, named: row["project_id"].lower() == named.lower())


@area.answer(TOOL, clause="nm1/list/prefix-subtree")
async def prefixes_are_strings(call: ToolCall, honest: Honest) -> Result:
    """project_prefix lists every project that begins with it."""
    return await _where(call, honest, "project_prefix", lambda row, named: row["project_id"].startswith(named))


@area.answer(TOOL, clause="nm1/list/prefix-subtree")
async def prefixes_are_patterns(call: ToolCall, honest: Honest) -> Result:
    """An underline in a prefix stands for any character."""

    def alike(row: Body, named: str) -> bool:
        head = row["project_id"][: len(named)]
        rest = row["project_id"][len(named) :]
        same = len(head) == len(named) and all(wild in ("_", found) for wild, found in zip(named, head, strict=True))
        return same and (not rest or rest.startswith("/"))

    return await _where(call, honest, "project_prefix", alike)


@area.answer(TOOL, clause="nm1/list/prefix-subtree")
async def a_subtree_has_one_level(call: ToolCall, honest: Honest) -> Result:
    """project_prefix reaches one level down."""

    def near(row: Body, named: str) -> bool:
        rest = row["project_id"][len(named) :]
        return row["project_id"].startswith(named) and (not rest or (rest[0] == "/" and rest.count("/") == 1))

    return await _where(call, honest, "project_prefix", near)


prefixes.forgive(area, TOOL, "nm1/list/prefix-degenerate")


@area.asking(TOOL, clause="nm1/list/fences-compose")
def the_project_wins(call: ToolCall) -> ToolCall:
    """Where a project is given the prefix is overlooked."""
    return without(call, "project_prefix") if "project_id" in call.arguments else call


@area.asking(TOOL, clause="nm1/list/fences-compose")
def the_prefix_wins(call: ToolCall) -> ToolCall:
    """Where a prefix is given the project is overlooked."""
    return without(call, "project_id") if "project_prefix" in call.arguments else call


@area.answer(TOOL, clause="nm1/list/kind-filter")
async def the_unlabelled_is_a_task(call: ToolCall, honest: Honest) -> Result:
    """What has no label is listed among tasks."""
    result = await honest(call)
    if call.arguments.get("kind") != "task" or is_error(result) or "limit" in call.arguments:
        return result
    body = body_of(result)
    rest = body_of(await honest(without(call, "kind")))["entries"]
    keep(body, sorted([*body["entries"], *({**row, "kind": "task"} for row in rest if "kind" not in row)], key=number))
    return with_body(result, body)


@area.liar(TOOL, clause="nm1/list/kind-filter")
class KindsAreThoseOfTheCapture(History):
    """kind lists what was captured with that label, whatever it was labelled since."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and (kind := call.arguments.get("kind")):
            captured = [named for named, item in self.captured.items() if item.get("kind") == kind]
            keep(body, [row for row in body["entries"] if row["id"] in captured])


@area.answer(TOOL, clause="nm1/list/kind-filter")
async def failure_patterns_are_facts(call: ToolCall, honest: Honest) -> Result:
    """A list of failure patterns is one of constraints."""
    return await honest(asking(call, kind="constraint") if call.arguments.get("kind") == "failure_pattern" else call)


@area.success(TOOL, clause="nm1/list/kind-echoed")
def a_filter_needs_no_echo(call: ToolCall, body: Body) -> None:
    """Where one kind is asked for the rows don't repeat it."""
    for row in body["entries"] if "kind" in call.arguments else ():
        row.pop("kind")


@area.item(TOOL, at="entries", clause="nm1/list/kind-echoed")
def a_kind_is_guessed(call: ToolCall, row: Body) -> None:
    """What has no label is shown as a fact."""
    row.setdefault("kind", "fact")


@area.success(TOOL, clause="nm1/list/tier-filter")
def no_list_of_the_quarantined(call: ToolCall, body: Body) -> None:
    """Nothing quarantined is listed."""
    if call.arguments.get("tier") == "quarantined":
        keep(body, [])


@area.asking(TOOL, clause="nm1/list/tier-filter")
def active_is_anything(call: ToolCall) -> ToolCall:
    """Tier active filters nothing."""
    return without(call, "tier") if call.arguments.get("tier") == "active" else call


@area.item(TOOL, at="entries", clause="nm1/list/tier-shown")
def every_row_has_a_tier(call: ToolCall, row: Body) -> None:
    """A row says active where that is its tier."""
    row.setdefault("tier", "active")


@area.success(TOOL, clause="nm1/list/tier-shown")
def rows_have_tiers_where_it_is_asked_for(call: ToolCall, body: Body) -> None:
    """A row names its tier where one tier is asked for."""
    for row in body["entries"] if "tier" not in call.arguments else ():
        row.pop("tier", None)


@area.asking(TOOL, clause="nm1/list/expired-filter")
def expired_false_is_no_filter(call: ToolCall) -> ToolCall:
    """expired false filters nothing."""
    return without(call, "expired") if call.arguments.get("expired") is False else call


@area.liar(TOOL, clause="nm1/list/expired-filter")
class TheCurrentHasAnEnd(History):
    """expired false lists what has an end that is to come."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and call.arguments.get("expired") is False:
            keep(body, [row for row in body["entries"] if "valid_to" in self.captured.get(row["id"], {})])


@area.item(TOOL, at="entries", clause="nm1/list/expired-shown")
def every_row_says_whether_it_has_expired(call: ToolCall, row: Body) -> None:
    """A row that has not expired says expired false."""
    row.setdefault("expired", False)


@area.success(TOOL, clause="nm1/list/expired-shown")
def rows_expire_where_it_is_asked_for(call: ToolCall, body: Body) -> None:
    """Rows say that they have expired where expired rows are asked for."""
    for row in body["entries"] if "expired" not in call.arguments else ():
        row.pop("expired", None)


@area.liar(TOOL, clause="nm1/list/superseded-shown")
class TheSuccessorIsSuperseded(History):
    """The successor says superseded, the replaced row does not."""

    def change(self, call: ToolCall, body: Body) -> None:
        for row in body["entries"] if call.name == TOOL else ():
            if row["id"] in self.begins("supersedes"):
                row["superseded"] = True


@area.liar(TOOL, clause="nm1/list/superseded-shown")
class AnyEdgeSupersedes(History):
    """A capsule that another one was derived from says superseded."""

    def change(self, call: ToolCall, body: Body) -> None:
        for row in body["entries"] if call.name == TOOL else ():
            if row["id"] in self.ends("derived_from"):
                row["superseded"] = True


@area.liar(TOOL, clause="nm1/list/superseded-shown")
class AChainRevives(History):
    """What was replaced by a capsule that was replaced itself says superseded no more."""

    def change(self, call: ToolCall, body: Body) -> None:
        replaced = {end for kind, begin, end in self.edges if kind == "supersedes" and begin in self.ends(kind)}
        for row in body["entries"] if call.name == TOOL else ():
            if row["id"] in replaced:
                row.pop("superseded", None)


@area.liar(TOOL, clause="nm1/list/superseded-shown")
class ForgettingRevives(History):
    """What was replaced says superseded no more once its successor is forgotten."""

    def change(self, call: ToolCall, body: Body) -> None:
        freed = {end for kind, begin, end in self.edges if kind == "supersedes" and begin in self.forgotten}
        for row in body["entries"] if call.name == TOOL else ():
            if row["id"] in freed:
                row.pop("superseded", None)


@area.asking(TOOL, clause="nm1/list/filters-compose")
def two_filters_are_enough(call: ToolCall) -> ToolCall:
    """Where a kind and a tier are given expiry is overlooked."""
    return without(call, "expired") if {"kind", "tier"} <= set(call.arguments) else call


@area.asking(TOOL, clause="nm1/list/filters-compose")
def what_has_expired_has_any_kind(call: ToolCall) -> ToolCall:
    """Where expired rows are asked for the kind is overlooked."""
    return without(call, "kind") if call.arguments.get("expired") is True else call


@area.asking(TOOL, clause="nm1/list/closed-filters")
def kinds_may_be_capitals(call: ToolCall) -> ToolCall:
    """A kind is read without case."""
    kind = call.arguments.get("kind")
    return asking(call, kind=kind.lower()) if isinstance(kind, str) else call


@area.answer(TOOL, clause="nm1/list/closed-filters")
async def an_unknown_tier_is_empty(call: ToolCall, honest: Honest) -> Result:
    """Nothing is of an unknown tier."""
    result = await honest(call)
    if not is_error(result) or not isinstance(call.arguments.get("tier"), str):
        return result
    body = await ask(honest, call, TOOL)
    keep(body, [])
    return with_body(await honest(without(call, "tier", "kind")), body)


@area.success(TOOL, clause="nm1/list/pinned")
def rows_are_pinned_together(call: ToolCall, body: Body) -> None:
    """Where one row is pinned every row says so."""
    if any(row.get("pinned") for row in body["entries"]):
        for row in body["entries"]:
            row["pinned"] = True


@area.liar(TOOL, clause="nm1/list/pinned")
class RowsStayPinned(History):
    """A row whose pin was taken off still says pinned."""

    def change(self, call: ToolCall, body: Body) -> None:
        for row in body["entries"] if call.name == TOOL else ():
            if row["id"] in self.pinned:
                row["pinned"] = True


async def _where(call: ToolCall, honest: Honest, fence: str, fits: Callable[[Body, str], bool]) -> Result:
    """The answer without a fence that is a text, of what fits that text."""
    result = await honest(call)
    named = call.arguments.get(fence)
    if is_error(result) or not isinstance(named, str) or "limit" in call.arguments:
        return result
    body = body_of(await honest(without(call, fence)))
    keep(body, [row for row in body["entries"] if fits(row, named)])
    return with_body(result, body)
