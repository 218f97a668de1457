"""Null doubles that know how nMEMORY refuses."""

from __future__ import annotations

from nmemory_reference.lies.answers import Result, dumped
from nmemory_reference.lies.memory.answers import ARMOUR, shape_fault, state_fault, success
from nmemory_reference.lies.null import Null
from nmemory_reference.lies.variant import Variant
from nmemory_reference.serve.interceptor import ToolCall


def _shape(call: ToolCall) -> Result:
    return shape_fault(dumped(dict(call.arguments)).encode("utf-8", "replace").decode())


def _unknown(call: ToolCall) -> Result:
    """Says of the first text that it is sent that nothing has it for an id."""
    texts = [value for value in call.arguments.values() if isinstance(value, str)]
    return state_fault("unknown_capsule", (texts or ["cap-1"])[0].encode("utf-8", "replace").decode())


def _armour(call: ToolCall) -> Result:
    return success(**ARMOUR)


#: Every null double of nMEMORY.
NULLS = (
    Variant("null-shape-fault", "Finds a wrong shape in whatever it is sent.", lambda: Null(_shape)),
    Variant("null-unknown", "Knows nothing that it is asked for.", lambda: Null(_unknown)),
    Variant("null-armour", "Answers everything with the label and the framing alone.", lambda: Null(_armour)),
)
