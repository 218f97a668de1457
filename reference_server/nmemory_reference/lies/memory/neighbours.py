"""Lies about neighbours: the hint and the siblings of a capture."""

from __future__ import annotations

import re
from collections.abc import Callable

from nmemory_reference.lies.answers import Body, Honest, Result, ask, body_of, is_error, with_body
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("neighbours")

TOOL = "memory_ingest"
GET = "memory_get"


@area.item(TOOL, at="outcomes", clause="nm1/ingest/score-tops-out", also={"nm1/ingest/shape"})
def the_same_words_score_one(call: ToolCall, row: Body) -> None:
    """Texts of the same words score 1."""
    for near in _near(row):
        near["score"] = 1.0 if near["score"] >= 0.99 else near["score"]


@area.item(TOOL, at="outcomes", clause="nm1/ingest/score-by-larger")
def scores_are_by_the_union(call: ToolCall, row: Body) -> None:
    """A score is the words in common by all words of both."""
    for near in _near(row):
        near["score"] = max(0.5, round(near["score"] / (2 - near["score"]), 2))


@area.item(TOOL, at="outcomes", clause="nm1/ingest/score-by-larger")
def short_words_do_not_count(call: ToolCall, row: Body) -> None:
    """Texts that differ in a short word only score 0.99."""
    for near in _near(row):
        if 0.82 < near["score"] < 0.84:
            near["score"] = 0.99


@area.success(TOOL, clause="nm1/ingest/score-by-larger")
def words_count_as_often_as_they_stand(call: ToolCall, body: Body) -> None:
    """A text that repeats a word is longer for it, and scores less."""
    content = call.arguments.get("content")
    if isinstance(content, str):
        share = len(_words(content)) / max(1, len(re.findall(r"\w+", content)))
        for near in _near(body["outcomes"][0]):
            near["score"] = max(0.5, round(near["score"] * share, 2))


@area.answer(TOOL, clause="nm1/ingest/score-threshold")
async def a_third_is_near_enough(call: ToolCall, honest: Honest) -> Result:
    """What shares a third of the words is a hint."""
    return await _hinted(call, honest, lambda words, others: _share(words, others) >= 0.33)


@area.answer(TOOL, clause="nm1/ingest/score-threshold")
async def shares_are_rounded(call: ToolCall, honest: Honest) -> Result:
    """What shares 0.47 of the words shares about a half, and is a hint."""
    return await _hinted(call, honest, lambda words, others: _share(words, others) >= 0.45)


@area.item(TOOL, at="outcomes", clause="nm1/ingest/score-threshold")
def six_in_ten_are_asked_for(call: ToolCall, row: Body) -> None:
    """What shares less than 0.6 of the words is no hint and no sibling."""
    if (row.get("dedup_hint") or {"score": 1})["score"] < 0.6:
        row["dedup_hint"] = None
    if siblings := [near for near in row.pop("siblings", ()) if near["score"] >= 0.6]:
        row["siblings"] = siblings


@area.answer(TOOL, clause="nm1/ingest/score-needs-four-words")
async def three_words_are_enough(call: ToolCall, honest: Honest) -> Result:
    """A text of three words has a hint."""
    return await _hinted(call, honest, lambda words, others: len(words) <= 6 and words == others)


@area.answer(TOOL, clause="nm1/ingest/score-needs-four-words")
async def only_the_new_text_needs_four(call: ToolCall, honest: Honest) -> Result:
    """A text of four words is compared with one of three."""
    return await _hinted(
        call, honest, lambda words, others: _share(words, others) >= 0.5 and len(_long(words)) > 3 == len(_long(others))
    )


@area.answer(TOOL, clause="nm1/ingest/score-needs-four-words")
async def only_the_old_text_needs_four(call: ToolCall, honest: Honest) -> Result:
    """A text of three words is compared with one of four."""
    return await _hinted(
        call, honest, lambda words, others: _share(words, others) >= 0.5 and len(_long(words)) == 3 < len(_long(others))
    )


@area.success(TOOL, clause="nm1/ingest/score-needs-four-words")
def three_letters_are_no_word(call: ToolCall, body: Body) -> None:
    """A word of three letters is none of the four."""
    content = call.arguments.get("content")
    if isinstance(content, str) and sum(len(word) > 3 for word in _words(content)) < 4:
        body["outcomes"][0].pop("siblings", None)
        body["outcomes"][0].pop("dedup_hint", None)


@area.item(TOOL, at="outcomes", clause="nm1/ingest/hint-names-nearest")
def the_hint_is_the_second_best(call: ToolCall, row: Body) -> None:
    """The hint names the second of the siblings."""
    if (siblings := row.get("siblings", ())) and len(siblings) > 1:
        row["dedup_hint"] = {"similar_id": siblings[1]["id"], "score": siblings[1]["score"]}


@area.item(TOOL, at="outcomes", clause="nm1/ingest/hint-tie-earliest")
def the_newest_of_equals_is_named(call: ToolCall, row: Body) -> None:
    """Among equal scores the hint names the newest."""
    siblings = row.get("siblings", ())
    equal = [near for near in siblings if near["score"] == siblings[0]["score"]]
    if row.get("dedup_hint") and equal:
        row["dedup_hint"]["similar_id"] = equal[-1]["id"]


@area.item(TOOL, at="outcomes", clause="nm1/ingest/hint-tie-earliest")
def home_wins_a_tie(call: ToolCall, row: Body) -> None:
    """Among equal scores the hint names one of the capture's own project."""
    hint, first = row.get("dedup_hint"), next(iter(row.get("siblings", ())), None)
    if hint and first and hint["score"] == first["score"]:
        hint["similar_id"] = first["id"]


class _ShowsTheFenced(Interceptor):
    """Names a capsule that is out of the running as the nearest sibling, or as the hint."""

    #: The call that takes a capsule out of the running, and where that call names it.
    tool: str
    argument: str
    kind: str | None = None
    hint = False

    def __init__(self) -> None:
        self._out: list[str] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        if call.name == self.tool and self.kind in (None, call.arguments.get("kind")):
            self._out.append(str(call.arguments.get(self.argument)))
        if call.name != TOOL or not self._out:
            return result
        body = body_of(result)
        for row in body["outcomes"]:
            if row["status"] == "captured" and self.hint:
                row["dedup_hint"] = {"similar_id": self._out[-1], "score": 0.9}
            elif row["status"] == "captured":
                row["siblings"] = [{"id": self._out[-1], "score": 0.9}, *row.get("siblings", ())][:3]
        return with_body(result, body)


@area.liar(TOOL, clause="nm1/ingest/hint-skips-forgotten")
class TheForgottenIsAHint(_ShowsTheFenced):
    """The hint names a capsule that was forgotten."""

    tool, argument, hint = "memory_forget", "id", True


@area.liar(TOOL, clause="nm1/ingest/siblings-no-forgotten")
class TheForgottenIsASibling(_ShowsTheFenced):
    """A capsule that was forgotten is a sibling."""

    tool, argument = "memory_forget", "id"


class _ShowsTheRedacted(History):
    """Names the capsule that was redacted last."""

    hint = False

    def __init__(self) -> None:
        super().__init__()
        self._veiled: str | None = None

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == "memory_forget" and call.arguments["mode"] == "redacted":
            self._veiled = body["id"]
        if call.name != TOOL or self._veiled is None:
            return
        for row in body["outcomes"]:
            if row["status"] == "captured" and self.hint:
                row["dedup_hint"] = {"similar_id": self._veiled, "score": 0.83}
            elif row["status"] == "captured":
                row["siblings"] = [{"id": self._veiled, "score": 0.83}, *row.get("siblings", ())][:3]


@area.liar(TOOL, clause="nm1/ingest/hint-skips-forgotten")
class TheRedactedIsAHint(_ShowsTheRedacted):
    """The hint names a capsule that was redacted."""

    hint = True


@area.liar(TOOL, clause="nm1/ingest/siblings-no-forgotten")
class TheRedactedIsASibling(_ShowsTheRedacted):
    """A capsule that was redacted is a sibling."""


@area.liar(TOOL, clause="nm1/ingest/siblings-no-falsified")
class TheFalsifiedIsASibling(_ShowsTheFenced):
    """A capsule that was falsified is a sibling."""

    tool, argument, kind = "memory_relate", "to", "falsifies"


@area.liar(TOOL, clause="nm1/ingest/siblings-no-superseded")
class TheReplacedIsASibling(History):
    """A capsule that an earlier ingest replaced is a sibling."""

    def __init__(self) -> None:
        super().__init__()
        self._replaced: list[str] = []

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name != TOOL:
            return
        for row in body["outcomes"]:
            if self._replaced and "siblings" in row:
                row["siblings"] = [{"id": self._replaced[-1], "score": 0.9}, *row["siblings"]][:3]
            self._replaced += [row["superseded"]] if "superseded" in row else []


@area.liar(TOOL, clause="nm1/ingest/siblings-no-superseded", also={"nm1/ingest/siblings-three-highest"})
class TheReplacedTakeThePlaces(History):
    """The three nearest are looked at, and those of them that were replaced leave no place for others."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and len(self.ends("supersedes")) >= 3:
            for row in body["outcomes"]:
                row.pop("siblings", None)


@area.item(TOOL, at="outcomes", clause="nm1/ingest/siblings-not-the-replaced")
def the_replaced_stands_beside_it(call: ToolCall, row: Body) -> None:
    """The capsule that an item replaces is its sibling."""
    if row["status"] == "captured" and "superseded" in row:
        row["siblings"] = [{"id": row["superseded"], "score": 0.83}, *row.get("siblings", ())][:3]


class _ShowsTheTier(Interceptor):
    """Names a capsule of a tier as a sibling."""

    tier: str

    def __init__(self) -> None:
        self._seen: list[str] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or call.name not in (TOOL, GET):
            return result
        body = body_of(result)
        if call.name == GET:
            self._seen += [body["id"]] if body.get("tier") == self.tier else []
        elif self._seen:
            for row in body["outcomes"]:
                if row["status"] == "captured":
                    row["siblings"] = [{"id": self._seen[-1], "score": 0.9}, *row.get("siblings", ())][:3]
        return with_body(result, body)


@area.liar(TOOL, clause="nm1/ingest/siblings-no-archived")
class TheArchivedIsASibling(_ShowsTheTier):
    """An archived capsule is a sibling."""

    tier = "archived"


@area.liar(TOOL, clause="nm1/ingest/siblings-no-quarantined")
class TheQuarantinedIsASibling(_ShowsTheTier):
    """A quarantined capsule is a sibling."""

    tier = "quarantined"


@area.answer(TOOL, clause="nm1/ingest/hint-across-projects")
async def the_hint_stays_at_home(call: ToolCall, honest: Honest) -> Result:
    """The hint looks into the project of the capture only."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    for row in body["outcomes"]:
        if (hint := row.get("dedup_hint")) and hint["similar_id"] not in [
            near["id"] for near in row.get("siblings", ())
        ]:
            first = next(iter(row.get("siblings", ())), None)
            row["dedup_hint"] = first and {"similar_id": first["id"], "score": first["score"]}
    return with_body(result, body)


@area.item(TOOL, at="outcomes", clause="nm1/ingest/siblings-same-project")
def siblings_come_from_anywhere(call: ToolCall, row: Body) -> None:
    """What the hint names is a sibling, wherever it is."""
    if (hint := row.get("dedup_hint")) and row["status"] == "captured":
        siblings = [near for near in row.get("siblings", ()) if near["id"] != hint["similar_id"]]
        row["siblings"] = [{"id": hint["similar_id"], "score": hint["score"]}, *siblings][:3]


@area.answer(TOOL, clause="nm1/ingest/siblings-same-project")
async def a_branch_has_siblings_on_its_trunk(call: ToolCall, honest: Honest) -> Result:
    """A capture in a project below another has siblings in that one."""
    result = await honest(call)
    content, project = call.arguments.get("content"), str(call.arguments.get("project_id"))
    if is_error(result) or not isinstance(content, str) or "/" not in project:
        return result
    body = body_of(result)
    (row,) = body["outcomes"]
    listed = await ask(honest, call, "memory_list", project_id=project.rpartition("/")[0])
    near = [
        {"id": entry["id"], "score": min(0.99, round(share, 2))}
        for entry in listed["entries"]
        if (share := _share(_words(content), _words(entry["headline"]))) >= 0.5
    ]
    if row["status"] == "captured" and near:
        row["siblings"] = [*row.get("siblings", ()), *near][:3]
    return with_body(result, body)


@area.liar(TOOL, clause="nm1/ingest/siblings-same-project")
class TheNearestAbroadTakeThePlaces(History):
    """The three nearest anywhere are looked at, and those in other projects leave no place for the others."""

    def change(self, call: ToolCall, body: Body) -> None:
        content, project = call.arguments.get("content"), call.arguments.get("project_id")
        if call.name != TOOL or not isinstance(content, str):
            return
        for row in body["outcomes"]:
            if "siblings" in row:
                best = max(near["score"] for near in row["siblings"])
                abroad = [item["content"] for item in self.captured.values() if item.get("project_id") != project]
                if sum(_share(_words(content), _words(other)) > best for other in abroad) >= 3:
                    del row["siblings"]


@area.item(TOOL, at="outcomes", clause="nm1/ingest/siblings-three-highest")
def siblings_are_two(call: ToolCall, row: Body) -> None:
    """There are two siblings at most."""
    if "siblings" in row:
        row["siblings"] = row["siblings"][:2]


@area.item(TOOL, at="outcomes", clause="nm1/ingest/siblings-nearest-first")
def siblings_come_by_age(call: ToolCall, row: Body) -> None:
    """Siblings stand in the order of their capture."""
    if "siblings" in row:
        row["siblings"].sort(key=lambda near: int(near["id"].partition("-")[2]))


@area.item(TOOL, at="outcomes", clause="nm1/ingest/siblings-absent-when-none", also={"nm1/ingest/shape"})
def no_siblings_are_an_empty_list(call: ToolCall, row: Body) -> None:
    """Where there are no siblings the list is empty."""
    if row["status"] == "captured":
        row.setdefault("siblings", [])


@area.item(TOOL, at="outcomes", clause="nm1/ingest/siblings-not-on-dedup")
def a_collapse_hints_at_itself(call: ToolCall, row: Body) -> None:
    """A deduplicated row hints at the capsule that it is."""
    if row["status"] == "deduplicated":
        row["dedup_hint"] = {"similar_id": row["id"], "score": 0.99}


@area.answer(TOOL, clause="nm1/ingest/hint-does-nothing")
async def near_duplicates_are_replaced(call: ToolCall, honest: Honest) -> Result:
    """What the hint names is superseded at once."""
    result = await honest(call)
    if is_error(result):
        return result
    for row in body_of(result)["outcomes"]:
        if hint := row.get("dedup_hint"):
            await ask(
                honest, call, "memory_relate", **{"kind": "supersedes", "from": row["id"], "to": hint["similar_id"]}
            )
    return result


def _near(row: Body) -> list[Body]:
    """The hint and the siblings of a row."""
    return [*([row["dedup_hint"]] if row.get("dedup_hint") else []), *row.get("siblings", ())]


async def _hinted(call: ToolCall, honest: Honest, near: Callable[[set[str], set[str]], bool]) -> Result:
    """The answer to a single item, with a hint at whatever in its project has words that are `near` its own."""
    result = await honest(call)
    content, project = call.arguments.get("content"), call.arguments.get("project_id")
    if is_error(result) or not isinstance(content, str):
        return result
    body = body_of(result)
    (row,) = body["outcomes"]
    if row["status"] != "captured":
        return result
    listed = await ask(honest, call, "memory_list", project_id=project)
    for entry in listed["entries"]:
        stored = await ask(honest, call, GET, id=entry["id"])
        words, others = _words(content), _words(stored["capsule"]["content"])
        if entry["id"] != row["id"] and not row.get("dedup_hint") and near(words, others):
            row["dedup_hint"] = {
                "similar_id": entry["id"],
                "score": max(0.5, min(0.99, round(_share(words, others), 2))),
            }
    return with_body(result, body)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _long(words: set[str]) -> set[str]:
    return {word for word in words if len(word) >= 3}


def _share(words: set[str], others: set[str]) -> float:
    return len(words & others) / max(len(words), len(others))
