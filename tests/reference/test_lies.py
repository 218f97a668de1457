"""The lying doubles tell one lie each, and nothing in them goes wrong by accident."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nmemory_reference.lies import (
    REPERTOIRES,
    Area,
    Demand,
    Lie,
    Refusal,
    Repertoire,
    Result,
    RpcFault,
    ToolCall,
    Variant,
    asking,
    open_double,
    text_result,
)
from nmemory_reference.lies.memory.answers import MEMORY_TOOLS, rows, shape_fault, state_fault, value_fault
from nmemory_reference.lies.schema import Condition
from nmemory_reference.lies.specimen import specimen
from nmemory_reference.lies.systematic import systematic
from nmemory_reference.serve.config import Config
from nmemory_reference.serve.endpoint import Endpoint
from nmemory_reference.tools.caller import Caller
from reference.lives import LIVES

ANSWERS: Mapping[str, Any] = {}
LIES = [(repertoire, lie) for repertoire in REPERTOIRES for lie in repertoire.lies()]
OTHERS = [
    (repertoire, double) for repertoire in REPERTOIRES for double in (*repertoire.variants, *repertoire.nulls(ANSWERS))
]


def talk(repertoire: Repertoire, double: Lie | Variant | None, folder: Path) -> list[Result | str]:
    """What a double answers in the short life of a memory; the code of a JSON-RPC error, or `silence`."""
    config = Config(db=folder / "memory.sqlite3", usage_log=None, durable=False, **repertoire.config)

    if isinstance(double, Variant):
        double = replace(double, around=None)  # it is called here, and hears no messages

    async def life() -> list[Result | str]:
        endpoint = open_double(config, double)
        assert isinstance(endpoint, Endpoint)
        answers: list[Result | str] = []
        try:
            await endpoint.list_tools(Caller())
            for tool, arguments in LIVES[repertoire.name]:
                try:
                    async with asyncio.timeout(0.05):
                        answers.append(await endpoint.call_tool(ToolCall(tool, arguments, Caller())))
                except RpcFault as fault:
                    answers.append(str(fault.code))
                except TimeoutError:
                    answers.append("silence")
        finally:
            endpoint.close()
        return answers

    return asyncio.run(life())


def area_of(lie: Lie) -> str:
    return lie.id.rpartition("/")[0]


@pytest.mark.parametrize("area", sorted({area_of(lie) for _, lie in LIES}))
def test_a_lie_never_stumbles_over_what_it_is_asked(area: str, tmp_path: Path) -> None:
    # One that raises would be caught for its clumsiness, and prove nothing.
    for repertoire, lie in LIES:
        if area_of(lie) == area:
            talk(repertoire, lie, tmp_path / lie.id)


@pytest.mark.parametrize(("repertoire", "double"), OTHERS, ids=[double.id for _, double in OTHERS])
def test_another_double_never_stumbles_over_what_it_is_asked(
    repertoire: Repertoire, double: Variant, tmp_path: Path
) -> None:
    talk(repertoire, double, tmp_path)


@pytest.mark.parametrize("repertoire", REPERTOIRES, ids=lambda repertoire: repertoire.name)
def test_a_double_without_a_lie_is_the_reference(repertoire: Repertoire, tmp_path: Path) -> None:
    answers = talk(repertoire, None, tmp_path)
    assert "silence" not in answers
    # The talk is about something: tools succeed, and refuse.
    assert any(isinstance(answer, dict) and not answer["isError"] for answer in answers)
    assert any(isinstance(answer, str) or answer["isError"] for answer in answers)


def test_every_double_has_an_id_of_its_own_and_says_what_it_is() -> None:
    doubles = [(repertoire.name, lie.id, lie.says) for repertoire, lie in LIES]
    doubles += [(repertoire.name, other.id, other.says) for repertoire, other in OTHERS]
    assert len({name for _, name, _ in doubles}) == len(doubles)
    for repertoire, name, says in doubles:
        assert re.fullmatch(rf"{repertoire}/[a-z0-9]+([-/][a-z0-9]+)*", name), name
        assert re.search(r"[.!]$", says), name


def test_each_open_store_has_a_lie_of_its_own() -> None:
    for _, lie in LIES:
        assert lie.make() is not lie.make(), lie.id


# --- areas ------------------------------------------------------------------------------------------------------------


def told(lie: Lie, tool: str, answer: Result | RpcFault, **arguments: Any) -> Any:
    """What a lie makes of an answer: the result, or the error of JSON-RPC as a tuple."""

    async def honest(call: ToolCall) -> Result:
        if isinstance(answer, RpcFault):
            raise answer
        return answer

    try:
        return asyncio.run(lie.make().call_tool(ToolCall(tool, arguments, Caller()), honest))
    except RpcFault as fault:
        return (fault.code, fault.message, fault.data)


def test_the_name_and_the_docstring_of_a_function_make_a_lie() -> None:
    area = Area("tale")

    @area.success("recall", clause="mv1/recall/total", also={"mv1/recall/shape"})
    def total_is_a_dozen(call: ToolCall, body: dict[str, Any]) -> None:
        """total is twelve.

        Whatever there is.
        """
        body["total"] = 12

    (lie,) = area.lies
    assert (lie.id, lie.clause, lie.says) == ("tale/total-is-a-dozen", "mv1/recall/total", "total is twelve.")
    assert lie.also == {"mv1/recall/shape"}
    assert not lie.made


def test_a_lie_about_a_call_leaves_other_tools_alone() -> None:
    area = Area("tale")

    @area.asking("recall", clause="mv1/recall/limit-facts")
    def one_is_enough(call: ToolCall) -> ToolCall:
        """One fact is enough."""
        return asking(call, limit=1)

    heard: list[ToolCall] = []

    async def honest(call: ToolCall) -> Result:
        heard.append(call)
        return {}

    interceptor = area.lies[0].make()
    for tool in ("recall", "delta"):
        asyncio.run(interceptor.call_tool(ToolCall(tool, {"limit": 9}, Caller()), honest))
    assert [call.arguments["limit"] for call in heard] == [1, 9]


def test_a_lie_about_items_changes_each_of_them_wherever_they_stand() -> None:
    area = Area("tale")

    @area.item("list", at=("rows", "more/rows", "not/there"), clause="c/one")
    def ids_are_loud(call: ToolCall, row: dict[str, Any]) -> dict[str, Any] | None:
        """Ids are in capitals, and an x is replaced."""
        if row["id"] == "x":
            return {"id": "!"}
        row["id"] = row["id"].upper()
        return None

    answer = text_result('{"rows":[{"id":"a"},{"id":"x"}],"more":{"rows":[{"id":"b"}]},"not":null}')
    body = json.loads(told(area.lies[0], "list", answer)["content"][0]["text"])
    assert body == {"rows": [{"id": "A"}, {"id": "!"}], "more": {"rows": [{"id": "B"}]}, "not": None}


@pytest.mark.parametrize(
    ("answer", "changed"),
    [
        (RpcFault(-32002, "gone", {"kind": "k", "id": "7"}), (-32602, "gone", None)),
        (text_result("wrong shape", error=True), (-32602, "wrong shape", None)),
        (text_result("{}"), text_result("{}")),
    ],
    ids=["rpc", "in-band", "success"],
)
def test_a_lie_about_refusals_hears_of_both_channels(answer: Result | RpcFault, changed: Any) -> None:
    area = Area("tale")

    @area.refusal("get", clause="c/one")
    def everything_is_a_bad_value(call: ToolCall, refusal: Refusal) -> Refusal:
        """Every refusal is -32602 without data."""
        return replace(refusal, code=-32602, data=None)

    assert told(area.lies[0], "get", answer) == changed
    assert told(area.lies[0], "other", text_result("no", error=True)) == text_result("no", error=True)


def test_a_lie_about_refusals_may_leave_one_or_call_it_a_success() -> None:
    area = Area("tale")

    @area.refusal("get", clause="c/one")
    def unknown_is_empty(call: ToolCall, refusal: Refusal) -> Result | None:
        """What is unknown is an empty object."""
        return None if refusal.in_band else text_result("{}")

    (lie,) = area.lies
    assert told(lie, "get", RpcFault(-32002, "gone", {"kind": "k", "id": "7"})) == text_result("{}")
    assert told(lie, "get", text_result("no", error=True)) == text_result("no", error=True)


# --- what the memory tools answer -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raised", "fault"),
    [
        (lambda: value_fault("too much"), (-32602, None)),
        (lambda: state_fault("unknown_capsule", "cap-9"), (-32002, {"kind": "unknown_capsule", "id": "cap-9"})),
    ],
    ids=["value", "state"],
)
def test_a_made_up_fault_is_the_references_own(raised: Any, fault: tuple[int, Any]) -> None:
    with pytest.raises(RpcFault) as caught:
        raised()
    assert (caught.value.code, caught.value.data) == fault


def test_a_made_up_shape_fault_is_in_band() -> None:
    assert shape_fault("no such field") == text_result("failed to deserialize parameters: no such field", error=True)


def test_the_memory_tools_are_those_that_the_reference_has(tmp_path: Path) -> None:
    endpoint = Endpoint.open(Config(db=tmp_path / "m.sqlite3", surface="memory", usage_log=None, durable=False))
    listed = asyncio.run(endpoint.list_tools(Caller()))
    endpoint.close()
    assert tuple(tool["name"] for tool in listed["tools"]) == MEMORY_TOOLS


def test_rows_are_found_wherever_a_tool_has_them() -> None:
    body = {"constraints": [{"id": "a"}], "ready": {"ready": [{"id": "b"}]}, "decisions": [], "handles": ["c"]}
    assert [row["id"] for row in rows("memory_bootstrap", body)] == ["a", "b"]
    assert list(rows("memory_pin", body)) == []


# --- variants on the wire ---------------------------------------------------------------------------------------------


def heard(variant: str, folder: Path, *messages: tuple[str, dict[str, Any]]) -> list[Any]:
    """The bodies that a variant of the verbs answers to some messages."""
    (double,) = (one for one in REPERTOIRES[0].variants if one.id == variant)

    async def conversation() -> list[Any]:
        opened = open_double(Config(db=folder / "m.sqlite3", usage_log=None, durable=False), double)
        try:
            return [
                (await opened.handle({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})).body
                for method, params in messages
            ]
        finally:
            opened.close()

    return asyncio.run(conversation())


def test_tools_in_pages_are_all_there_in_the_end(tmp_path: Path) -> None:
    honest = heard("verbs/honest", tmp_path, ("tools/list", {}))[0]["result"]["tools"]
    told: list[Any] = []
    cursor: dict[str, Any] = {}
    for _ in range(len(honest)):
        page = heard("verbs/paged-tools", tmp_path, ("tools/list", cursor))[0]["result"]
        assert len(page["tools"]) <= 2
        told += page["tools"]
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert told == honest


def test_another_introduction_is_one_still(tmp_path: Path) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}}
    (said,) = heard("verbs/other-introduction", tmp_path, ("initialize", hello))
    assert said["id"] == 7
    assert said["result"]["protocolVersion"] == "2025-06-18"
    assert "tools" in said["result"]["capabilities"]
    assert "instructions" not in said["result"]


def test_what_is_no_result_passes_as_it_is(tmp_path: Path) -> None:
    (refused,) = heard("verbs/paged-tools", tmp_path, ("no/such/method", {}))
    assert refused["error"]["code"] == -32601


# --- lies from schemas ------------------------------------------------------------------------------------------------

SCHEMA = {
    "required": ["facts", "total"],
    "properties": {
        "total": {"type": "integer", "minimum": 0},
        "note": {"type": ["string", "null"]},
        "facts": {
            "type": "array",
            "maxItems": 3,
            "items": {"required": ["kind"], "properties": {"kind": {"enum": ["a"]}}},
        },
    },
}


def made(schema: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """Every systematic lie by its id, with what it makes of a body."""
    lies = systematic([Demand("c/one", "success", schema, frozenset({"recall"}))])
    answer = text_result(json.dumps(body))
    return {
        lie.id.removeprefix("systematic/recall/"): json.loads(told(lie, "recall", answer)["content"][0]["text"])
        for lie in lies
    }


def test_a_schema_gives_a_lie_for_each_way_to_break_it() -> None:
    body = {"total": 2, "note": None, "facts": [{"kind": "a"}, {"kind": "a"}]}
    first = {"kind": "a"}
    assert made(SCHEMA, body) == {
        "drop/facts": {"total": 2, "note": None},
        "drop/total": {"note": None, "facts": body["facts"]},
        "retype/total": {**body, "total": "2"},
        "null/total": {**body, "total": None},
        "fraction/total": {**body, "total": 2.5},
        "sink/total": {**body, "total": -1},
        "retype/note": {**body, "note": False},
        "retype/facts": {**body, "facts": {"0": first, "1": first}},
        "null/facts": {**body, "facts": None},
        "overfill/facts": {**body, "facts": [first, first, first, first]},
        "drop/facts/last/kind": {**body, "facts": [first, {}]},
        "shout/facts/last/kind": {**body, "facts": [first, {"kind": "A"}]},
        "leave/facts/last/kind": {**body, "facts": [first, {"kind": "something_else"}]},
    }


def test_a_place_that_is_not_there_is_left_alone() -> None:
    body = {"total": 0, "facts": []}
    changed = {name for name, told in made(SCHEMA, body).items() if told != body}
    assert not any("last" in name or "note" in name for name in changed)


def test_where_two_clauses_demand_the_same_either_may_tell() -> None:
    demands = [Demand(clause, "success", SCHEMA, frozenset({"recall"})) for clause in ("c/one", "c/two")]
    lies = {lie.id: lie for repertoire in REPERTOIRES[:1] for lie in repertoire.lies(demands)}
    lie = lies["verbs/systematic/recall/drop/total"]
    assert (lie.clause, set(lie.also), lie.made) == ("c/one", {"c/two"}, True)


ROWS = {
    "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/row"}}},
    "$defs": {
        "row": {
            "required": ["status"],
            "properties": {"status": {"enum": ["new", "bad"]}, "free": True},
            "allOf": [
                {
                    "if": {"properties": {"status": {"const": "new"}}},
                    "then": {"required": ["id"], "properties": {"id": {"type": "string", "pattern": "^n-[0-9]+$"}}},
                    "else": {"required": ["error"], "properties": {"error": {"type": "string"}}},
                }
            ],
        }
    },
}


def test_what_a_schema_demands_on_a_condition_is_broken_where_the_condition_holds() -> None:
    new, bad = {"status": "new", "id": "n-1"}, {"status": "bad", "error": "e"}
    found = made(ROWS, {"rows": [new, bad]})
    assert found["drop/rows/last/id/when-status-new"] == {"rows": [{"status": "new"}, bad]}
    assert found["misshape/rows/last/id/when-status-new"] == {"rows": [{**new, "id": "<n-1>"}, bad]}
    assert found["drop/rows/last/error/when-not-status-new"] == {"rows": [new, {"status": "bad"}]}
    assert found["drop/rows/last/status"] == {"rows": [new, {"error": "e"}]}
    assert not any("free" in name for name in found)


@pytest.mark.parametrize(
    ("schema", "value", "wrong"),
    [
        ({"type": ["number", "string"]}, 3, False),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, "a", ["a"]),
        ({"oneOf": [{"type": "boolean"}, {"type": "null"}]}, True, "true"),
        ({"type": ["boolean", "string", "array", "object", "null"]}, None, 0.5),
    ],
    ids=["two-types", "nullable", "nullable-flag", "nearly-all"],
)
def test_a_changed_type_is_none_of_those_that_are_allowed(schema: Any, value: Any, wrong: Any) -> None:
    found = made({"properties": {"v": schema}}, {"v": value})
    assert found["retype/v"] == {"v": wrong}


def test_null_breaks_only_what_may_not_be_null() -> None:
    nullable = {"anyOf": [{"type": "null"}, {"type": "string"}]}
    found = made({"properties": {"a": nullable, "b": {"type": "string"}}}, {"a": "x", "b": "x"})
    assert {name for name in found if name.startswith("null/")} == {"null/b"}


@pytest.mark.parametrize(("pattern", "broken"), [("^n-[0-9]+$", True), (r"\S", False)], ids=["form", "not-blank"])
def test_only_a_form_can_be_lost(pattern: str, broken: bool) -> None:
    found = made({"properties": {"a": {"type": "string", "pattern": pattern}}}, {"a": "n-1"})
    assert ("misshape/a" in found) is broken
    assert found["empty/a"] == {"a": ""}


def test_a_form_that_outlives_a_frame_is_lost_altogether() -> None:
    found = made({"properties": {"a": {"type": "string", "pattern": "^.+: .+$"}}}, {"a": "rule: term"})
    assert found["misshape/a"] == {"a": "<>"}


@pytest.mark.parametrize(
    ("schema", "offered"),
    [
        ({"pattern": r"^[^\n]*$"}, False),
        ({"pattern": r"^[^\n]*$", "minLength": 1}, True),
        ({"pattern": "^[a-z]"}, True),
    ],
    ids=["one-line", "one-line-of-something", "a-letter-first"],
)
def test_the_empty_text_is_a_lie_only_where_it_is_not_allowed(schema: dict[str, Any], offered: bool) -> None:
    assert ("empty/a" in made({"properties": {"a": {"type": "string", **schema}}}, {"a": "x"})) is offered


def test_what_is_seldom_sent_is_put_in_and_damaged() -> None:
    schema = {
        "properties": {
            "rows": {"type": "array", "items": {"required": ["keep"], "properties": {"keep": {"type": "string"}}}}
        }
    }
    demand = Demand("c/one", "success", schema, frozenset({"recall"}))
    seldom = {"recall/rows": [{"keep": "n-1"}], "forget/rows/last/keep": "n-2"}
    lies = {lie.id.removeprefix("systematic/recall/"): lie for lie in systematic([demand], seldom=seldom)}

    def body(name: str, sent: dict[str, Any]) -> Any:
        return json.loads(told(lies[name], "recall", text_result(json.dumps(sent)))["content"][0]["text"])

    for _ in ("once", "again"):
        assert body("drop/rows/last/keep", {"rows": []}) == {"rows": [{}]}
    assert body("null/rows/last/keep", {}) == {"rows": [{"keep": None}]}
    assert body("null/rows/last/keep", {"rows": [{"keep": "n-3"}]}) == {"rows": [{"keep": None}]}
    assert body("drop/rows/last/keep", {"rows": [{"keep": "n-3"}, {}]}) == {"rows": [{}, {}]}


@pytest.mark.parametrize(
    ("condition", "name"),
    [
        ({"required": ["outcome"]}, "outcome"),
        ({"not": {"required": ["outcome"]}}, "not-outcome"),
        ({"type": "string"}, "string"),
        ({"required": ["mode"], "properties": {"mode": {"const": "redacted"}}}, "mode-redacted"),
    ],
    ids=["member", "no-member", "type", "constant"],
)
def test_a_condition_is_named_by_what_it_asks_for(condition: dict[str, Any], name: str) -> None:
    assert Condition(0, condition).name() == name


def test_a_schema_may_contain_itself() -> None:
    tree = {
        "$ref": "#/$defs/node",
        "$defs": {"node": {"properties": {"inner": {"$ref": "#/$defs/node"}, "n": {"type": "integer"}}}},
    }
    assert "retype/inner/inner/n" in made(tree, {"n": 1})


# --- values from schemas ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "barest", "fullest"),
    [
        (SCHEMA, {"facts": [], "total": 0}, {"total": 0, "note": "x", "facts": [{"kind": "a"}]}),
        (ROWS, {}, {"rows": [{"status": "new", "free": None}]}),
        ({"type": "string", "pattern": "^cap-[0-9]+$"}, "cap-1", "cap-1"),
        ({"anyOf": [{"const": 4}, {"type": "string"}]}, 4, 4),
        ({"type": "array", "minItems": 2, "items": {"type": "boolean"}}, [False, False], [True, True]),
        ({"type": ["string", "null"], "minLength": 1}, None, "x"),
    ],
    ids=["object", "references", "pattern", "choice", "array", "nullable"],
)
def test_a_specimen_is_what_its_schema_allows(schema: Any, barest: Any, fullest: Any) -> None:
    assert specimen(schema, full=False) == barest
    assert specimen(schema, full=True) == fullest
