"""JSON-RPC as MCP speaks it, without a transport: one message in, one answer out, in both eras.

The era up to 2025-11-25 begins with `initialize`; from 2026-07-28 on every request carries an envelope in
`params._meta` and there is no session. Which era a message belongs to is told by its envelope alone.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from nmemory_reference import __version__
from nmemory_reference.serve.instructions import INSTRUCTIONS
from nmemory_reference.serve.interceptor import Result, RpcFault, ToolCall
from nmemory_reference.tools.caller import Caller

if TYPE_CHECKING:
    from nmemory_reference.serve.endpoint import Endpoint

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
UNSUPPORTED_VERSION: Final = -32022
#: A thing that is not there; the era of 2026-07-28 keeps the number from being used.
RESOURCE_STATE: Final = -32002

LEGACY_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSION: Final = "2026-07-28"

SERVER_NAME: Final = "nmemory"
SERVER_TITLE: Final = "nMEMORY reference server"

_META_VERSION = "io.modelcontextprotocol/protocolVersion"
_META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_META_CLIENT = "io.modelcontextprotocol/clientInfo"
_META_SERVER = "io.modelcontextprotocol/serverInfo"
#: How long a client may keep what it was told, in milliseconds: a surface never changes while a server runs.
_LIST_TTL_MS = 300_000


@dataclass(frozen=True, slots=True)
class Handled:
    """The answer to one message: an HTTP status, and the JSON body, or None where there is none."""

    status: int
    body: dict[str, Any] | None


class Connection:
    """What is kept of a connection between its messages, in the era that has a handshake."""

    def __init__(self) -> None:
        #: The client's name, as the last `initialize` gave it.
        self.client: str | None = None


REFUSED: Final = Handled(401, {"error": "invalid_token", "error_description": "A valid bearer token is required."})


async def handle(endpoint: Endpoint, message: Any, caller: Caller, connection: Connection) -> Handled:
    """Answer one message of a connection; nothing that a message may hold raises."""
    if not isinstance(message, dict):
        return _error(None, RpcFault(INVALID_REQUEST, "A message is one JSON object"), status=400)
    request_id = message.get("id")
    if message.get("jsonrpc") != "2.0":
        return _error(_id(request_id), RpcFault(INVALID_REQUEST, 'jsonrpc has to be "2.0"'), status=400)
    method = message.get("method")
    if method is None and "id" in message and ("result" in message or "error" in message):
        return Handled(202, None)  # an answer to a request that we never sent
    if not isinstance(method, str):
        return _error(_id(request_id), RpcFault(INVALID_REQUEST, "method has to be a string"), status=400)
    if "id" not in message:
        return Handled(202, None)  # a notification: nothing here depends on one
    if _id(request_id) is None:
        return _error(None, RpcFault(INVALID_REQUEST, "id has to be a string or an integer"), status=400)
    params = message.get("params")
    if params is not None and not isinstance(params, dict):
        return _error(request_id, RpcFault(INVALID_REQUEST, "params has to be an object"), status=400)
    modern = is_modern(params or {})
    try:
        if modern:
            result = await _modern_result(endpoint, method, params or {}, caller)
        else:
            result = await _legacy_result(endpoint, method, params or {}, caller, connection)
    except RpcFault as fault:
        fault = in_its_era(fault, modern=modern)
        return _error(request_id, fault, status=_status(fault.code) if modern else 200)
    except Exception:  # noqa: BLE001  (a surprise must not end the conversation, nor show what it was)
        traceback.print_exc(file=sys.stderr)
        return _error(request_id, RpcFault(INTERNAL_ERROR, "Internal error"), status=200)
    return Handled(200, {"jsonrpc": "2.0", "id": request_id, "result": result})


def is_modern(params: Mapping[str, Any]) -> bool:
    """Whether the request carries the envelope of 2026-07-28, or a part of it."""
    meta = params.get("_meta")
    return isinstance(meta, Mapping) and (_META_VERSION in meta or _META_CAPABILITIES in meta)


def server_info() -> dict[str, str]:
    """Who answers."""
    return {"name": SERVER_NAME, "title": SERVER_TITLE, "version": __version__}


def modern_result(method: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """`result` with what 2026-07-28 asks for besides; nothing that is there already is changed."""
    extra: dict[str, Any] = {"resultType": "complete"}
    if method.endswith("/list") or method in {"server/discover", "resources/read"}:
        extra |= {"ttlMs": _LIST_TTL_MS, "cacheScope": "private"}
    meta = result.get("_meta")
    if meta is None or isinstance(meta, Mapping):
        extra["_meta"] = {_META_SERVER: server_info(), **(meta or {})}
        return {**extra, **result, "_meta": extra["_meta"]}
    return {**extra, **result}


def tool_call(params: Mapping[str, Any], caller: Caller) -> ToolCall:
    """The call that the params of a `tools/call` describe. Raises RpcFault where they describe none."""
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        raise RpcFault(INVALID_PARAMS, "params.name has to be a string")
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, Mapping):
        raise RpcFault(INVALID_PARAMS, "params.arguments has to be an object")
    return ToolCall(name, arguments, caller)


def list_cursor(params: Mapping[str, Any]) -> str | None:
    """The cursor of a `tools/list`. Raises RpcFault for one that is no string."""
    cursor = params.get("cursor")
    if cursor is not None and not isinstance(cursor, str):
        raise RpcFault(INVALID_PARAMS, "params.cursor has to be a string")
    return cursor


async def answer(endpoint: Endpoint, method: str, params: Mapping[str, Any], caller: Caller) -> Result | None:
    """The result of a method that both eras have; None for every other. Raises RpcFault."""
    match method:
        case "tools/call":
            return await endpoint.call_tool(tool_call(params, caller))
        case "tools/list":
            return await endpoint.list_tools(caller, list_cursor(params))
        case "resources/list" if endpoint.has_resources:
            return endpoint.list_resources()
        case "resources/templates/list" if endpoint.has_resources:
            return {"resourceTemplates": []}
        case "resources/read" if endpoint.has_resources:
            return endpoint.read_resource(_uri(params))
        case "prompts/list" if endpoint.has_resources:
            return {"prompts": []}
        case _:
            return None


def in_its_era(fault: RpcFault, *, modern: bool) -> RpcFault:
    """The fault with the code that its era has for it: 2026-07-28 keeps -32002 for itself."""
    if modern and fault.code == RESOURCE_STATE:
        return RpcFault(INVALID_PARAMS, fault.message, fault.data)
    return fault


def client_name(info: object) -> str | None:
    """The name in a clientInfo, if it has one."""
    name = info.get("name") if isinstance(info, Mapping) else None
    return name if isinstance(name, str) else None


async def _modern_result(endpoint: Endpoint, method: str, params: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
    meta = params["_meta"]
    _check_envelope(meta)
    if method == "initialize":
        raise RpcFault(
            UNSUPPORTED_VERSION,
            "There is no handshake in this era",
            {"supported": [MODERN_VERSION], "requested": params.get("protocolVersion")},
        )
    result: Result | None
    if method == "server/discover":
        result = {"supportedVersions": [MODERN_VERSION], **_introduction(endpoint)}
    else:
        result = await answer(endpoint, method, params, replace(caller, client=client_name(meta.get(_META_CLIENT))))
    if result is None:
        raise RpcFault(METHOD_NOT_FOUND, "Method not found", method)
    return modern_result(method, result)


async def _legacy_result(
    endpoint: Endpoint, method: str, params: Mapping[str, Any], caller: Caller, connection: Connection
) -> dict[str, Any]:
    if method == "initialize":
        return _initialize(endpoint, params, connection)
    if method == "ping":
        return {}
    result = await answer(endpoint, method, params, replace(caller, client=connection.client))
    if result is None:
        raise RpcFault(METHOD_NOT_FOUND, "Method not found", method)
    return dict(result)


def _initialize(endpoint: Endpoint, params: Mapping[str, Any], connection: Connection) -> dict[str, Any]:
    wanted = params.get("protocolVersion")
    if not isinstance(wanted, str):
        raise RpcFault(INVALID_PARAMS, "params.protocolVersion has to be a string")
    connection.client = client_name(params.get("clientInfo"))
    return {
        "protocolVersion": wanted if wanted in LEGACY_VERSIONS else LEGACY_VERSIONS[-1],
        **_introduction(endpoint),
    }


def _introduction(endpoint: Endpoint) -> dict[str, Any]:
    tools: dict[str, Any] = {"tools": {"listChanged": False}}
    return {
        "capabilities": {**tools, "resources": {}} if endpoint.has_resources else tools,
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS[endpoint.config.surface],
    }


def _uri(params: Mapping[str, Any]) -> str:
    uri = params.get("uri")
    if not isinstance(uri, str):
        raise RpcFault(INVALID_PARAMS, "params.uri has to be a string")
    return uri


def _check_envelope(meta: Mapping[str, Any]) -> None:
    if missing := [key for key in (_META_VERSION, _META_CAPABILITIES) if key not in meta]:
        raise RpcFault(INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}")
    if meta[_META_VERSION] != MODERN_VERSION:
        raise RpcFault(
            UNSUPPORTED_VERSION,
            "Unsupported protocol version",
            {"supported": [MODERN_VERSION], "requested": meta[_META_VERSION]},
        )


def _id(value: object) -> str | int | None:
    """A request's id, or None for what can't be one."""
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def _status(code: int) -> int:
    """The HTTP status of a JSON-RPC error in the era of 2026-07-28."""
    if code == METHOD_NOT_FOUND:
        return 404
    return 400 if code in {INVALID_REQUEST, INVALID_PARAMS, UNSUPPORTED_VERSION} else 200


def _error(request_id: str | int | None, fault: RpcFault, *, status: int) -> Handled:
    error: dict[str, Any] = {"code": fault.code, "message": fault.message}
    if fault.data is not None:
        error["data"] = fault.data
    return Handled(status, {"jsonrpc": "2.0", "id": request_id, "error": error})
