"""Laws about a list of tools."""

from __future__ import annotations

import pytest
from nmemory_kit.check import Answer
from nmemory_kit.check.laws import laws

GOOD = {"type": "object", "properties": {"fact": {"type": "string"}}, "required": ["fact", "provenance"]}


def broken(tools, **required):
    return list(laws()["input-schemas-valid"](Answer.of_document(tools), {"required": required}))


def listed(schema, name="keep"):
    return {"tools": [{"name": "other"}, {"name": name, "inputSchema": schema}]}


@pytest.mark.parametrize(
    "schema",
    [
        GOOD,
        GOOD | {"required": ["provenance", "fact"], "additionalProperties": False, "x-own": 1},
        GOOD | {"$schema": "http://json-schema.org/draft-07/schema#"},
        GOOD | {"$schema": "https://example.org/a-dialect-of-its-own"},
    ],
)
def test_a_schema_that_requires_these_names_is_valid_in_any_dialect(schema):
    assert not broken(listed(schema), keep=["fact", "provenance"])


def test_nothing_required_may_be_said_in_two_ways():
    for schema in ({"type": "object"}, {"type": "object", "required": []}):
        assert not broken(listed(schema), keep=[])


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        (GOOD | {"required": ["fact"]}, "/tools/1/inputSchema/required"),
        (GOOD | {"required": ["fact", "provenance", "entity"]}, "/tools/1/inputSchema/required"),
        (GOOD | {"type": ["object"]}, "/tools/1/inputSchema/type"),
        ({"required": ["fact", "provenance"]}, "/tools/1/inputSchema/type"),
        (GOOD | {"properties": []}, "/tools/1/inputSchema"),
        (GOOD | {"required": "fact"}, "/tools/1/inputSchema"),
        (
            GOOD | {"$schema": "http://json-schema.org/draft-03/schema#", "required": True},
            "/tools/1/inputSchema/required",
        ),
        ({}, "/tools/1/inputSchema/type"),
        (None, "/tools/1/inputSchema"),
        (True, "/tools/1/inputSchema"),
        ("object", "/tools/1/inputSchema"),
    ],
)
def test_a_schema_that_is_not_valid_or_requires_others_is_named(schema, pointer):
    assert pointer in [one.pointer for one in broken(listed(schema), keep=["fact", "provenance"])]


@pytest.mark.parametrize("tools", [{"tools": []}, {"tools": [None, {"name": 7}]}, listed(GOOD, "Keep")])
def test_a_tool_that_is_not_listed_is_named(tools):
    assert [one.expected for one in broken(tools, keep=["fact"])] == ["the tool keep"]


@pytest.mark.parametrize("document", [{}, {"tools": None}, [], "tools"])
def test_what_is_no_list_of_tools_breaks_the_law(document):
    assert [one.pointer for one in broken(document, keep=[])] == ["/tools"]
