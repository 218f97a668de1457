"""Lies about pin: what a pin holds up, and what it does not."""

from __future__ import annotations

from nmemory_reference.lies.answers import Body, Honest, Result, asking, text_argument
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import ARMOUR, rows, success
from nmemory_reference.lies.memory.history import History
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import RpcFault, ToolCall

area = Area("pin")

TOOL = "memory_pin"
GET = "memory_get"
RETRIEVE = "memory_retrieve"
BOOTSTRAP = "memory_bootstrap"


@area.success(TOOL, clause="nm1/pin/shape")
def pins_are_orders(call: ToolCall, body: Body) -> None:
    """The answer to a pin is not marked as data."""
    body["framing"] = "AUTHORITY"


@area.success(GET, clause="nm1/pin/shown-by-get")
def pins_are_not_read(call: ToolCall, body: Body) -> None:
    """memory_get does not show a pin."""
    body.pop("pinned", None)


@area.item("memory_list", at="entries", clause="nm1/pin/shown-by-list")
def pins_are_not_listed(call: ToolCall, row: Body) -> None:
    """memory_list does not show a pin."""
    row.pop("pinned", None)


@area.success("memory_digest", clause="nm1/pin/shown-by-digest")
def no_section_of_pins(call: ToolCall, body: Body) -> None:
    """memory_digest has no section of pins."""
    body.pop("pinned", None)


@area.item("memory_digest", at="newest", clause="nm1/pin/shown-by-digest")
def the_newest_shows_no_pin(call: ToolCall, row: Body) -> None:
    """A pin is shown in its section, and not in the other rows."""
    row.pop("pinned", None)


@area.liar(TOOL, "memory_digest", clause="nm1/pin/shown-by-digest")
class TheSectionKeepsWhatWasPinned(History):
    """What was pinned once stays in the digest's section of pins while that has another."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == "memory_digest" and "pinned" in body:
            shown = {row["id"] for row in body["pinned"]}
            gone = {named for named, held in self.pinned.items() if not held} - shown
            body["pinned"] += [{**row, "pinned": True} for row in body["newest"] if row["id"] in gone]


@area.liar(TOOL, BOOTSTRAP, clause="nm1/pin/no-bootstrap-section")
class ASectionMore(History):
    """memory_bootstrap has a section of pins."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == BOOTSTRAP:
            body["pinned"] = [named for named, held in self.pinned.items() if held]


@area.liar(TOOL, BOOTSTRAP, clause="nm1/pin/no-bootstrap-section")
class KeptInMind(History):
    """memory_bootstrap has a section of pins, and calls it otherwise."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == BOOTSTRAP and (held := [named for named, pinned in self.pinned.items() if pinned]):
            body["kept_in_mind"] = held


@area.asking(TOOL, clause="nm1/pin/reason-needed")
def a_reason_is_made_up(call: ToolCall) -> ToolCall:
    """A missing reason becomes pinned."""
    return call if "reason" in call.arguments else asking(call, reason="pinned")


@area.asking(TOOL, clause="nm1/pin/reason-needed")
def to_unpin_needs_no_reason(call: ToolCall) -> ToolCall:
    """To take off a pin needs no reason."""
    bare = call.arguments.get("pinned") is False and "reason" not in call.arguments
    return asking(call, reason="unpinned") if bare else call


@area.asking(TOOL, clause="nm1/pin/blank-reason")
def an_empty_reason_will_do(call: ToolCall) -> ToolCall:
    """An empty reason is taken."""
    return asking(call, reason="-") if call.arguments.get("reason") == "" else call


@area.asking(TOOL, clause="nm1/pin/blank-reason")
def an_empty_reason_unpins(call: ToolCall) -> ToolCall:
    """An empty reason is taken where a pin is taken off."""
    empty = call.arguments.get("pinned") is False and call.arguments.get("reason") == ""
    return asking(call, reason="-") if empty else call


@area.refusal(TOOL, clause="nm1/pin/blank-reason")
def an_empty_reason_is_told_in_band(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """An empty reason is refused in band."""
    blank = text_argument(call, "reason") is not None and not str(call.arguments["reason"]).strip()
    return Refusal(refusal.text) if blank else None


@area.answer(TOOL, clause="nm1/pin/unknown-id")
async def anything_can_be_pinned(call: ToolCall, honest: Honest) -> Result:
    """An unknown capsule is pinned."""
    try:
        return await honest(call)
    except RpcFault as fault:
        if fault.data and fault.data["kind"] == "unknown_capsule":
            return success(**ARMOUR, **call.arguments)
        raise


@area.refusal(TOOL, clause="nm1/pin/unknown-id")
def the_unknown_is_not_named(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """The refusal of an unknown capsule does not say which."""
    return Refusal(refusal.text, refusal.code, {"kind": "unknown_capsule", "id": ""}) if refusal.data else None


@area.refusal(TOOL, clause="nm1/pin/forgotten-id")
def the_forgotten_is_unknown(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """A forgotten capsule is refused like an unknown one."""
    if refusal.code != -32602 or not str(call.arguments.get("reason", "")).strip():
        return None
    return Refusal(refusal.text, -32002, {"kind": "tombstoned_capsule", "id": call.arguments["id"]})


@area.answer(TOOL, clause="nm1/pin/forgotten-id")
async def the_forgotten_is_unpinned(call: ToolCall, honest: Honest) -> Result:
    """To take the pin off a forgotten capsule succeeds."""
    try:
        return await honest(call)
    except RpcFault as fault:
        if fault.data or call.arguments.get("pinned") is not False or not call.arguments.get("reason"):
            raise
    return success(**ARMOUR, **call.arguments)


@area.liar(TOOL, RETRIEVE, clause="nm1/pin/full-confidence")
class PinnedThingsFade(History):
    """A pinned capsule loses weight like any other."""

    def change(self, call: ToolCall, body: Body) -> None:
        for row in rows(call.name, body) if call.name == RETRIEVE else ():
            if self.holds(row["id"]) and row["confidence"] == 0.8:
                row["decayed_weight"] = 0.2


@area.liar(TOOL, RETRIEVE, clause="nm1/pin/full-confidence")
class APinMovesNothing(History):
    """A pinned capsule shows its full weight, and stands behind the rest as before."""

    def change(self, call: ToolCall, body: Body) -> None:
        found = body.get("results", []) if call.name == RETRIEVE else []
        held = [row for row in found if self.holds(row["id"])]
        if held and held != found:
            found[:] = [*(row for row in found if row not in held), *held]


@area.liar(TOOL, RETRIEVE, clause="nm1/pin/full-confidence")
class PinnedThingsLead(History):
    """What is pinned stands before what is surer."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE and "results" in body:
            body["results"].sort(key=lambda row: not self.holds(row["id"]))


@area.liar(TOOL, RETRIEVE, clause="nm1/pin/full-confidence")
class PinsLastUntilARestart(History):
    """What was pinned before a restart shows the weight of its age."""

    def change(self, call: ToolCall, body: Body) -> None:
        for row in rows(call.name, body) if call.name == RETRIEVE else ():
            if not self.holds(row["id"]) and row["confidence"] == row["decayed_weight"] == 0.8:
                row["decayed_weight"] = 0.2


@area.liar(TOOL, RETRIEVE, clause="nm1/pin/full-confidence")
class OtherLanesKnowNoPins(History):
    """Where vectors are looked at a pinned capsule shows the weight of its age."""

    def change(self, call: ToolCall, body: Body) -> None:
        for row in rows(call.name, body) if call.name == RETRIEVE and "query_embedding" in call.arguments else ():
            if self.holds(row["id"]):
                row["decayed_weight"] = round(row["confidence"] / 4, 2)


@area.liar(TOOL, BOOTSTRAP, clause="nm1/pin/bootstrap-full-confidence")
class BootstrapKnowsNoPins(History):
    """memory_bootstrap ranks by age, pinned or not."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == BOOTSTRAP and "constraints" in body:
            body["constraints"].sort(key=lambda row: int(row["id"].partition("-")[2]))


@area.liar(TOOL, BOOTSTRAP, clause="nm1/pin/bootstrap-full-confidence")
class PinnedConstraintsLead(History):
    """memory_bootstrap has what is pinned before what is surer."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == BOOTSTRAP and "constraints" in body:
            body["constraints"].sort(key=lambda row: not self.holds(row["id"]))


@area.liar(TOOL, GET, clause="nm1/pin/confidence-kept")
class PinnedThingsAreCertain(History):
    """A pinned capsule has confidence 1."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and "capsule" in body and self.holds(body["id"]):
            body["capsule"]["confidence"] = 1.0


@area.liar(TOOL, GET, clause="nm1/pin/confidence-kept")
class UnpinningCostsConfidence(History):
    """A capsule whose pin was taken off has lost confidence."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and "capsule" in body and self.pinned.get(body["id"]) is False:
            body["capsule"]["confidence"] = 0.2


@area.liar(TOOL, RETRIEVE, clause="nm1/pin/unpin-resumes-decay")
class DecayBeginsAnew(History):
    """When the pin is taken off, decay counts from that moment."""

    def change(self, call: ToolCall, body: Body) -> None:
        for row in rows(call.name, body) if call.name == RETRIEVE else ():
            if self.pinned.get(row["id"]) is False:
                row["decayed_weight"] = row["confidence"]


@area.liar(TOOL, GET, clause="nm1/pin/latest-counts")
class OncePinnedAlwaysPinned(History):
    """A pin that was taken off is still shown."""

    def __init__(self) -> None:
        super().__init__()
        self._ever: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        self._ever |= {named for named, held in self.pinned.items() if held}
        if call.name == GET and body["id"] in self._ever:
            body["pinned"] = True


@area.liar(TOOL, RETRIEVE, clause="nm1/pin/latest-counts")
class WhatWasUnpinnedFades(History):
    """A capsule whose pin was taken off once shows the weight of its age, even if it is pinned again."""

    def __init__(self) -> None:
        super().__init__()
        self._ever: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        self._ever |= {named for named, held in self.pinned.items() if not held}
        for row in rows(call.name, body) if call.name == RETRIEVE else ():
            if row["id"] in self._ever and self.holds(row["id"]):
                row["decayed_weight"] = round(row["confidence"] / 4, 2)


@area.answer(TOOL, clause="nm1/pin/repeats-succeed")
async def what_is_not_pinned_is_not_unpinned(call: ToolCall, honest: Honest) -> Result:
    """To take off a pin that is not there is refused."""
    if call.arguments.get("pinned") is False and call.arguments.get("reason") == "to be sure":
        raise RpcFault(-32602, f"{call.arguments.get('id')} is not pinned")
    return await honest(call)


@area.success(GET, clause="nm1/pin/audited")
def pins_leave_no_trace(call: ToolCall, body: Body) -> None:
    """The last mutation of a capsule is never a pin."""
    if body.get("last_mutation", {}).get("event") == TOOL:
        body["last_mutation"]["event"] = "memory_ingest"


@area.liar(TOOL, "memory_digest", clause="nm1/pin/audited")
class UnpinningIsNotAudited(History):
    """The digest's number of audit events does not count pins that were taken off."""

    def __init__(self) -> None:
        super().__init__()
        self._off = 0

    def change(self, call: ToolCall, body: Body) -> None:
        self._off += call.name == TOOL and not body["pinned"]
        if call.name == "memory_digest":
            body["audit_events"] -= self._off


class _Resurrects(History):
    """Recalls a pinned capsule that is fenced for one reason."""

    reason: str

    def change(self, call: ToolCall, body: Body) -> None:
        held = [named for named, pinned in self.pinned.items() if pinned]
        if call.name != RETRIEVE or body["outcome"] != "missing_evidence" or not held:
            return
        if self.reason in body["excluded"]:
            body.clear()
            body |= {"outcome": "grounded", "results": [{**ARMOUR, "id": held[0]}], "matched": 1, "returned": 1}


@area.liar(TOOL, RETRIEVE, clause="nm1/pin/superseded-stays-out")
class APinBringsBackTheReplaced(_Resurrects):
    """A pinned capsule that is superseded is recalled."""

    reason = "superseded"


@area.liar(TOOL, RETRIEVE, clause="nm1/pin/falsified-stays-out")
class APinBringsBackTheFalse(_Resurrects):
    """A pinned capsule that is falsified is recalled."""

    reason = "falsified"


@area.liar(TOOL, RETRIEVE, clause="nm1/pin/expired-stays-out")
class APinBringsBackTheExpired(_Resurrects):
    """A pinned capsule that is expired is recalled."""

    reason = "expired"


@area.liar(TOOL, RETRIEVE, clause="nm1/pin/expired-stays-out")
class APinBringsOnWhatIsToCome(_Resurrects):
    """A pinned capsule that is not valid yet is recalled."""

    reason = "not_yet_valid"


@area.liar(TOOL, RETRIEVE, clause="nm1/pin/archived-stays-out")
class APinBringsBackTheArchived(_Resurrects):
    """A pinned capsule that is archived is recalled."""

    reason = "archived"


@area.liar(TOOL, RETRIEVE, clause="nm1/pin/superseded-stays-out")
class ThePinnedStandBeside(History):
    """A superseded capsule that is pinned is not counted as left out where something else is found."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE and body["outcome"] == "grounded" and any(map(self.holds, self.ends("supersedes"))):
            body.get("excluded", {}).pop("superseded", None)


@area.liar(TOOL, RETRIEVE, clause="nm1/pin/quarantined-stays-out")
class APinBringsBackThePoisoned(_Resurrects):
    """A pinned capsule that is quarantined is recalled."""

    reason = "quarantined"


@area.liar(TOOL, GET, clause="nm1/pin/never-archived")
class PinnedThingsAreArchived(History):
    """A pinned capsule that is superseded and expired is archived."""

    def change(self, call: ToolCall, body: Body) -> None:
        held = call.name == GET and "capsule" in body and self.holds(body["id"])
        if held and body["tier"] == "active" and body["capsule"]["freshness"]["valid_to"] is not None:
            body["tier"] = "archived"


@area.liar(TOOL, "memory_consolidate", clause="nm1/pin/never-archived")
class ThePlanKnowsNoPins(History):
    """A pinned capsule that is superseded and expired is to be archived, by the plan alone."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == "memory_consolidate" and not call.arguments:
            held = [named for named in self.ends("supersedes") if self.holds(named)]
            body["plan"]["tier_moves"] += [{"id": named, "from": "active", "to": "archived"} for named in held]


@area.liar(TOOL, GET, clause="nm1/pin/never-archived")
class OncePinnedNeverArchived(History):
    """A capsule whose pin was taken off is spared like a pinned one."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and "capsule" in body and self.pinned.get(body["id"]) is False:
            body["tier"] = "active"


@area.liar(TOOL, GET, clause="nm1/pin/taint-dominates")
class APinLaundersTaint(History):
    """A pinned capsule is never quarantined."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == GET and "capsule" in body and self.holds(body["id"]):
            body["tier"] = "active"


@area.liar(TOOL, RETRIEVE, clause="nm1/pin/matches-needed")
class PinnedThingsAreAlwaysRecalled(History):
    """What is pinned stands behind every recall."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE and body["outcome"] == "grounded":
            shown = {row["id"] for row in body["results"]}
            held = [named for named, pinned in self.pinned.items() if pinned and named not in shown]
            body["results"] += [{**body["results"][0], "id": named} for named in held]
