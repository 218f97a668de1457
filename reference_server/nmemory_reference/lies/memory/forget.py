"""Lies about forget: what goes, what stays, and what may come back."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

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
from nmemory_reference.lies.memory.answers import VALUE, value_fault
from nmemory_reference.lies.memory.history import History
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("forget")

TOOL = "memory_forget"
GET = "memory_get"
LIST = "memory_list"
INGEST = "memory_ingest"
RETRIEVE = "memory_retrieve"


def is_marker(body: Body) -> bool:
    """Whether a body is the marker of a forgotten capsule."""
    return body.get("outcome") == "tombstoned"


@area.success(TOOL, clause="nm1/forget/shape")
def no_edges_are_not_told(call: ToolCall, body: Body) -> None:
    """The marker of a capsule without edges has no relations."""
    if not body["relations"]:
        body.pop("relations")


@area.liar(TOOL, clause="nm1/forget/purged")
class ThePurgedHasASource(History):
    """The answer to a purge still names the source."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and body["mode"] == "purged" and body["id"] in self.captured:
            body["provenance"] = {"source": self.captured[body["id"]]["source"]}


@area.liar(GET, clause="nm1/forget/purged")
class ThePurgedIsRemembered(History):
    """The marker of a purge names where the content came from when it is read later."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and is_marker(body) and body["mode"] == "purged" and body["id"] in self.captured:
            body["was"] = f"from {self.captured[body['id']]['source']}"


@area.liar(TOOL, "memory_export", clause="nm1/forget/purged")
class TheIndexNamesTheSource(History):
    """What was purged has its anchor beside the index."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == "memory_export":
            body["purged"] = [self.captured[named]["anchor"] for named in self.forgotten if named in self.captured]


@area.success(TOOL, clause="nm1/forget/redacted")
def the_redacted_has_no_anchor(call: ToolCall, body: Body) -> None:
    """The answer to a redaction does not name the anchor."""
    if "provenance" in body:
        body["provenance"].pop("anchor")


@area.success(GET, clause="nm1/forget/redacted", also={"nm1/get/marker-provenance"})
def the_redacted_comes_from_elsewhere(call: ToolCall, body: Body) -> None:
    """The marker of a redaction has no source when it is read later."""
    if is_marker(body) and "provenance" in body:
        body["provenance"]["source"] = "redacted"


@area.liar(TOOL, clause="nm1/forget/answer-no-content")
class TheAnswerQuotesIt(History):
    """The answer quotes the content's last line."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and body["id"] in self.captured:
            body["was"] = self.captured[body["id"]]["content"].splitlines()[-1]


@area.asking(TOOL, clause="nm1/forget/reason-required")
def a_reason_is_made_up(call: ToolCall) -> ToolCall:
    """A missing reason becomes forgotten."""
    return call if "reason" in call.arguments else asking(call, reason="forgotten")


@area.asking(TOOL, clause="nm1/forget/reason-required")
def any_reason_will_do(call: ToolCall) -> ToolCall:
    """A reason may be a number."""
    return asking(call, reason=str(call.arguments["reason"])) if "reason" in call.arguments else call


@area.asking(TOOL, clause="nm1/forget/closed-modes")
def redacting_is_the_default(call: ToolCall) -> ToolCall:
    """Without a mode a capsule is redacted."""
    return call if "mode" in call.arguments else asking(call, mode="redacted")


@area.asking(TOOL, clause="nm1/forget/closed-modes")
def modes_may_be_capitals(call: ToolCall) -> ToolCall:
    """A mode is read without case."""
    mode = text_argument(call, "mode")
    return call if mode is None else asking(call, mode=mode.lower())


@area.success(GET, clause="nm1/forget/marker-stays", also={"nm1/get/marker"})
def every_marker_is_of_a_purge(call: ToolCall, body: Body) -> None:
    """Every marker reads as purged later."""
    if is_marker(body):
        body["mode"] = "purged"


@area.success(GET, clause="nm1/forget/marker-stays")
def fingerprints_are_short(call: ToolCall, body: Body) -> None:
    """The marker's fingerprint is another one when it is read later."""
    if is_marker(body):
        body["content_hmac"] = "hmac-sha256:" + "0" * 64


@area.liar(TOOL, GET, clause="nm1/forget/marker-survives-restart")
class ReasonsLiveInMemory(History):
    """The reason of a marker is lost with the server's process."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and is_marker(body) and body["id"] not in self.forgotten:
            body["reason"] = "unknown"


@area.liar(TOOL, GET, clause="nm1/forget/marker-survives-restart")
class ProvenanceLivesInMemory(History):
    """The source of what was redacted is lost with the server's process."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and is_marker(body) and "provenance" in body and body["id"] not in self.forgotten:
            body["provenance"] = {"source": "", "anchor": ""}


@area.liar(TOOL, GET, clause="nm1/forget/marker-survives-restart")
class MarkersLoseTheirEdges(History):
    """The edges of a marker are lost with the server's process."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and is_marker(body) and body["id"] not in self.forgotten:
            body["relations"] = []


@area.liar(RETRIEVE, clause="nm1/forget/content-unsearchable")
class TheForgottenIsMissing(History):
    """A search for words of a forgotten content says that it was forgotten."""

    def change(self, call: ToolCall, body: Body) -> Body | None:
        if call.name == RETRIEVE and body["outcome"] == "abstain":
            words = {
                word for named in self.forgotten for word in self.captured.get(named, {}).get("content", "").split()
            }
            if words & set(call.arguments["terms"]):
                return {"outcome": "missing_evidence", "reason": "It is forgotten.", "excluded": {"tombstoned": 1}}
        return None


@area.liar(RETRIEVE, clause="nm1/forget/content-unsearchable")
class TheForgottenIsRecalledBesideOthers(History):
    """A forgotten capsule is recalled where another one matches."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE and body["outcome"] == "grounded":
            gone = [(named, self.captured[named]) for named in self.forgotten if named in self.captured]
            found = [
                (named, item) for named, item in gone if set(call.arguments["terms"]) & set(item["content"].split())
            ]
            body["results"] += [
                {**body["results"][0], "id": named, "headline": item["content"]} for named, item in found
            ]


@area.liar(TOOL, RETRIEVE, clause="nm1/forget/content-unsearchable")
class TheForgottenEchoes(History):
    """Where another capsule matches too, a word of a forgotten content counts as tombstoned."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE and body["outcome"] == "grounded":
            contents = [self.captured[named]["content"] for named in self.forgotten if named in self.captured]
            if gone := sum(bool(set(content.split()) & set(call.arguments["terms"])) for content in contents):
                body["excluded"] = {**body.get("excluded", {}), "tombstoned": gone}


@area.liar(TOOL, RETRIEVE, clause="nm1/forget/content-unsearchable")
class SentencesAreFound(History):
    """Who asks for the whole of a forgotten content hears that it was forgotten."""

    def change(self, call: ToolCall, body: Body) -> Body | None:
        contents = [self.captured[named]["content"] for named in self.forgotten if named in self.captured]
        if call.name == RETRIEVE and body["outcome"] == "abstain" and set(contents) & set(call.arguments["terms"]):
            return {"outcome": "missing_evidence", "reason": "It is forgotten.", "excluded": {"tombstoned": 1}}
        return None


@area.success(RETRIEVE, clause="nm1/forget/id-counted")
def a_forgotten_id_is_a_word(call: ToolCall, body: Body) -> Body | None:
    """A forgotten id counts as a word that nothing has."""
    if body.get("excluded", {}).get("tombstoned"):
        return {"outcome": "abstain", "reason": "No capsule holds these words."}
    return None


@area.liar(TOOL, RETRIEVE, clause="nm1/forget/id-counted")
class OneForgottenIdIsCounted(History):
    """However many forgotten ids are asked for, one is counted."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE and body.get("excluded", {}).get("tombstoned", 0) > 1:
            body["excluded"]["tombstoned"] = 1


@area.success(RETRIEVE, clause="nm1/forget/id-counted")
def forgotten_ids_count_alone(call: ToolCall, body: Body) -> None:
    """A forgotten id is not counted where another term finds something."""
    if body["outcome"] == "grounded":
        body.get("excluded", {}).pop("tombstoned", None)


@area.answer(INGEST, clause="nm1/forget/sticky")
async def the_forgotten_comes_back(call: ToolCall, honest: Honest) -> Result:
    """What was forgotten is taken in from another source."""
    result = await honest(call)
    if not is_error(result) and body_of(result)["rejected"] and call.arguments.get("source") == "another source":
        return await honest(asking(call, content=f"{call.arguments['content']} "))
    return result


@area.liar(TOOL, INGEST, clause="nm1/forget/sticky")
class ForgettingIsForgotten(Interceptor):
    """Content that was forgotten before the last start is taken in."""

    def __init__(self) -> None:
        self._here = False

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        self._here |= call.name == TOOL
        if call.name == INGEST and not is_error(result) and body_of(result)["rejected"] and not self._here:
            return await honest(asking(call, content=f"{call.arguments.get('content')} "))
        return result


class _Barred(History):
    """Takes in some of what was forgotten."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await super().call_tool(call, honest)
        if call.name != INGEST or is_error(result) or not body_of(result)["rejected"]:
            return result
        sent = call.arguments.get("items") or [call.arguments]
        gone = {self.captured[named]["content"]: named for named in self.forgotten if named in self.captured}
        if not all(isinstance(item, dict) and isinstance(item.get("content"), str) for item in sent):
            return result
        back = {item["content"] for item in sent if item["content"] in gone and self.takes(call, gone[item["content"]])}
        items = [{**item, "content": f"{item['content']} "} if item["content"] in back else item for item in sent]
        return await honest(replace(call, arguments={"items": items})) if back else result

    def change(self, call: ToolCall, body: Body) -> None:
        """Changes no answer."""

    def takes(self, call: ToolCall, named: str) -> bool:
        """Whether a call brings back the content of a forgotten capsule."""
        raise NotImplementedError


@area.liar(TOOL, INGEST, clause="nm1/forget/sticky")
class OnlyThePurgedStaysAway(_Barred):
    """What was redacted is taken in again."""

    def __init__(self) -> None:
        super().__init__()
        self._redacted: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == TOOL and call.arguments.get("mode") == "redacted":
            self._redacted.add(str(call.arguments.get("id")))
        return await super().call_tool(call, honest)

    def takes(self, call: ToolCall, named: str) -> bool:
        return named in self._redacted


@area.liar(TOOL, INGEST, clause="nm1/forget/sticky")
class BatchesBringItBack(_Barred):
    """What was forgotten is taken in as an item of a batch."""

    def takes(self, call: ToolCall, named: str) -> bool:
        return "items" in call.arguments


@area.liar(TOOL, INGEST, clause="nm1/forget/sticky")
class OnlyTheLastStaysAway(_Barred):
    """Of what was forgotten only the last is barred."""

    def takes(self, call: ToolCall, named: str) -> bool:
        return named != self.forgotten[-1]


@area.liar(TOOL, INGEST, clause="nm1/forget/sticky")
class AKindBringsItBack(_Barred):
    """What was forgotten is taken in if it has a kind."""

    def takes(self, call: ToolCall, named: str) -> bool:
        return "kind" in call.arguments


@area.liar(TOOL, INGEST, clause="nm1/forget/sticky")
class ASessionBringsItBack(_Barred):
    """What was forgotten is taken in if it belongs to a session."""

    def takes(self, call: ToolCall, named: str) -> bool:
        return "session_id" in call.arguments


@area.liar(TOOL, INGEST, clause="nm1/forget/sticky")
class LabelledContentComesBack(_Barred):
    """What had a kind when it was forgotten is taken in again."""

    def takes(self, call: ToolCall, named: str) -> bool:
        return "kind" in self.captured[named]


@area.liar(TOOL, INGEST, clause="nm1/forget/sticky-bytes")
class AlmostTheSameIsTheSame(Interceptor):
    """What differs from a forgotten content in a full stop at the end is barred."""

    def __init__(self) -> None:
        self._barred: dict[str, str] = {}
        self._captured: dict[str, str] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        content = call.arguments.get("content")
        if call.name == INGEST and isinstance(content, str) and content.rstrip(".") in self._barred:
            return await honest(asking(call, content=content.rstrip(".")))
        result = await honest(call)
        if is_error(result):
            return result
        if call.name == INGEST and isinstance(content, str):
            self._captured |= {row["id"]: content for row in body_of(result)["outcomes"] if row["status"] == "captured"}
        if call.name == TOOL and (gone := self._captured.get(body_of(result)["id"])):
            self._barred[gone] = body_of(result)["id"]
        return result


@area.answer(TOOL, clause="nm1/forget/again")
async def twice_is_once(call: ToolCall, honest: Honest) -> Result:
    """A second forget is answered with the marker."""
    try:
        return await honest(call)
    except RpcFault as fault:
        if fault.data and fault.data["kind"] == "tombstoned_capsule":
            return await honest(replace(call, name=GET, arguments={"id": call.arguments["id"]}))
        raise


@area.refusal(TOOL, clause="nm1/forget/again")
def the_forgotten_is_unknown(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """A second forget finds no such capsule."""
    if refusal.data and refusal.data["kind"] == "tombstoned_capsule":
        return replace(refusal, data={**refusal.data, "kind": "unknown_capsule"})
    return None


@area.liar(TOOL, GET, clause="nm1/forget/again")
class TheSecondReasonCounts(Interceptor):
    """A second forget is refused, and its reason kept."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        try:
            result = await honest(call)
        except RpcFault as fault:
            if call.name == TOOL and fault.data and fault.data["kind"] == "tombstoned_capsule":
                self._reasons[call.arguments["id"]] = call.arguments["reason"]
            raise
        if call.name != GET or is_error(result) or not is_marker(body := body_of(result)):
            return result
        return with_body(result, {**body, "reason": self._reasons.get(body["id"], body["reason"])})


@area.liar(TOOL, clause="nm1/forget/again")
class MarkersAreNotKnownAgain(Interceptor):
    """What was forgotten before the server began is unknown to a second forget."""

    def __init__(self) -> None:
        self._here: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        try:
            result = await honest(call)
        except RpcFault as fault:
            if call.name != TOOL or not fault.data or fault.data["id"] in self._here:
                raise
            raise RpcFault(fault.code, fault.message, {**fault.data, "kind": "unknown_capsule"}) from None
        if call.name == TOOL and not is_error(result):
            self._here.add(body_of(result)["id"])
        return result


@area.refusal(TOOL, clause="nm1/forget/unknown-id")
def an_unknown_id_is_a_bad_value(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """An unknown id is refused as a value that can't be meant."""
    unknown = refusal.data and refusal.data["kind"] == "unknown_capsule"
    return Refusal(refusal.text, VALUE) if unknown else None


@area.refusal(TOOL, clause="nm1/forget/unknown-id")
def the_unknown_is_not_named(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """The refusal of what is no id at all has no id."""
    odd = refusal.data and not str(call.arguments.get("id")).startswith("cap-")
    return replace(refusal, data={**refusal.data, "id": None}) if odd and refusal.data else None


@area.success(TOOL, clause="nm1/forget/edges-stay")
def the_answer_has_no_edges_that_begin_there(call: ToolCall, body: Body) -> None:
    """The answer shows the edges that lead to the id alone."""
    body["relations"] = [edge for edge in body["relations"] if edge["to"] == body["id"]]


@area.liar(TOOL, GET, clause="nm1/forget/edges-stay")
class TheOtherEndLetsGo(History):
    """The other end of an edge does not show it any more."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and not is_marker(body):
            body["relations"] = [
                edge for edge in body["relations"] if not {edge["from"], edge["to"]} & set(self.forgotten)
            ]


class _LinesGo(History):
    """Leaves lines about edges of the forgotten out of a text."""

    tool: str
    at: str

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == self.tool and call.arguments.get("view", "relations") == "relations":
            kept = [
                line
                for line in body[self.at].split("\n")
                if not ("--" in line and any(self.names(named, line) for named in self.forgotten))
            ]
            body[self.at] = "\n".join(kept)

    def names(self, named: str, line: str) -> bool:
        """Whether a line names a capsule."""
        spaced = f" {line} ".replace("_", "-")
        return any(f"{before}{named}{after}" in spaced for before in " [(" for after in " ])")


@area.liar(TOOL, "memory_export", clause="nm1/forget/edges-stay")
class TheIndexLetsGo(_LinesGo):
    """The index lists no edges of the forgotten."""

    tool, at = "memory_export", "markdown"


async def _forget(honest: Honest, call: ToolCall, named: str) -> None:
    """Forget a capsule too, if it is not forgotten already."""
    try:
        await honest(asking(call, id=named))
    except RpcFault as fault:
        if not fault.data:
            raise


@area.answer("memory_vector", clause="nm1/forget/vector-gone")
async def vectors_stay_listed(call: ToolCall, honest: Honest) -> Result:
    """The vectors of the forgotten are listed."""
    result = await honest(call)
    if is_error(result) or "vectors" not in (body := body_of(result)) or not body["vectors"]:
        return result
    known = {row["capsule_id"] for row in body["vectors"]}
    last = max(int(named.partition("-")[2]) for named in known)
    for number in range(1, last):
        marker = await ask(honest, call, GET, id=f"cap-{number}")
        if is_marker(marker):
            body["vectors"].insert(0, {**body["vectors"][0], "capsule_id": f"cap-{number}"})
    return with_body(result, body)


@area.answer("memory_vector", clause="nm1/forget/vector-gone")
async def redacted_vectors_stay(call: ToolCall, honest: Honest) -> Result:
    """The vectors of the redacted are listed."""
    result = await honest(call)
    if is_error(result) or "vectors" not in (body := body_of(result)) or not body["vectors"]:
        return result
    last = max(int(row["capsule_id"].partition("-")[2]) for row in body["vectors"])
    for number in range(1, last):
        marker = await ask(honest, call, GET, id=f"cap-{number}")
        if is_marker(marker) and marker["mode"] == "redacted":
            body["vectors"].insert(0, {**body["vectors"][0], "capsule_id": f"cap-{number}"})
    return with_body(result, body)


@area.answer(TOOL, clause="nm1/forget/any-state")
async def pins_hold(call: ToolCall, honest: Honest) -> Result:
    """What is pinned can't be forgotten."""
    return await _only(call, honest, "pinned")


@area.answer(TOOL, clause="nm1/forget/any-state")
async def the_superseded_is_history(call: ToolCall, honest: Honest) -> Result:
    """What is superseded can't be forgotten."""
    return await _only(call, honest, "superseded")


@area.answer(TOOL, clause="nm1/forget/any-state")
async def the_expired_is_gone_already(call: ToolCall, honest: Honest) -> Result:
    """What has expired can't be forgotten."""
    return await _only(call, honest, "expired")


@area.answer(TOOL, clause="nm1/forget/any-state")
async def the_falsified_is_evidence(call: ToolCall, honest: Honest) -> Result:
    """What was falsified can't be forgotten."""
    named = call.arguments.get("id")
    edges = (await ask(honest, call, GET, id=named))["relations"] if isinstance(named, str) else ()
    held = any(edge["kind"] == "falsifies" and edge["to"] == named for edge in edges)
    return value_fault("it is falsified") if held else await honest(call)


@area.answer(TOOL, clause="nm1/forget/any-state")
async def the_archive_is_closed(call: ToolCall, honest: Honest) -> Result:
    """What is archived can't be forgotten."""
    return await _only(call, honest, "tier", "archived")


@area.answer(TOOL, clause="nm1/forget/any-state")
async def quarantine_is_kept(call: ToolCall, honest: Honest) -> Result:
    """What is in quarantine can't be forgotten."""
    return await _only(call, honest, "tier", "quarantined")


async def _only(call: ToolCall, honest: Honest, mark: str, value: bool | str = True) -> Result:
    """Forget what has no such mark in the list."""
    rows = (await ask(honest, call, LIST))["entries"]
    held = [row["id"] for row in rows if row.get(mark) == value]
    return value_fault(f"{mark}: {value}") if call.arguments.get("id") in held else await honest(call)


@area.answer(TOOL, clause="nm1/forget/only-that-one")
async def the_one_before_goes_too(call: ToolCall, honest: Honest) -> Result:
    """The capsule that was captured before it is forgotten with it."""
    result = await honest(call)
    number = str(call.arguments.get("id")).partition("-")[2]
    if not is_error(result) and number.isdigit():
        await _forget(honest, call, f"cap-{int(number) - 1}")
    return result


class _GoesToo(History):
    """Forgets with a capsule what belongs to it."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await super().call_tool(call, honest)
        if call.name == TOOL and not is_error(result):
            gone = body_of(result)
            for named in self.others(gone):
                await _forget(honest, call, named)
        return result

    def change(self, call: ToolCall, body: Body) -> None:
        """Changes no answer."""

    def others(self, gone: Body) -> list[str]:
        """What goes with a capsule of which this is the marker."""
        raise NotImplementedError


@area.liar(TOOL, clause="nm1/forget/only-that-one")
class WhatCameOfItGoesToo(_GoesToo):
    """What was derived from it is forgotten with it."""

    def others(self, gone: Body) -> list[str]:
        return [begin for kind, begin, to in self.edges if kind == "derived_from" and to == gone["id"]]


@area.liar(TOOL, clause="nm1/forget/only-that-one")
class WhatItReplacedGoesToo(_GoesToo):
    """What it superseded is forgotten with it."""

    def others(self, gone: Body) -> list[str]:
        return [to for kind, begin, to in self.edges if kind == "supersedes" and begin == gone["id"]]


@area.liar(TOOL, clause="nm1/forget/only-that-one")
class TheWholePageGoes(_GoesToo):
    """What has the same source and anchor is forgotten with it."""

    def others(self, gone: Body) -> list[str]:
        item = self.captured.get(gone["id"], {})
        return [named for named, other in self.captured.items() if _origin(other) == _origin(item)]


@area.liar(TOOL, clause="nm1/forget/only-that-one")
class TheSessionGoes(_GoesToo):
    """What was kept in the same session is forgotten with it."""

    def others(self, gone: Body) -> list[str]:
        session = self.captured.get(gone["id"], {}).get("session_id")
        return [named for named, item in self.captured.items() if session and item.get("session_id") == session]


@area.liar(TOOL, clause="nm1/forget/only-that-one")
class NearlyTheSameGoesToo(_GoesToo):
    """What shares most words with it is forgotten with it."""

    def others(self, gone: Body) -> list[str]:
        words = set(self.captured.get(gone["id"], {}).get("content", "").split())
        alike = {named: words & set(item["content"].split()) for named, item in self.captured.items()}
        return [named for named, shared in alike.items() if len(shared) > 5]


def _origin(item: Mapping[str, Any]) -> tuple[Any, Any]:
    """Where an item that was sent comes from."""
    return item.get("source"), item.get("anchor")


@area.liar(TOOL, INGEST, clause="nm1/forget/id-not-reused")
class IdsAreGivenAgain(History):
    """The first capture after a forget has the forgotten id."""

    def __init__(self) -> None:
        super().__init__()
        self._free: list[str] = []

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            self._free.append(body["id"])
        for row in body["outcomes"] if call.name == INGEST else ():
            if self._free and row["status"] == "captured":
                row["id"] = self._free.pop()


@area.liar(TOOL, GET, clause="nm1/forget/hmac-keyed", also={"nm1/forget/marker-stays"})
class TheFingerprintIsAHash(History):
    """The fingerprint is the SHA-256 of the content."""

    def change(self, call: ToolCall, body: Body) -> None:
        if is_marker(body) and body["id"] in self.captured:
            digest = hashlib.sha256(self.captured[body["id"]]["content"].encode()).hexdigest()
            body["content_hmac"] = f"hmac-sha256:{digest}"


@area.liar(TOOL, GET, clause="nm1/forget/hmac-keyed", also={"nm1/forget/marker-stays"})
class TheRedactedHasAHash(History):
    """The fingerprint of what was redacted is the SHA-256 of the content, in capitals."""

    def change(self, call: ToolCall, body: Body) -> None:
        if is_marker(body) and body["mode"] == "redacted" and body["id"] in self.captured:
            digest = hashlib.sha256(self.captured[body["id"]]["content"].encode()).hexdigest()
            body["content_hmac"] = f"hmac-sha256:{digest.upper()}"


@area.liar(TOOL, GET, clause="nm1/forget/key-file", config={"hmac_key": "a key that no file holds"})
class TheKeyIsInMemory(Interceptor):
    """The key of the fingerprints is made up at the start, and kept in no file."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or not is_marker(body := body_of(result)):
            return result
        digest = hmac.new(self._key, body["content_hmac"].encode(), hashlib.sha256).hexdigest()
        return with_body(result, {**body, "content_hmac": f"hmac-sha256:{digest}"})


@area.answer(TOOL, clause="nm1/forget/bytes-destroyed", also={"nm1/forget/nowhere-else"})
async def an_observation_keeps_it(call: ToolCall, honest: Honest) -> Result:
    """What was forgotten is noted as an outcome."""
    stored = await honest(replace(call, name=GET, arguments={"id": call.arguments.get("id")}))
    result = await honest(call)
    if not is_error(result) and "capsule" in (body := body_of(stored)):
        await ask(honest, call, "memory_outcome", description=body["capsule"]["content"], actor="forget")
    return result


@area.answer(TOOL, clause="nm1/forget/bytes-destroyed", also={"nm1/forget/nowhere-else"})
async def the_redacted_is_kept_apart(call: ToolCall, honest: Honest) -> Result:
    """What was redacted is noted as an outcome."""
    if call.arguments.get("mode") != "redacted":
        return await honest(call)
    return await an_observation_keeps_it(call, honest)


def _is_cached_in(tool: str) -> None:
    """Add the lie that a tool's answer still has what was forgotten."""

    class Lie(History):
        def change(self, call: ToolCall, body: Body) -> None:
            if call.name == tool and self.forgotten and self.forgotten[-1] in self.captured:
                body["cached"] = self.captured[self.forgotten[-1]]["content"]

    Lie.__name__ = f"TheForgottenIsCachedIn{''.join(word.title() for word in tool.split('_')[1:])}"
    Lie.__doc__ = f"{tool} answers what was forgotten last beside the rest."
    area.liar(tool, clause="nm1/forget/nowhere-else")(Lie)


for _tool in (
    "memory_alias",
    "memory_bootstrap",
    "memory_consolidate",
    "memory_digest",
    "memory_export",
    "memory_preference",
    "memory_session_finish",
    "memory_vector",
    "memory_visual",
):
    _is_cached_in(_tool)


@area.liar(TOOL, "memory_consolidate", clause="nm1/forget/nowhere-else")
class WordsOutliveTheirText(History):
    """A word of a forgotten content is proposed as an alias."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == "memory_consolidate":
            contents = [self.captured[named]["content"] for named in self.forgotten if named in self.captured]
            words = [word for content in contents for word in content.split()]
            body["plan"]["alias_proposals"] += [
                {**proposal, "candidate": word}
                for proposal in body["plan"]["alias_proposals"]
                for word in words
                if word.casefold().startswith(proposal["term"][:-3].casefold())
            ]
