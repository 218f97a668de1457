"""Lies about aliases: what is taught, how it is kept, and what recall makes of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from nmemory_reference.lies.answers import Body, Honest, Result, asking, body_of, is_error, with_body, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import success
from nmemory_reference.lies.memory.recalled import RETRIEVE, drop, folded, found
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("alias")

TOOL = "memory_alias"


def _pair(call: ToolCall) -> tuple[str, str] | None:
    term, alias = call.arguments.get("term"), call.arguments.get("alias")
    return (term, alias) if isinstance(term, str) and isinstance(alias, str) else None


@area.answer(TOOL, clause="nm1/alias/one-way")
async def aliases_work_both_ways(call: ToolCall, honest: Honest) -> Result:
    """Teaching a pair teaches the reverse too."""
    result = await honest(call)
    pair = _pair(call)
    if pair and not is_error(result):
        await honest(asking(call, term=pair[1], alias=pair[0]))
    return result


@area.answer(TOOL, clause="nm1/alias/expands")
async def aliases_are_forgotten(call: ToolCall, honest: Honest) -> Result:
    """A new pair is answered and not kept."""
    if _pair(call) and all(map(str.strip, _pair(call) or ())):
        return success(recorded=True, already_recorded=False)
    return await honest(call)


@area.success(RETRIEVE, clause="nm1/alias/expands")
def the_first_term_is_expanded(call: ToolCall, body: Body) -> None:
    """Only the first term of a question is expanded."""
    first = f"alias:{call.arguments['terms'][0]}"
    _unexpanded(body, lambda term: term != first)


@area.success(RETRIEVE, clause="nm1/alias/expands")
def terms_of_several_words_are_not_expanded(call: ToolCall, body: Body) -> None:
    """A term of several words is not expanded."""
    _unexpanded(body, lambda term: " " in term)


@area.success(RETRIEVE, clause="nm1/alias/expands")
def fused_questions_are_not_expanded(call: ToolCall, body: Body) -> None:
    """In lane fused no term is expanded."""
    if "query_embedding" in call.arguments:
        _unexpanded(body, lambda term: True)


def _unexpanded(body: Body, unknown: Callable[[str], bool]) -> None:
    """Leave out of an answer what only unknown aliases have found."""
    for row in found(body):
        row["matched_terms"] = [
            term for term in row["matched_terms"] if not (term.startswith("alias:") and unknown(term))
        ]
    drop(body, lambda row: not row["matched_terms"] and "vector_similarity" not in row)


@area.liar(TOOL, clause="nm1/alias/replay-keeps-at", also={"nm1/alias/folded-same"})
class AnotherSpellingIsAnotherInstant(Interceptor):
    """A pair that is taught again in another spelling gets another instant."""

    def __init__(self) -> None:
        self._again: set[tuple[str, str]] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body, pair = body_of(result), _pair(call)
        if pair and body["already_recorded"] and pair != (pair[0].lower(), pair[1].lower()):
            self._again.add((folded(pair[0]), folded(pair[1])))
        for row in body.get("aliases", ()):
            if (row["term"], row["alias"]) in self._again:
                row["at"] = datetime.now(UTC).isoformat()
        return with_body(result, body)


@area.liar(TOOL, clause="nm1/alias/replay-keeps-at")
class EveryCallIsAnotherInstant(Interceptor):
    """A pair that is taught again gets another instant."""

    def __init__(self) -> None:
        self._calls = 0

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        self._calls += 1
        if is_error(result):
            return result
        body = body_of(result)
        for row in body.get("aliases", ()):
            row["at"] = f"2031-01-01T00:00:{self._calls % 60:02d}Z"
        return with_body(result, body)


@area.success(TOOL, clause="nm1/alias/already-recorded")
def every_pair_is_new(call: ToolCall, body: Body) -> None:
    """A pair that was there is answered as a new one."""
    if "already_recorded" in body:
        body["already_recorded"] = False


@area.success(TOOL, clause="nm1/alias/fresh-not-already")
def no_pair_is_new(call: ToolCall, body: Body) -> None:
    """A new pair is answered as one that was there."""
    if "already_recorded" in body:
        body["already_recorded"] = True


@area.success(TOOL, clause="nm1/alias/recorded-is-state")
def recorded_is_news(call: ToolCall, body: Body) -> None:
    """recorded is false for a pair that was there."""
    if body.get("already_recorded"):
        body["recorded"] = False


@area.item(TOOL, at="aliases", clause="nm1/alias/folded")
def aliases_are_shouted(call: ToolCall, row: Body) -> None:
    """The list shows capitals."""
    row["alias"] = row["alias"].upper()


@area.success(TOOL, clause="nm1/alias/list-whole")
def one_alias_a_term(call: ToolCall, body: Body) -> None:
    """The list shows one alias of each term."""
    if "aliases" in body:
        body["aliases"] = list({row["term"]: row for row in body["aliases"]}.values())


@area.answer(TOOL, clause="nm1/alias/empty-refused")
async def an_empty_side_is_taken(call: ToolCall, honest: Honest) -> Result:
    """An empty alias is answered like any other."""
    pair = _pair(call)
    return success(recorded=True, already_recorded=False) if pair and not pair[1].strip() else await honest(call)


@area.answer(TOOL, clause="nm1/alias/self-refused")
async def a_self_pair_is_there_already(call: ToolCall, honest: Honest) -> Result:
    """A term is an alias of itself, and always was."""
    pair = _pair(call)
    if pair and pair[0] and pair[0].lower() == pair[1].lower():
        return success(recorded=True, already_recorded=True)
    return await honest(call)


@area.asking(TOOL, clause="nm1/alias/half-refused")
def half_a_pair_lists(call: ToolCall) -> ToolCall:
    """One side alone lists the table."""
    return call if _pair(call) else without(call, "term", "alias")


@area.asking(TOOL, clause="nm1/alias/unknown-argument")
def unknown_arguments_are_passed_over(call: ToolCall) -> ToolCall:
    """An argument that the tool does not have is dropped."""
    return without(call, *(call.arguments.keys() - {"term", "alias"}))


@area.item(RETRIEVE, at="results", clause="nm1/alias/explained")
def alias_hits_are_not_marked(call: ToolCall, row: Body) -> None:
    """What an alias found is explained by the term alone."""
    row["matched_terms"] = [term.removeprefix("alias:") for term in row["matched_terms"]]


@area.item(RETRIEVE, at="results", clause="nm1/alias/direct-explained")
def every_hit_is_an_alias(call: ToolCall, row: Body) -> None:
    """What a term itself found is explained as an alias of it."""
    row["matched_terms"] = [f"alias:{term.removeprefix('alias:')}" for term in row["matched_terms"]]


@area.liar(TOOL, RETRIEVE, clause="nm1/alias/folded-recall")
class SpellingMatters(Interceptor):
    """A term is expanded only as it was spelt."""

    def __init__(self) -> None:
        self._taught: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        if call.name == TOOL and (pair := _pair(call)):
            self._taught.add(pair[0])
        if call.name == RETRIEVE and not self._taught.intersection(call.arguments["terms"]):
            body = body_of(result)
            rows = body.get("results", [])
            if rows and all(term.startswith("alias:") for row in rows for term in row["matched_terms"]):
                return success(outcome="abstain", reason="nothing, by no alias")
            return with_body(result, body)
        return result


@area.liar(TOOL, clause="nm1/alias/several")
class TheLastAliasCounts(Interceptor):
    """A second alias of a term is answered and not kept."""

    def __init__(self) -> None:
        self._taught: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        pair = _pair(call) if call.name == TOOL else None
        if pair and pair[0] in self._taught and pair[1].endswith(("y", "z")):
            return success(recorded=True, already_recorded=False)
        if pair:
            self._taught.add(pair[0])
        return await honest(call)


@area.success("memory_digest", clause="nm1/alias/audited")
def digests_count_no_events(call: ToolCall, body: Body) -> None:
    """The digest counts no event."""
    body["audit_events"] = 0


@area.answer(RETRIEVE, clause="nm1/alias/fences-hold")
async def aliases_look_past_projects(call: ToolCall, honest: Honest) -> Result:
    """Where only an alias finds something the project is passed over."""
    result = await honest(call)
    rows = [] if is_error(result) else body_of(result).get("results", [])
    if rows and all(term.startswith("alias:") for row in rows for term in row["matched_terms"]):
        return await honest(without(call, "project_id"))
    return result


@area.answer(RETRIEVE, clause="nm1/alias/cjk")
async def han_is_not_expanded(call: ToolCall, honest: Honest) -> Result:
    """A question in another script than Latin is not expanded."""
    if any("\u4e00" <= letter <= "\u9fff" for term in call.arguments.get("terms", ()) for letter in str(term)):
        result = await honest(call)
        rows = [] if is_error(result) else body_of(result).get("results", [])
        if any(term.startswith("alias:") for row in rows for term in row["matched_terms"]):
            raise RpcFault(-32602, "unknown script")
        return result
    return await honest(call)


@area.liar(TOOL, clause="nm1/alias/reverse-taught")
class TheReverseIsKnown(Interceptor):
    """The reverse of a pair is answered as known, and not kept."""

    def __init__(self) -> None:
        self._taught: set[tuple[str, str]] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        pair = _pair(call) if call.name == TOOL else None
        if pair and (pair[1], pair[0]) in self._taught:
            return success(recorded=True, already_recorded=True)
        if pair:
            self._taught.add(pair)
        return await honest(call)


@area.liar(TOOL, clause="nm1/alias/folded-same")
class EverySpellingIsNew(Interceptor):
    """A pair in another spelling is answered as a new one."""

    def __init__(self) -> None:
        self._taught: set[tuple[str, str]] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        pair = _pair(call) if call.name == TOOL else None
        if pair is None or is_error(result):
            return result
        again = pair in self._taught
        self._taught.add(pair)
        return with_body(result, {**body_of(result), "already_recorded": again})


@area.liar(TOOL, clause="nm1/alias/folded-same")
class EverySpellingIsListed(Interceptor):
    """A pair that was taught in two spellings is listed twice."""

    def __init__(self) -> None:
        self._taught: list[tuple[str, str]] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != TOOL or is_error(result):
            return result
        if pair := _pair(call):
            self._taught.append(pair)
            return result
        body = body_of(result)
        body["aliases"] = [
            row
            for row in body["aliases"]
            for _ in range(max(1, len({pair for pair in self._taught if pair[0].lower() == row["term"]})))
        ]
        return with_body(result, body)


@area.item(TOOL, at="aliases", clause="nm1/alias/list-row")
def pairs_have_no_age(call: ToolCall, row: Body) -> None:
    """The instant of a pair is the beginning of time."""
    row["at"] = "1970-01-01T00:00:00Z"


@area.liar(RETRIEVE, "memory_get", clause="nm1/alias/derived")
class AliasesAreWrittenDown(Interceptor):
    """What an alias found shows the alias in its scope."""

    def __init__(self) -> None:
        self._found: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or call.name not in (RETRIEVE, "memory_get"):
            return result
        body = body_of(result)
        for row in body.get("results", ()) if call.name == RETRIEVE else ():
            if any(term.startswith("alias:") for term in row["matched_terms"]):
                self._found.add(row["id"])
        if call.name == "memory_get" and "capsule" in body and body["id"] in self._found:
            body["capsule"]["scope"]["aliased"] = True
        return with_body(result, body)
