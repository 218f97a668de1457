"""Lies about outcome: what was observed, and how recall is scored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from nmemory_reference.lies.answers import Body, Honest, Result, ask, asking, body_of, is_error, with_body, without
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


@area.item(TOOL, at="outcomes", clause="nm1/outcome/row-stored")
def lists_have_first_lines(call: ToolCall, row: Body) -> None:
    """The list shows the first line of a description."""
    row["description"] = row["description"].partition("\n")[0]


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


@area.success(TOOL, clause="nm1/outcome/optionals-read-back")
def evidence_is_handed_down(call: ToolCall, body: Body) -> None:
    """A listed row without evidence_ref has that of the row before."""
    last = None
    for row in body.get("outcomes", []):
        last = row.get("evidence_ref", last)
        if last is not None:
            row["evidence_ref"] = last


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


@area.answer(TOOL, clause="nm1/outcome/unknown-capsule")
async def it_may_bear_on_an_outcome(call: ToolCall, honest: Honest) -> Result:
    """A capsule_id that is an outcome's is overlooked."""
    outcome = str(call.arguments.get("capsule_id")).startswith("out-")
    return await honest(without(call, "capsule_id") if outcome else call)


@area.refusal(TOOL, clause="nm1/outcome/unknown-capsule")
def an_unknown_capsule_is_a_bad_value(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """An unknown capsule_id is refused as a bad value."""
    return Refusal(refusal.text, -32602) if refusal.data and refusal.data["kind"] == "unknown_capsule" else None


@area.success(TOOL, clause="nm1/outcome/list-in-order")
def the_newest_comes_first(call: ToolCall, body: Body) -> None:
    """Outcomes are listed newest first."""
    body.get("outcomes", []).reverse()


@area.success(TOOL, clause="nm1/outcome/list-in-order")
def ids_are_sorted_as_texts(call: ToolCall, body: Body) -> None:
    """Outcomes are listed by id, as texts are sorted."""
    body.get("outcomes", []).sort(key=lambda row: str(row["id"]))


@area.success(TOOL, clause="nm1/outcome/list-in-order")
def ten_will_do(call: ToolCall, body: Body) -> None:
    """The newest ten outcomes are listed."""
    if "outcomes" in body:
        body["outcomes"] = body["outcomes"][-10:]


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


class _Recalled(Interceptor, ABC):
    """Remembers what outcomes bear on, and which scores which capsules have got; changes what is recalled by it."""

    def __init__(self) -> None:
        #: What outcomes bear on, each as often as one does.
        self.borne_on: list[str] = []
        #: The scores, each with what its receipt returned.
        self.scores: list[tuple[float, list[str]]] = []
        #: The same of records that were refused.
        self.refused: list[tuple[float, list[str]]] = []
        self._receipts: dict[object, list[str]] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        returned = self._receipts.get(call.arguments.get("receipt_id"), []) if call.name == TOOL else []
        score = call.arguments.get("score")
        scored = [(float(score), returned)] if returned and isinstance(score, int | float) else []
        try:
            result = await honest(call)
        except RpcFault:
            self.refused += scored
            raise
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == TOOL and "recorded" in body:
            self.scores += scored
            if named := body["recorded"].get("capsule_id"):
                self.borne_on.append(named)
        if call.name == RETRIEVE:
            if "receipt_id" in body:
                self._receipts[body["receipt_id"]] = [row["id"] for row in body["results"]]
            self.recall(body)
            return with_body(result, body)
        return result

    @abstractmethod
    def recall(self, body: Body) -> None:
        """Changes the body of a recall in place."""


@area.liar(TOOL, RETRIEVE, clause="nm1/outcome/no-recall-effect")
class WhatIsObservedComesFirst(_Recalled):
    """What an outcome bears on stands before the rest."""

    def recall(self, body: Body) -> None:
        body.get("results", []).sort(key=lambda row: -self.borne_on.count(row["id"]))


@area.liar(TOOL, RETRIEVE, clause="nm1/outcome/no-recall-effect")
class WhatIsObservedWeighsMore(_Recalled):
    """Each outcome that bears on a capsule counts as a score of 1."""

    def recall(self, body: Body) -> None:
        for row in body.get("results", []):
            if "feedback_weight" in row and (seen := self.borne_on.count(row["id"])):
                row["feedback_weight"] = round(1 - 0.5 * 0.9**seen, 2)


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


@area.liar(TOOL, RETRIEVE, clause="nm1/outcome/weights-move")
class RefusedScoresCount(_Recalled):
    """A score that is refused moves the weights all the same."""

    def recall(self, body: Body) -> None:
        for row in body.get("results", []):
            if "feedback_weight" in row and any(row["id"] in returned for _, returned in self.refused):
                row["feedback_weight"] = min(1.0, round(row["feedback_weight"] + 0.05, 2))


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


@area.success(TOOL, clause="nm1/outcome/weights-echoed")
def weights_are_nothing(call: ToolCall, body: Body) -> None:
    """A scored answer has null for weights_updated."""
    if "weights_updated" in body:
        body["weights_updated"] = None


@area.asking(TOOL, clause="nm1/outcome/weights-move")
def scores_are_all_ones(call: ToolCall) -> ToolCall:
    """Every score counts as 1."""
    return asking(call, score=1) if call.arguments.get("score") == 0 else call


@area.asking(TOOL, clause="nm1/outcome/weights-move")
def scores_are_yes_or_no(call: ToolCall) -> ToolCall:
    """A score between 0 and 1 counts as the nearer of them."""
    score = call.arguments.get("score")
    return asking(call, score=round(score)) if isinstance(score, float) and 0 < score < 1 else call


@area.liar(TOOL, RETRIEVE, clause="nm1/outcome/weights-move")
class TheFirstIsScored(_Recalled):
    """A score moves the weight of the first capsule of the receipt."""

    def recall(self, body: Body) -> None:
        moved = {returned[0] for _, returned in self.scores}
        for row in body.get("results", []):
            if "feedback_weight" in row and row["id"] not in moved:
                row["feedback_weight"] = 0.5


@area.liar(TOOL, RETRIEVE, clause="nm1/outcome/weights-move")
class StepsAreEqual(_Recalled):
    """A score moves a weight as far as it would move one of 0.5."""

    def recall(self, body: Body) -> None:
        for row in body.get("results", []):
            if "feedback_weight" in row:
                steps = [0.1 * (score - 0.5) for score, returned in self.scores if row["id"] in returned]
                row["feedback_weight"] = min(1.0, max(0.0, round(0.5 + sum(steps), 2)))


@area.liar(TOOL, RETRIEVE, clause="nm1/outcome/weights-move")
class WeightsAreLostAtARestart(_Recalled):
    """What was not scored since the server started weighs 0.5."""

    def recall(self, body: Body) -> None:
        for row in body.get("results", []):
            if "feedback_weight" in row and not any(row["id"] in returned for _, returned in self.scores):
                row["feedback_weight"] = 0.5


@area.liar(TOOL, RETRIEVE, clause="nm1/outcome/weights-move")
class ReceiptsEndWithTheServer(Interceptor):
    """A score for a receipt of before a restart is kept, and moves nothing."""

    def __init__(self) -> None:
        self._receipts: set[object] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        receipt, score = call.arguments.get("receipt_id"), call.arguments.get("score")
        known = receipt in self._receipts or str(receipt).startswith("rcpt-9999")
        if call.name == TOOL and not known and {"description", "actor"} <= set(call.arguments) and score in (0, 1):
            result = await honest(without(call, "receipt_id", "score"))
            if is_error(result) or "recorded" not in (body := body_of(result)):
                return result
            row = {**body["recorded"], "receipt_id": receipt, "score": score}
            return with_body(result, {**body, "recorded": row, "weights_updated": []})
        result = await honest(call)
        if call.name == RETRIEVE and not is_error(result):
            self._receipts.add(body_of(result).get("receipt_id"))
        return result


@area.liar(TOOL, RETRIEVE, clause="nm1/outcome/others-keep-weight")
class WhatItBearsOnIsScoredToo(_Recalled):
    """A score moves the weight of what the outcome bears on."""

    def recall(self, body: Body) -> None:
        for row in body.get("results", []):
            if row.get("feedback_weight") == 0.5 and row["id"] in self.borne_on and self.scores:
                row["feedback_weight"] = round(0.5 + 0.1 * (self.scores[0][0] - 0.5), 2)


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


@area.answer(RETRIEVE, clause="nm1/outcome/weights-dormant")
async def weights_are_read_in_secret(call: ToolCall, honest: Honest) -> Result:
    """Recall is ordered by the weights, and shows them where they are asked for."""
    if call.arguments.get("weight_blend"):
        return await honest(call)
    result = await honest(asking(call, weight_blend=1))
    if is_error(result):
        return result
    body = body_of(result)
    for row in body.get("results", []):
        row.pop("feedback_weight", None)
    return with_body(result, body)


@area.success(RETRIEVE, clause="nm1/outcome/score-no-eligibility")
def low_scores_are_left_out(call: ToolCall, body: Body) -> None:
    """What was scored low is not recalled."""
    if "results" in body:
        body["results"] = [row for row in body["results"] if row.get("feedback_weight", 1) >= 0.5]
        body["returned"] = len(body["results"])


@area.liar(TOOL, RETRIEVE, clause="nm1/outcome/score-no-eligibility")
class WhatWasUsefulComesBack(_Recalled):
    """A falsified capsule that is scored 1 since is called superseded, and falsified no more."""

    def recall(self, body: Body) -> None:
        useful = any(score == 1 for score, _ in self.scores)
        if useful and body["outcome"] == "missing_evidence" and "falsified" in body["excluded"]:
            body["excluded"]["superseded"] = body["excluded"].pop("falsified")


@area.liar(TOOL, "memory_digest", clause="nm1/outcome/audited")
class OutcomesAreNotAudited(Unaudited):
    """The digest's number of audit events does not count outcomes."""

    tool = TOOL
