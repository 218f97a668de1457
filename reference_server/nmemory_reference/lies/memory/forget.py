"""Lies about forget: its answer, the marker that stays, and what finds it."""

from __future__ import annotations

from nmemory_reference.lies.answers import (
    Body,
    asking,
    text_argument,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import ToolCall

area = Area("forget")

TOOL = "memory_forget"
GET = "memory_get"
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
