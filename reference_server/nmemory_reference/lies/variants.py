"""Conforming variants: the reference with one difference that the contract allows. Each has to be found conformant."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from nmemory_reference.lies.answers import (
    ALL_VERBS,
    FACT_TOOLS,
    LATER_VERBS,
    Body,
    Honest,
    Result,
    ask,
    asking,
    body_of,
    dumped,
    failure,
    is_error,
    success,
    text_argument,
    with_body,
    without,
)
from nmemory_reference.lies.lie import CLAIMS
from nmemory_reference.lies.synthesize import Answering
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall
from nmemory_reference.tools.caller import Caller
from nmemory_reference.verbs.vocabulary import KINDS, VISIBILITIES

Json = Any


@dataclass(frozen=True, slots=True)
class Variant:
    """A legal difference."""

    #: Kebab-case.
    id: str
    #: What is different, in a sentence.
    says: str
    #: Makes the interceptor of one open store.
    make: Callable[[], Interceptor] = Interceptor
    #: Changes of the server's `Config` that it needs.
    config: Mapping[str, Any] = field(default_factory=dict)
    #: What a profile would claim of it.
    claims: frozenset[str] = CLAIMS
    #: Why some clauses stay unverified with it, or None.
    gaps: str | None = None


class Bodies(Interceptor):
    """Changes every body of a verb, of successes and errors alike."""

    def __init__(self, change: Callable[[Json], Json]) -> None:
        self._change = change

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        return with_body(result, self._change(body_of(result))) if call.name in ALL_VERBS else result


class Texts(Interceptor):
    """Writes every body another way."""

    def __init__(self, write: Callable[[Body], str]) -> None:
        self._write = write

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = deepcopy(await honest(call))
        result["content"][0]["text"] = self._write(body_of(result))
        return result


class Wholes(Interceptor):
    """Changes every result of a verb."""

    def __init__(self, change: Callable[[Result], Result]) -> None:
        self._change = change

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        return self._change(deepcopy(await honest(call)))


class Lists(Interceptor):
    """Changes the list of tools."""

    def __init__(self, change: Callable[[list[Body]], list[Body]]) -> None:
        self._change = change

    async def list_tools(self, caller: Caller, honest: Callable[[Caller], Awaitable[Result]]) -> Result:
        result = deepcopy(await honest(caller))
        return {**result, "tools": self._change(result["tools"])}


# --- more than is asked for -----------------------------------------------------------------------------------------


def _with_extras(value: Json, extra: Json) -> Json:
    """A body with a member more in every object."""
    match value:
        case dict():
            return {"x_note": extra, **{key: _with_extras(item, extra) for key, item in value.items()}, "zz": extra}
        case list():
            return [_with_extras(item, extra) for item in value]
        case _:
            return value


def _blocks(before: list[Body], after: list[Body]) -> Callable[[Result], Result]:
    return lambda result: {**result, "content": [*before, *result["content"], *after]}


def _structured(result: Result) -> Result:
    return {**result, "structuredContent": body_of(result)}


def _annotated(result: Result) -> Result:
    result["content"][0] |= {"annotations": {"audience": ["assistant"], "priority": 0.5}, "_meta": {"x": 1}}
    return {**result, "_meta": {"example.org/took": {"ms": 3}}}


def _unflagged(result: Result) -> Result:
    return result if is_error(result) else {key: value for key, value in result.items() if key != "isError"}


def _more_tools(tools: list[Body]) -> list[Body]:
    more = [
        {"name": f"z_tool_{number}", "inputSchema": {"type": "object", "anyOf": [{"required": []}]}}
        for number in range(40)
    ]
    return [*more[:20], *reversed(tools), *more[20:]]


def _bare_tools(tools: list[Body]) -> list[Body]:
    """Nothing but what is demanded; the enums are gone, which is no more than a warning."""
    for tool in tools:
        schema = tool["inputSchema"]
        for one in schema["properties"].values():
            for keyword in ("enum", "maxLength", "minimum", "default", "description"):
                one.pop(keyword, None)
        tool.pop("title", None)
        tool.pop("annotations", None)
    return tools


def _strict_schemas(tools: list[Body]) -> list[Body]:
    for tool in tools:
        tool["inputSchema"] |= {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "additionalProperties": False,
            "$defs": {"unused": {"type": "null"}},
        }
        tool["outputSchema"] = {"type": "object"}
    return tools


def _reworded_tools(tools: list[Body]) -> list[Body]:
    for tool in tools:
        mark = "[EXPENSIVE] " if tool["name"] == "synthesize" else ""
        tool |= {"title": "Ein Werkzeug", "description": f"{mark}Ein Werkzeug für das Gedächtnis."}
    return tools


# --- other words ----------------------------------------------------------------------------------------------------


class OtherWords(Lists):
    """Every text for people is another one."""

    def __init__(self) -> None:
        super().__init__(_reworded_tools)

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        body = body_of(result)
        shorthand = "45m, 12h, 30d" if "ttl" in call.arguments else "."
        words = {
            "message": "",
            "suggestion": f"Bitte anders versuchen: {shorthand}",
            "status_text": "✓",
            "search_degraded": "nur Wörter",
            "detail": "…",
        }
        return with_body(result, {key: words.get(key, value) for key, value in body.items()})


def _reversed(value: Json) -> Json:
    match value:
        case dict():
            return {key: _reversed(value[key]) for key in reversed(value)}
        case list():
            return [_reversed(item) for item in value]
        case _:
            return value


_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def _instants(write: Callable[[datetime], str]) -> Callable[[Json], Json]:
    """Writes every instant of a body another way."""

    def change(value: Json) -> Json:
        match value:
            case str() if _INSTANT.fullmatch(value):
                return write(datetime.fromisoformat(value))
            case dict():
                # A cursor is the server's own: whoever follows it passes it back as it was.
                return {key: item if key == "next_cursor" else change(item) for key, item in value.items()}
            case list():
                return [change(item) for item in value]
            case _:
                return value

    return change


def _milliseconds(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def _seconds(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _elsewhere(moment: datetime) -> str:
    return moment.astimezone(timezone(timedelta(hours=5, minutes=30))).isoformat()


# --- other ids and slugs --------------------------------------------------------------------------------------------


class OtherIds(Interceptor):
    """The ids of facts look otherwise, everywhere; ids that look like ours are unknown."""

    def __init__(self, outward: Callable[[str], str], inward: Callable[[str], str | None]) -> None:
        self._outward, self._inward = outward, inward

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == "forget" and (sent := text_argument(call, "id")) and sent.strip():
            result = await honest(asking(call, id=self._inward(sent) or "unknown"))
            body = body_of(result)
            return with_body(result, {**body, "id": sent} if "id" in body else body)
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "remember":
            body["id"] = self._outward(body["id"])
        elif call.name in FACT_TOOLS:
            for fact in body["facts"]:
                fact["fact_id"] = self._outward(fact["fact_id"])
        return with_body(result, body)


_UUID = re.compile(r"0{8}-feed-4bee-8fee-([0-9a-f]{12})")


def _uuid(fact_id: str) -> str:
    return f"00000000-feed-4bee-8fee-{int(fact_id):012x}"


def _from_uuid(shown: str) -> str | None:
    match = _UUID.fullmatch(shown)
    return str(int(match[1], 16)) if match else None


_LONG = "mem://Gedächtnis/" + "a/b?c=%20&" * 20


def _long(fact_id: str) -> str:
    return f"{_LONG}{fact_id}=="


def _from_long(shown: str) -> str | None:
    return shown[len(_LONG) : -2] if shown.startswith(_LONG) and shown.endswith("==") else None


class OtherSlugs(Interceptor):
    """Entities are canonicalised another way: the slug of a fact is not what was sent."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        entity = text_argument(call, "entity")
        if entity and entity.startswith("kb:"):
            call = asking(call, entity=entity.removeprefix("kb:"))
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        for one in [body] if call.name == "remember" else body["facts"] if call.name == "recall" else []:
            one["entity_slug"] = one["entity_slug"] and f"kb:{one['entity_slug']}"
        return with_body(result, body)


# --- less than the reference does ------------------------------------------------------------------------------------


class WithoutLaterVerbs(Lists):
    """context_pack and delta are not there."""

    def __init__(self) -> None:
        super().__init__(lambda tools: [tool for tool in tools if tool["name"] not in LATER_VERBS])

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name in LATER_VERBS:
            raise RpcFault(-32602, f"Unknown tool: {call.name}")
        return await honest(call)


class OnlyRequiredKeys(Interceptor):
    """Facts and results have the keys that are required, and no others."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name not in FACT_TOOLS or is_error(result):
            return result
        body = body_of(result)
        keep = ("id", "fact_id", "fact", "kind", "provenance")
        body["facts"] = [{key: fact[key] for key in keep} for fact in body["facts"]]
        for found in body.get("results", ()):
            del found["chunk"]
        return with_body(result, body)


class Sparse(Interceptor):
    """What may be null or empty is: titles, chunks, summaries, suggestions beside a card."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name not in ("recall", "entity") or is_error(result):
            return result
        body = body_of(result)
        for found in body.get("results", ()):
            found |= {"chunk": None, "evidence": "weak_semantic", "create_safety": "unknown"}
        if "card" in body:
            body["card"]["summary"] = ""
            body["card"]["last_touched"] = dict.fromkeys(body["card"]["last_touched"])
            body["card"]["entity"]["type"] = None
            for edge in body["card"]["edges"]:
                edge["context"] = None
        return with_body(result, body)


class ForgottenIsErased(Interceptor):
    """A forgotten fact leaves no trace: that it should is no more than a SHOULD."""

    def __init__(self) -> None:
        self._forgotten: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "forget":
            self._forgotten.add(body["id"])
        if call.name != "recall":
            return result
        body["facts"] = [fact for fact in body["facts"] if fact["fact_id"] not in self._forgotten]
        body["total"] = len(body["facts"])
        return with_body(result, body)


# --- other sums ------------------------------------------------------------------------------------------------------


class OtherEstimates(Interceptor):
    """Tokens are estimated by the letters of what is answered, keys and all."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        budget = call.arguments.get("budget_tokens")
        if call.name != "recall" or is_error(result) or not isinstance(budget, int):
            return result
        whole = body_of(await honest(without(call, "budget_tokens")))
        kept: dict[str, list[Body]] = {"facts": [], "results": []}
        used, full = 0, False
        for kind in kept:
            for item in whole.get(kind, []):
                cost = len(dumped({key: item[key] for key in ("fact", "chunk", "title") if key in item})) // 3 + 1
                full = full or used + cost > budget
                if not full:
                    used += cost
                    kept[kind].append(item)
        body = {**body_of(result), "facts": kept["facts"], "total": len(kept["facts"]), "budget_used": used}
        if "results" in body:
            body["results"] = kept["results"]
        everything = sum(len(whole.get(kind, [])) for kind in kept)
        body["dropped_count"] = everything - sum(map(len, kept.values()))
        return with_body(result, body)


class WholeSeconds(Interceptor):
    """The clock has whole seconds: facts of one second differ only by their order."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name not in ("recall", "entity", "remember") or is_error(result):
            return result
        return with_body(result, _instants(_seconds)(body_of(result)))


class SameTextOnce(Interceptor):
    """Without embeddings the very same text is still noticed: it is a duplicate."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        text, entity = text_argument(call, "fact"), text_argument(call, "entity")
        if call.name != "remember" or not text or not text.strip() or not entity or not entity.strip():
            return await honest(call)
        kind, visibility = call.arguments.get("kind", "fact"), call.arguments.get("visibility", "world")
        known = (await ask(honest, call, "recall", entity=entity, limit=100)).get("facts", [])
        same = [fact for fact in known if fact["fact"] == text and fact["kind"] == kind]
        provenance = text_argument(call, "provenance") or ""
        if not same or visibility != "world" or not 0 < len(provenance.strip()) <= 500 or "ttl" in call.arguments:
            return await honest(call)
        return success(
            id=same[0]["fact_id"],
            status="duplicate",
            status_text="Known already.",
            entity_slug=same[0]["entity_slug"],
            valid_until=same[0]["valid_until"],
            degraded_dedup=True,
        )


# --- other refusals ---------------------------------------------------------------------------------------------------


class SchemasComeFirst(Interceptor):
    """What the input schema forbids is refused by the protocol, before the tool sees it."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if problem := _schema_problem(call):
            raise RpcFault(-32602, f"Invalid arguments for tool {call.name}: {problem}")
        return await honest(call)


_REQUIRED = {
    "remember": ("fact", "provenance"),
    "entity": ("name",),
    "synthesize": ("question",),
    "forget": ("id",),
}
_INTEGERS = ("limit", "budget_tokens")
_FLAGS = ("include_expired", "supersessions", "include_pending", "include_private")
_TEXTS = {
    "remember": ("fact", "provenance", "ttl", "entity", "kind", "visibility"),
    "recall": ("entity", "query", "since", "session_id", "grep"),
    "entity": ("name",),
    "synthesize": ("question", "since", "until"),
    "forget": ("id", "reason"),
    "context_pack": ("entities", "since", "session_id"),
    "delta": ("since", "session_id", "since_slug", "entities"),
}


def _schema_problem(call: ToolCall) -> str | None:
    """What a validator of the advertised schemas would find."""
    for name in _REQUIRED.get(call.name, ()):
        if name not in call.arguments:
            return f"{name} is required"
    for name, value in call.arguments.items():
        if _mistyped(call.name, name, value):
            return f"{name} has the wrong type"
    if call.name == "remember":
        if call.arguments.get("kind", "fact") not in KINDS:
            return "kind is not one of the enum"
        if call.arguments.get("visibility", "world") not in VISIBILITIES:
            return "visibility is not one of the enum"
        if len(call.arguments["provenance"]) > 500:
            return "provenance is longer than maxLength"
    return None


def _mistyped(tool: str, name: str, value: Json) -> bool:
    if name in _TEXTS.get(tool, ()):
        return not isinstance(value, str)
    if name in _INTEGERS:
        return not isinstance(value, int) or isinstance(value, bool) or value < (1 if name == "limit" else 0)
    return name in _FLAGS and not isinstance(value, bool)


class OddOptionsAreIgnored(Interceptor):
    """An optional argument of a wrong type counts as left out."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        required = _REQUIRED.get(call.name, ())
        odd = [
            name for name, value in call.arguments.items() if name not in required and _mistyped(call.name, name, value)
        ]
        return await honest(without(call, *odd))


class UnknownArgumentsAreRefused(Interceptor):
    """An argument that the contract does not have is refused."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name in ALL_VERBS:
            known = {*_TEXTS[call.name], *_INTEGERS, *_FLAGS}
            if unknown := [name for name in call.arguments if name not in known]:
                return failure("invalid_params", f"unknown arguments: {', '.join(unknown)[:200]}")
        return await honest(call)


class UnlistedToolsAreProtocolErrors(Interceptor):
    """A tool that is not listed is refused by the protocol."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) and body_of(result)["error"] == "unknown_tool":
            raise RpcFault(-32602, f"Unknown tool: {call.name[:100]}")
        return result


class IdsHaveAForm(Interceptor):
    """A text that cannot be an id is refused as such: invalid_params, where the reference says not_found."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        sent = text_argument(call, "id")
        if call.name == "forget" and sent is not None and not re.fullmatch(r"[1-9][0-9]*", sent):
            return failure("invalid_params", "that is no id", "Send an id that remember answered.")
        return await honest(call)


def all_variants() -> tuple[Variant, ...]:
    """Every conforming variant; the first ones are the reference itself."""
    return (
        Variant("honest", "The reference as it is, without embeddings."),
        Variant("hash-embeddings", "The reference with embeddings.", config={"embeddings": "hash"}),
        Variant(
            "verbs-surface",
            "The reference on the surface of the five verbs.",
            config={"surface": "verbs"},
            claims=CLAIMS | {"verbs-surface"},
            gaps="on the verbs surface the kit cannot make pages",
        ),
        Variant("language-model", "synthesize has a language model, and answers.", Answering, claims=frozenset()),
        Variant("extra-keys", "Every object of an answer has keys more.", lambda: Bodies(_extra_texts)),
        Variant(
            "extra-nulls", "Every object of an answer has keys more, which are null.", lambda: Bodies(_extra_nulls)
        ),
        Variant("extra-objects", "Every object of an answer has objects more.", lambda: Bodies(_extra_objects)),
        Variant(
            "text-block-after",
            "A text block follows, which is no JSON.",
            lambda: Wholes(_blocks([], [{"type": "text", "text": "This was it."}])),
        ),
        Variant(
            "link-blocks-around",
            "Before the text stands a link, after it another.",
            lambda: Wholes(_blocks([_link("before")], [_link("after")])),
        ),
        Variant(
            "image-block-before",
            "Before the text stands an image.",
            lambda: Wholes(_blocks([{"type": "image", "data": "R0lGODlhAQABAAAAACw=", "mimeType": "image/gif"}], [])),
        ),
        Variant("structured-content", "structuredContent holds the same object.", lambda: Wholes(_structured)),
        Variant("meta", "Results and blocks carry _meta and annotations.", lambda: Wholes(_annotated)),
        Variant("no-flag-on-success", "A success comes without isError.", lambda: Wholes(_unflagged)),
        Variant("more-tools", "Forty tools more are listed, and all in another order.", lambda: Lists(_more_tools)),
        Variant("bare-tools", "Tools are listed without titles, annotations and enums.", lambda: Lists(_bare_tools)),
        Variant("strict-schemas", "Input schemas allow no unknown members.", lambda: Lists(_strict_schemas)),
        Variant("other-words", "Every text for people is another one.", OtherWords),
        Variant("reversed-keys", "The keys of every object come in reverse.", lambda: Bodies(_reversed)),
        Variant("pretty-json", "JSON is written on several lines.", lambda: Texts(_pretty)),
        Variant("ascii-json", "JSON is written with escapes only.", lambda: Texts(_ascii)),
        Variant("milliseconds", "Instants have three digits and +00:00.", lambda: Bodies(_instants(_milliseconds))),
        Variant("other-offset", "Instants are told at +05:30.", lambda: Bodies(_instants(_elsewhere))),
        Variant("whole-seconds", "Instants have whole seconds.", WholeSeconds),
        Variant("uuids", "Facts have UUIDs for ids.", lambda: OtherIds(_uuid, _from_uuid)),
        Variant("long-ids", "Facts have long ids with odd letters.", lambda: OtherIds(_long, _from_long)),
        Variant("other-slugs", "The slug of a fact's entity is not what was sent.", OtherSlugs),
        Variant("without-later-verbs", "context_pack and delta are not there.", WithoutLaterVerbs),
        Variant("only-required-keys", "Facts have only the keys that are required.", OnlyRequiredKeys),
        Variant("sparse", "What may be null or empty is.", Sparse),
        Variant("forgotten-is-erased", "A forgotten fact leaves no trace.", ForgottenIsErased),
        Variant("other-estimates", "Tokens are estimated another way.", OtherEstimates),
        Variant("same-text-once", "Without embeddings the very same text is a duplicate.", SameTextOnce),
        Variant("schemas-come-first", "The protocol refuses what a schema forbids.", SchemasComeFirst),
        Variant(
            "odd-options-are-ignored", "Optional arguments of a wrong type count as left out.", OddOptionsAreIgnored
        ),
        Variant("unknown-arguments-are-refused", "Unknown arguments are refused.", UnknownArgumentsAreRefused),
        Variant("unlisted-are-protocol-errors", "Unlisted tools are protocol errors.", UnlistedToolsAreProtocolErrors),
        Variant("ids-have-a-form", "What cannot be an id is invalid_params.", IdsHaveAForm),
    )


def _extra_texts(body: Json) -> Json:
    return _with_extras(body, "more")


def _extra_nulls(body: Json) -> Json:
    return _with_extras(body, None)


def _extra_objects(body: Json) -> Json:
    return _with_extras(body, {"facts": [1], "error": None, "protocol_version": 7})


def _link(name: str) -> Body:
    return {"type": "resource_link", "uri": f"memory://{name}", "name": name}


def _pretty(body: Body) -> str:
    return "\n" + json.dumps(body, ensure_ascii=False, indent=4, sort_keys=True) + "\n"


def _ascii(body: Body) -> str:
    return json.dumps(body, ensure_ascii=True, separators=(",", ":"))
