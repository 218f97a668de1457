"""Lies about get: what is read of one capsule, and the marker of a forgotten one."""

from __future__ import annotations

from dataclasses import replace
from re import fullmatch
from unicodedata import normalize

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
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import VALUE, rows, value_fault
from nmemory_reference.lies.memory.history import History
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("get")

TOOL = "memory_get"
FORGET = "memory_forget"
INGEST = "memory_ingest"


def is_marker(body: Body) -> bool:
    """Whether a body is the marker of a forgotten capsule."""
    return body.get("outcome") == "tombstoned"


@area.success(TOOL, clause="nm1/get/shape", also={"nm1/get/relations-both-ends"})
def edges_have_no_times(call: ToolCall, body: Body) -> None:
    """Edges are shown without their times."""
    for edge in body["relations"]:
        edge.pop("at")


@area.success(TOOL, clause="nm1/get/armour")
def a_marker_is_not_wrapped(call: ToolCall, body: Body) -> None:
    """The marker of a forgotten capsule has no label."""
    if is_marker(body):
        body.pop("label")


@area.success(TOOL, clause="nm1/get/content-whole")
def line_ends_are_normalized(call: ToolCall, body: Body) -> None:
    """Line ends of the content are those of Unix."""
    if not is_marker(body):
        body["capsule"]["content"] = body["capsule"]["content"].replace("\r\n", "\n")


@area.success(TOOL, clause="nm1/get/content-whole")
def long_contents_are_cut(call: ToolCall, body: Body) -> None:
    """A content is cut at 16384 characters."""
    if not is_marker(body):
        body["capsule"]["content"] = body["capsule"]["content"][:16384]


@area.success(TOOL, clause="nm1/get/content-whole")
def characters_are_composed(call: ToolCall, body: Body) -> None:
    """A letter and its accent are made one character."""
    if not is_marker(body):
        body["capsule"]["content"] = normalize("NFC", body["capsule"]["content"])


@area.success(TOOL, clause="nm1/get/capsule-complete")
def confidence_is_rounded(call: ToolCall, body: Body) -> None:
    """Confidence has one digit."""
    if not is_marker(body):
        body["capsule"]["confidence"] = round(body["capsule"]["confidence"], 1)


@area.success(TOOL, clause="nm1/get/capsule-complete")
def the_user_said_nothing(call: ToolCall, body: Body) -> None:
    """What the user stated is read back as inferred."""
    if not is_marker(body):
        body["capsule"]["authority_class"] = "agent-inferred"


@area.success(TOOL, clause="nm1/get/capsule-complete")
def nobody_has_seen_it(call: ToolCall, body: Body) -> None:
    """What was observed is read back as inferred."""
    if not is_marker(body) and body["capsule"]["authority_class"] == "observed-fact":
        body["capsule"]["authority_class"] = "agent-inferred"


@area.success(TOOL, clause="nm1/get/capsule-complete")
def long_anchors_are_cut(call: ToolCall, body: Body) -> None:
    """An anchor is cut at 140 characters."""
    if not is_marker(body):
        body["capsule"]["provenance"]["anchor"] = body["capsule"]["provenance"]["anchor"][:140]


@area.success(TOOL, clause="nm1/get/relations-both-ends")
def edges_that_end_here_are_left_out(call: ToolCall, body: Body) -> None:
    """Edges are shown where they begin, if any does."""
    begin = [edge for edge in body["relations"] if edge["from"] == body["id"]]
    body["relations"] = begin or body["relations"]


@area.success(TOOL, clause="nm1/get/relations-both-ends")
def twenty_edges_will_do(call: ToolCall, body: Body) -> None:
    """The latest twenty edges are listed."""
    body["relations"] = body["relations"][-20:]


@area.success(TOOL, clause="nm1/get/origin-caller")
def edges_come_from_a_caller(call: ToolCall, body: Body) -> None:
    """An edge that a caller recorded has origin caller."""
    for edge in body["relations"]:
        edge.setdefault("origin", "caller")


@area.success(TOOL, clause="nm1/get/classification")
def the_unlabelled_is_a_fact(call: ToolCall, body: Body) -> None:
    """What has no label is read as a fact."""
    if not is_marker(body):
        body.setdefault("classification", {"kind": "fact", "scope": "project", "at": body["created_at"]})


@area.liar(TOOL, clause="nm1/get/classification", also={"nm1/classify/persist-replaces"})
class TheFirstLabelStays(Interceptor):
    """A label that was read once is shown ever after."""

    def __init__(self) -> None:
        self._labels: dict[str, Body] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != TOOL or is_error(result):
            return result
        body = body_of(result)
        if "classification" in body:
            body["classification"] = self._labels.setdefault(body["id"], body["classification"])
        return with_body(result, body)


@area.success(TOOL, clause="nm1/get/epistemics")
def what_was_not_noted_is_null(call: ToolCall, body: Body) -> None:
    """Of the epistemics, what was not noted is shown as null."""
    if "epistemics" in body:
        body["epistemics"].setdefault("proof_hint", None)


@area.success(TOOL, clause="nm1/get/epistemics")
def hints_are_tidied(call: ToolCall, body: Body) -> None:
    """White space in a proof hint is made one blank."""
    if hint := body.get("epistemics", {}).get("proof_hint"):
        body["epistemics"]["proof_hint"] = " ".join(hint.split())


@area.success(TOOL, clause="nm1/get/event-time")
def an_instant_has_no_end(call: ToolCall, body: Body) -> None:
    """The fact time of an instant has no event_to."""
    if (event := body.get("event_time")) and event["event_from"] == event["event_to"]:
        event.pop("event_to")


@area.success(TOOL, clause="nm1/get/event-time")
def facts_are_dated_by_their_capture(call: ToolCall, body: Body) -> None:
    """Where no fact time was declared, it is that of the capture."""
    if not is_marker(body):
        at = body["created_at"]
        body.setdefault("event_time", {"event_from": at, "event_to": at, "declared_at": at})


class _ShowsEventTimes(History):
    """Shows declared fact times in the rows of a tool."""

    tool: str

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == self.tool:
            for row in rows(self.tool, body):
                item = self.captured.get(row["id"], {})
                if since := item.get("event_from") or item.get("event_at"):
                    row["event_from"] = since


@area.liar("memory_list", clause="nm1/get/event-time-here-only")
class ListsShowEventTimes(_ShowsEventTimes):
    """Rows of a list show when the fact was."""

    tool = "memory_list"


@area.liar("memory_digest", clause="nm1/get/event-time-here-only")
class DigestsShowEventTimes(_ShowsEventTimes):
    """Rows of a digest show when the fact was."""

    tool = "memory_digest"


@area.liar("memory_retrieve", clause="nm1/get/event-time-here-only")
class RecallShowsEventTimes(_ShowsEventTimes):
    """Recalled rows show when the fact was."""

    tool = "memory_retrieve"


@area.liar("memory_retrieve", clause="nm1/get/event-time-here-only")
class AWindowShowsEventTimes(RecallShowsEventTimes):
    """Where recall is fenced by a window its rows show when the fact was."""

    def change(self, call: ToolCall, body: Body) -> None:
        if "time_window" in call.arguments:
            super().change(call, body)


@area.success(TOOL, clause="nm1/get/tier-always")
def active_goes_without_saying(call: ToolCall, body: Body) -> None:
    """The tier is shown where it is not active."""
    if body.get("tier") == "active":
        body.pop("tier")


@area.success(TOOL, clause="nm1/get/expired")
def the_unexpired_says_so(call: ToolCall, body: Body) -> None:
    """What has not expired says expired false."""
    if not is_marker(body):
        body.setdefault("expired", False)


@area.success(TOOL, clause="nm1/get/expired")
def times_are_compared_as_texts(call: ToolCall, body: Body) -> None:
    """An end of validity in the last days has not passed yet."""
    if body.get("expired") and body["capsule"]["freshness"]["valid_to"] > body["created_at"][:5]:
        body.pop("expired")


@area.success(TOOL, clause="nm1/get/taint-findings")
def findings_are_secret(call: ToolCall, body: Body) -> None:
    """No rule that fired is named."""
    body.pop("taint_findings", None)


@area.success(TOOL, clause="nm1/get/taint-findings-clean")
def tainted_origins_are_a_finding(call: ToolCall, body: Body) -> None:
    """What was imported from elsewhere has a finding that says so."""
    if not is_marker(body) and body["capsule"]["authority_class"] == "externally-imported":
        body.setdefault("taint_findings", ["external_origin"])


@area.success(TOOL, clause="nm1/get/taint-findings-clean")
def clean_findings_are_empty(call: ToolCall, body: Body) -> None:
    """Where no rule fires the list of findings is empty."""
    if not is_marker(body):
        body.setdefault("taint_findings", [])


@area.liar(TOOL, clause="nm1/get/last-mutation")
class TheFirstMutationIsShown(Interceptor):
    """last_mutation is the one that was read first."""

    def __init__(self) -> None:
        self._first: dict[str, Body] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != TOOL or is_error(result):
            return result
        body = body_of(result)
        if not is_marker(body):
            body["last_mutation"] = self._first.setdefault(body["id"], body["last_mutation"])
        return with_body(result, body)


@area.liar(TOOL, clause="nm1/get/last-mutation")
class TheStoresLastMutation(History):
    """last_mutation is the newest journal row about any capsule."""

    def change(self, call: ToolCall, body: Body) -> None:
        reads = {TOOL, "memory_list", "memory_digest", "memory_retrieve"}
        if call.name == TOOL and not is_marker(body):
            body["last_mutation"]["event"] = [name for name in self.called if name not in reads][-1]


@area.liar(TOOL, "memory_retrieve", clause="nm1/get/last-mutation")
class ARecallIsAChange(Interceptor):
    """To recall a capsule is its last mutation."""

    def __init__(self) -> None:
        self._recalled: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "memory_retrieve":
            self._recalled |= {row["id"] for row in body.get("results", [])}
        elif call.name != TOOL:
            self._recalled.clear()
        elif body["id"] in self._recalled:
            body["last_mutation"]["event"] = "memory_retrieve"
        return with_body(result, body)


@area.success(TOOL, clause="nm1/get/last-mutation-actor")
def the_reader_is_the_actor(call: ToolCall, body: Body) -> None:
    """last_mutation.actor is the client that asks."""
    body["last_mutation"]["actor"] = call.caller.name or "client"


@area.success(TOOL, clause="nm1/get/last-mutation-actor")
def whoever_asks_has_forgotten_it(call: ToolCall, body: Body) -> None:
    """The actor of a marker is the client that asks."""
    if is_marker(body):
        body["last_mutation"]["actor"] = call.caller.client or "client"


class _NotServed(History):
    """Shows only the headline of what an edge of a kind has fenced."""

    kind: str

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and body["id"] in self.ends(self.kind):
            body["capsule"]["content"] = ""


@area.liar(TOOL, clause="nm1/get/fenced-still-served")
class TheSupersededIsEmpty(_NotServed):
    """The content of a superseded capsule is not served."""

    kind = "supersedes"


@area.liar(TOOL, clause="nm1/get/fenced-still-served")
class TheFalsifiedIsEmpty(_NotServed):
    """The content of a falsified capsule is not served."""

    kind = "falsifies"


@area.success(TOOL, clause="nm1/get/fenced-still-served")
def the_expired_is_empty(call: ToolCall, body: Body) -> None:
    """The content of an expired capsule is not served."""
    if body.get("expired"):
        body["capsule"]["content"] = ""


@area.success(TOOL, clause="nm1/get/fenced-still-served")
def the_quarantined_is_withheld(call: ToolCall, body: Body) -> None:
    """The content of a quarantined capsule is replaced by a note."""
    if body.get("tier") == "quarantined":
        body["capsule"]["content"] = "[withheld]"


@area.answer(TOOL, clause="nm1/get/marker")
async def the_forgotten_is_unknown(call: ToolCall, honest: Honest) -> Result:
    """A forgotten id is answered as one that never was."""
    result = await honest(call)
    if not is_error(result) and is_marker(body_of(result)):
        raise RpcFault(-32002, "unknown", {"kind": "unknown_capsule", "id": call.arguments["id"]})
    return result


@area.success(TOOL, clause="nm1/get/marker")
def reasons_are_not_kept(call: ToolCall, body: Body) -> None:
    """The marker's reason is a word of the server."""
    if is_marker(body):
        body["reason"] = "forgotten"


@area.liar(TOOL, clause="nm1/get/marker-no-content")
class TheMarkerHasAHeadline(History):
    """The marker holds the content's first line."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and is_marker(body) and body["id"] in self.captured:
            body["headline"] = self.captured[body["id"]]["content"].partition("\n")[0]


@area.liar(TOOL, clause="nm1/get/marker-provenance")
class ThePurgedHasAnOrigin(History):
    """The marker of a purged capsule keeps its source and anchor."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and is_marker(body) and body["id"] in self.captured:
            item = self.captured[body["id"]]
            body["provenance"] = {"source": item["source"], "anchor": item["anchor"]}


@area.success(TOOL, clause="nm1/get/marker-provenance")
def the_redacted_has_no_anchor(call: ToolCall, body: Body) -> None:
    """The marker of a redacted capsule keeps its source alone."""
    if is_marker(body) and "provenance" in body:
        body["provenance"].pop("anchor")


@area.success(TOOL, clause="nm1/get/marker-relations")
def the_marker_keeps_edges_that_end_there(call: ToolCall, body: Body) -> None:
    """The marker keeps the edges that lead to the id, and no other."""
    if is_marker(body):
        body["relations"] = [edge for edge in body["relations"] if edge["to"] == body["id"]]


@area.liar(TOOL, clause="nm1/get/marker-last-mutation")
class TheMarkerShowsAnEarlierChange(Interceptor):
    """The marker's last_mutation is the one before the forgetting."""

    def __init__(self) -> None:
        self._seen: dict[str, Body] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != TOOL or is_error(result):
            return result
        body = body_of(result)
        if is_marker(body):
            body["last_mutation"] = self._seen.get(body["id"], body["last_mutation"])
        else:
            self._seen[body["id"]] = body["last_mutation"]
        return with_body(result, body)


@area.success(TOOL, clause="nm1/get/marker-last-mutation")
def a_marker_was_captured(call: ToolCall, body: Body) -> None:
    """The marker's last_mutation is the capture."""
    if is_marker(body):
        body["last_mutation"]["event"] = INGEST


@area.refusal(TOOL, clause="nm1/get/unknown-id")
def an_unknown_id_is_a_bad_value(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """An unknown id is refused as a value that can't be meant."""
    return Refusal(refusal.text, VALUE) if refusal.data else None


@area.refusal(TOOL, clause="nm1/get/unknown-id")
def an_outcome_is_no_capsule(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """The id of an outcome is refused as of another kind."""
    odd = str(call.arguments.get("id")).startswith("out-") and refusal.data
    return replace(refusal, data={**odd, "kind": "unknown_outcome"}) if isinstance(odd, dict) else None


@area.asking(TOOL, clause="nm1/get/id-exact")
def ids_are_trimmed(call: ToolCall) -> ToolCall:
    """White space around an id is taken off."""
    named = text_argument(call, "id")
    return call if named is None else asking(call, id=named.strip())


@area.asking(TOOL, clause="nm1/get/id-exact")
def ids_are_read_as_far_as_they_go(call: ToolCall) -> ToolCall:
    """What follows the number in an id is overlooked."""
    named = text_argument(call, "id") or ""
    return asking(call, id=named.rstrip("x")) if named.startswith("cap-") else call


@area.asking(TOOL, clause="nm1/get/id-exact")
def noughts_count_for_nothing(call: ToolCall) -> ToolCall:
    """An id is that of its number, with or without noughts before it."""
    found = fullmatch(r"cap-0+(\d+)", text_argument(call, "id") or "")
    return asking(call, id=f"cap-{found[1]}") if found else call


@area.asking(TOOL, clause="nm1/get/id-exact")
def ids_have_no_case(call: ToolCall) -> ToolCall:
    """An id may be in capitals."""
    named = text_argument(call, "id")
    return call if named is None else asking(call, id=named.lower())


@area.asking(TOOL, clause="nm1/get/id-required")
def numbers_are_ids(call: ToolCall) -> ToolCall:
    """A list with an id in it is that id."""
    named = call.arguments.get("id")
    return asking(call, id=named[0]) if isinstance(named, list) and named else call


@area.answer(TOOL, clause="nm1/get/id-required")
async def no_id_is_the_newest(call: ToolCall, honest: Honest) -> Result:
    """Without an id the newest capsule is read."""
    if "id" in call.arguments:
        return await honest(call)
    newest = (await ask(honest, call, "memory_list"))["entries"][-1:]
    return await honest(asking(call, id=newest[0]["id"])) if newest else value_fault("nothing is stored")


@area.liar(TOOL, clause="nm1/get/pinned")
class PinsAreForever(Interceptor):
    """What was pinned once says so ever after."""

    def __init__(self) -> None:
        self._pinned: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "memory_pin" and body["pinned"]:
            self._pinned.add(body["id"])
        if call.name == TOOL and body["id"] in self._pinned and not is_marker(body):
            body["pinned"] = True
        return with_body(result, body)
