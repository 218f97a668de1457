"""Lies about outcome: what was observed, and how recall is scored."""

from __future__ import annotations

from dataclasses import replace

from nmemory_reference.lies.answers import Body, Honest, Result, ask, asking, body_of, is_error, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import ARMOUR, rows, success
from nmemory_reference.lies.memory.history import Unaudited
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("outcome")

TOOL = "memory_outcome"
RETRIEVE = "memory_retrieve"


@area.success(TOOL, clause="nm1/outcome/shape")
def the_ceiling_is_not_named(call: ToolCall, body: Body) -> None:
    """A list of outcomes has no advisory."""
    if "outcomes" in body:
        body.pop("advisory")


@area.success(TOOL, clause="nm1/outcome/row-stored")
def a_record_is_a_yes(call: ToolCall, body: Body) -> None:
    """The answer to a record has no actor in its row."""
    if "recorded" in body:
        body["recorded"]["description"] = ""


@area.asking(TOOL, clause="nm1/outcome/actor-as-given")
def the_client_is_the_observer(call: ToolCall) -> ToolCall:
    """The actor is the client, whatever was sent."""
    return asking(call, actor=call.caller.client or "client") if call.arguments.get("actor") else call


@area.item(TOOL, at="outcomes", clause="nm1/outcome/optionals-read-back")
def evidence_is_not_listed(call: ToolCall, row: Body) -> None:
    """The list has no evidence_ref."""
    row.pop("evidence_ref", None)


@area.success(TOOL, clause="nm1/outcome/optionals-read-back")
def what_was_not_sent_is_empty(call: ToolCall, body: Body) -> None:
    """A record without evidence_ref has an empty one."""
    if "recorded" in body:
        body["recorded"].setdefault("evidence_ref", "")


@area.refusal(TOOL, clause="nm1/outcome/both-taught")
def one_is_taught_at_a_time(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """The refusal names the first field that is missing."""
    if "actor" not in refusal.text or "description" not in refusal.text:
        return None
    missing = "actor" if "description" in call.arguments else "description"
    return replace(refusal, text=f"{missing} is missing")


@area.asking(TOOL, clause="nm1/outcome/both-taught")
def an_actor_is_made_up(call: ToolCall) -> ToolCall:
    """A missing actor becomes somebody."""
    return asking(call, actor="somebody") if set(call.arguments) == {"description"} else call


@area.answer(TOOL, clause="nm1/outcome/unknown-capsule")
async def it_may_bear_on_nothing(call: ToolCall, honest: Honest) -> Result:
    """An unknown capsule_id is overlooked."""
    unknown = str(call.arguments.get("capsule_id")).startswith("cap-9999")
    return await honest(without(call, "capsule_id") if unknown else call)


@area.refusal(TOOL, clause="nm1/outcome/unknown-capsule")
def an_unknown_capsule_is_a_bad_value(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """An unknown capsule_id is refused as a bad value."""
    return Refusal(refusal.text, -32602) if refusal.data and refusal.data["kind"] == "unknown_capsule" else None


@area.success(TOOL, clause="nm1/outcome/list-in-order")
def the_newest_comes_first(call: ToolCall, body: Body) -> None:
    """Outcomes are listed newest first."""
    body.get("outcomes", []).reverse()


@area.liar(TOOL, clause="nm1/outcome/append-only")
class TheSameIsOneRow(Interceptor):
    """A record that was made before is answered with its first row."""

    def __init__(self) -> None:
        self._rows: dict[str, Result] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name != TOOL or not call.arguments:
            return await honest(call)
        key = repr(sorted(call.arguments.items(), key=lambda pair: pair[0]))
        if key not in self._rows:
            result = await honest(call)
            if is_error(result):
                return result
            self._rows[key] = result
        return self._rows[key]


@area.answer(TOOL, clause="nm1/outcome/no-recall-effect", also={"nm1/relate/falsifies-fences"})
async def outcomes_falsify_by_themselves(call: ToolCall, honest: Honest) -> Result:
    """What an outcome bears on is falsified by it."""
    result = await honest(call)
    named = call.arguments.get("capsule_id")
    if not is_error(result) and named:
        out = body_of(result)["recorded"]["id"]
        await ask(honest, call, "memory_relate", **{"kind": "falsifies", "from": out, "to": named})
    return result


@area.asking(TOOL, clause="nm1/outcome/score-pair-whole")
def a_receipt_alone_will_do(call: ToolCall) -> ToolCall:
    """A receipt_id without a score is overlooked."""
    return call if "score" in call.arguments else without(call, "receipt_id")


@area.asking(TOOL, clause="nm1/outcome/score-pair-whole")
def a_score_alone_will_do(call: ToolCall) -> ToolCall:
    """A score without a receipt_id is overlooked."""
    return call if "receipt_id" in call.arguments else without(call, "score")


@area.asking(TOOL, clause="nm1/outcome/score-needs-record")
def a_score_needs_no_observer(call: ToolCall) -> ToolCall:
    """A score without a record is one by nobody."""
    if "score" not in call.arguments or "receipt_id" not in call.arguments:
        return call
    return replace(call, arguments={"description": "a score", "actor": "nobody", **call.arguments})


@area.asking(TOOL, clause="nm1/outcome/score-in-range")
def scores_are_clamped(call: ToolCall) -> ToolCall:
    """A score beyond the range counts as its end."""
    score = call.arguments.get("score")
    return asking(call, score=min(1, max(0, score))) if isinstance(score, int | float) else call


@area.answer(TOOL, clause="nm1/outcome/score-in-range")
async def nought_is_no_score(call: ToolCall, honest: Honest) -> Result:
    """A score of 0 is refused."""
    if call.arguments.get("score") == 0 and "receipt_id" in call.arguments:
        raise RpcFault(-32602, "score has to be above 0")
    return await honest(call)


@area.answer(TOOL, clause="nm1/outcome/unknown-receipt")
async def any_receipt_will_do(call: ToolCall, honest: Honest) -> Result:
    """An unknown receipt is taken."""
    try:
        return await honest(call)
    except RpcFault as fault:
        if not fault.data or fault.data["kind"] != "receipt":
            raise
    row = {"id": "out-99", **call.arguments}
    return success(**ARMOUR, advisory="an observation", recorded=row, weights_updated=[])


@area.item(TOOL, at="outcomes", clause="nm1/outcome/score-stored")
def scores_are_not_listed(call: ToolCall, row: Body) -> None:
    """The list has no scores."""
    row.pop("score", None)


@area.success(TOOL, clause="nm1/outcome/weights-echoed")
def weights_are_not_echoed(call: ToolCall, body: Body) -> None:
    """A scored answer says nothing of weights."""
    body.pop("weights_updated", None)


@area.asking(TOOL, clause="nm1/outcome/weights-move")
def scores_are_all_ones(call: ToolCall) -> ToolCall:
    """Every score counts as 1."""
    return asking(call, score=1) if call.arguments.get("score") == 0 else call


@area.item(RETRIEVE, at="results", clause="nm1/outcome/weights-move")
def weights_stay(call: ToolCall, row: Body) -> None:
    """Every weight is 0.5."""
    if "feedback_weight" in row:
        row["feedback_weight"] = 0.5


@area.item(RETRIEVE, at="results", clause="nm1/outcome/weights-move")
def weights_jump(call: ToolCall, row: Body) -> None:
    """A score moves a weight by a fifth of the way."""
    if "feedback_weight" in row:
        row["feedback_weight"] = round(0.5 + 2 * (row["feedback_weight"] - 0.5), 2)


@area.success(RETRIEVE, clause="nm1/outcome/others-keep-weight")
def all_weights_move_together(call: ToolCall, body: Body) -> None:
    """Whatever is recalled has the weight of the first."""
    found = [row for row in rows(RETRIEVE, body) if "feedback_weight" in row]
    moved = [row["feedback_weight"] for row in found if row["feedback_weight"] != 0.5]
    for row in found:
        row["feedback_weight"] = moved[0] if moved else 0.5


@area.asking(RETRIEVE, clause="nm1/outcome/weights-dormant")
def weights_are_always_shown(call: ToolCall) -> ToolCall:
    """Recall always blends the weights in."""
    return call if call.arguments.get("weight_blend") else asking(call, weight_blend=0.1)


@area.success(RETRIEVE, clause="nm1/outcome/score-no-eligibility")
def low_scores_are_left_out(call: ToolCall, body: Body) -> None:
    """What was scored low is not recalled."""
    if "results" in body:
        body["results"] = [row for row in body["results"] if row.get("feedback_weight", 1) >= 0.5]
        body["returned"] = len(body["results"])


@area.liar(TOOL, "memory_digest", clause="nm1/outcome/audited")
class OutcomesAreNotAudited(Unaudited):
    """The digest's number of audit events does not count outcomes."""

    tool = TOOL
