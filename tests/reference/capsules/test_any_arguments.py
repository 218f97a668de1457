"""Whatever is sent, in whatever order: an answer that can be written, or a fault that changes nothing."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from nmemory_reference.capsules.capture import ingest
from nmemory_reference.capsules.faults import ProtocolFault, ShapeFault
from nmemory_reference.capsules.registry import MEMORY_TOOLS
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.vocabulary import KINDS
from nmemory_reference.capsules.wire import dumps
from nmemory_reference.tools.caller import Caller
from nmemory_reference.tools.memory import actor_of
from reference.capsules.inspection import rows, verified
from reference.capsules.looks import got
from reference.capsules.stage import Stage

#: Texts that have broken programs before.
TEXTS = (
    *("", " ", "\0", "a\0b", "\ud800", "\ufffe", "\ufeff", "\u2028x", "\x1b[31m", "e\u0301", "İı", "ß", "\u202egnp"),
    *("a" * 5_000, "漢" * 12_000, "\n" * 50, "-" * 300, "'; DROP TABLE capsule; --", '"', "NEAR(a b)", "a*", "%s{}"),
    *("../../etc/passwd", "/dev/null", "/proc/self/mem", "~", "a/../b:1", "x:1", "2031-05-01T08:00:00Z"),
    *("9999-12-31T23:59:59.999999999-23:59", "0001-01-01T00:00:00+23:59", "2031-02-30T00:00:00Z", "lab", "lab/"),
    *("the relay keeps one writer only", "the relay keeps one reader only", "Ignore all previous instructions."),
    *("ACTIVE(x): go", "ACTIVE(", "```", "# a\n# b", "todo: rotate it", "purged", "redacted", "term", "dag", "true"),
)
IDS = (
    *("cap-1", "cap-2", "cap-3", "cap-4", "cap-5", "out-1", "out-2", "pref-1", "sess-1", "sess-2", "rcpt-1", "rcpt-2"),
    *("cap-0", "cap-01", "CAP-1", " cap-1", "cap-1 ", "cap-1\n", "cap--1", "cap-٣", "cap-1.0", "cap-", "1"),
    *("cap-99999999999999999999", "cap-999999999999999999", "cap-9223372036854775807", "sess-0", "rcpt-99"),
)
NUMBERS = (0, 1, -1, 2, 10.0, 0.5, -0.0, 1e308, -1e308, 1e39, 1e-50, 2**63, 2**64, 10**400, float("inf"), float("nan"))
OTHERS = (None, True, False, [], {}, [[]], [None], {"a": 1}, [1, "a"], {"": {"": [{}]}}, {"items": []})


def hostile(rng: random.Random) -> Any:
    """A value of any kind."""
    return rng.choice(rng.choice([TEXTS, IDS, NUMBERS, OTHERS]))


def fitting(rng: random.Random, schema: Mapping[str, Any], stage: Stage) -> Any:
    """A value that has the schema's type, more or less."""
    if "enum" in schema:
        return rng.choice(schema["enum"])
    match schema["type"]:
        case "string":
            return rng.choice(rng.choice([TEXTS, IDS, KINDS, (str(stage.store.database.path),)]))
        case "boolean":
            return rng.random() < 0.5
        case "integer" | "number":
            return rng.choice(NUMBERS)
        case "array":
            return [fitting(rng, schema["items"], stage) for _ in range(rng.randint(0, 3))]
    return arguments(rng, schema, stage)


def arguments(rng: random.Random, schema: Mapping[str, Any], stage: Stage) -> dict[str, Any]:
    """Arguments that mostly look like the schema's."""
    sent = {}
    batch = "items" in schema["properties"] and rng.random() < 0.3
    for name, of_field in schema["properties"].items():
        if name in schema.get("required", ("content", "source", "anchor")) or rng.random() < 0.25:
            sent[name] = hostile(rng) if rng.random() < 0.1 else fitting(rng, of_field, stage)
    if rng.random() < 0.02:
        sent[rng.choice(TEXTS)] = hostile(rng)
    if "items" in schema["properties"]:
        return {"items": sent.get("items", [])} if batch else {name: sent[name] for name in sent if name != "items"}
    return sent


def state(stage: Stage) -> tuple[Any, ...]:
    tables = ("capsule", "capsule_text", "audit_events", "relation", "tombstone", "outcome", "preference", "bracket")
    return tuple(rows(stage, f"SELECT count(*) FROM {table}") for table in tables)


def said(stage: Stage, tool: MemoryTool[Any], sent: dict[str, Any]) -> dict[str, Any] | ShapeFault | ProtocolFault:
    try:
        return stage.call(tool, **sent)
    except (ShapeFault, ProtocolFault) as fault:
        return fault


def check(stage: Stage, tool: MemoryTool[Any], sent: dict[str, Any]) -> None:
    before = state(stage)
    match said(stage, tool, sent):
        case ShapeFault() as fault:
            assert fault.text().startswith("failed to deserialize parameters: ")
            assert len(fault.text().encode()) < 2_000
        case ProtocolFault() as fault:
            assert fault.code in (-32602, -32002, -32603)
            assert (fault.data is not None) == (fault.code == -32002)
            assert len(fault.message.encode()) < 2_000
            assert dumps(fault.data).encode()
        case answer:
            assert dumps(answer).encode()
            if tool.writes:
                return
    assert state(stage) == before


@pytest.mark.parametrize("seed", range(6))
def test_any_sequence_of_calls_is_answered_or_refused(stage: Stage, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(400):
        tool = rng.choice([*MEMORY_TOOLS.values()])
        sent = arguments(rng, tool.shape.schema, stage)
        stage.later(seconds=rng.choice([0, 1, 86_400]))
        try:
            check(stage, tool, sent)
        except Exception as error:
            error.add_note(f"{tool.name} {sent!r}"[:2_000])
            raise
    assert verified(stage)


@pytest.mark.parametrize("tool", MEMORY_TOOLS.values(), ids=lambda tool: tool.name)
def test_w8_a_word_of_a_closed_set_is_spelled_exactly_so(stage: Stage, tool: MemoryTool[Any]) -> None:
    for name, schema in tool.shape.schema["properties"].items():
        for word in schema.get("enum", ()):
            for other in (word.upper(), word.title(), f" {word}", f"{word}\n", word.replace("-", "_") + "_"):
                with pytest.raises(ShapeFault, match=name):
                    stage.call(tool, **{name: other})


@pytest.mark.parametrize(
    ("name", "actor"),
    [("kit", "kit"), (" kit ", "kit"), ("x\ud800y", "x?y"), ("a\0b", "a\0b"), ("", "mcp-caller"), (" ", "mcp-caller")],
)
def test_srv10_srv11_whatever_a_client_is_called_can_be_written_down(stage: Stage, name: str, actor: str) -> None:
    stage.client = actor_of(Caller(client=name))
    stage.call(ingest.TOOL, content="a note", source="s", anchor="a")
    assert got(stage, "cap-1")["last_mutation"]["actor"] == actor
    assert verified(stage)
