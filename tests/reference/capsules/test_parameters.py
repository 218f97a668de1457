"""Arguments: closed schemas, and faults that name the field."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from nmemory_reference.capsules import parameters
from nmemory_reference.capsules.faults import ShapeFault, state_fault
from nmemory_reference.capsules.parameters import shape_of


class Window(NamedTuple):
    """A nested object."""

    from_: str | None = parameters.text("From when.", optional=True)


class Everything(NamedTuple):
    """Each way to declare an argument."""

    name: str = parameters.text("A name.", also="called")
    mode: str = parameters.choice(("soft", "hard"), "How.")
    lane: str = parameters.choice(("auto", "term"), "Where.", default="auto")
    sure: bool | None = parameters.flag("Whether.", optional=True)
    limit: int | None = parameters.count("How many.")
    score: float | None = parameters.number("How good.")
    terms: tuple[str, ...] = parameters.texts("What.", at_least=1)
    embedding: tuple[float, ...] | None = parameters.numbers("Where to.")
    window: Window | None = parameters.record(Window, "When.")


SHAPE = shape_of(Everything)
LEAST: dict[str, Any] = {"name": "n", "mode": "soft", "terms": ["a"]}


def test_the_schema_is_closed_and_names_what_is_required() -> None:
    assert SHAPE.schema["type"] == "object"
    assert SHAPE.schema["additionalProperties"] is False
    assert SHAPE.schema["required"] == ["mode", "terms"]
    assert SHAPE.schema["properties"]["mode"] == {"type": "string", "enum": ["soft", "hard"], "description": "How."}
    assert SHAPE.schema["properties"]["called"]["type"] == "string"
    assert SHAPE.schema["properties"]["window"]["additionalProperties"] is False


def test_what_is_sent_is_read() -> None:
    given = SHAPE.read({**LEAST, "limit": 3.0, "score": 1, "embedding": [1, 2.5], "window": {"from": "x"}})
    assert given == Everything(
        name="n",
        mode="soft",
        lane="auto",
        sure=None,
        limit=3,
        score=1.0,
        terms=("a",),
        embedding=(1.0, 2.5),
        window=Window(from_="x"),
    )


def test_null_is_the_same_as_absent() -> None:
    optional = ("lane", "sure", "limit", "score", "embedding", "window")
    assert SHAPE.read({**LEAST, **dict.fromkeys(optional)}) == SHAPE.read(LEAST)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"stray": 1}, "stray"),
        ({"name": 5}, "name"),
        ({"name": None}, "name"),
        ({"called": "m"}, "duplicate field `name`"),
        ({"mode": "Soft"}, "soft, hard"),
        ({"mode": 1}, "mode"),
        ({"sure": 1}, "sure"),
        ({"sure": "true"}, "sure"),
        ({"limit": -1}, "limit"),
        ({"limit": 1.5}, "limit"),
        ({"limit": True}, "limit"),
        ({"limit": 2**64}, "limit"),
        ({"score": "1"}, "score"),
        ({"score": float("nan")}, "score"),
        ({"terms": "a"}, "terms"),
        ({"terms": ["a", 1]}, r"terms: \[1\]"),
        ({"embedding": [1, None]}, "embedding"),
        ({"embedding": [True]}, "embedding"),
        ({"window": []}, "window"),
        ({"window": {"until": "x"}}, "until"),
        ({"name": "\ud800"}, "surrogate"),
    ],
)
def test_w4_a_shape_fault_names_the_field(change: dict[str, Any], named: str) -> None:
    with pytest.raises(ShapeFault, match=named) as refused:
        SHAPE.read({**LEAST, **change})
    assert refused.value.text().startswith("failed to deserialize parameters: ")


@pytest.mark.parametrize("name", ["name", "mode", "terms"])
def test_a_missing_field_is_named(name: str) -> None:
    with pytest.raises(ShapeFault, match=f"missing field `{name}`"):
        SHAPE.read({key: value for key, value in LEAST.items() if key != name})


def test_w6_a_state_fault_echoes_the_id() -> None:
    fault = state_fault("unknown_capsule", "cap-9")
    assert (fault.code, fault.data) == (-32002, {"kind": "unknown_capsule", "id": "cap-9"})
    assert "cap-9" in str(fault)
