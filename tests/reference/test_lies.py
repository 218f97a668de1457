"""The lying doubles tell one lie each, and nothing in them goes wrong by accident."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from nmemory_reference.lies import (
    Area,
    Demand,
    Lie,
    Result,
    ToolCall,
    Variant,
    all_lies,
    all_nulls,
    all_variants,
    asking,
    open_double,
)
from nmemory_reference.serve.config import Config
from nmemory_reference.serve.endpoint import RpcFault
from nmemory_reference.tools.caller import Caller

PAGE = (
    "---\ntitle: Ann Lee\naliases: [annie]\nlinks: [{to: people/bo, type: knows}]\n---\n\nAnn mentions [[people/cy]].\n"
)
#: A short life of a memory, in which every verb is used well and badly.
TALK: tuple[tuple[str, dict[str, Any]], ...] = (
    ("put_page", {"slug": "people/ann", "content": PAGE}),
    ("remember", {"fact": "Ann hums.", "provenance": "a test", "entity": "people/ann", "kind": "commitment"}),
    ("remember", {"fact": "Ann hums.", "provenance": "a test", "entity": "people/ann", "kind": "commitment"}),
    ("remember", {"fact": "Ann whispers.", "provenance": "a test", "entity": "people/ann", "visibility": "private"}),
    ("remember", {"fact": "It rains.", "provenance": "a test", "ttl": "45m"}),
    ("remember", {"fact": " ", "provenance": "a test"}),
    ("remember", {"fact": ["odd"], "provenance": 7, "entity": None, "ttl": {"odd": 1}, "kind": "odd"}),
    ("recall", {"entity": "people/ann", "query": "Ann", "limit": 2, "since": "2001-01-01", "budget_tokens": 40}),
    ("recall", {"grep": "HUMS", "include_expired": True}),
    ("recall", {"entity": " ", "limit": -1, "since": "yesterday", "query": 7, "budget_tokens": "odd"}),
    ("recall", {"limit": True, "budget_tokens": 1.5}),
    ("entity", {"name": "annie"}),
    ("entity", {"name": "people/ann"}),
    ("entity", {"name": "nobody"}),
    ("entity", {"name": " "}),
    ("entity", {"name": ["odd"]}),
    ("synthesize", {"question": "Who hums?"}),
    ("synthesize", {"question": ["odd"]}),
    ("context_pack", {"entities": "people/ann, people/bo", "budget_tokens": 60}),
    ("context_pack", {"entities": 7, "budget_tokens": "odd"}),
    ("delta", {"since": "2001-01-01T00:00:00+02:00"}),
    ("delta", {"since": "2001-01-01T00:00:00Z", "include_private": True}),
    ("delta", {"since": ["odd"], "session_id": 7}),
    ("forget", {"id": "1", "reason": "a test"}),
    ("forget", {"id": "1"}),
    ("forget", {"id": "999"}),
    ("forget", {"id": "\0"}),
    ("forget", {"id": ["odd"]}),
    ("no_such_tool", {}),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def talk(double: Lie | Variant | None, folder: Path) -> list[Result | str]:
    """What a double answers to the short life; the code of a JSON-RPC error, or `silence`, where that is its answer."""
    config = Config(db=folder / "memory.sqlite3", usage_log=None, durable=False)

    async def life() -> list[Result | str]:
        endpoint = open_double(config, double)
        answers: list[Result | str] = []
        try:
            await endpoint.list_tools(Caller())
            for tool, arguments in TALK:
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


def hand_made(area: str) -> list[Lie]:
    return [lie for lie in all_lies() if lie.id.partition("/")[0] == area]


@pytest.mark.parametrize("area", sorted({lie.id.partition("/")[0] for lie in all_lies()}))
def test_a_lie_never_stumbles_over_what_it_is_asked(area: str, tmp_path: Path) -> None:
    # One that raises would be caught for its clumsiness, and prove nothing.
    for lie in hand_made(area):
        talk(lie, tmp_path / lie.id)


@pytest.mark.parametrize("variant", [*all_variants(), *all_nulls()], ids=lambda variant: variant.id)
def test_a_variant_never_stumbles_over_what_it_is_asked(variant: Variant, tmp_path: Path) -> None:
    talk(variant, tmp_path)


def test_a_double_without_a_lie_is_the_reference(tmp_path: Path) -> None:
    assert talk(None, tmp_path / "one")[11] != "silence"


def test_every_double_has_an_id_of_its_own_and_says_what_it_is() -> None:
    doubles = [*all_lies(), *all_variants(), *all_nulls()]
    assert len({double.id for double in doubles}) == len(doubles)
    for double in doubles:
        assert re.fullmatch(r"[a-z0-9]+([-/][a-z0-9]+)*", double.id), double.id
        assert re.search(r"[.!]$", double.says), double.id


def test_each_open_store_has_a_lie_of_its_own() -> None:
    for lie in all_lies():
        assert lie.make() is not lie.make(), lie.id


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


def test_a_lie_about_a_call_leaves_other_tools_alone(tmp_path: Path) -> None:
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


def made(schema: dict[str, Any], body: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Every systematic lie by its id, with what it makes of a body."""
    demand = Demand("c/one", "success", schema, frozenset({"recall"}))
    lies = [lie for lie in all_lies([demand, *more.get("others", ())]) if lie.id.startswith("systematic/")]

    async def honest(call: ToolCall) -> Result:
        import json

        return {"content": [{"type": "text", "text": json.dumps(body)}], "isError": False}

    async def told(lie: Lie) -> Any:
        import json

        result = await lie.make().call_tool(ToolCall("recall", {}, Caller()), honest)
        return json.loads(result["content"][0]["text"])

    return {lie.id.removeprefix("systematic/recall/"): asyncio.run(told(lie)) for lie in lies}


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
    lies = {lie.id: lie for lie in all_lies(demands)}
    lie = lies["systematic/recall/drop/total"]
    assert (lie.clause, lie.also) == ("c/one", {"c/two"})
