"""Lies about the fences of a recall: projects, sessions and states, and what is said of what they keep out."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from nmemory_reference.lies.answers import Body, Honest, Result, ask, asking, body_of, is_error, with_body, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import VALUE, state_fault, success
from nmemory_reference.lies.memory.history import History
from nmemory_reference.lies.memory.recalled import (
    GET,
    LIST,
    PLENTY,
    RETRIEVE,
    abstention,
    also,
    became,
    capsule,
    entries,
    folded,
    found,
    grounded,
    instant,
    is_fused,
    is_vector,
    made_up,
    missing,
    recount,
    show_or_leave,
    sifted,
    terms_of,
    touched,
)
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("fences")


# Projects


def _by_project(name: str, says: str, clause: str, argument: str, keeps: Callable[[str, str], bool]) -> None:
    """A project fence that compares in its own way."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        fence = call.arguments.get(argument)
        if not isinstance(fence, str):
            return await honest(call)

        async def inside(row: Body) -> bool:
            shown = await capsule(call, honest, row["id"])
            return keeps(shown["capsule"]["scope"]["project_id"], fence)

        return await sifted(call, honest, inside, argument)

    lie.__name__, lie.__doc__ = name, says
    area.answer(RETRIEVE, clause=clause)(lie)


_by_project(
    "project_ids_are_beginnings",
    "project_id fences by the beginning of a project's name.",
    "nm1/retrieve/project-exact",
    "project_id",
    str.startswith,
)
_by_project(
    "prefixes_are_of_text",
    "project_prefix takes a project whose name only begins so.",
    "nm1/retrieve/project-subtree",
    "project_prefix",
    str.startswith,
)
_by_project(
    "a_subtree_has_no_root",
    "project_prefix leaves out the project of that name itself.",
    "nm1/retrieve/project-subtree",
    "project_prefix",
    lambda project, fence: project.startswith(f"{fence}/"),
)
_by_project(
    "a_subtree_is_one_step_deep",
    "project_prefix leaves out what is two steps below.",
    "nm1/retrieve/project-subtree",
    "project_prefix",
    lambda project, fence: project == fence or project.rpartition("/")[0] == fence,
)

_by_project(
    "project_ids_have_no_case",
    "project_id takes a project whose name has other capitals.",
    "nm1/retrieve/project-exact",
    "project_id",
    lambda project, fence: project.lower() == fence.lower(),
)
_by_project(
    "prefixes_have_no_case",
    "project_prefix takes what is below a project whose name has other capitals.",
    "nm1/retrieve/project-subtree",
    "project_prefix",
    lambda project, fence: project == fence or project.lower().startswith(f"{fence.lower()}/"),
)
_by_project(
    "prefixes_are_patterns",
    "In project_prefix an underscore is any letter.",
    "nm1/retrieve/project-subtree",
    "project_prefix",
    lambda project, fence: project == fence or bool(re.match(fence.replace("_", ".") + "/", project)),
)


def _for_words(fence: str, plural: str, clause: str) -> None:
    """A fence that in lane fused holds for what words find, and not for what vectors do."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        if not is_fused(call) or fence not in call.arguments:
            return await honest(call)
        return await also(call, honest, asking(without(call, fence), lane="vector"))

    lie.__name__ = f"fusion_brings_neighbours_of_other_{plural}"
    lie.__doc__ = f"In lane fused {fence} fences the words, and not the vectors."
    area.answer(RETRIEVE, clause=clause)(lie)


_for_words("project_id", "projects", "nm1/retrieve/project-exact")
_for_words("project_prefix", "subtrees", "nm1/retrieve/project-subtree")
_for_words("session_id", "sessions", "nm1/retrieve/session-fence")


@area.asking(RETRIEVE, clause="nm1/retrieve/fences-compose")
def vectors_know_one_fence(call: ToolCall) -> ToolCall:
    """In lane vector the project does not fence where a session does."""
    return without(call, "project_id") if is_vector(call) and "session_id" in call.arguments else call


@area.asking(RETRIEVE, clause="nm1/retrieve/fences-compose")
def a_session_replaces_the_project(call: ToolCall) -> ToolCall:
    """With a session the project does not fence."""
    return without(call, "project_id") if "session_id" in call.arguments else call


@area.asking(RETRIEVE, clause="nm1/retrieve/fences-compose")
def a_session_replaces_the_prefix(call: ToolCall) -> ToolCall:
    """With a session the prefix does not fence."""
    return without(call, "project_prefix") if "session_id" in call.arguments else call


@area.asking(RETRIEVE, clause="nm1/retrieve/fences-compose")
def a_prefix_replaces_the_session(call: ToolCall) -> ToolCall:
    """With a prefix the session does not fence."""
    return without(call, "session_id") if "project_prefix" in call.arguments else call


@area.asking(RETRIEVE, clause="nm1/retrieve/fences-compose")
def a_prefix_replaces_the_project(call: ToolCall) -> ToolCall:
    """With a project and a prefix only the project fences."""
    both = {"project_prefix", "project_id"} <= call.arguments.keys()
    return without(call, "project_prefix") if both else call


async def _afterwards(call: ToolCall, honest: Honest, *fences: str) -> Result:
    """The answer to a call whose fences are looked at after the ranking and the cutting."""
    inside = {row["id"] for row in found(body_of(await honest(asking(call, limit=1000, token_budget=PLENTY))))}

    async def keeps(row: Body) -> bool:
        return row["id"] in inside

    return await sifted(call, honest, keeps, *fences)


def _late(fence: str, plural: str) -> None:
    """A fence that is looked at after the limit was applied, and one after vector_k was."""

    async def sift(call: ToolCall, honest: Honest) -> Result:
        sifts = call.arguments.get("limit") == 1 and fence in call.arguments and "query_embedding" not in call.arguments
        return await _afterwards(call, honest, fence) if sifts else await honest(call)

    async def take(call: ToolCall, honest: Honest) -> Result:
        if not is_vector(call) or not {"vector_k", fence} <= call.arguments.keys() or "time_window" in call.arguments:
            return await honest(call)
        near = body_of(await honest(without(call, fence)))
        whole = await honest(without(call, "vector_k"))
        body = body_of(whole)
        taken = {row["id"] for row in found(near)}
        show_or_leave(body, [row for row in found(body) if row["id"] in taken])
        return with_body(whole, body)

    sift.__name__, sift.__doc__ = f"{plural}_are_sifted_last", f"The limit is applied before {fence} is looked at."
    area.answer(RETRIEVE, clause="nm1/retrieve/fence-before-ranking")(sift)
    if fence != "time_window":
        take.__name__, take.__doc__ = f"the_nearest_of_all_{plural}", f"vector_k comes before {fence} is looked at."
        area.answer(RETRIEVE, clause="nm1/retrieve/fence-before-ranking")(take)


_late("project_id", "projects")
_late("project_prefix", "subtrees")
_late("session_id", "sessions")
_late("time_window", "windows")


# Sessions


@area.answer(RETRIEVE, clause="nm1/retrieve/session-fence")
async def the_unlabelled_is_everybodys(call: ToolCall, honest: Honest) -> Result:
    """What has no label is found in every session."""
    fence = call.arguments.get("session_id")
    if not isinstance(fence, str) or not fence.strip():
        return await honest(call)
    inside = {row["id"] for row in found(body_of(await honest(asking(call, token_budget=PLENTY))))}

    async def keeps(row: Body) -> bool:
        return row["id"] in inside or "sess-" not in str(await capsule(call, honest, row["id"]))

    return await sifted(call, honest, keeps, "session_id") if inside else await honest(call)


@area.asking(RETRIEVE, clause="nm1/retrieve/session-fence")
def sessions_are_for_words(call: ToolCall) -> ToolCall:
    """Lane vector knows no session."""
    return without(call, "session_id") if is_vector(call) else call


def _by_label(name: str, says: str, keeps: Callable[[str, str], bool]) -> None:
    """A session fence that compares in its own way."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        fence = call.arguments.get("session_id")
        if not isinstance(fence, str) or not fence.strip():
            return await honest(call)

        async def inside(row: Body) -> bool:
            label = (await capsule(call, honest, row["id"])).get("session_id")
            return isinstance(label, str) and keeps(label, fence)

        return await sifted(call, honest, inside, "session_id")

    lie.__name__, lie.__doc__ = name, says
    area.answer(RETRIEVE, clause="nm1/retrieve/session-label-exact")(lie)


_by_label("labels_are_beginnings", "The beginning of a label is the label.", str.startswith)
_by_label("labels_may_go_on", "A label with more behind it is the label.", lambda label, fence: fence.startswith(label))


@area.asking(RETRIEVE, clause="nm1/retrieve/session-label-exact")
def labels_have_no_case(call: ToolCall) -> ToolCall:
    """A label in capitals is the same label."""
    label = call.arguments.get("session_id")
    return asking(call, session_id=label.lower()) if isinstance(label, str) else call


@area.asking(RETRIEVE, clause="nm1/retrieve/session-label-exact")
def labels_are_folded(call: ToolCall) -> ToolCall:
    """A label with an accent is the same label."""
    label = call.arguments.get("session_id")
    return asking(call, session_id=folded(label)) if isinstance(label, str) and not label.isascii() else call


@area.answer(RETRIEVE, clause="nm1/retrieve/session-label-exact")
async def labels_have_a_form(call: ToolCall, honest: Honest) -> Result:
    """A label of another form than the store's own is refused."""
    label = call.arguments.get("session_id")
    if isinstance(label, str) and re.search(r"[^\w-]", label.strip()) and "not a session" in label:
        raise RpcFault(VALUE, "session_id has to look like sess-1")
    return await honest(call)


@area.answer(RETRIEVE, clause="nm1/retrieve/session-label-exact")
async def labels_are_short(call: ToolCall, honest: Honest) -> Result:
    """A long label is refused."""
    if len(str(call.arguments.get("session_id", ""))) > 255:
        raise RpcFault(VALUE, "session_id is too long")
    return await honest(call)


@area.answer(RETRIEVE, clause="nm1/retrieve/session-label-blank")
async def a_blank_label_finds_nothing(call: ToolCall, honest: Honest) -> Result:
    """A label of blanks is that of no capsule."""
    label = call.arguments.get("session_id")
    return success(**abstention()) if isinstance(label, str) and not label.strip() else await honest(call)


class _Finished(Interceptor):
    """Knows which sessions are finished."""

    def __init__(self) -> None:
        self._finished: set[object] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == RETRIEVE and (label := call.arguments.get("session_id")) in self._finished:
            return self.closed(str(label))
        result = await honest(call)
        if call.name == "memory_session_finish" and not is_error(result):
            self._finished.add(call.arguments["session_id"])
        return result

    def closed(self, label: str) -> Result:
        """What is answered about a finished session."""
        raise NotImplementedError


@area.liar(RETRIEVE, "memory_session_finish", clause="nm1/retrieve/session-label-finished")
class FinishedSessionsAreForgotten(_Finished):
    """The label of a finished session finds nothing."""

    def closed(self, label: str) -> Result:
        return success(**abstention())


@area.liar(RETRIEVE, "memory_session_finish", clause="nm1/retrieve/session-label-finished")
class FinishedSessionsAreFaults(_Finished):
    """The label of a finished session is refused."""

    def closed(self, label: str) -> Result:
        return state_fault("finished_session", label)


@area.liar(RETRIEVE, "memory_session_start", clause="nm1/retrieve/session-label-unknown")
class EmptySessionsAreFaults(Interceptor):
    """The label of a session in which nothing was kept is refused."""

    def __init__(self) -> None:
        self._started: set[object] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "memory_session_start":
            self._started.add(body["session_id"])
        elif body.get("outcome") == "abstain" and (label := call.arguments.get("session_id")) in self._started:
            return state_fault("unknown_session", str(label))
        return result


# States

Fenced = Callable[[ToolCall, Honest, Body], Awaitable[bool]]


def _listed_as(flag: str) -> Fenced:
    async def is_so(call: ToolCall, honest: Honest, row: Body) -> bool:
        return bool(row.get(flag))

    return is_so


def _of_tier(tier: str) -> Fenced:
    async def is_so(call: ToolCall, honest: Honest, row: Body) -> bool:
        return row.get("tier") == tier

    return is_so


def _has_edge(kind: str) -> Fenced:
    async def is_so(call: ToolCall, honest: Honest, row: Body) -> bool:
        edges = (await capsule(call, honest, row["id"]))["relations"]
        return any(edge["kind"] == kind and edge["to"] == row["id"] for edge in edges)

    return is_so


async def _is_ahead(call: ToolCall, honest: Honest, row: Body) -> bool:
    freshness = (await capsule(call, honest, row["id"]))["capsule"]["freshness"]
    return bool(freshness["valid_from"] > row["created_at"] and not row.get("expired"))


#: How a capsule can be told that recall counts under a reason.
_STATES: dict[str, Fenced] = {
    "quarantined": _of_tier("quarantined"),
    "falsified": _has_edge("falsifies"),
    "archived": _of_tier("archived"),
    "superseded": _listed_as("superseded"),
    "expired": _listed_as("expired"),
    "not_yet_valid": _is_ahead,
}


def _in_words(reason: str) -> str:
    return reason.replace("_", " ")


def _leaks(reason: str, name: str, says: str, clause: str, when: Callable[[ToolCall], bool]) -> None:
    """A fence that is open: the row stands in the answer."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or not when(call) or reason not in body_of(result).get("excluded", {}):
            return result
        body = body_of(result)
        if set(body["excluded"]) != {reason} and not is_vector(call):
            return result
        seen = await (entries(call, honest) if is_vector(call) else touched(call, honest))
        ids = [row["id"] for row in seen if await _STATES[reason](call, honest, row)]
        rows = [*found(body), *[await made_up(call, honest, named) for named in ids]]
        rest = {other: count for other, count in body["excluded"].items() if other != reason}
        return success(**grounded(rows), **({"excluded": rest} if rest else {}))

    lie.__name__, lie.__doc__ = name, says
    area.answer(RETRIEVE, clause=clause)(lie)


for _reason in _STATES:
    _leaks(
        _reason,
        f"the_{_reason}_grounds",
        f"A capsule that is {_in_words(_reason)} is recalled.",
        f"nm1/retrieve/fence-{_reason.replace('_', '-')}",
        lambda call: "time_window" not in call.arguments and not is_vector(call),
    )
    _leaks(
        _reason,
        f"the_{_reason}_is_near",
        f"In lane vector a capsule that is {_in_words(_reason)} is recalled.",
        "nm1/retrieve/fences-vector-lane",
        is_vector,
    )


async def _is_inside(call: ToolCall, honest: Honest, named: str) -> bool:
    """Whether the declared time of a capsule begins in the window of a call."""
    window, declared = call.arguments["time_window"], (await capsule(call, honest, named)).get("event_time")
    if declared is None:
        return False
    begins = instant(declared["event_from"])
    after = window.get("from") is None or instant(window["from"]) <= begins
    return after and (window.get("to") is None or begins <= instant(window["to"]))


def _leaks_inside(reason: str, clause: str, vector: bool) -> None:
    """A fence that is open where the declared time is inside of the window."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or "time_window" not in call.arguments or is_vector(call) is not vector:
            return result
        body = body_of(result)
        if reason not in body.get("excluded", {}):
            return result
        seen = await (entries(call, honest) if vector else touched(call, honest))
        ids = [row["id"] for row in seen if await _STATES[reason](call, honest, row)]
        inside = [named for named in ids if await _is_inside(call, honest, named)]
        rows = [*found(body), *[await made_up(call, honest, named) for named in inside]]
        return success(**grounded(rows), receipt_id="rcpt-1") if inside else result

    lie.__name__ = f"the_{reason}_{'is_near' if vector else 'grounds'}_in_its_window"
    where = "In lane vector, under" if vector else "Under"
    lie.__doc__ = f"{where} a window around its declared time, a capsule that is {_in_words(reason)} is recalled."
    area.answer(RETRIEVE, clause=f"nm1/retrieve/{clause}")(lie)


_leaks_inside("falsified", "fence-order-window", vector=False)
_leaks_inside("superseded", "fence-order-window", vector=False)
_leaks_inside("expired", "fence-expired", vector=False)
_leaks_inside("not_yet_valid", "fence-not-yet-valid", vector=False)
_leaks_inside("falsified", "fences-vector-lane", vector=True)
_leaks_inside("superseded", "fences-vector-lane", vector=True)
_leaks_inside("expired", "fences-vector-lane", vector=True)
_leaks_inside("not_yet_valid", "fences-vector-lane", vector=True)


@area.answer(RETRIEVE, clause="nm1/retrieve/fence-archived")
async def the_archived_grounds_beside_others(call: ToolCall, honest: Honest) -> Result:
    """A capsule that is archived is recalled where the answer is grounded without it."""
    result = await honest(call)
    if is_error(result) or "archived" not in body_of(result).get("excluded", {}) or is_vector(call) or is_fused(call):
        return result
    body = body_of(result)
    archived = [row["id"] for row in await touched(call, honest) if row.get("tier") == "archived"]
    kept = [named for named in archived if not await _STATES["falsified"](call, honest, {"id": named})]
    if found(body) and kept:
        show_or_leave(body, [*found(body), await made_up(call, honest, kept[0])])
    return with_body(result, body)


def _comes_first(first: str, second: str, clause: str, lane: str = "term") -> None:
    """What is fenced twice is counted under the lesser reason."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        near = lane == "vector"
        if is_error(result) or first not in body_of(result).get("excluded", {}) or is_vector(call) is not near:
            return result
        body = body_of(result)
        for row in await (entries(call, honest) if near else touched(call, honest)):
            if await _STATES[first](call, honest, row) and await _STATES[second](call, honest, row):
                body["excluded"][first] -= 1
                body["excluded"][second] = body["excluded"].get(second, 0) + 1
        body["excluded"] = {reason: count for reason, count in body["excluded"].items() if count}
        return with_body(result, body)

    lie.__name__ = f"{second}_comes_before_{first}" + ("_in_lane_vector" if lane == "vector" else "")
    where = "In lane vector what" if lane == "vector" else "What"
    lie.__doc__ = f"{where} is both {_in_words(first)} and {_in_words(second)} is counted as {_in_words(second)}."
    area.answer(RETRIEVE, clause=f"nm1/retrieve/{clause}")(lie)


_comes_first("quarantined", "falsified", "fence-quarantined")
_comes_first("quarantined", "superseded", "fence-quarantined")
_comes_first("quarantined", "expired", "fence-quarantined")
_comes_first("quarantined", "not_yet_valid", "fence-quarantined")
_comes_first("falsified", "archived", "fence-falsified")
_comes_first("falsified", "superseded", "fence-falsified")
_comes_first("falsified", "expired", "fence-falsified")
_comes_first("falsified", "not_yet_valid", "fence-falsified")
_comes_first("archived", "superseded", "fence-archived")
_comes_first("archived", "expired", "fence-archived")
_comes_first("superseded", "expired", "fence-superseded")
_comes_first("superseded", "not_yet_valid", "fence-superseded")
_comes_first("superseded", "expired", "fences-vector-lane", "vector")


@area.answer(RETRIEVE, clause="nm1/retrieve/fence-falsified")
async def an_outcome_falsifies_nothing(call: ToolCall, honest: Honest) -> Result:
    """What an outcome falsified is recalled."""
    result = await honest(call)
    if is_error(result) or "falsified" not in body_of(result).get("excluded", {}):
        return result
    for row in await touched(call, honest):
        edges = (await capsule(call, honest, row["id"]))["relations"]
        if any(edge["kind"] == "falsifies" and edge["from"].startswith("out-") for edge in edges):
            return success(**grounded([await made_up(call, honest, row["id"])]))
    return result


async def _fenced_by(kind: str, call: ToolCall, honest: Honest) -> list[tuple[str, Body]]:
    """What the terms touch and an edge of a kind leads to, each with the list's row of where the edge begins."""
    listed = {row["id"]: row for row in await entries(call, honest)}
    pairs = []
    for row in await touched(call, honest):
        for edge in (await capsule(call, honest, row["id"]))["relations"]:
            if edge["kind"] == kind and edge["to"] == row["id"] and edge["from"] in listed:
                pairs.append((row["id"], listed[edge["from"]]))
    return pairs


def _revives(name: str, says: str, kind: str, reason: str, flag: str) -> None:
    """A fenced capsule comes back with the fall of what fenced it."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or body_of(result).get("excluded", {}).keys() != {reason}:
            return result
        for named, begin in await _fenced_by(kind, call, honest):
            if begin.get(flag):
                return success(**grounded([await made_up(call, honest, named)]))
        return result

    lie.__name__, lie.__doc__ = name, says
    area.answer(RETRIEVE, clause=f"nm1/retrieve/fence-{reason}")(lie)


for _flag in ("expired", "superseded"):
    _revives(
        f"an_{_flag}_successor_frees" if _flag == "expired" else f"a_{_flag}_successor_frees",
        f"What a capsule superseded that is {_flag} itself is recalled again.",
        "supersedes",
        "superseded",
        _flag,
    )
    _revives(
        f"an_{_flag}_denial_frees" if _flag == "expired" else f"a_{_flag}_denial_frees",
        f"What a capsule falsified that is {_flag} itself is recalled again.",
        "falsifies",
        "falsified",
        _flag,
    )


def _under_a_window(reason: str, clause: str) -> None:
    def lie(call: ToolCall, body: Body) -> None:
        if "time_window" in call.arguments:
            dated = ("superseded", "not_yet_valid")
            recount(body, reason, "outside_time_window" if reason in dated else "undated")

    lie.__name__ = f"windows_come_before_{reason}"
    lie.__doc__ = f"Under a window what is {_in_words(reason)} is counted by its time."
    area.success(RETRIEVE, clause=f"nm1/retrieve/{clause}")(lie)


_under_a_window("quarantined", "fence-order-window")
_under_a_window("archived", "fence-order-window")
_under_a_window("superseded", "fence-order-window")
_under_a_window("falsified", "fence-order-window")
_under_a_window("expired", "fence-expired")
_under_a_window("not_yet_valid", "fence-not-yet-valid")


@area.asking("memory_ingest", clause="nm1/retrieve/fence-not-yet-valid")
def offsets_of_validity_are_dropped(call: ToolCall) -> ToolCall:
    """The offset of a valid_from is passed over."""
    return _without_offsets(call, "valid_from")


@area.asking("memory_ingest", clause="nm1/retrieve/fence-expired")
def offsets_of_ends_are_dropped(call: ToolCall) -> ToolCall:
    """The offset of a valid_to is passed over."""
    return _without_offsets(call, "valid_to")


def _without_offsets(call: ToolCall, member: str) -> ToolCall:
    def bare(item: Body) -> Body:
        bound = item.get(member)
        return {**item, member: re.sub(r"[+-]\d\d:\d\d$", "Z", bound)} if isinstance(bound, str) else item

    sent = call.arguments.get("items")
    if not isinstance(sent, list) or not all(isinstance(item, dict) for item in sent):
        return call
    return asking(call, items=[bare(item) for item in sent])


# What is said of it


@area.success(RETRIEVE, clause="nm1/retrieve/outcome-closed")
def nothing_is_an_empty_result(call: ToolCall, body: Body) -> None:
    """Where nothing matches the outcome is empty."""
    if body["outcome"] == "abstain":
        body["outcome"] = "empty"


@area.success(RETRIEVE, clause="nm1/retrieve/outcome-closed")
def fenced_is_partial(call: ToolCall, body: Body) -> None:
    """Where evidence is missing the outcome is partial."""
    if body["outcome"] == "missing_evidence":
        body["outcome"] = "partial"


@area.success(RETRIEVE, clause="nm1/retrieve/abstain")
def nothing_is_grounded(call: ToolCall, body: Body) -> None:
    """Where nothing matches the answer is grounded, without rows."""
    if body["outcome"] == "abstain":
        became(body, grounded([]))


@area.success(RETRIEVE, clause="nm1/retrieve/abstain")
def nothing_is_missing(call: ToolCall, body: Body) -> None:
    """Where nothing matches evidence is missing."""
    if body["outcome"] == "abstain":
        became(body, {"outcome": "missing_evidence", "excluded": {}, "reason": "Nothing is left."})


@area.answer(RETRIEVE, clause="nm1/retrieve/abstain")
async def anything_is_better_than_nothing(call: ToolCall, honest: Honest) -> Result:
    """Where nothing matches the newest capsule is shown."""
    result = await honest(call)
    if is_error(result) or body_of(result)["outcome"] != "abstain" or not (listed := await entries(call, honest)):
        return result
    return success(**grounded([await made_up(call, honest, listed[-1]["id"])]))


@area.success(RETRIEVE, clause="nm1/retrieve/abstain")
def nothing_fused_is_grounded(call: ToolCall, body: Body) -> None:
    """Where neither words nor vectors match, lane fused is grounded, without rows."""
    if body["outcome"] == "abstain" and is_fused(call):
        became(body, grounded([]))


@area.answer(RETRIEVE, clause="nm1/retrieve/abstain")
async def an_abstention_suggests(call: ToolCall, honest: Honest) -> Result:
    """An abstention shows the newest capsule all the same."""
    result = await honest(call)
    if is_error(result) or body_of(result)["outcome"] != "abstain" or not (listed := await entries(call, honest)):
        return result
    return success(**body_of(result), results=[await made_up(call, honest, listed[-1]["id"])])


def _unnamed(name: str, says: str, argument: str) -> None:
    def lie(call: ToolCall, body: Body) -> None:
        if body["outcome"] == "abstain" and argument in call.arguments:
            for name in (str(call.arguments[argument]), argument):
                body["reason"] = body["reason"].replace(name, "")

    lie.__name__, lie.__doc__ = name, says
    area.success(RETRIEVE, clause="nm1/retrieve/abstain-names-fences")(lie)


_unnamed("the_project_is_not_named", "An abstention does not name the project.", "project_id")
_unnamed("the_prefix_is_not_named", "An abstention does not name the prefix.", "project_prefix")
_unnamed("the_session_is_not_named", "An abstention does not name the session.", "session_id")


@area.success(RETRIEVE, clause="nm1/retrieve/abstain-names-fences")
def one_fence_is_named(call: ToolCall, body: Body) -> None:
    """An abstention names one of its fences only."""
    if body["outcome"] == "abstain" and "project_id" in call.arguments and "session_id" in call.arguments:
        body["reason"] = f"Nothing in project {call.arguments['project_id']}."


@area.success(RETRIEVE, clause="nm1/retrieve/abstain-names-aliases")
def aliases_are_tried_in_silence(call: ToolCall, body: Body) -> None:
    """An abstention does not say that aliases were tried."""
    if body["outcome"] == "abstain":
        body["reason"] = re.sub("alias", "synonym", body["reason"], flags=re.IGNORECASE)


@area.success(RETRIEVE, clause="nm1/retrieve/abstain-vector-prose")
def vectors_abstain_for_words(call: ToolCall, body: Body) -> None:
    """An abstention of lane vector speaks of terms."""
    if body["outcome"] == "abstain" and is_vector(call):
        body["reason"] = "No capsule holds all the words of any one of the terms."


@area.success(RETRIEVE, clause="nm1/retrieve/missing-evidence")
def reasons_are_summed_up(call: ToolCall, body: Body) -> None:
    """What is fenced is counted in one number."""
    if body["outcome"] == "missing_evidence":
        body["excluded"] = {next(iter(body["excluded"])): sum(body["excluded"].values())}


@area.success(RETRIEVE, clause="nm1/retrieve/missing-evidence")
def reasons_are_told_once(call: ToolCall, body: Body) -> None:
    """Every reason counts 1 and one reason is told."""
    if body["outcome"] == "missing_evidence":
        body["excluded"] = dict([sorted(body["excluded"].items())[0]])


@area.answer(RETRIEVE, clause="nm1/retrieve/missing-shows-nothing")
async def the_reason_quotes(call: ToolCall, honest: Honest) -> Result:
    """The reason quotes what is fenced."""
    result = await honest(call)
    if is_error(result) or body_of(result)["outcome"] != "missing_evidence":
        return result
    body = body_of(result)
    quoted = ", ".join(row["headline"] for row in await touched(call, honest))
    return with_body(result, {**body, "reason": f"{body['reason']} {quoted}"})


@area.success(RETRIEVE, clause="nm1/retrieve/missing-evidence")
def reasons_are_yes_or_no(call: ToolCall, body: Body) -> None:
    """Each reason counts 1, however many it fences."""
    if body["outcome"] == "missing_evidence":
        body["excluded"] = dict.fromkeys(body["excluded"], 1)


@area.success(RETRIEVE, clause="nm1/retrieve/missing-evidence")
def a_limit_limits_the_counts(call: ToolCall, body: Body) -> None:
    """No reason counts more than the limit."""
    limit = call.arguments.get("limit")
    if body["outcome"] == "missing_evidence" and isinstance(limit, int):
        body["excluded"] = {reason: min(count, limit) for reason, count in body["excluded"].items()}


@area.answer(RETRIEVE, clause="nm1/retrieve/missing-shows-nothing")
async def the_fenced_are_shown(call: ToolCall, honest: Honest) -> Result:
    """Missing evidence comes with the headlines of what is fenced."""
    result = await honest(call)
    if is_error(result) or body_of(result)["outcome"] != "missing_evidence":
        return result
    shown = [{"id": row["id"], "headline": row["headline"]} for row in await touched(call, honest)]
    return with_body(result, {**body_of(result), "withheld": shown})


@area.success(RETRIEVE, clause="nm1/retrieve/grounded")
def one_fence_fences_all(call: ToolCall, body: Body) -> None:
    """Where anything that matches is fenced evidence is missing."""
    if body["outcome"] == "grounded" and body.get("excluded"):
        became(body, {"outcome": "missing_evidence", "excluded": body["excluded"], "reason": "Some is fenced."})


@area.success(RETRIEVE, clause="nm1/retrieve/grounded-excluded")
def a_clean_answer_excludes(call: ToolCall, body: Body) -> None:
    """A grounded answer with nothing fenced counts a superseded one."""
    if body["outcome"] == "grounded":
        body.setdefault("excluded", {"superseded": 1})


def _in_silence(reason: str) -> None:
    def lie(call: ToolCall, body: Body) -> None:
        if body["outcome"] == "grounded" and not is_vector(call) and not is_fused(call):
            body.get("excluded", {}).pop(reason, None)

    lie.__name__ = f"the_{reason}_is_excluded_in_silence"
    lie.__doc__ = f"A grounded answer does not count what is {_in_words(reason)} beside it."
    area.success(RETRIEVE, clause="nm1/retrieve/grounded-excluded")(lie)


for _reason in ("quarantined", "falsified", "archived", "expired"):
    _in_silence(_reason)


# What is fenced is still there


@area.answer(GET, clause="nm1/retrieve/fenced-stays-readable")
async def the_expired_is_gone(call: ToolCall, honest: Honest) -> Result:
    """memory_get does not know a capsule that has expired."""
    result = await honest(call)
    body = {} if is_error(result) else body_of(result)
    if (ends := body.get("capsule", {}).get("freshness", {}).get("valid_to")) and ends < body["created_at"]:
        return state_fault("unknown_capsule", str(call.arguments["id"]))
    return result


@area.success(LIST, clause="nm1/retrieve/fenced-stays-readable")
def the_superseded_is_not_listed(call: ToolCall, body: Body) -> None:
    """memory_list leaves out what is superseded."""
    body["entries"] = [row for row in body["entries"] if not row.get("superseded")]
    body["returned"] = len(body["entries"])


@area.success(LIST, clause="nm1/retrieve/fenced-stays-readable")
def the_poisoned_is_not_listed(call: ToolCall, body: Body) -> None:
    """memory_list leaves out what is quarantined."""
    body["entries"] = [row for row in body["entries"] if row.get("tier") != "quarantined"]
    body["returned"] = len(body["entries"])


@area.answer(LIST, clause="nm1/retrieve/fenced-stays-readable")
async def the_falsified_is_listed_by_id(call: ToolCall, honest: Honest) -> Result:
    """memory_list shows a falsified capsule without its headline."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    for row in body["entries"]:
        if await _STATES["falsified"](call, honest, row):
            row["headline"] = "(falsified)"
    return with_body(result, body)


@area.success(GET, clause="nm1/retrieve/fenced-stays-readable")
def the_falsified_is_blank(call: ToolCall, body: Body) -> None:
    """memory_get shows a falsified capsule without its content."""
    if any(edge["kind"] == "falsifies" and edge["to"] == body["id"] for edge in body.get("relations", ())):
        body.get("capsule", {}).pop("content", None)


@area.success(GET, clause="nm1/retrieve/fenced-stays-readable")
def the_poisoned_is_masked(call: ToolCall, body: Body) -> None:
    """memory_get masks the content of a quarantined capsule."""
    if body.get("tier") == "quarantined":
        body["capsule"]["content"] = "[withheld]"


# Tombstones


@area.success(RETRIEVE, clause="nm1/retrieve/tombstone-probe")
def tombstones_are_never_told(call: ToolCall, body: Body) -> None:
    """The id of a forgotten capsule finds nothing."""
    recount(body, "tombstoned", None)


@area.success(RETRIEVE, clause="nm1/retrieve/tombstone-probe")
def tombstones_hide_behind_rows(call: ToolCall, body: Body) -> None:
    """A grounded answer counts no tombstone."""
    if body["outcome"] == "grounded":
        recount(body, "tombstoned", None)


@area.liar(RETRIEVE, "memory_forget", clause="nm1/retrieve/tombstone-probe")
class TheRedactedHasNoTombstone(History):
    """The id of a redacted capsule finds nothing."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == "memory_forget" and call.arguments["mode"] != "redacted":
            self.forgotten.pop()
        if call.name == RETRIEVE and set(self.forgotten).intersection(terms_of(call)):
            recount(body, "tombstoned", None)


@area.liar(RETRIEVE, "memory_forget", clause="nm1/retrieve/tombstone-content")
class ForgottenWordsAreMissed(History):
    """The words of what was forgotten are counted as tombstoned."""

    def change(self, call: ToolCall, body: Body) -> Body | None:
        if call.name != RETRIEVE or body["outcome"] != "abstain" or is_vector(call):
            return None
        gone = " ".join(str(self.captured.get(named, {}).get("content", "")) for named in self.forgotten)
        if any(term in gone for term in terms_of(call)):
            return {"outcome": "missing_evidence", "excluded": {"tombstoned": 1}, "reason": "It was forgotten."}
        return None


@area.liar(RETRIEVE, "memory_forget", clause="nm1/retrieve/tombstone-content")
class ForgottenVectorsAreMissed(History):
    """In lane vector what was forgotten is counted as tombstoned."""

    def change(self, call: ToolCall, body: Body) -> Body | None:
        if call.name == RETRIEVE and body["outcome"] == "abstain" and is_vector(call) and self.forgotten:
            return {"outcome": "missing_evidence", "excluded": {"tombstoned": 1}, "reason": "It was forgotten."}
        return None


@area.success(RETRIEVE, clause="nm1/retrieve/tombstone-probe")
def one_tombstone_is_told(call: ToolCall, body: Body) -> None:
    """However many forgotten ids are asked for, one is counted."""
    if "tombstoned" in body.get("excluded", {}):
        body["excluded"]["tombstoned"] = 1


@area.answer(RETRIEVE, clause="nm1/retrieve/tombstone-probe")
async def ids_are_probed_for_in_words(call: ToolCall, honest: Honest) -> Result:
    """A term that only begins with the id of a forgotten capsule counts as tombstoned."""
    ids = [found_id[0] for term in terms_of(call) if (found_id := re.match(r"cap-\d+(?= )", term))]
    probed = await honest(asking(call, terms=ids)) if ids else None
    told = {} if probed is None or is_error(probed) else body_of(probed).get("excluded", {})
    return success(**missing({"tombstoned": 1})) if "tombstoned" in told else await honest(call)


@area.success(RETRIEVE, clause="nm1/retrieve/tombstone-probe")
def every_id_is_forgotten(call: ToolCall, body: Body) -> None:
    """An id that no capsule ever had counts as tombstoned."""
    if body["outcome"] == "abstain" and any(re.fullmatch(r"cap-\d+", term) for term in terms_of(call)):
        became(body, missing({"tombstoned": 1}))


@area.success(RETRIEVE, clause="nm1/retrieve/tombstone-probe-lanes", also={"nm1/retrieve/grounded-excluded"})
def tombstones_hide_behind_vectors(call: ToolCall, body: Body) -> None:
    """In lane vector a grounded answer counts no tombstone."""
    if body["outcome"] == "grounded" and is_vector(call) and body.get("excluded", {}).keys() == {"tombstoned"}:
        del body["excluded"]


@area.success(RETRIEVE, clause="nm1/retrieve/tombstone-probe-lanes")
def fused_does_not_probe(call: ToolCall, body: Body) -> None:
    """Lane fused does not probe for forgotten ids."""
    if is_fused(call):
        recount(body, "tombstoned", None)


@area.success(RETRIEVE, clause="nm1/retrieve/tombstone-probe-session")
def sessions_do_not_probe(call: ToolCall, body: Body) -> None:
    """Under a session fence no forgotten id is probed for."""
    if "session_id" in call.arguments:
        recount(body, "tombstoned", None)


@area.liar("memory_ingest", "memory_forget", RETRIEVE, clause="nm1/retrieve/tombstone-probe-session")
class TheUnlabelledTombstoneIsEverybodys(History):
    """The id of a forgotten capsule without a label is probed for in every session."""

    def change(self, call: ToolCall, body: Body) -> Body | None:
        if call.name != RETRIEVE or "session_id" not in call.arguments or body["outcome"] != "abstain":
            return None
        bare = {named for named in self.forgotten if "session_id" not in self.captured.get(named, {})}
        return missing({"tombstoned": 1}) if bare.intersection(terms_of(call)) else None


@area.liar("memory_forget", RETRIEVE, clause="nm1/retrieve/tombstone-probe-session")
class VectorsProbeInEverySession(History):
    """In lane vector the label of a forgotten capsule is not looked at."""

    def change(self, call: ToolCall, body: Body) -> Body | None:
        probes = call.name == RETRIEVE and is_vector(call) and body["outcome"] == "abstain"
        return missing({"tombstoned": 1}) if probes and set(self.forgotten).intersection(terms_of(call)) else None


@area.asking(RETRIEVE, clause="nm1/retrieve/tombstone-probe-session")
def probes_trim_the_label(call: ToolCall) -> ToolCall:
    """Blanks around a label are passed over where a forgotten id is probed for."""
    label = call.arguments.get("session_id")
    probes = any(re.fullmatch(r"cap-\d+", term) for term in terms_of(call))
    return asking(call, session_id=label.strip()) if probes and isinstance(label, str) and label.strip() else call


# Witnesses


async def _witnessed(call: ToolCall, honest: Honest, row: Body) -> bool:
    edges = (await ask(honest, call, GET, id=row["id"]))["relations"]
    return any(edge["kind"] == "witnesses" and edge["to"] == row["id"] for edge in edges)


@area.answer(RETRIEVE, clause="nm1/retrieve/witnessed-found", also={"nm1/relate/witnessed-still-recalled"})
async def the_done_is_out_of_recall(call: ToolCall, honest: Honest) -> Result:
    """What is witnessed is counted as archived."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    done = [row for row in found(body) if await _witnessed(call, honest, row)]
    if done:
        left = [row for row in found(body) if row not in done]
        body["excluded"] = {**body.get("excluded", {}), "archived": len(done)}
        show_or_leave(body, left)
    return with_body(result, body)
