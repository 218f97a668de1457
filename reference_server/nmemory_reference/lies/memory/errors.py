"""Lies about errors: how a call is refused, and what a refused call leaves behind."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from nmemory_reference.lies.answers import Honest, Result, asking, is_error, text_of, without
from nmemory_reference.lies.lie import Area, Lie, Mishearing
from nmemory_reference.lies.memory.answers import ARMOUR, MEMORY_TOOLS, STATE, STORE, VALUE, success
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("error")

GET = "memory_get"


# States


@area.refusal(*MEMORY_TOOLS, clause="nm1/error/state-data")
def faults_have_no_data(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """A state fault has no data."""
    return replace(refusal, data=None) if refusal.code == STATE else None


@area.refusal("memory_preference", clause="nm1/error/state-data")
def a_fault_names_the_first_id(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """A fault of memory_preference names the preferred capsule, whichever is unknown."""
    named = call.arguments.get("preferred_id")
    return replace(refusal, data={**refusal.data, "id": named}) if refusal.code == STATE and refusal.data else None


@area.refusal("memory_outcome", clause="nm1/error/state-data")
def a_fault_has_a_kind_of_its_own(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """A fault of memory_outcome is of kind not_found."""
    return (
        replace(refusal, data={**refusal.data, "kind": "not_found"}) if refusal.code == STATE and refusal.data else None
    )


@area.refusal(GET, clause="nm1/error/state-data")
def a_fault_tells_the_number(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """A fault of memory_get tells the number of the capsule."""
    number = re.sub(r"^cap-", "", str(call.arguments.get("id")))
    return replace(refusal, data={**refusal.data, "id": number}) if refusal.code == STATE and refusal.data else None


@area.refusal("memory_forget", clause="nm1/error/state-data")
def a_fault_puts_its_data_into_words(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """The data of a fault of memory_forget are a text."""
    return replace(refusal, data="unknown_capsule") if refusal.code == STATE else None


def _coded(name: str, says: str, code: int, *tools: str) -> None:
    def change(call: ToolCall, refusal: Refusal) -> Refusal | None:
        return replace(refusal, code=code) if refusal.code == STATE else None

    change.__name__, change.__doc__ = name, says
    area.refusal(*tools, clause="nm1/error/state-code")(change)


_coded("states_are_values", "A state fault has the code of an invalid argument.", VALUE, *MEMORY_TOOLS)
_coded("an_unknown_capsule_is_an_invalid_id", "memory_get refuses an unknown id as a value.", VALUE, GET)
_coded("states_are_internal", "A state fault of memory_forget is an internal error.", STORE, "memory_forget")
_coded("states_are_not_found", "A state fault has the code -32001.", -32001, *MEMORY_TOOLS)


def _again(kind: str, tool: str, says: str) -> None:
    """Add the lie that one sort of state fault has the code of an invalid argument."""

    def change(call: ToolCall, refusal: Refusal) -> Refusal | None:
        is_one = refusal.code == STATE and isinstance(refusal.data, dict) and refusal.data.get("kind") == kind
        return replace(refusal, code=VALUE) if is_one else None

    change.__name__, change.__doc__ = f"{kind}_is_an_invalid_id", says
    area.refusal(tool, clause="nm1/error/state-code")(change)


_again("tombstoned_capsule", "memory_forget", "Forgetting again is refused as a value.")
_again("finished_session", "memory_session_finish", "Finishing again is refused as a value.")
_again("unknown_session", "memory_session_finish", "Finishing an unknown session is refused as a value.")


@area.refusal(GET, "memory_forget", clause="nm1/error/state-code")
def states_are_told_in_band(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """A state fault of memory_get is told in band."""
    return Refusal(refusal.text) if refusal.code == STATE else None


# What is left behind


def _leaves(name: str, says: str, tool: str, left: Callable[[ToolCall], tuple[str, dict[str, Any]]]) -> None:
    """A refused call that leaves something in the store."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        try:
            return await honest(call)
        except RpcFault:
            other, arguments = left(call)
            with suppress(RpcFault):
                await honest(replace(call, name=other, arguments=arguments))
            raise

    lie.__name__, lie.__doc__ = name, says
    area.answer(tool, clause="nm1/error/refused-leaves-nothing")(lie)


_leaves(
    "a_refused_handoff_is_kept",
    "A handoff to an unknown session is captured before that is known.",
    "memory_session_finish",
    lambda call: ("memory_ingest", {"content": f"{call.arguments}", "source": "handoff", "anchor": "session"}),
)
_leaves(
    "a_refused_outcome_is_recorded",
    "An outcome of an unknown capsule is recorded without it.",
    "memory_outcome",
    lambda call: ("memory_outcome", {"description": "refused", "actor": "server"}),
)
_leaves(
    "half_a_pair_is_kept",
    "A term whose alias is refused is kept, with an alias of the server's own.",
    "memory_alias",
    lambda call: ("memory_alias", {"term": call.arguments.get("term"), "alias": "something"}),
)
_leaves(
    "a_refused_edge_is_kept_the_other_way",
    "A refused edge leaves a capsule that notes it.",
    "memory_relate",
    lambda call: ("memory_ingest", {"content": f"{call.arguments}", "source": "edge", "anchor": "edge"}),
)


@area.answer("memory_forget", clause="nm1/error/refused-leaves-nothing")
async def an_unknown_mode_forgets_first(call: ToolCall, honest: Honest) -> Result:
    """A capsule is forgotten before its mode is looked at."""
    result = await honest(call)
    if is_error(result) and "id" in call.arguments and str(call.arguments.get("mode")) not in ("purged", "redacted"):
        await honest(asking(call, mode="purged"))
    return result


# What is not in the set


def _ignores(tool: str) -> None:
    """A tool that passes over arguments that it does not have."""

    class Ignores(Interceptor):
        async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
            result = await honest(call)
            if call.name != tool or not is_error(result):
                return result
            unknown = re.search("unknown field `([^`]*)`", text_of(result))
            return await honest(without(call, unknown[1])) if unknown else result

    name = tool.removeprefix("memory_").replace("_", "-")
    area.add(
        Lie(
            id=f"error/{name}-passes-over-the-unknown",
            clause="nm1/error/closed-arguments",
            says=f"{tool} passes over an argument that it does not have.",
            make=Ignores,
            tools=frozenset({tool}),
        )
    )


for _tool in (
    "memory_alias",
    "memory_bootstrap",
    "memory_classify",
    "memory_consolidate",
    "memory_digest",
    "memory_export",
    "memory_extract",
    "memory_forget",
    "memory_get",
    "memory_list",
    "memory_outcome",
    "memory_pin",
    "memory_preference",
    "memory_relate",
    "memory_retrieve",
    "memory_session_finish",
    "memory_vector",
    "memory_visual",
):
    _ignores(_tool)


def _mends(name: str, says: str, tool: str, clause: str, mend: Callable[[ToolCall], ToolCall]) -> None:
    """A tool that makes something of a value that is none."""
    area.add(
        Lie(
            id=f"error/{name}",
            clause=f"nm1/error/{clause}",
            says=says,
            make=lambda: Mishearing({tool}, mend),
            tools=frozenset({tool}),
        )
    )


def _odd(call: ToolCall, member: str) -> bool:
    return call.arguments.get(member) == "kit-made-up"


def _default(tool: str, member: str, value: str | None, says: str) -> None:
    def mend(call: ToolCall) -> ToolCall:
        if not _odd(call, member):
            return call
        return without(call, member) if value is None else asking(call, **{member: value})

    name = tool.removeprefix("memory_")
    _mends(f"{name}-takes-any-{member}", says, tool, "closed-sets", mend)


_default("memory_visual", "view", "tiers", "memory_visual takes an unknown view for tiers.")
_default("memory_classify", "kind", "fact", "memory_classify takes an unknown kind for a fact.")
_default("memory_forget", "mode", "purged", "memory_forget takes an unknown mode for purged.")
_default("memory_retrieve", "lane", None, "memory_retrieve passes over an unknown lane.")


@area.answer("memory_relate", clause="nm1/error/closed-sets")
async def any_kind_of_edge_is_taken(call: ToolCall, honest: Honest) -> Result:
    """memory_relate takes any kind of edge between two capsules, and keeps none."""
    apart = call.arguments.get("from") != call.arguments.get("to")
    return success(**ARMOUR, **call.arguments) if _odd(call, "kind") and apart else await honest(call)


_default("memory_import", "source", "project-claude-md", "memory_import takes an unknown source for CLAUDE.md.")


def _reads(name: str, says: str, tool: str, mend: Callable[[ToolCall], ToolCall]) -> None:
    _mends(name, says, tool, "wrong-types", mend)


def _numbers(call: ToolCall, member: str) -> ToolCall:
    value = call.arguments.get(member)
    return asking(call, **{member: int(value)}) if isinstance(value, str) and value.isdigit() else call


def _texts(call: ToolCall, *members: str) -> ToolCall:
    numbers = {name: str(call.arguments[name]) for name in members if type(call.arguments.get(name)) is int}
    return asking(call, **numbers)


_reads(
    "list-reads-numbers", "memory_list reads a limit in a text.", "memory_list", lambda call: _numbers(call, "limit")
)
_reads(
    "digest-reads-numbers",
    "memory_digest reads headlines in a text.",
    "memory_digest",
    lambda call: _numbers(call, "headlines"),
)
_reads("extract-reads-texts", "memory_extract takes a number.", "memory_extract", lambda call: _texts(call, "content"))
_reads("alias-reads-texts", "memory_alias takes a number.", "memory_alias", lambda call: _texts(call, "term", "alias"))
_reads(
    "list-reads-flags",
    "memory_list reads true in a text.",
    "memory_list",
    lambda call: asking(call, expired=True) if call.arguments.get("expired") == "true" else call,
)
_reads(
    "export-reads-flags",
    "memory_export reads false in a text.",
    "memory_export",
    lambda call: asking(call, stamp=False) if call.arguments.get("stamp") == "false" else call,
)
_reads(
    "get-takes-a-list",
    "memory_get takes the first of a list of ids.",
    GET,
    lambda call: asking(call, id=call.arguments["id"][0]) if isinstance(call.arguments.get("id"), list) else call,
)
_reads(
    "list-counts-down",
    "memory_list passes over the sign of a limit.",
    "memory_list",
    lambda call: asking(call, limit=abs(call.arguments["limit"])) if type(call.arguments.get("limit")) is int else call,
)
_reads(
    "digest-counts-down",
    "memory_digest takes a negative number of headlines for 0.",
    "memory_digest",
    lambda call: asking(call, headlines=0) if str(call.arguments.get("headlines")).startswith("-") else call,
)


# Odd values


def _breaks(name: str, says: str, odd: Callable[[Any], bool]) -> None:
    """An odd value that the server stumbles over."""

    class Breaks(Interceptor):
        async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
            if any(_anywhere(value, odd) for value in call.arguments.values()):
                raise RpcFault(STORE, "internal error")
            return await honest(call)

    area.add(Lie(id=f"error/{name}", clause="nm1/error/odd-values-answered", says=says, make=Breaks))


def _anywhere(value: Any, odd: Callable[[Any], bool]) -> bool:
    """Whether a value, or one inside it, is odd."""
    if odd(value):
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_anywhere(item, odd) for item in inner)


def _has(letters: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and re.search(letters, value) is not None


_breaks("a-nul-is-an-internal-error", "A NUL in a text is an internal error.", _has("\0"))
_breaks("half-a-character-is-an-internal-error", "Half of a character is an internal error.", _has("[\ud800-\udfff]"))
_breaks(
    "a-large-number-is-an-internal-error",
    "An integer beyond 64 bits is an internal error.",
    lambda value: type(value) is int and value >= 2**63,
)
_breaks(
    "a-large-float-is-an-internal-error",
    "A number that no 32-bit float holds is an internal error.",
    lambda value: type(value) is float and abs(value) > 1e300,
)
_breaks(
    "a-long-text-is-an-internal-error",
    "A text of more than 32,000 characters is an internal error.",
    lambda value: isinstance(value, str) and len(value) > 32_000,
)
_breaks(
    "a-day-that-is-none-is-an-internal-error",
    "The thirtieth of February is an internal error.",
    _has("^2024-02-30"),
)
_breaks(
    "a-deep-value-is-an-internal-error",
    "A list in a list in a list in a list is an internal error.",
    lambda value: _depth(value) > 3,
)


def _depth(value: Any) -> int:
    deep = 0
    while isinstance(value, list) and value:
        value, deep = value[0], deep + 1
    return deep


@area.answer("memory_retrieve", clause="nm1/error/odd-values-answered")
async def a_half_limit_is_an_internal_error(call: ToolCall, honest: Honest) -> Result:
    """A limit of one and a half is an internal error."""
    if type(call.arguments.get("limit")) is float:
        raise RpcFault(STORE, "internal error")
    return await honest(call)
