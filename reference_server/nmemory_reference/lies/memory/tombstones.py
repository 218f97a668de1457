"""Lies about the fences of a recall: the ids of the forgotten, and the witnessed, which are not fenced."""

from __future__ import annotations

import re

from nmemory_reference.lies.answers import Body, Honest, Result, ask, asking, body_of, is_error, with_body
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import success
from nmemory_reference.lies.memory.history import History
from nmemory_reference.lies.memory.recalled import (
    GET,
    RETRIEVE,
    became,
    found,
    is_fused,
    is_vector,
    missing,
    recount,
    show_or_leave,
    terms_of,
)
from nmemory_reference.serve.interceptor import ToolCall

area = Area("fences")


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
