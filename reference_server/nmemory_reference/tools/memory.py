"""The tools of nMEMORY v1 on this server: how the 22 join the dispatch, and how their contract words things."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nmemory_reference.capsules import wire
from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.faults import ProtocolFault, store_fault, value_fault
from nmemory_reference.capsules.instants import minted
from nmemory_reference.capsules.project import default_project
from nmemory_reference.capsules.registry import MEMORY_TOOLS
from nmemory_reference.capsules.tool import MemoryTool, answer
from nmemory_reference.tools.arguments import Arguments
from nmemory_reference.tools.beside import beside
from nmemory_reference.tools.caller import DEFAULT_TENANT, Caller
from nmemory_reference.tools.deferred import Deferred
from nmemory_reference.tools.failure import shown
from nmemory_reference.tools.tool import Invocation, Tool

#: Who the journal names if the client has no name.
ANONYMOUS: Final = "mcp-caller"


class MemoryWording:
    """nMEMORY v1: compact JSON, and JSON-RPC errors for what is no fault of the arguments' shape."""

    def text(self, body: Mapping[str, Any]) -> str:
        """On one line, without white space."""
        return wire.dumps(body)

    def unknown_tool(self, name: str, offered: int) -> ProtocolFault:
        """-32602, as the servers seen do (sheet B 2.4)."""
        return value_fault(
            f"There is no tool named {shown(name)!r} here; tools/list names the {offered} that there are."
        )

    def scope_denied(self, tool: str, scope: str) -> ProtocolFault:
        """-32602: the contract knows no scopes."""
        return value_fault(f"{tool} needs the scope {scope}. Use a token whose scopes include {scope}.")

    def unavailable(self, detail: str) -> ProtocolFault:
        """-32603."""
        return store_fault(
            f"The store could not be used: {detail}. Nothing was changed. Try again; if that does not help, check the "
            "disk and who else holds the file."
        )

    def internal(self) -> ProtocolFault:
        """-32603."""
        return store_fault("Something went wrong inside the server. Report it, with what it wrote to its error output.")


WORDING: Final = MemoryWording()


def memory_tools() -> Deferred[Tool]:
    """The 22 tools by name, as the dispatch takes them."""
    return Deferred(MEMORY_TOOLS, lambda name: _tool(MEMORY_TOOLS[name]))


def actor_of(caller: Caller) -> str:
    """Who the journal names: the client by its own name, else the token, else nobody in particular."""
    client = (caller.client or "").encode("utf-8", "replace").decode()  # half a surrogate pair can't be stored
    return client.strip() or caller.name or ANONYMOUS


def _tool(tool: MemoryTool[Any]) -> Tool:
    async def handle(invocation: Invocation, arguments: Arguments) -> dict[str, Any]:
        _refuse_strangers(tool, invocation.caller)
        call = _call(invocation)
        if tool.lengthy:
            return await beside(lambda: answer(tool, call, arguments.sent))
        return answer(tool, call, arguments.sent)

    return Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.shape.schema,
        annotations=_annotations(tool),
        scope="write" if tool.writes else "read",
        handler=handle,
        wording=WORDING,
        structured=tool.structured,
        meta=None if tool.resource is None else {"ui": {"resourceUri": tool.resource, "visibility": ["model", "app"]}},
    )


def _call(invocation: Invocation) -> Call:
    caller, stores = invocation.caller, invocation.memory.capsules
    assert stores is not None  # the surfaces with these tools have them
    settings = stores.settings(files=caller.files)
    return Call(
        store=stores.store(caller.tenant),
        settings=settings,
        now=minted(invocation.now),
        actor=actor_of(caller),
        default_project=default_project(settings.project, caller.client),
    )


def _refuse_strangers(tool: MemoryTool[Any], caller: Caller) -> None:
    if tool.reads_files and not caller.files:
        raise value_fault(
            f"{tool.name} reads files of the server's machine. That is for its own users, and for tokens of the "
            f"tenant {DEFAULT_TENANT!r}. Send what the files hold with memory_ingest."
        )


def _annotations(tool: MemoryTool[Any]) -> dict[str, bool]:
    if not tool.writes:
        return {"readOnlyHint": True, "openWorldHint": False}
    return {
        "readOnlyHint": False,
        "destructiveHint": tool.destructive,
        "idempotentHint": tool.idempotent,
        "openWorldHint": False,
    }
