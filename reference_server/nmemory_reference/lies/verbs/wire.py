"""Lies about the wire: the list of tools, and the form of an answer."""

from __future__ import annotations

import json
from dataclasses import replace

from nmemory_reference.lies.answers import Body, Honest, Result, body_of, is_error, listed, text_result
from nmemory_reference.lies.lie import CLAIMS, Area, Lie, Listings
from nmemory_reference.lies.verbs.answers import ALL_VERBS, VERBS
from nmemory_reference.serve.interceptor import Interceptor, ToolCall
from nmemory_reference.verbs.vocabulary import KINDS

area = Area("wire")

_VERBS_SURFACE = CLAIMS | {"verbs-surface"}


# --- the list of tools ----------------------------------------------------------------------------------------------


def _unlisted(verb: str) -> None:
    def drop(tools: list[Body]) -> list[Body]:
        return [tool for tool in tools if tool["name"] != verb]

    area.add(
        Lie(
            id=f"wire/{verb}-is-not-listed",
            clause="mv1/wire/advertises",
            says=f"The list of tools lacks {verb}.",
            make=lambda: Listings(drop),
        )
    )


for _verb in VERBS:
    _unlisted(_verb)


@area.listing(clause="mv1/wire/advertises")
def names_have_a_prefix(tools: list[Body]) -> None:
    """The tools are listed with a prefix."""
    for tool in tools:
        tool["name"] = f"memory.{tool['name']}"


@area.listing(clause="mv1/wire/input-schemas")
def schemas_have_no_type(tools: list[Body]) -> None:
    """The input schemas do not say that they are objects."""
    for tool in tools:
        del tool["inputSchema"]["type"]


@area.listing(clause="mv1/wire/input-schemas")
def one_schema_is_empty(tools: list[Body]) -> None:
    """recall's input schema is empty."""
    listed(tools, "recall")["inputSchema"] = {}


@area.listing(clause="mv1/wire/input-schemas")
def one_schema_is_none(tools: list[Body]) -> None:
    """forget's input schema is no JSON Schema."""
    listed(tools, "forget")["inputSchema"] = {
        "type": "object",
        "properties": {"id": {"type": "text"}},
        "required": ["id"],
    }


@area.listing(clause="mv1/wire/input-schemas")
def provenance_is_optional(tools: list[Body]) -> None:
    """remember's input schema requires the fact only."""
    listed(tools, "remember")["inputSchema"]["required"] = ["fact"]


@area.listing(clause="mv1/wire/input-schemas")
def entity_is_required(tools: list[Body]) -> None:
    """remember's input schema requires an entity as well."""
    listed(tools, "remember")["inputSchema"]["required"].append("entity")


@area.listing(clause="mv1/wire/input-schemas")
def recall_requires_a_query(tools: list[Body]) -> None:
    """recall's input schema requires a query."""
    listed(tools, "recall")["inputSchema"]["required"] = ["query"]


@area.listing(clause="mv1/wire/input-schemas")
def nothing_is_required(tools: list[Body]) -> None:
    """No input schema requires anything."""
    for tool in tools:
        tool["inputSchema"]["required"] = []


@area.listing(clause="mv1/wire/input-enums")
def kinds_are_any_text(tools: list[Body]) -> None:
    """The kinds are not listed."""
    del listed(tools, "remember")["inputSchema"]["properties"]["kind"]["enum"]


@area.listing(clause="mv1/wire/input-enums")
def one_kind_is_not_listed(tools: list[Body]) -> None:
    """One of the kinds is not listed."""
    listed(tools, "remember")["inputSchema"]["properties"]["kind"]["enum"] = list(KINDS[1:])


@area.listing(clause="mv1/wire/input-enums")
def visibilities_are_any_text(tools: list[Body]) -> None:
    """The visibilities are not listed."""
    del listed(tools, "remember")["inputSchema"]["properties"]["visibility"]["enum"]


@area.listing(clause="mv1/wire/expensive-mark")
def cost_goes_unsaid(tools: list[Body]) -> None:
    """synthesize's description bears no mark."""
    listed(tools, "synthesize")["description"] = "Answers a question."


@area.listing(clause="mv1/wire/expensive-mark")
def cost_is_said_last(tools: list[Body]) -> None:
    """The mark stands at the end of synthesize's description."""
    listed(tools, "synthesize")["description"] = "Answers a question. [EXPENSIVE]"


@area.listing(clause="mv1/wire/expensive-mark")
def cost_is_said_softly(tools: list[Body]) -> None:
    """The mark is in small letters."""
    listed(tools, "synthesize")["description"] = "[expensive] Answers a question."


@area.listing(clause="mv1/wire/annotations")
def tools_are_not_annotated(tools: list[Body]) -> None:
    """No tool is annotated."""
    for tool in tools:
        del tool["annotations"]


def _annotated(verb: str, hint: str) -> None:
    def change(tools: list[Body]) -> None:
        listed(tools, verb)["annotations"][hint] = False

    name = hint.removesuffix("Hint")
    only = "read-only" if name == "readOnly" else name
    area.add(
        Lie(
            id=f"wire/{verb}-is-not-{only}",
            clause="mv1/wire/annotations",
            says=f"{verb} is annotated with {hint}: false.",
            make=lambda: Listings(change),
        )
    )


for _verb, _hint in (
    ("recall", "readOnlyHint"),
    ("entity", "readOnlyHint"),
    ("synthesize", "readOnlyHint"),
    ("forget", "destructiveHint"),
    ("forget", "idempotentHint"),
    ("remember", "idempotentHint"),
):
    _annotated(_verb, _hint)


@area.listing(clause="mv1/wire/verbs-surface", config={"surface": "verbs"}, claims=_VERBS_SURFACE)
def verbs_surface_lists_a_tool_more(tools: list[Body]) -> None:
    """The verbs surface lists a tool that is no verb."""
    tools.append({"name": "ping_memory", "description": "Says hello.", "inputSchema": {"type": "object"}})


@area.listing(
    clause="mv1/wire/verbs-surface", config={"surface": "verbs"}, claims=_VERBS_SURFACE, also={"mv1/wire/advertises"}
)
def verbs_surface_lacks_a_verb(tools: list[Body]) -> None:
    """The verbs surface lists four verbs."""
    tools.remove(listed(tools, "synthesize"))


class _Unlisted(Interceptor):
    """Answers a call of a tool that is not listed with a success of the same text."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) and body_of(result)["error"] == "unknown_tool":
            return text_result(self._text)
        return result


area.add(
    Lie(
        id="wire/unlisted-tools-answer",
        clause="mv1/wire/hidden-tool-fails-closed",
        says="A call of a tool that is not listed succeeds.",
        make=lambda: _Unlisted('{"protocol_version": 1, "ok": true}'),
    )
)
area.add(
    Lie(
        id="wire/unlisted-tools-are-excused",
        clause="mv1/wire/hidden-tool-fails-closed",
        says="A call of a tool that is not listed is answered with a sentence, as a success.",
        make=lambda: _Unlisted("There is no such tool."),
    )
)


@area.liar(clause="mv1/wire/hidden-tool-fails-closed")
class UnlistedToolsRecall(Interceptor):
    """A call of a tool that is not listed reaches recall."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) and body_of(result).get("error") == "unknown_tool":
            return await honest(replace(call, name="recall", arguments={}))
        return result


# --- the form of an answer ------------------------------------------------------------------------------------------


@area.result(*ALL_VERBS, clause="mv1/wire/json-body")
def answers_are_prose(call: ToolCall, result: Result) -> Result | None:
    """A success is a sentence."""
    return None if is_error(result) else text_result("Done!")


@area.result(*ALL_VERBS, clause="mv1/wire/json-body")
def answers_are_fenced(call: ToolCall, result: Result) -> Result | None:
    """A success is JSON in a Markdown fence."""
    return None if is_error(result) else text_result(f"```json\n{json.dumps(body_of(result))}\n```")


@area.result(*ALL_VERBS, clause="mv1/wire/json-body")
def answers_are_introduced(call: ToolCall, result: Result) -> None:
    """Before the JSON stands a text block with a sentence."""
    if not is_error(result):
        result["content"].insert(0, {"type": "text", "text": "Here is what I found:"})


@area.result(*ALL_VERBS, clause="mv1/wire/json-body")
def answers_are_arrays(call: ToolCall, result: Result) -> Result | None:
    """A success is an array of one object."""
    return None if is_error(result) else text_result(json.dumps([body_of(result)]))


@area.result(*ALL_VERBS, clause="mv1/wire/json-body")
def answers_are_texts_of_json(call: ToolCall, result: Result) -> Result | None:
    """A success is encoded twice."""
    return None if is_error(result) else text_result(json.dumps(json.dumps(body_of(result))))


@area.result(*ALL_VERBS, clause="mv1/wire/json-body")
def answers_go_on(call: ToolCall, result: Result) -> Result | None:
    """After the object comes another one."""
    return None if is_error(result) else text_result(json.dumps(body_of(result)) + '\n{"took": 3}')


@area.result(*ALL_VERBS, clause="mv1/wire/json-body")
def answers_are_cut(call: ToolCall, result: Result) -> Result | None:
    """A long answer is cut."""
    text = json.dumps(body_of(result))
    return None if is_error(result) or len(text) < 1500 else text_result(text[:1500])


@area.result(*ALL_VERBS, clause="mv1/wire/json-body")
def answers_hold_nan(call: ToolCall, result: Result) -> Result | None:
    """A success holds NaN, which is no JSON."""
    return None if is_error(result) else text_result(json.dumps({**body_of(result), "score": float("nan")}))


@area.result(*ALL_VERBS, clause="mv1/wire/json-body")
def answers_are_structured_only(call: ToolCall, result: Result) -> Result | None:
    """A success stands in structuredContent, and content is empty."""
    return None if is_error(result) else {"content": [], "structuredContent": body_of(result), "isError": False}


@area.result("forget", clause="mv1/wire/json-body")
def forget_is_prose(call: ToolCall, result: Result) -> Result | None:
    """forget's success is a sentence."""
    return None if is_error(result) else text_result("Forgotten.")


@area.success(*ALL_VERBS, clause="mv1/wire/protocol-version")
def version_is_a_text(call: ToolCall, body: Body) -> None:
    """protocol_version is "1"."""
    body["protocol_version"] = "1"


@area.success(*ALL_VERBS, clause="mv1/wire/protocol-version")
def version_is_2(call: ToolCall, body: Body) -> None:
    """protocol_version is 2."""
    body["protocol_version"] = 2


@area.success(*ALL_VERBS, clause="mv1/wire/protocol-version")
def version_is_true(call: ToolCall, body: Body) -> None:
    """protocol_version is true."""
    body["protocol_version"] = True


@area.success("forget", clause="mv1/wire/protocol-version")
def version_is_missing_the_second_time(call: ToolCall, body: Body) -> None:
    """forget's answer lacks protocol_version where nothing was ended."""
    if not body["expired"]:
        del body["protocol_version"]


@area.success("entity", clause="mv1/wire/protocol-version")
def version_is_missing_on_a_miss(call: ToolCall, body: Body) -> None:
    """entity's answer lacks protocol_version where nothing was found."""
    if not body["found"]:
        del body["protocol_version"]


@area.result(*ALL_VERBS, clause="mv1/wire/structured-agrees")
def structured_lacks_a_member(call: ToolCall, result: Result) -> None:
    """structuredContent lacks protocol_version."""
    body = body_of(result)
    del body["protocol_version"]
    result["structuredContent"] = body


@area.result("recall", clause="mv1/wire/structured-agrees")
def structured_is_older(call: ToolCall, result: Result) -> None:
    """structuredContent lacks the newest fact."""
    body = body_of(result)
    if not is_error(result):
        body["facts"] = body["facts"][1:]
    result["structuredContent"] = body


@area.result(*ALL_VERBS, clause="mv1/wire/structured-agrees")
def structured_is_wrapped(call: ToolCall, result: Result) -> None:
    """structuredContent is {"result": the text}."""
    result["structuredContent"] = {"result": result["content"][0]["text"]}


@area.result(*ALL_VERBS, clause="mv1/wire/structured-agrees")
def structured_is_empty(call: ToolCall, result: Result) -> None:
    """structuredContent is an empty object."""
    result["structuredContent"] = {}
