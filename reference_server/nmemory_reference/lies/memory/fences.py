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
    became,
    capsule,
    entries,
    folded,
    found,
    grounded,
    is_fused,
    is_vector,
    made_up,
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


@area.answer(RETRIEVE, clause="nm1/retrieve/fence-before-ranking")
async def projects_are_sifted_last(call: ToolCall, honest: Honest) -> Result:
    """The limit is applied before the project is looked at."""
    sifts = call.arguments.get("limit") == 1 and "project_id" in call.arguments and "vector_k" not in call.arguments
    return await _afterwards(call, honest, "project_id") if sifts else await honest(call)


@area.answer(RETRIEVE, clause="nm1/retrieve/fence-before-ranking")
async def the_nearest_are_taken_first(call: ToolCall, honest: Honest) -> Result:
    """The nearest are taken from all projects, and then fenced."""
    if not is_vector(call) or "vector_k" not in call.arguments or "time_window" in call.arguments:
        return await honest(call)
    near = body_of(await honest(without(call, "project_id")))
    whole = await honest(without(call, "vector_k"))
    body = body_of(whole)
    taken = {row["id"] for row in found(near)}
    show_or_leave(body, [row for row in found(body) if row["id"] in taken])
    return with_body(whole, body)


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


def _comes_first(first: str, second: str, clause: str) -> None:
    """What is fenced twice is counted under the lesser reason."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or first not in body_of(result).get("excluded", {}) or is_vector(call):
            return result
        body = body_of(result)
        for row in await touched(call, honest):
            if await _STATES[first](call, honest, row) and await _STATES[second](call, honest, row):
                body["excluded"][first] -= 1
                body["excluded"][second] = body["excluded"].get(second, 0) + 1
        body["excluded"] = {reason: count for reason, count in body["excluded"].items() if count}
        return with_body(result, body)

    lie.__name__ = f"{second}_comes_before_{first}"
    lie.__doc__ = f"What is both {_in_words(first)} and {_in_words(second)} is counted as {_in_words(second)}."
    area.answer(RETRIEVE, clause=f"nm1/retrieve/{clause}")(lie)


_comes_first("quarantined", "falsified", "fence-quarantined")
_comes_first("quarantined", "superseded", "fence-quarantined")
_comes_first("quarantined", "expired", "fence-quarantined")
_comes_first("falsified", "archived", "fence-falsified")
_comes_first("falsified", "superseded", "fence-falsified")
_comes_first("falsified", "expired", "fence-falsified")
_comes_first("archived", "superseded", "fence-archived")
_comes_first("archived", "expired", "fence-archived")
_comes_first("superseded", "expired", "fence-superseded")


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


async def _successors(call: ToolCall, honest: Honest) -> list[tuple[str, Body]]:
    """What the terms touch and is superseded, each with the list's row of its successor."""
    listed = {row["id"]: row for row in await entries(call, honest)}
    pairs = []
    for row in await touched(call, honest):
        for edge in (await capsule(call, honest, row["id"]))["relations"]:
            if edge["kind"] == "supersedes" and edge["to"] == row["id"] and edge["from"] in listed:
                pairs.append((row["id"], listed[edge["from"]]))
    return pairs


def _revives(name: str, says: str, flag: str) -> None:
    """A superseded capsule comes back with the fall of its successor."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or body_of(result).get("excluded", {}).keys() != {"superseded"}:
            return result
        for named, successor in await _successors(call, honest):
            if successor.get(flag):
                return success(**grounded([await made_up(call, honest, named)]))
        return result

    lie.__name__, lie.__doc__ = name, says
    area.answer(RETRIEVE, clause="nm1/retrieve/fence-superseded")(lie)


_revives("an_expired_successor_frees", "What an expired capsule superseded is recalled again.", "expired")
_revives("a_superseded_successor_frees", "What a superseded capsule superseded is recalled again.", "superseded")


def _under_a_window(reason: str, clause: str) -> None:
    def lie(call: ToolCall, body: Body) -> None:
        if "time_window" in call.arguments:
            recount(body, reason, "undated" if reason in ("falsified", "expired") else "outside_time_window")

    lie.__name__ = f"windows_come_before_{reason}"
    lie.__doc__ = f"Under a window what is {_in_words(reason)} is counted by its time."
    area.success(RETRIEVE, clause=f"nm1/retrieve/{clause}")(lie)


_under_a_window("superseded", "fence-order-window")
_under_a_window("falsified", "fence-order-window")
_under_a_window("expired", "fence-expired")
_under_a_window("not_yet_valid", "fence-not-yet-valid")


@area.asking("memory_ingest", clause="nm1/retrieve/fence-not-yet-valid")
def offsets_of_validity_are_dropped(call: ToolCall) -> ToolCall:
    """The offset of a valid_from is passed over."""
    sent = call.arguments.get("items")
    if not isinstance(sent, list):
        return call
    return asking(call, items=[_without_offset(item) if isinstance(item, dict) else item for item in sent])


def _without_offset(item: Body) -> Body:
    begins = item.get("valid_from")
    return {**item, "valid_from": re.sub(r"[+-]\d\d:\d\d$", "Z", begins)} if isinstance(begins, str) else item


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
            body["reason"] = body["reason"].replace(str(call.arguments[argument]), "")

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


@area.answer(RETRIEVE, clause="nm1/retrieve/missing-shows-nothing")
async def the_fenced_are_named(call: ToolCall, honest: Honest) -> Result:
    """Missing evidence comes with the ids of what is fenced."""
    result = await honest(call)
    if is_error(result) or body_of(result)["outcome"] != "missing_evidence":
        return result
    ids = [row["id"] for row in await touched(call, honest)]
    return with_body(result, {**body_of(result), "excluded_ids": ids})


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


@area.success(RETRIEVE, clause="nm1/retrieve/grounded-excluded")
def time_excludes_in_silence(call: ToolCall, body: Body) -> None:
    """A grounded answer does not count what is expired beside it."""
    if body["outcome"] == "grounded":
        body.get("excluded", {}).pop("expired", None)


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
