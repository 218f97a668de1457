"""The three ways in which a memory tool refuses, by the stage at which the call fails.

What can't be read as the tool's arguments is answered in band; a value that can't be meant is -32602; a
thing that isn't there, or isn't in the state for it, is -32002 and says which.
"""

from __future__ import annotations

from typing import Final

from nmemory_reference.tools.failure import RpcFault, ToolFailure, shown

INVALID_PARAMS: Final = -32602
RESOURCE_STATE: Final = -32002
INTERNAL: Final = -32603

_PREFIX = "failed to deserialize parameters: "
_STATES: Final = {
    "unknown_capsule": "is no stored capsule",
    "tombstoned_capsule": "is forgotten already",
    "unknown_session": "is no session of this store",
    "finished_session": "is a session that is finished already",
    "receipt": "is no receipt of this store",
}


class ShapeFault(ToolFailure):
    """The arguments don't have the tool's shape: the answer is a result with `isError: true` and this text."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail

    def text(self) -> str:
        """The text of the result's only block; no JSON."""
        return _PREFIX + self.detail


class ProtocolFault(RpcFault):
    """What a memory tool refuses with a JSON-RPC error."""


def value_fault(message: str) -> ProtocolFault:
    """Well-shaped arguments that can't be what was meant: -32602, no data."""
    return ProtocolFault(INVALID_PARAMS, message)


def state_fault(kind: str, named: str) -> ProtocolFault:
    """`named` isn't stored, or isn't in the state that the call needs: -32002 with `{kind, id}`."""
    return ProtocolFault(RESOURCE_STATE, f"{shown(named)} {_STATES[kind]} ({kind})", {"kind": kind, "id": named})


def store_fault(message: str) -> ProtocolFault:
    """The store or a file can't be used: -32603, no data."""
    return ProtocolFault(INTERNAL, message)
