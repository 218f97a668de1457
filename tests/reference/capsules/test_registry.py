"""The memory surface as `tools/list` and `resources/list` show it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from nmemory_reference.capsules.registry import MEMORY_TOOLS
from nmemory_reference.capsules.views.sheets import RESOURCES
from nmemory_reference.serve.instructions import INSTRUCTIONS
from nmemory_reference.tools.deferred import Deferred
from nmemory_reference.tools.registry import resources_of, tools_of

NAMES = [
    f"memory_{name}"
    for name in (
        *("alias", "bootstrap", "classify", "consolidate", "digest", "export", "extract", "forget", "get", "import"),
        *("ingest", "list", "merge", "outcome", "pin", "preference", "relate", "retrieve"),
        *("session_finish", "session_start", "vector", "visual"),
    )
]
REQUIRED = {
    "memory_classify": ["content"],
    "memory_forget": ["id", "mode", "reason"],
    "memory_get": ["id"],
    "memory_import": ["source"],
    "memory_merge": ["from"],
    "memory_pin": ["id", "pinned", "reason"],
    "memory_relate": ["kind", "from", "to"],
    "memory_retrieve": ["terms"],
    "memory_session_finish": ["session_id"],
    "memory_visual": ["view"],
}
LISTED = {tool.name: tool.listed() for tool in tools_of("memory").values()}
every_tool = pytest.mark.parametrize("name", NAMES)


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """The object schemas in a schema, at any depth."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


def test_srv12_srv13_exactly_the_22_sorted_by_name() -> None:
    assert list(LISTED) == NAMES == sorted(NAMES)
    assert list(MEMORY_TOOLS) == [tool.name for tool in MEMORY_TOOLS.values()] == NAMES


def test_a_surface_has_what_its_name_says() -> None:
    assert not set(tools_of("verbs")) & set(NAMES)
    assert set(tools_of("full")) >= set(NAMES) | set(tools_of("verbs"))
    assert not resources_of("verbs")
    assert resources_of("full") is RESOURCES


def test_a_tool_is_made_when_it_is_first_looked_up_and_kept() -> None:
    made: list[str] = []
    tools = Deferred(["b", "a"], lambda name: made.append(name) or object())  # type: ignore[func-returns-value]
    assert (list(tools), len(tools), "a" in tools, "c" in tools) == (["b", "a"], 2, True, False)
    assert tools.get("c") is None
    assert not made
    assert tools["a"] is tools["a"]
    assert made == ["a"]


@every_tool
def test_srv15_srv17_w2_arguments_are_closed_objects(name: str) -> None:
    schema = LISTED[name]["inputSchema"]
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert all(each["additionalProperties"] is False for each in objects(schema))
    assert "outputSchema" not in LISTED[name]


@every_tool
def test_srv18_srv19_what_a_call_must_bring(name: str) -> None:
    assert LISTED[name]["inputSchema"].get("required", []) == REQUIRED.get(name, [])


@every_tool
def test_srv16_srv23_names_that_every_client_takes(name: str) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", name)
    assert "update" not in name
    assert "delete" not in name


@every_tool
def test_a_tool_and_each_of_its_arguments_is_described(name: str) -> None:
    assert len(LISTED[name]["description"]) > 100
    assert LISTED[name]["title"]
    for argument in LISTED[name]["inputSchema"].get("properties", {}).values():
        assert argument["description"]


def test_srv22_two_tools_name_the_page_that_can_show_them() -> None:
    assert {name: tool["_meta"] for name, tool in LISTED.items() if "_meta" in tool} == {
        "memory_export": {"ui": {"resourceUri": "ui://nmemory/document", "visibility": ["model", "app"]}},
        "memory_visual": {"ui": {"resourceUri": "ui://nmemory/visual", "visibility": ["model", "app"]}},
    }


def test_annotations_tell_readers_from_writers() -> None:
    hints = {name: tool["annotations"] for name, tool in LISTED.items()}
    assert {name for name, each in hints.items() if each["readOnlyHint"]} == {
        f"memory_{name}" for name in ("bootstrap", "digest", "export", "extract", "get", "list", "retrieve", "visual")
    }
    assert {name for name, each in hints.items() if each.get("destructiveHint")} == {"memory_forget", "memory_merge"}
    assert not any(each["openWorldHint"] for each in hints.values())


def test_srv24_two_resources() -> None:
    assert [(each["uri"], each["name"], each["title"], each["mimeType"]) for each in map(listed, RESOURCES)] == [
        ("ui://nmemory/document", "nmemory_document", "nMEMORY document", "text/html;profile=mcp-app"),
        ("ui://nmemory/visual", "nmemory_visual", "nMEMORY visual", "text/html;profile=mcp-app"),
    ]


@pytest.mark.parametrize(("uri", "field"), [("ui://nmemory/document", "markdown"), ("ui://nmemory/visual", "mermaid")])
def test_srv25_srv26_srv27_a_page_stands_alone_and_shows_text_as_text(uri: str, field: str) -> None:
    text = RESOURCES[uri].read()["text"]
    assert listed(uri)["size"] == len(text.encode())
    assert text.startswith("<!doctype html>")
    assert not re.search(r"https?:|\bsrc=|<link|import\b|innerHTML|\$\w", text)
    assert "structuredContent" in text
    assert field in text


def listed(uri: str) -> dict[str, Any]:
    return RESOURCES[uri].listed()


def test_srv05_the_instructions_speak_of_concurrency_and_name_every_tool() -> None:
    text = INSTRUCTIONS["memory"]
    assert "concurrently" in text
    assert "JSON-RPC id" in text
    assert [name for name in NAMES if name not in text] == []
    for outcome in ("grounded", "missing_evidence", "abstain"):
        assert outcome in text
    assert INSTRUCTIONS["full"].endswith(text)
    assert "memory_" not in INSTRUCTIONS["verbs"]
