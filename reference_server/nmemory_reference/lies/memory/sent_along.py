"""Lies about ingest: what is sent along, as what a capsule replaces, its session, its kind and its evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    ask,
    body_of,
    is_error,
    with_body,
    without,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.history import History
from nmemory_reference.lies.memory.ingest import but, each_item, each_of_batch, pairs
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("ingest")

TOOL = "memory_ingest"
GET = "memory_get"
LIST = "memory_list"
RETRIEVE = "memory_retrieve"


@area.item(TOOL, at="outcomes", clause="nm1/ingest/supersedes-confirmed")
def replacing_is_not_confirmed(call: ToolCall, row: Body) -> None:
    """A captured row does not say what it replaced."""
    if row["status"] == "captured":
        row.pop("superseded", None)


@area.answer(TOOL, clause="nm1/ingest/supersedes-confirmed")
async def replacing_is_said_and_not_done(call: ToolCall, honest: Honest) -> Result:
    """A captured row says what it replaced, and no edge is made."""
    target = call.arguments.get("supersedes")
    result = await honest(without(call, "supersedes"))
    if is_error(result) or not isinstance(target, str):
        return result
    body = body_of(result)
    for row in body["outcomes"]:
        row["superseded"] = target
    return with_body(result, body)


@area.asking(TOOL, clause="nm1/ingest/supersedes-confirmed")
def batches_replace_nothing(call: ToolCall) -> ToolCall:
    """supersedes is overlooked in a batch."""
    return each_of_batch(call, lambda item: but(item, "supersedes"))


@area.answer(TOOL, clause="nm1/ingest/supersedes-on-dedup")
async def known_content_replaces_nothing(call: ToolCall, honest: Honest) -> Result:
    """supersedes is overlooked where the content is known already."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    for row in body["outcomes"]:
        if row["status"] == "deduplicated":
            row.pop("superseded", None)
    return with_body(result, body)


@area.liar(TOOL, RETRIEVE, clause="nm1/ingest/superseded-not-recalled")
class TheReplacedIsRecalled(History):
    """A capsule that an ingest replaced is still recalled beside the new one."""

    def __init__(self) -> None:
        super().__init__()
        self._replaced: dict[str, str] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name not in (TOOL, RETRIEVE):
            return
        if call.name == TOOL:
            self._replaced |= {row["superseded"]: row["id"] for row in body["outcomes"] if "superseded" in row}
        elif body["outcome"] == "grounded":
            shown = {row["id"]: row for row in body["results"]}
            body["results"] += [shown[new] | {"id": old} for old, new in self._replaced.items() if new in shown]


@area.success(LIST, clause="nm1/ingest/superseded-still-read")
def the_replaced_is_not_listed(call: ToolCall, body: Body) -> None:
    """A replaced capsule leaves the list."""
    body["entries"] = [row for row in body["entries"] if not row.get("superseded")]


@area.asking(TOOL, clause="nm1/ingest/session-must-be-open")
def finished_sessions_take_more(call: ToolCall) -> ToolCall:
    """An item is taken whatever became of its session."""
    return without(call, "session_id")


@area.liar(TOOL, clause="nm1/ingest/session-must-be-open")
class BatchesOutliveTheirSession(Interceptor):
    """The items of a batch are taken after their session was finished."""

    def __init__(self) -> None:
        self._finished: set[Any] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == TOOL:

            def late(item: Body) -> Body:
                return but(item, "session_id") if item.get("session_id") in self._finished else item

            return await honest(each_of_batch(call, late))
        result = await honest(call)
        if call.name == "memory_session_finish":
            self._finished.add(call.arguments.get("session_id"))
        return result


@area.asking(TOOL, clause="nm1/ingest/kind-lists")
def kinds_are_forgotten(call: ToolCall) -> ToolCall:
    """The kind epic is taken, and not kept."""
    return each_item(call, lambda item: but(item, "kind") if item.get("kind") == "epic" else item)


@area.success(GET, clause="nm1/ingest/kind-lists")
def the_scope_is_global(call: ToolCall, body: Body) -> None:
    """A kind that came with a capture has scope global."""
    if "classification" in body:
        body["classification"]["scope"] = "global"


@area.item(TOOL, at="outcomes", clause="nm1/ingest/kind-replaced-on-dedup")
def relabelling_is_silent(call: ToolCall, row: Body) -> None:
    """The row does not say that a label was replaced."""
    row.pop("reclassified", None)


@area.item(TOOL, at="outcomes", clause="nm1/ingest/kind-replaced-on-dedup")
def was_and_now_are_swapped(call: ToolCall, row: Body) -> None:
    """The row has the new label as was."""
    if told := row.get("reclassified"):
        told["was"], told["now"] = told["now"], told["was"]


@area.answer(TOOL, clause="nm1/ingest/kind-replaced-on-dedup")
async def the_first_label_stays(call: ToolCall, honest: Honest) -> Result:
    """A label that is there is said to be replaced, and is not."""
    before = await _known(call, honest)
    result = await honest(call)
    label = (before or {}).get("classification", {}).get("kind")
    if before and label and call.arguments.get("kind"):
        await ask(honest, call, "memory_classify", content="x", kind=label, capsule_id=before["id"])
    return result


@area.liar(TOOL, GET, clause="nm1/ingest/kind-replaced-on-dedup")
class AFlipIsNotRead(History):
    """A label that known content replaced is still the one that memory_get shows."""

    def __init__(self) -> None:
        super().__init__()
        self._was: dict[str, str] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            self._was |= {row["id"]: row["reclassified"]["was"] for row in body["outcomes"] if "reclassified" in row}
        elif call.name == GET and "classification" in body and (was := self._was.get(body["id"])):
            body["classification"]["kind"] = was


@area.liar(TOOL, clause="nm1/ingest/kind-replaced-on-dedup")
class LabelsOfClassifyStay(Interceptor):
    """A label that memory_classify gave is not replaced by a capture."""

    def __init__(self) -> None:
        self._given: dict[str, Any] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or call.name not in (TOOL, "memory_classify"):
            return result
        body = body_of(result)
        if call.name == TOOL:
            for row in body["outcomes"]:
                if row.pop("reclassified", None) and (kind := self._given.get(row["id"])):
                    await ask(honest, call, "memory_classify", content="x", kind=kind, capsule_id=row["id"])
            return with_body(result, body) if self._given else result
        if named := call.arguments.get("capsule_id"):
            self._given[named] = body["kind"]
        return result


@area.success(TOOL, clause="nm1/ingest/no-reclassified-without-flip")
def a_first_label_is_a_flip(call: ToolCall, body: Body) -> None:
    """Every deduplicated row with a kind says that it was replaced."""
    for item, row in pairs(call, body):
        if row["status"] == "deduplicated" and "kind" in item:
            row.setdefault("reclassified", {"was": item["kind"], "now": item["kind"]})


@area.success(TOOL, clause="nm1/ingest/no-reclassified-without-flip")
def a_new_label_is_a_flip(call: ToolCall, body: Body) -> None:
    """A captured row with a kind says that it was replaced."""
    for item, row in pairs(call, body):
        if row["status"] == "captured" and "kind" in item:
            row["reclassified"] = {"was": "fact", "now": item["kind"]}


@area.liar(TOOL, LIST, clause="nm1/ingest/kind-omitted-keeps")
class ACaptureWithoutAKindClearsIt(History):
    """Content that is sent again without a kind loses its label in lists."""

    def __init__(self) -> None:
        super().__init__()
        self._bare: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name not in (TOOL, LIST):
            return
        if call.name == TOOL:
            for item, row in pairs(call, body):
                if row["status"] == "deduplicated":
                    (self._bare.discard if "kind" in item else self._bare.add)(row["id"])
        elif "kind" in call.arguments:
            body["entries"] = [row for row in body["entries"] if row["id"] not in self._bare]


@area.refusal(TOOL, clause="nm1/ingest/bad-kind-names-set")
def the_set_of_kinds_is_abridged(call: ToolCall, refusal: Refusal) -> Refusal:
    """The refusal of an unknown kind leaves out the last of the ten."""
    return replace(refusal, text=refusal.text.replace("failure_pattern", "and so on"))


@area.item(TOOL, at="outcomes", clause="nm1/ingest/bad-evidence-state-names-set")
def the_set_of_states_is_not_told(call: ToolCall, row: Body) -> None:
    """A row with a bad evidence_state does not say which there are."""
    if "unverified" in row.get("error", ""):
        row["error"] = row["error"].replace("unverified", "...")


@area.success(GET, clause="nm1/ingest/epistemics-read-back", also={"nm1/classify/epistemics-persist"})
def hints_are_tidied(call: ToolCall, body: Body) -> None:
    """Of a proof_hint only what stands before the first pipe is shown."""
    if hint := body.get("epistemics", {}).get("proof_hint"):
        body["epistemics"]["proof_hint"] = hint.partition(" |")[0]


@area.item(RETRIEVE, at="results", clause="nm1/ingest/epistemics-read-back", also={"nm1/classify/epistemics-persist"})
def recall_is_silent_about_staleness(call: ToolCall, row: Body) -> None:
    """A recalled row has no stale_if."""
    row.pop("stale_if", None)


@area.asking(TOOL, clause="nm1/ingest/epistemics-read-back")
def hints_are_stripped(call: ToolCall) -> ToolCall:
    """White space at the ends of a proof_hint is cut off."""

    def tidied(item: Body) -> Body:
        hint = item.get("proof_hint")
        return {**item, "proof_hint": hint.strip()} if isinstance(hint, str) else item

    return each_item(call, tidied)


@area.item(RETRIEVE, at="results", clause="nm1/ingest/epistemics-read-back", also={"nm1/classify/epistemics-persist"})
def hints_are_shown_with_a_state(call: ToolCall, row: Body) -> None:
    """A recalled row without an evidence_state has no hints."""
    if "evidence_state" not in row:
        row.pop("proof_hint", None)
        row.pop("stale_if", None)


@area.liar(TOOL, GET, clause="nm1/ingest/epistemics-per-field")
class ACollapseReplacesAllOfThem(History):
    """Of what is known of the evidence only the fields that were sent last are shown."""

    def __init__(self) -> None:
        super().__init__()
        self._sent: dict[str, set[str]] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name not in (TOOL, GET):
            return
        fields = {"evidence_state", "proof_hint", "stale_if"}
        if call.name == TOOL:
            for item, row in pairs(call, body):
                if row["status"] == "deduplicated" and fields & item.keys():
                    self._sent[row["id"]] = fields & item.keys()
        elif "epistemics" in body and (sent := self._sent.get(body["id"])):
            body["epistemics"] = {name: value for name, value in body["epistemics"].items() if name in {*sent, "at"}}


@area.liar(TOOL, GET, clause="nm1/ingest/epistemics-per-field")
class AHintAloneClearsTheState(History):
    """Known content that comes with a hint alone loses its evidence_state."""

    def __init__(self) -> None:
        super().__init__()
        self._cleared: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            for item, row in pairs(call, body):
                if row["status"] == "deduplicated" and "evidence_state" in item:
                    self._cleared.discard(row["id"])
                elif row["status"] == "deduplicated" and {"proof_hint", "stale_if"} & item.keys():
                    self._cleared.add(row["id"])
        elif call.name == GET and body["id"] in self._cleared:
            body.get("epistemics", {}).pop("evidence_state", None)


async def _known(call: ToolCall, honest: Honest) -> Body | None:
    """What a single item's content is stored as, if it is."""
    found = await ask(honest, call, LIST, project_id=call.arguments.get("project_id"))
    for row in found["entries"]:
        stored = await ask(honest, call, GET, id=row["id"])
        if stored["capsule"]["content"] == call.arguments.get("content"):
            return stored
    return None
