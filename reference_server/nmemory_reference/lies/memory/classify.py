"""Lies about classify: what a content is taken for, and what is kept of that."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

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
    without,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import value_fault
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("classify")

TOOL = "memory_classify"
GET = "memory_get"
LIST = "memory_list"
EVIDENCE = ("evidence_state", "proof_hint", "stale_if")


@area.success(TOOL, clause="nm1/classify/shape")
def the_scope_is_not_told(call: ToolCall, body: Body) -> None:
    """An answer without a capsule has no scope."""
    if "persisted" not in body:
        body.pop("scope")


@area.answer(TOOL, clause="nm1/classify/kind-carried")
async def the_content_knows_better(call: ToolCall, honest: Honest) -> Result:
    """Where the content tells a kind, the one that was sent is overlooked."""
    if "kind" in call.arguments:
        try:
            return await honest(without(call, "kind"))
        except RpcFault:
            pass
    return await honest(call)


@area.answer(TOOL, clause="nm1/classify/kind-carried")
async def a_kept_kind_is_derived(call: ToolCall, honest: Honest) -> Result:
    """The label that is kept has the kind that the content tells, where it tells one."""
    result = await honest(call)
    if {"kind", "capsule_id"} <= call.arguments.keys():
        with suppress(RpcFault):
            await honest(without(call, "kind"))
    return result


@area.answer(TOOL, clause="nm1/classify/content-and-kind-suffice")
async def an_origin_is_needed(call: ToolCall, honest: Honest) -> Result:
    """A kind without a cue needs an origin."""
    if "kind" in call.arguments and "origin" not in call.arguments and "capsule_id" not in call.arguments:
        await honest(without(call, "kind"))
    return await honest(call)


def _tells_no(kind: str) -> None:
    """Add the lie that the cues of one kind are taken for another's."""

    def lie(call: ToolCall, body: Body) -> None:
        if "kind" not in call.arguments and body["kind"] == kind:
            body["kind"] = "fact" if kind != "fact" else "doc"

    lie.__name__ = f"derives_no_{kind}"
    lie.__doc__ = f"A {kind} is never derived."
    area.success(TOOL, clause="nm1/classify/kind-derived")(lie)


for _kind in ("fact", "task", "decision", "constraint", "failure_pattern", "capability", "procedure"):
    _tells_no(_kind)


@area.answer(TOOL, clause="nm1/classify/kind-derived")
async def a_capsule_needs_a_kind(call: ToolCall, honest: Honest) -> Result:
    """A label that is to be kept is not derived."""
    if "capsule_id" in call.arguments and "kind" not in call.arguments:
        return value_fault("send the kind that is to be kept")
    return await honest(call)


@area.answer(TOOL, clause="nm1/classify/underivable-refused", also={"nm1/classify/entity-gate-holds"})
async def a_kind_is_guessed(call: ToolCall, honest: Honest) -> Result:
    """Content without a cue is a fact."""
    try:
        return await honest(call)
    except RpcFault:
        return await honest(asking(call, kind="fact")) if "kind" not in call.arguments else await honest(call)


@area.refusal(TOOL, clause="nm1/classify/underivable-refused")
def underivable_is_said_in_band(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """Content without a cue is refused in band."""
    return replace(refusal, code=None) if "kind" not in call.arguments and not refusal.in_band else None


@area.answer(TOOL, clause="nm1/classify/underivable-refused")
async def a_kept_kind_is_guessed(call: ToolCall, honest: Honest) -> Result:
    """Content without a cue is kept as a fact, where a capsule is named."""
    try:
        return await honest(call)
    except RpcFault:
        if "kind" in call.arguments or "capsule_id" not in call.arguments:
            raise
        return await honest(asking(call, kind="fact"))


@area.answer(TOOL, clause="nm1/classify/entity-gate-holds")
async def portuguese_needs_no_entity(call: ToolCall, honest: Honest) -> Result:
    """A Portuguese statement needs no entity to be a fact."""
    content = text_argument(call, "content") or ""
    return await honest(asking(call, kind="fact") if " é " in content and "kind" not in call.arguments else call)


@area.asking(TOOL, clause="nm1/classify/default-origin")
def the_owner_said_it(call: ToolCall) -> ToolCall:
    """Without origin the content counts as the owner's."""
    return call if "origin" in call.arguments else asking(call, origin="owner-stated")


@area.success(TOOL, clause="nm1/classify/default-origin")
def the_default_reaches_far(call: ToolCall, body: Body) -> None:
    """Without origin the scope is global."""
    if "origin" not in call.arguments:
        body["scope"] = "global"


@area.success(TOOL, clause="nm1/classify/origin-drives-authority")
def all_origins_are_agents(call: ToolCall, body: Body) -> None:
    """Whatever the origin, the content is worth what an agent inferred."""
    body["authority_class"] = "agent-inferred"


@area.success(TOOL, clause="nm1/classify/origin-drives-authority")
def decisions_are_the_users(call: ToolCall, body: Body) -> None:
    """A decision is user-stated, whatever its origin."""
    if body["kind"] == "decision":
        body["authority_class"] = "user-stated"


@area.success(TOOL, clause="nm1/classify/external-born-tainted")
def a_clean_import_is_clean(call: ToolCall, body: Body) -> None:
    """What was imported is tainted only if the scan finds something."""
    if call.arguments.get("origin") == "external-import" and "Ignore" not in str(call.arguments.get("content")):
        body["instruction_taint"] = False


@area.success(TOOL, clause="nm1/classify/external-born-tainted")
def a_false_hint_washes_imports(call: ToolCall, body: Body) -> None:
    """A taint_hint of false makes an import clean."""
    if call.arguments.get("origin") == "external-import" and call.arguments.get("taint_hint") is False:
        body["instruction_taint"] = False


@area.success(TOOL, clause="nm1/classify/hint-is-monotone")
def a_false_hint_is_believed(call: ToolCall, body: Body) -> None:
    """A taint_hint of false clears what the scan finds."""
    if call.arguments.get("taint_hint") is False and "origin" not in call.arguments:
        body["instruction_taint"] = False


@area.asking(TOOL, clause="nm1/classify/hint-on-clean")
def a_true_hint_is_cleared(call: ToolCall) -> ToolCall:
    """A taint_hint of true is cleared by a clean scan."""
    return without(call, "taint_hint")


@area.success(TOOL, clause="nm1/classify/hint-on-clean")
def the_owner_is_above_suspicion(call: ToolCall, body: Body) -> None:
    """What the owner stated is not tainted by a hint."""
    if call.arguments.get("origin") == "owner-stated" and "Ignore" not in str(call.arguments.get("content")):
        body["instruction_taint"] = False


@area.liar(TOOL, clause="nm1/classify/advisory-without-capsule")
class AdviceIsKept(Interceptor):
    """A label without an id is kept for the capsule that was captured last."""

    def __init__(self) -> None:
        self._last: str | None = None

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == TOOL and self._last and not {"capsule_id", "id"} & call.arguments.keys():
            return await honest(asking(call, capsule_id=self._last))
        result = await honest(call)
        if call.name == "memory_ingest" and not is_error(result):
            self._last = body_of(result)["outcomes"][-1].get("id", self._last)
        return result


@area.answer(TOOL, clause="nm1/classify/persists")
async def labels_are_not_kept(call: ToolCall, honest: Honest) -> Result:
    """A label is said to be kept, and is not."""
    named = call.arguments.get("capsule_id")
    result = await honest(without(call, "capsule_id", *EVIDENCE))
    if named is None or is_error(result) or "evidence_state" in call.arguments:
        return result if named is None else await honest(call)
    return with_body(result, {**body_of(result), "persisted": named, "content_matches_capsule": True})


@area.success(LIST, clause="nm1/classify/persists")
def later_labels_are_not_listed(call: ToolCall, body: Body) -> None:
    """A list shows no task that was labelled after its capture."""
    if call.arguments.get("kind") == "task":
        body["entries"] = [row for row in body["entries"] if "lock" not in row["headline"]]
        body["returned"] = len(body["entries"])


@area.success(GET, clause="nm1/classify/persists")
def a_kept_scope_is_project(call: ToolCall, body: Body) -> None:
    """Whatever its scope, a label reads back with that of a project."""
    if "classification" in body:
        body["classification"]["scope"] = "project"


@area.liar(TOOL, GET, LIST, clause="nm1/classify/persist-replaces")
class TheFirstLabelStays(Interceptor):
    """A second label for a capsule is overlooked."""

    def __init__(self) -> None:
        self._labelled: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        named = text_argument(call, "capsule_id")
        if call.name != TOOL or named is None or "evidence_state" in call.arguments:
            return await honest(call)
        again = named in self._labelled
        self._labelled.add(named)
        return await honest(without(call, "capsule_id") if again else call)


@area.liar(TOOL, GET, clause="nm1/classify/persist-replaces")
class TheFirstScopeStays(Interceptor):
    """A later label replaces the kind, and leaves the scope as it was."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or call.name not in (TOOL, GET):
            return result
        body = body_of(result)
        if call.name == TOOL and (named := text_argument(call, "capsule_id")):
            self._first.setdefault(named, body["scope"])
        elif call.name == GET and "classification" in body:
            body["classification"]["scope"] = self._first.get(body["id"], body["classification"]["scope"])
        return with_body(result, body)


@area.answer(TOOL, clause="nm1/classify/id-is-alias")
async def id_is_for_reading(call: ToolCall, honest: Honest) -> Result:
    """id alone is taken, and nothing is kept for it."""
    return await honest(without(call, "id") if "capsule_id" not in call.arguments else call)


@area.answer(TOOL, clause="nm1/classify/id-is-alias")
async def evidence_needs_the_long_name(call: ToolCall, honest: Honest) -> Result:
    """What is said of evidence is refused beside id."""
    if "capsule_id" not in call.arguments and "id" in call.arguments and set(EVIDENCE) & call.arguments.keys():
        return value_fault("evidence needs capsule_id")
    return await honest(call)


@area.asking(TOOL, clause="nm1/classify/one-id")
def capsule_id_wins(call: ToolCall) -> ToolCall:
    """Of two ids capsule_id is taken."""
    return without(call, "id") if "capsule_id" in call.arguments else call


@area.liar(TOOL, GET, clause="nm1/classify/persist-audited")
class LabelsLeaveNoTrace(Interceptor):
    """The last mutation of a capsule is what it was before its label."""

    def __init__(self) -> None:
        self._seen: dict[str, Body] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != GET or is_error(result):
            return result
        body = body_of(result)
        told = body.get("last_mutation")
        if told and told["event"] == TOOL:
            body["last_mutation"] = self._seen.get(body["id"], told)
        elif told:
            self._seen[body["id"]] = told
        return with_body(result, body)


@area.success(TOOL, clause="nm1/classify/content-matches")
def content_always_matches(call: ToolCall, body: Body) -> None:
    """A label that was made from other words matches too."""
    if "content_matches_capsule" in body:
        body["content_matches_capsule"] = True


@area.answer(TOOL, clause="nm1/classify/content-matches")
async def case_does_not_matter(call: ToolCall, honest: Honest) -> Result:
    """A content in capitals matches its capsule."""
    result = await honest(call)
    if is_error(result) or (body := body_of(result)).get("content_matches_capsule") is not False:
        return result
    stored = await ask(honest, call, GET, id=text_argument(call, "capsule_id") or text_argument(call, "id"))
    same = stored["capsule"]["content"].lower() == str(call.arguments["content"]).lower()
    return with_body(result, {**body, "content_matches_capsule": same})


@area.answer(TOOL, clause="nm1/classify/content-matches")
async def drift_is_not_kept(call: ToolCall, honest: Honest) -> Result:
    """A label that was made from other words is not kept."""
    named = text_argument(call, "capsule_id")
    if named is None or "origin" in call.arguments:
        return await honest(call)
    stored = await ask(honest, call, GET, id=named)
    if stored.get("capsule", {}).get("content") in (None, call.arguments.get("content")):
        return await honest(call)
    result = await honest(without(call, "capsule_id", *EVIDENCE))
    if is_error(result):
        return result
    return with_body(result, {**body_of(result), "persisted": named, "content_matches_capsule": False})


@area.answer(TOOL, clause="nm1/classify/content-matches")
async def evidence_of_other_words_is_not_kept(call: ToolCall, honest: Honest) -> Result:
    """Of a label that was made from other words what is said of evidence is not kept."""
    named = text_argument(call, "capsule_id")
    if named is None or not set(EVIDENCE) & call.arguments.keys():
        return await honest(call)
    stored = await ask(honest, call, GET, id=named)
    if stored.get("capsule", {}).get("content") in (None, call.arguments.get("content")):
        return await honest(call)
    return await honest(without(call, *EVIDENCE))


@area.success(GET, clause="nm1/classify/capsule-untouched")
def a_label_taints_its_capsule(call: ToolCall, body: Body) -> None:
    """A capsule with a label is shown as inferred by an agent."""
    if "classification" in body and "capsule" in body and body["classification"]["kind"] == "task":
        body["capsule"]["authority_class"] = "agent-inferred"


@area.liar(TOOL, LIST, clause="nm1/classify/capsule-untouched")
class ATaintedLabelTaintsTheRow(Interceptor):
    """A capsule with a tainted label is listed as tainted."""

    def __init__(self) -> None:
        self._tainted: set[str | None] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or call.name not in (TOOL, LIST):
            return result
        body = body_of(result)
        if call.name == TOOL and body["instruction_taint"]:
            self._tainted.add(text_argument(call, "capsule_id"))
        for row in body.get("entries", ()):
            row["instruction_taint"] = row["instruction_taint"] or row["id"] in self._tainted
        return with_body(result, body)


@area.asking(TOOL, clause="nm1/classify/epistemics-need-capsule")
def evidence_without_a_capsule_is_dropped(call: ToolCall) -> ToolCall:
    """What is said of evidence without an id is overlooked."""
    return call if {"capsule_id", "id"} & call.arguments.keys() else without(call, *EVIDENCE)


@area.asking(TOOL, clause="nm1/classify/epistemics-persist")
def proofs_are_not_kept(call: ToolCall) -> ToolCall:
    """A proof_hint is overlooked."""
    return without(call, "proof_hint") if "capsule_id" in call.arguments else call


@area.asking(TOOL, clause="nm1/classify/epistemics-per-field")
def unsaid_is_unknown(call: ToolCall) -> ToolCall:
    """A stale_if that is not sent is emptied."""
    if "capsule_id" not in call.arguments or "evidence_state" not in call.arguments:
        return call
    return call if "stale_if" in call.arguments else asking(call, stale_if="")


@area.asking(TOOL, clause="nm1/classify/epistemics-per-field")
def a_hint_alone_resets_the_state(call: ToolCall) -> ToolCall:
    """A proof_hint that comes without a state makes it unverified."""
    lone = "proof_hint" in call.arguments and "evidence_state" not in call.arguments
    return asking(call, evidence_state="unverified") if lone and "capsule_id" in call.arguments else call


@area.answer(TOOL, clause="nm1/classify/epistemics-closed-state")
async def any_state_will_do(call: ToolCall, honest: Honest) -> Result:
    """An unknown evidence_state is unverified."""
    state = call.arguments.get("evidence_state", "observed")
    known = state in ("observed", "inferred", "unverified")
    return await honest(call if known else asking(call, evidence_state="unverified"))


@area.answer(TOOL, clause="nm1/classify/kinds-closed")
async def any_kind_is_a_doc(call: ToolCall, honest: Honest) -> Result:
    """An unknown kind is a doc."""
    return await honest(asking(call, kind="doc") if call.arguments.get("kind") == "memo" else call)


@area.answer(TOOL, clause="nm1/classify/kinds-closed")
async def any_origin_will_do(call: ToolCall, honest: Honest) -> Result:
    """An unknown origin counts as none."""
    return await honest(without(call, "origin") if call.arguments.get("origin") == "rumour" else call)
