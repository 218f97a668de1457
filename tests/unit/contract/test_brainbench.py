"""The export to BrainBench: each of its own checks has an equal, and nothing is lost without a word."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from nmemory_kit.contract import load_pack
from nmemory_kit.contract.brainbench import SEEDED, Export, export
from nmemory_kit.contract.brainbench_items import translate

Json = Any
#: The checks that BrainBench had, reduced to what is compared here (verb, parameters, expectations): see the file.
CHECKS: list[dict[str, Json]] = json.loads(Path(__file__).with_name("brainbench_checks.json").read_text())
KEYS = {
    *("name", "verb", "params", "validateSchema", "expect", "saveAs", "expectErrorCode", "expectSuggestion"),
    *("requiresSeededEntity", "requiresSynthesizeFlag"),
}
#: Parameters whose text is free.
FREE = {"fact", "provenance", "entity", "name", "query", "question", "reason", "id"}
DEMANDS = {"type", "equals", "oneOf", "gte", "lte", "absentOrNotContains"}
TYPES: dict[str, Any] = {"string": str, "array": list, "number": (int, float), "boolean": bool}


@pytest.fixture(scope="module")
def exported() -> Export:
    return export(load_pack("memory-verbs/v1"))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check["about"])
def test_each_check_of_brainbench_has_an_equal(exported: Export, check: dict[str, Json]) -> None:
    assert [entry["name"] for entry in exported.entries if _covers(entry, check)]


def test_entries_have_the_keys_of_the_format_only(exported: Export) -> None:
    assert {key for entry in exported.entries for key in entry} <= KEYS
    items = [item for entry in exported.entries for item in entry.get("expect", ())]
    assert all(len(item) == 2 and item.keys() - {"path"} <= DEMANDS for item in items)


def test_names_are_unique(exported: Export) -> None:
    names = [entry["name"] for entry in exported.entries]
    assert len(set(names)) == len(names)


def test_each_placeholder_is_one_that_the_runner_fills(exported: Export) -> None:
    saved: set[str] = set()
    for entry in exported.entries:
        for inner in re.findall(r"\{\{(.*?)\}\}", json.dumps(entry["params"])):
            assert inner == "marker" or inner.removeprefix("id:") in saved
        assert "{{" not in json.dumps(entry.get("expect", []))
        if "saveAs" in entry:
            assert entry["saveAs"]["key"] not in saved
            saved.add(entry["saveAs"]["key"])


def test_no_marker_is_the_beginning_of_another(exported: Export) -> None:
    texts = json.dumps([entry["params"] for entry in exported.entries]).replace(SEEDED, "")
    markers = set(re.findall(r"\{\{marker\}\}(-?\d*)", texts))
    assert all(re.fullmatch(r"-\d{3}", marker) for marker in markers)


def test_a_case_is_in_the_list_or_named_as_left_out(exported: Export) -> None:
    there = {entry["name"].rpartition("(")[2].partition(",")[0] for entry in exported.entries}
    left = {line.partition(" (")[0] for line in exported.left_out}
    assert there | left == {case.id for case in load_pack("memory-verbs/v1").cases}
    assert not there & left


def test_what_an_entry_does_not_ask_for_is_named(exported: Export) -> None:
    assert any(line.startswith("recall-total, step ") for line in exported.weakened)


@pytest.mark.parametrize(
    ("schema", "items"),
    [
        ({"required": ["a"], "properties": {"a": {"const": 1}}}, [{"path": "a", "equals": 1}]),
        ({"required": ["a"], "properties": {"a": {"enum": ["x", "y"]}}}, [{"path": "a", "oneOf": ["x", "y"]}]),
        ({"required": ["a"], "properties": {"a": {"type": "integer"}}}, [{"path": "a", "type": "number"}]),
        (
            {"required": ["a"], "properties": {"a": {"minimum": 1, "maximum": 2}}},
            [{"path": "a", "gte": 1}, {"path": "a", "lte": 2}],
        ),
        (
            {"required": ["l"], "properties": {"l": {"minItems": 1, "items": {"type": "string"}}}},
            [{"path": "l.0", "type": "string"}],
        ),
        ({"required": ["known"]}, [{"path": "known", "type": "string"}]),
        ({"required": ["known"], "properties": {"known": {"const": "{{x}}"}}}, [{"path": "known", "type": "string"}]),
        ({"required": ["a"], "properties": {"a": {"const": "of {{x}}"}}}, [{"path": "a", "type": "string"}]),
        ({"properties": {"maybe": {"const": 1}}}, []),
        ({"properties": {"always": {"const": 1}}}, [{"path": "always", "equals": 1}]),
    ],
)
def test_a_schema_becomes_items(schema: Json, items: list[Json]) -> None:
    response = {"required": ["always"], "properties": {"known": {"type": "string"}, "always": {"type": "integer"}}}
    assert translate(schema, response, shared=False).items == items


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ({"not": {"mentions": "x"}}, "the answer: not"),
        ({"required": ["strange"]}, "strange: that it is there"),
        ({"properties": {"maybe": {"const": 1}}}, "maybe: only if it is there"),
        ({"required": ["l"], "properties": {"l": {"contains": {"const": 1}}}}, "l: contains"),
        ({"required": ["l"], "properties": {"l": {"minItems": 3}}}, "l: minItems"),
        ({"required": ["a"], "properties": {"a": {"const": "{{x}}"}}}, "a: const"),
    ],
)
def test_what_cannot_become_an_item_is_named(schema: Json, named: str) -> None:
    assert named in translate(schema, {}, shared=False).left_out


def test_counts_and_texts_of_a_shared_page_are_not_exact() -> None:
    schema = {"required": ["n", "t", "b"], "properties": {"n": {"const": 3}, "t": {"const": "x"}, "b": {"const": True}}}
    assert translate(schema, {}, shared=True).items == [
        {"path": "n", "type": "number"},
        {"path": "t", "type": "string"},
        {"path": "b", "equals": True},
    ]


def _covers(entry: dict[str, Json], check: dict[str, Json]) -> bool:
    """Whether an entry asks for the same as a check, or for more."""
    same = ("requiresSeededEntity", "requiresSynthesizeFlag", "expectErrorCode")
    return (
        entry["verb"] == check["verb"]
        and all(entry.get(key) == check.get(key) for key in same)
        and entry.get("expectSuggestion", False) >= check.get("expectSuggestion", False)
        and entry.get("validateSchema", False) >= check.get("validateSchema", False)
        and _same_parameters(entry["params"], check["params"])
        and all(_demanded(item, entry.get("expect", [])) for item in check.get("expect", ()))
    )


def _same_parameters(ours: dict[str, Json], theirs: dict[str, Json]) -> bool:
    if ours.keys() != theirs.keys():
        return False
    return all(_same_text(ours[key], theirs[key]) if key in FREE else ours[key] == theirs[key] for key in ours)


def _same_text(one: str, two: str) -> bool:
    """Texts are free, but for being blank, a reference, or the page that the runner seeds."""
    kinds = [(text.strip() == "", text.startswith("{{id:"), text == SEEDED) for text in (one, two)]
    return kinds[0] == kinds[1]


def _demanded(item: Json, ours: list[Json]) -> bool:
    return any(_as_strict(mine, item) for mine in ours if mine["path"] == item["path"])


def _as_strict(mine: Json, theirs: Json) -> bool:
    exact = [mine["equals"]] if "equals" in mine else mine.get("oneOf", [])
    match theirs:
        case {"equals": value}:
            return "equals" in mine and mine["equals"] == value
        case {"type": kind}:
            return mine.get("type") == kind or bool(exact and all(isinstance(one, TYPES[kind]) for one in exact))
        case {"oneOf": values}:
            return bool(exact) and set(exact) <= set(values)
        case {"gte": bound}:
            return mine.get("gte", bound - 1) >= bound or ("equals" in mine and mine["equals"] >= bound)
        case {"lte": bound}:
            return mine.get("lte", bound + 1) <= bound or ("equals" in mine and mine["equals"] <= bound)
        case {"absentOrNotContains": text}:
            return mine.get("absentOrNotContains") == text
    return False
