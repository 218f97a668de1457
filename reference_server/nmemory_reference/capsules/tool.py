"""The declaration of a memory tool, and one call of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.parameters import Shape

Given = TypeVar("Given")


class MemoryTool(NamedTuple, Generic[Given]):
    """One of the 22 tools, as it is listed and as it is answered."""

    name: str
    title: str
    description: str
    shape: Shape[Given]
    handler: Callable[[Call, Given], dict[str, Any]]
    #: Whether a caller needs the scope `write`.
    writes: bool
    #: Whether a call may destroy something, or do more when it is repeated.
    destructive: bool = False
    idempotent: bool = False
    #: Whether the answer stands in `structuredContent` too.
    structured: bool = False
    #: The `ui://` resource that can show the answer.
    resource: str | None = None
    #: Whether it reads files of the server's machine, which callers name.
    reads_files: bool = False
    #: Whether a call may compute for seconds without a transaction; it then runs beside the others.
    lengthy: bool = False


def answer(tool: MemoryTool[Any], call: Call, sent: Mapping[str, Any]) -> dict[str, Any]:
    """The body of the answer to `sent`. Raises ShapeFault and ProtocolFault."""
    return tool.handler(call, tool.shape.read(sent))
