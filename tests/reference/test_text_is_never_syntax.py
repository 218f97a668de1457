"""Whatever is sent, an answer is a success or a typed error: never a surprise, never another meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nmemory_reference.tools.verbs import VERBS
from reference.talk import Memory

QUERIES = [
    *('"', '""', "'", "*", "-", "--", ";", "(", "NEAR(", "a NEAR/2 b", "AND", "OR", "NOT x", "a AND", "^a", "a:b"),
    *(
        "{a}",
        "scope:x",
        "names : x",
        "%",
        "_",
        "\\",
        "?1",
        ":tenant",
        "C:\\a\\b",
        "don't",
        "GB/s",
        "🦊",
        "\0",
        "\ud800",
        "",
    ),
]
CODES = {"invalid_params", "provenance_required", "not_found", "scope_denied", "unavailable"}
ANY_TEXT = st.text(st.characters(codec=None), max_size=60)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
PARAMETERS = sorted({name for tool in VERBS.values() for name in tool.input_schema["properties"]})
ANY_ARGUMENTS = st.dictionaries(st.sampled_from(PARAMETERS), ANY_JSON, max_size=6)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    memory = Memory(tmp_path_factory.mktemp("lasting"), embeddings="hash")
    memory.put("people/a", "Multi-agent work, don't panic. GB/s", title="A page")
    memory.remember("Multi-agent work, don't panic. GB/s", entity="people/a")
    yield memory
    memory.close()


@pytest.mark.parametrize("query", QUERIES)
def test_a_look_up_takes_every_text_as_text(lasting: Memory, query: str) -> None:
    for arguments in ({"query": query}, {"entity": "people/a", "query": query}, {"grep": query}):
        lasting.call("recall", **arguments)
    lasting.call("entity", name=f"x{query}")
    lasting.call("context_pack", entities=query)


@pytest.mark.parametrize("query", ["multi-agent", "don't", "GB/s", '"panic"', "(multi", "NOT panic", "panic*"])
def test_punctuation_does_not_hide_what_is_there(lasting: Memory, query: str) -> None:
    assert lasting.call("recall", query=query)["results"][0]["slug"] == "people/a"


@given(query=ANY_TEXT)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_a_query(lasting: Memory, query: str) -> None:
    lasting.call("recall", query=query)
    lasting.call("recall", grep=query)


@given(tool=st.sampled_from([*VERBS, "nothing", ""]), arguments=ANY_ARGUMENTS)
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_arguments_are_a_surprise(lasting: Memory, tool: str, arguments: dict[str, Any]) -> None:
    body, failed = lasting.result(tool, arguments)
    assert not failed or body["error"] in (CODES if tool in VERBS else {"unknown_tool"})
    assert not failed or body["suggestion"]
    json.dumps(body, ensure_ascii=False).encode()


@pytest.mark.parametrize("tool", [*VERBS])
def test_a_megabyte_is_a_text_like_any_other(lasting: Memory, tool: str) -> None:
    schema = VERBS[tool].input_schema["properties"]
    texts = {name: "x" * 1_000_000 for name, property_ in schema.items() if property_["type"] == "string"}
    for name, text in texts.items():
        body, failed = lasting.result(tool, {name: text})
        assert not failed or body["error"] in CODES
        assert len(str(body)) < 100_000


def test_a_fact_is_stored_as_text(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    hostile = "'; DELETE FROM fact; --"
    memory.remember(hostile, entity=hostile, provenance=hostile)
    assert memory.texts(entity=hostile) == [hostile]
    memory.close()
