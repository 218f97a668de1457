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


def judged(schema, **args):
    return list(laws()["input-schema-judges"](Answer.of_document(listed(schema)), {"tool": "keep", **args}))


CLOSED = GOOD | {"additionalProperties": False}
GIVEN = {"fact": "a", "provenance": "b"}


@pytest.mark.parametrize(
    "schema",
    [
        CLOSED | {"properties": {"fact": {"type": "string"}, "provenance": {}}},
        {"$ref": "#/$defs/given", "$defs": {"given": GOOD}, "unevaluatedProperties": {"type": "string"}},
        {"allOf": [GOOD], "propertyNames": {"enum": ["fact", "provenance"]}},
    ],
)
def test_a_schema_may_be_closed_in_any_way(schema):
    assert not judged(schema, accepts=[GIVEN], refuses=[GIVEN | {"more": 1}, {}])


def test_an_open_schema_refuses_nothing_more():
    (broken,) = judged(GOOD, refuses=[GIVEN | {"more": 1}])
    assert broken.pointer == "/tools/1/inputSchema"
    assert "refuses" in broken.expected


def test_a_schema_that_refuses_what_it_should_take_is_told():
    (broken,) = judged(CLOSED, accepts=[GIVEN])
    assert "accepts" in broken.expected


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://127.0.0.1:9/elsewhere"},
        {"$ref": "#/$defs/gone"},
        {"$ref": "#"},
        {"type": 3},
        None,
    ],
)
def test_a_schema_that_cannot_be_applied_breaks_the_law_and_nothing_else(schema):
    assert len(judged(schema, accepts=[GIVEN], refuses=[{}])) == 1


def test_a_tool_that_is_not_there_has_no_schema():
    (broken,) = list(laws()["input-schema-judges"](Answer.of_document({"tools": []}), {"tool": "keep"}))
    assert broken.pointer == "/tools"
