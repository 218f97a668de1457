"""Lies about the fences of a recall that a caller names: projects and sessions."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable

from nmemory_reference.lies.answers import Body, Honest, Result, asking, body_of, is_error, with_body, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import VALUE, state_fault, success
from nmemory_reference.lies.memory.recalled import (
    PLENTY,
    RETRIEVE,
    abstention,
    also,
    capsule,
    folded,
    found,
    is_fused,
    is_vector,
    show_or_leave,
    sifted,
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


class _Finished(Interceptor, ABC):
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

    @abstractmethod
    def closed(self, label: str) -> Result:
        """What is answered about a finished session."""


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
