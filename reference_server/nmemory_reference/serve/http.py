"""Serving over Streamable HTTP, both eras on /mcp, on the SDK's low-level server.

The SDK does sessions, streams, headers and the handshake. What a tool is and answers comes from the
endpoint and goes out as it is: our middleware returns it before the SDK could validate, sort or drop
anything in it.
"""

from __future__ import annotations

import dataclasses
import signal
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any, Final, NoReturn

import uvicorn
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from nmemory_reference import __version__
from nmemory_reference.errors import ConfigError
from nmemory_reference.serve import rpc
from nmemory_reference.serve.config import Config
from nmemory_reference.serve.endpoint import Endpoint
from nmemory_reference.serve.instructions import INSTRUCTIONS
from nmemory_reference.serve.interceptor import HONEST, Interceptor, RpcFault
from nmemory_reference.tools.caller import Caller

MCP_PATH: Final = "/mcp"
HEALTH_PATH: Final = "/healthz"
_LOCAL_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
_LAST_PORT: Final = 65_535
_CALLER: Final = "nmemory.caller"


def serve_http(
    config: Config,
    host: str,
    port: int,
    *,
    interceptor: Interceptor = HONEST,
    announce: Callable[[str], None],
) -> int:
    """Serve until SIGTERM or SIGINT; gives the exit code, 0.

    Port 0 takes a free one. `announce` is called with the URL of /mcp once connections are accepted.
    Raises ConfigError (the address can't be had, too) and StoreError.
    """
    listener = _listen(host, port)
    with listener:
        exposed = config.tokens is None and not _is_local(host)
        # Trust in local callers is meant for stdio: whoever comes through a port is remote.
        config = dataclasses.replace(config, remote=True, exposed=exposed)
        endpoint = Endpoint.open(config, interceptor=interceptor)
        try:
            if exposed:
                sys.stderr.write("Serving beyond this machine without --tokens: everybody may read and write.\n")
            app = application(endpoint, host)
            if threading.current_thread() is threading.main_thread():
                for number in (signal.SIGTERM, signal.SIGINT):
                    # uvicorn stops at these, then raises them again for whoever was there before it.
                    signal.signal(number, lambda *_: None)
            settings = uvicorn.Config(
                app, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=1
            )
            shown_host = f"[{host}]" if ":" in host else host
            url = f"http://{shown_host}:{listener.getsockname()[1]}{MCP_PATH}"
            _Announcing(settings, lambda: announce(url)).run(sockets=[listener])
        finally:
            endpoint.close()
    return 0


def application(endpoint: Endpoint, host: str = "127.0.0.1") -> ASGIApp:
    """The ASGI application: /mcp behind the bearer check, /healthz before it."""
    server: Server[Any] = Server(
        rpc.SERVER_NAME,
        version=__version__,
        title=rpc.SERVER_TITLE,
        instructions=INSTRUCTIONS[endpoint.config.surface],
        on_list_tools=_answered_by_middleware,
        on_call_tool=_answered_by_middleware,
        on_list_resources=_answered_by_middleware if endpoint.has_resources else None,
        on_read_resource=_answered_by_middleware if endpoint.has_resources else None,
        get_tool_input_schema=endpoint.input_schema,
    )
    server.middleware[:] = [_Answers(endpoint)]
    names = [*_LOCAL_NAMES, *(f"{name}:*" for name in _LOCAL_NAMES)]
    security = TransportSecuritySettings(
        # A page in a browser must not reach a local memory under a name of its own (DNS rebinding).
        enable_dns_rebinding_protection=_is_local(host),
        allowed_hosts=names,
        allowed_origins=[f"{scheme}://{name}" for scheme in ("http", "https") for name in names],
    )

    async def health(_request: Request) -> JSONResponse:
        healthy = endpoint.healthy()
        return JSONResponse({"ok": healthy}, status_code=200 if healthy else 503)

    app = server.streamable_http_app(
        streamable_http_path=MCP_PATH,
        host=host,
        transport_security=security,
        custom_starlette_routes=[Route(HEALTH_PATH, health)],
    )
    return _BearerCheck(app, endpoint)


class _Announcing(uvicorn.Server):
    """Tells when it has started."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._started()


class _BearerCheck:
    """Answers 401 before any session or tool list unless the endpoint knows the token, or needs none."""

    def __init__(self, app: ASGIApp, endpoint: Endpoint) -> None:
        self._app = app
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != HEALTH_PATH:
            caller = self._endpoint.authenticate(_bearer_token(Request(scope)))
            if caller is None:
                challenge = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
                refusal = JSONResponse(rpc.REFUSED.body, status_code=rpc.REFUSED.status, headers=challenge)
                await refusal(scope, receive, send)
                return
            scope[_CALLER] = caller
        await self._app(scope, receive, send)


class _Answers:
    """The SDK's middleware through which every request passes."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        modern = ctx.protocol_version == rpc.MODERN_VERSION
        try:
            result = await rpc.answer(self._endpoint, ctx.method, ctx.params or {}, _caller(ctx))
        except RpcFault as fault:
            fault = rpc.in_its_era(fault, modern=modern)
            raise MCPError(fault.code, fault.message, fault.data) from fault
        if result is None:
            return await call_next(ctx)
        return rpc.modern_result(ctx.method, result) if modern else dict(result)


async def _answered_by_middleware(_context: Any, _params: Any) -> NoReturn:
    """Registered so that the SDK announces tools and resources; `_Answers` answers before it is reached."""
    raise MCPError(rpc.INTERNAL_ERROR, "Internal error")


def _caller(ctx: ServerRequestContext[Any, Any]) -> Caller:
    assert isinstance(ctx.request, Request)
    caller = ctx.request.scope[_CALLER]
    assert isinstance(caller, Caller)
    client = ctx.session.client_params
    return caller if client is None else dataclasses.replace(caller, client=client.client_info.name)


def _bearer_token(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def _is_local(host: str) -> bool:
    return host in {"127.0.0.1", "localhost", "::1"}


def _listen(host: str, port: int) -> socket.socket:
    try:
        if not 0 <= port <= _LAST_PORT:  # getaddrinfo would wrap it around
            raise OverflowError(f"ports go from 0 to {_LAST_PORT}")
        # With its protocol named, asyncio turns Nagle's algorithm off; without, each answer waits 40 ms.
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        family, kind, protocol, _, address = found[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError, OverflowError) as error:
        raise _no_address(host, port, error) from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        raise _no_address(host, port, error) from error
    return listener


def _no_address(host: str, port: int, error: Exception) -> ConfigError:
    why = getattr(error, "strerror", None) or str(error)
    return ConfigError(f"Can't listen on {host}, port {port}", why, "Choose another --host or --port.")
