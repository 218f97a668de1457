"""Variants in substance: other ids, less and more in answers, other numbers, a busier journal."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    ask,
    asking,
    body_of,
    is_error,
    listed,
    text_of,
    text_result,
    with_body,
    without,
)
from nmemory_reference.lies.forms import seconds
from nmemory_reference.lies.lie import Successes
from nmemory_reference.lies.memory.answers import MEMORY_TOOLS, rows, success
from nmemory_reference.lies.memory.documents import rebuilt
from nmemory_reference.lies.memory.history import History
from nmemory_reference.lies.variant import Lists, Variant
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

Json = Any


def texts(value: Json, change: Callable[[str], str]) -> Json:
    """A value with every text in it changed, but for the keys."""
    match value:
        case str():
            return change(value)
        case dict():
            return {key: texts(item, change) for key, item in value.items()}
        case list() | tuple():
            return [texts(item, change) for item in value]
        case _:
            return value


_ID = re.compile(r"(?<![\w-])(?P<family>cap|out|pref|sess|rcpt)(?P<joint>[-_])(?P<number>[1-9]\d*)(?P<no>no)?(?![\w-])")
_FIRST, _STEP = 1000, 7


def _outward(text: str) -> str:
    def shown(found: re.Match[str]) -> str:
        number = found["number"] if found["no"] else int(found["number"]) * _STEP + _FIRST
        return f"{found['family']}{found['joint']}{number}"

    return _ID.sub(shown, text)


def _inward(text: str) -> str:
    def meant(found: re.Match[str]) -> str:
        place, rest = divmod(int(found["number"]) - _FIRST, _STEP)
        number = f"{found['number']}no" if rest or place < 1 else place
        return f"{found['family']}{found['joint']}{number}"

    return _ID.sub(meant, text)


def _labels_by_bytes(text: str) -> str:
    """A diagram whose labels without a session stand in the order of their bytes again."""
    rows = iter(sorted(re.findall(r'(?m)^    session_\d+(\[".* · label only"\])$', text)))
    return re.sub(r'(?m)^(    session_\d+)\[".* · label only"\]$', lambda found: found[1] + next(rows), text)


class GappedIds(Interceptor):
    """Ids of every sort begin beyond 1000, and six of seven numbers are left out."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        try:
            result = await honest(replace(call, arguments=texts(dict(call.arguments), _inward)))
        except RpcFault as fault:
            raise RpcFault(fault.code, _outward(fault.message), texts(fault.data, _outward)) from None
        if is_error(result):
            return text_result(_outward(text_of(result)), error=True)
        body = texts(body_of(result), _outward)
        for key in ("markdown", "mermaid"):
            if key in body:
                body[key] = rebuilt(body[key], _labels_by_bytes)
        return with_body(result, body)


def _drop(body: Json, *names: str) -> None:
    for name in names:
        body.pop(name, None)


def _no_end(freshness: Body) -> None:
    if freshness["valid_to"] is None:
        del freshness["valid_to"]


def _sparse_rows(body: Body) -> None:
    for row in body.get("outcomes", ()):
        if row.get("dedup_hint", 0) is None:
            del row["dedup_hint"]
    if "outcome" in body:
        _drop(body, "source")


def _sparse_recall(body: Body) -> None:
    _drop(body, "matched", "returned", "trimmed", "token_budget", "excluded_count")
    if not body.get("results", True):
        _drop(body, "receipt_id")
    for row in body.get("results", ()):
        _drop(row["provenance"], "source_hash")
        _no_end(row["freshness"])


def _sparse_get(body: Body) -> None:
    _drop(body, "seq", "session_id", "created_at")
    if "capsule" in body:
        _drop(body["capsule"]["provenance"], "source_hash")
        _no_end(body["capsule"]["freshness"])
    _drop(body.get("classification", {}), "at")


def _sparse_digest(body: Body) -> None:
    for name in ("newest", "most_recalled"):
        if body[name] == []:
            del body[name]
    _drop(body, "pinned_total")
    for miss in body.get("recent_failures", {}).get("recall_misses", ()):
        _drop(miss, "outcome", "at")


def _sparse_pack(body: Body) -> None:
    if not body["ready"].get("ready", True):
        del body["ready"]["ready"]


def _sparse_plan(body: Body) -> None:
    _drop(body, "framing", "considered", "store_invariant_breach", "applied", "applied_tier_moves")
    for proposal in body["plan"]["merge_proposals"]:
        _drop(proposal, "containment_score", "rationale")
    for move in body["plan"]["tier_moves"]:
        _drop(move, "reason")


def _sparse_alias(body: Body) -> None:
    _drop(body, "label", "aliases_for_term", "total")
    if body.get("already_recorded") is False:
        del body["already_recorded"]


def _sparse_evidence(body: Body) -> None:
    for row in (body.get("recorded", {}), *body.get("preferences", ())):
        _drop(row, "at")


def _sparse_outcome(body: Body) -> None:
    _drop(body, "total")
    for row in (body.get("recorded", {}), *body.get("outcomes", ())):
        _drop(row, "at")
    if "weights_updated" in body:
        body["weights_updated"] = len(body["weights_updated"])


def _sparse_vector(body: Body) -> None:
    _drop(body, "label", "capsule_id", "dimension", "model_tag", "total")
    if body.get("replaced") is False:
        del body["replaced"]


_SPARSE: Mapping[str, Callable[[Body], None]] = {
    "memory_alias": _sparse_alias,
    "memory_bootstrap": _sparse_pack,
    "memory_classify": lambda body: _drop(body, "label", "persisted"),
    "memory_consolidate": _sparse_plan,
    "memory_digest": _sparse_digest,
    "memory_extract": lambda body: _drop(body, "label", "count"),
    "memory_forget": lambda body: _drop(body, "label", "framing", "outcome", "last_mutation"),
    "memory_get": _sparse_get,
    "memory_import": _sparse_rows,
    "memory_ingest": _sparse_rows,
    "memory_list": lambda body: _drop(body, "returned"),
    "memory_merge": lambda body: _drop(body, "advisory", "outcome", "from"),
    "memory_outcome": _sparse_outcome,
    "memory_preference": _sparse_evidence,
    "memory_pin": lambda body: _drop(body, "id", "pinned", "reason", "at"),
    "memory_relate": lambda body: _drop(body, "kind", "from", "to"),
    "memory_retrieve": _sparse_recall,
    "memory_session_finish": lambda body: _drop(body, "session_id", "finished_at", "summary"),
    "memory_session_start": lambda body: _drop(body, "started_at"),
    "memory_vector": _sparse_vector,
}


def _sparse(call: ToolCall, body: Body) -> None:
    if call.name in _SPARSE:
        _SPARSE[call.name](body)


def _numbers(value: Json) -> Json:
    """Whole numbers as 1.0, and fractions that are whole as 1."""
    match value:
        case bool():
            return value
        case int():
            return float(value)
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {key: _numbers(item) for key, item in value.items()}
        case list():
            return [_numbers(item) for item in value]
        case _:
            return value


#: The members that hold an instant of the server's own.
_STAMPS = ("at", "started_at", "finished_at", "declared_at", "last_recalled_at")


def _coarse(body: Body) -> Body:
    """Whole seconds, with a small t and z, in every instant that the server's clock gave, but for the creation's."""

    def change(value: Json, born: str | None) -> Any:
        match value:
            case dict():
                born = value.get("created_at", born)
                return {
                    key: seconds(datetime.fromisoformat(item)).lower()
                    if isinstance(item, str) and (key in _STAMPS or (key == "valid_from" and item == born))
                    else change(item, born)
                    for key, item in value.items()
                }
            case list():
                return [change(item, born) for item in value]
            case _:
                return value

    coarse: Body = change(body, None)
    return coarse


#: Why something that matched is not shown.
_FENCES = (
    "quarantined",
    "falsified",
    "archived",
    "superseded",
    "expired",
    "not_yet_valid",
    "outside_time_window",
    "undated",
    "tombstoned",
)


class Ample(Interceptor):
    """What is empty, zero or false is said all the same, where nothing says that it is left out; counts are 1.0."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        for row in rows(call.name, body):
            if call.name in ("memory_list", "memory_digest", "memory_bootstrap"):
                row.setdefault("pinned", False)
            if row.get("status") in ("captured", "deduplicated"):
                row.setdefault("taint_findings", [])
        match call.name:
            case "memory_retrieve":
                if "excluded" in body:
                    body["excluded_ids"] = await self._fenced(call, honest)
                    body["excluded"] = {**dict.fromkeys(_FENCES, 0), **body["excluded"]}
                body.setdefault("results", [])
            case "memory_get" if "capsule" in body:
                body.setdefault("pinned", False)
            case "memory_outcome":
                recorded = [body["recorded"]] if "recorded" in body else []
                for row in (*recorded, *body.get("outcomes", ())):
                    row |= {**dict.fromkeys(("evidence_ref", "capsule_id", "receipt_id", "score")), **row}
                if recorded:
                    body.setdefault("weights_updated", [])
            case "memory_session_finish":
                body = {"summary": None, "handoff_capsule": None, "handoff_deduped": False, **body}
            case "memory_digest" if call.arguments.get("headlines") != 0:
                body.setdefault("pinned", [])
                whole = body if "mission" in body else await ask(honest, call, call.name)
                body |= (
                    {"mission": {"status": "ok", "roots": []}} if "mission" in whole and "mission" not in body else {}
                )
            case "memory_digest":
                whole = await ask(honest, call, call.name, **{**call.arguments, "headlines": 1})
                body |= {name: [] for name in ("handoff",) if name in whole}
                if whole.get("mission", {}).get("status") == "ok":
                    body["mission"] = {"status": "ok", "roots": []}
            case _:
                pass
        return with_body(result, _numbers(body))

    async def _fenced(self, call: ToolCall, honest: Honest) -> list[str]:
        """The capsules in scope that hold a word that was asked for, and stand no more."""
        words = {word for term in call.arguments["terms"] for word in re.findall(r"\w+", term.lower())}
        fences = {name: call.arguments.get(name) for name in ("project_id", "project_prefix")}
        listed = await ask(honest, call, "memory_list", **fences)
        return [
            row["id"]
            for row in listed["entries"]
            if row.keys() & {"tier", "superseded", "expired"}
            and words & set(re.findall(r"\w+", row["headline"].lower()))
        ]


#: Other names for what the journal calls by the tool.
_EVENTS = {
    "memory_ingest": "capture",
    "memory_import": "file/taken-over",
    "memory_classify": "label",
    "memory_relate": "edge.added",
    "memory_forget": "tombstone",
    "memory_pin": "pinning",
    "memory_vector": "embedding put",
    "memory_consolidate": "tier",
    "memory_merge": "sync",
    "memory_session_finish": "bracket",
}


class BusyJournal(Interceptor):
    """Misses are in the journal too, acts thrice, by names of its own; its clock is coarse, prints are bare."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "memory_digest":
            # What the store keeps: a start of the server loses none of it.
            body["audit_events"] = 3 * body["audit_events"] + body["recall_misses"]
            body["journal"]["verified"] = body["audit_events"]
        if "last_mutation" in body:
            body["last_mutation"]["event"] = _EVENTS[body["last_mutation"]["event"]]
        if "content_hmac" in body:
            body["content_hmac"] = body["content_hmac"].removeprefix("hmac-sha256:")
        return with_body(result, _coarse(body))


_UNKNOWN = re.compile(r"unknown field `([^`]+)`")
_OPTIONAL: Mapping[str, type] = {
    "stamp": bool,
    "apply_tiers": bool,
    "expired": bool,
    "taint_hint": bool,
    "limit": int,
    "headlines": int,
    "token_budget": int,
    "vector_k": int,
}


def _is_odd(value: Json, kind: type) -> bool:
    """Whether a value is there and of another JSON type."""
    return value is not None and type(value) is not kind and not (kind is int and isinstance(value, float))


#: The scope of each origin where none was sent: the contract says that there is one, and not which.
_SCOPES = {
    "extracted-candidate": "session",
    "owner-stated": "global",
    "tool-observation": "session",
    "external-import": "project",
    "session-note": "global",
}


def _meant(sent: Mapping[str, Any], project: str) -> dict[str, Any]:
    """Items with every confidence put between 0 and 1, and those without a project put into this one."""
    items, confidence = sent.get("items"), sent.get("confidence")
    if isinstance(items, list):
        return {**sent, "items": [_meant(item, project) if isinstance(item, dict) else item for item in items]}
    meant = {"project_id": project, **sent}
    if isinstance(confidence, int | float) and not isinstance(confidence, bool):
        meant["confidence"] = min(1, max(0, confidence))
    return meant


_STATES = ("observed", "inferred", "unverified")
#: Only of a kind the texts say that it is a matter of the arguments' shape.
_ODD_STATE = {"status": "rejected", "error": f"ingest rejected: evidence_state is one of {', '.join(_STATES)}"}


def _odd_state(sent: Mapping[str, Any]) -> bool:
    """Whether nothing is wrong with a single item but the word for its evidence."""
    state = sent.get("evidence_state")
    return isinstance(state, str) and state not in _STATES and {"content", "source", "anchor"} <= sent.keys()


class Lenient(Interceptor):
    """Arguments that it does not know, or cannot read, it goes without; what the texts do not refuse it takes."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == "memory_ingest" and _odd_state(call.arguments):
            return success(outcomes=[_ODD_STATE], captured=0, deduped=0, rejected=1)
        if call.name == "memory_ingest":
            slug = re.sub(r"[^a-z0-9-]", "", (call.caller.client or "").lower())[:32]
            return await honest(replace(call, arguments=_meant(call.arguments, slug or "default")))
        call = without(call, *(name for name, kind in _OPTIONAL.items() if _is_odd(call.arguments.get(name), kind)))
        if call.name == "memory_classify" and call.arguments.get("scope") is None:
            call = asking(call, scope=_SCOPES.get(str(call.arguments.get("origin") or "extracted-candidate")))
        try:
            result = await honest(call)
            while is_error(result) and (found := _UNKNOWN.search(text_of(result))) and found[1] in call.arguments:
                call = without(call, found[1])
                result = await honest(call)
        except RpcFault:
            return await self._taken(call, honest)
        return result

    async def _taken(self, call: ToolCall, honest: Honest) -> Result:
        sent = call.arguments
        prefix = sent.get("project_prefix")
        matches_nothing = isinstance(prefix, str) and (not prefix.strip() or prefix[-1] == "/")
        if call.name == "memory_retrieve" and matches_nothing:
            await honest(without(call, "project_prefix"))
            return success(outcome="abstain", reason=f"Nothing is below project_prefix {prefix!r}.")
        if call.name == "memory_bootstrap" and matches_nothing:
            return await honest(asking(call, project_prefix="nothing is below this"))
        reason = sent.get("reason")
        if call.name in ("memory_pin", "memory_forget") and isinstance(reason, str) and reason and not reason.strip():
            result = await honest(asking(call, reason="-"))
            return with_body(result, {**body_of(result), "reason": reason})
        if call.name == "memory_classify" and sent.get("origin") == "tool-observation":
            result = await honest(asking(call, origin="owner-stated"))
            return with_body(result, {**body_of(result), "authority_class": "observed-fact"})
        if call.name == "memory_classify" and "kind" not in sent and len("".join(sent["content"].split())) >= 400:
            return await honest(asking(call, kind="doc"))
        return await honest(call)


#: The least that recall may go by where nothing was sent: what these are by default, no text promises.
_TIGHT = {"limit": 1, "token_budget": 1, "vector_k": 1}


def _told_tight(tools: list[Body]) -> list[Body]:
    for name, value in _TIGHT.items():
        listed(tools, "memory_retrieve")["inputSchema"]["properties"][name]["default"] = value
    return tools


class TightDefaults(Lists):
    """Recall spends next to nothing, and asks one neighbour, unless it is told how much it may."""

    def __init__(self) -> None:
        super().__init__(_told_tight)

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != "memory_retrieve":
            return await honest(call)
        unsaid = {name: value for name, value in _TIGHT.items() if call.arguments.get(name) is None}
        return await honest(asking(call, **unsaid))


class DormantMissions(History):
    """A store in which nothing was ever grounded has no mission, whatever epics it holds."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == "memory_digest" and not self.begins("grounded_in"):
            body.pop("mission", None)


#: Every variant in substance.
FREEDOMS = (
    Variant("gapped-ids", "Ids begin beyond 1000 and leave numbers out.", GappedIds),
    Variant("sparse", "What nobody has to send is not sent.", lambda: Successes(MEMORY_TOOLS, _sparse)),
    Variant("ample", "What is empty, zero or false is said all the same, and counts are written 1.0.", Ample),
    Variant("busy-journal", "The journal holds more, calls it otherwise, and tells whole seconds.", BusyJournal),
    Variant("lenient", "What the texts do not refuse is taken.", Lenient),
    Variant("tight-defaults", "Recall is frugal unless it is told how much it may spend.", TightDefaults),
    Variant("dormant-missions", "Nothing is a mission before something is grounded.", DormantMissions),
)
