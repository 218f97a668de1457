"""The two eras of MCP: the handshake of the versions up to 2025-11-25, and the stateless 2026-07-28.

What differs between them stands here: how a conversation begins, what every request carries, and which
headers go with it on HTTP.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from nmemory_kit import __version__

from .connection import Era, ServerInfo
from .excerpt import excerpt
from .reply import Blame, Fault, FaultKind, Reply, Unreachable
from .wire import METHOD_NOT_FOUND

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

#: Which era to speak; ``auto`` asks for the older one first and takes the newer where the target refuses it.
McpVersion = Literal["auto", "legacy", "modern"]

LEGACY_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LEGACY_OFFER = LEGACY_VERSIONS[-1]
MODERN_VERSION = "2026-07-28"

#: What the kit calls itself, unless a conversation is begun under another name.
CLIENT = "nmemory-kit"

_UNSUPPORTED_VERSION = -32022
_NO_HANDSHAKE_HERE = frozenset({_UNSUPPORTED_VERSION, METHOD_NOT_FOUND, -32600, -32602})
_SERVER_INFO = "io.modelcontextprotocol/serverInfo"

_REMEDIES = {
    FaultKind.TIMEOUT: "if it needs longer to start, say so in the profile: `limits: {start: SECONDS}`",
    FaultKind.CLOSED: "run the command by hand to see why",
    FaultKind.GARBAGE: "check that it is the command or URL of an MCP server",
}


class Channel(Protocol):
    """A connection before it is one: messages go through it as they are."""

    async def ask(self, method: str, params: dict[str, Any] | None, *, timeout: float, era: Era) -> Reply:
        """Send a request and wait for its reply."""

    async def tell(self, method: str) -> None:
        """Send a notification of the legacy era."""

    async def close(self) -> None:
        """Give the channel up."""


C = TypeVar("C", bound=Channel)


async def negotiate(
    open_channel: Callable[[], Awaitable[C]], version: McpVersion, *, timeout: float, client: str = CLIENT
) -> tuple[C, ServerInfo]:
    """Open a channel and begin a conversation in the era asked for, or in the one that the target speaks.

    Raises ``Unreachable``; no channel is left open then. Whatever ``open_channel`` raises passes through.
    """
    eras: tuple[Era, ...] = ("legacy", "modern") if version == "auto" else (version,)
    refused: Reply | None = None
    for era in eras:
        channel = await open_channel()
        try:
            outcome = await begin(channel, era, timeout=timeout, client=client)
        except BaseException:
            await channel.close()
            raise
        if isinstance(outcome, ServerInfo):
            return channel, outcome
        await channel.close()
        # Where both eras are refused, the first reason is the better one.
        if refused is None or not _speaks_not(outcome):
            refused = outcome
        if not _speaks_not(outcome):
            break
    assert refused is not None
    raise Unreachable(refusal(refused, version))


async def begin(channel: Channel, era: Era, *, timeout: float, client: str = CLIENT) -> ServerInfo | Reply:
    """Begin a conversation in one era on an open channel. Returns who answers, or the reply that is a refusal.

    ``client`` is the name under which the kit asks.
    """
    if era == "modern":
        reply = await channel.ask("server/discover", envelope(None, era, client), timeout=timeout, era=era)
        return reply if reply.result is None else _discovered(reply.result)
    params = {"protocolVersion": LEGACY_OFFER, "capabilities": {}, "clientInfo": _client_info(client)}
    reply = await channel.ask("initialize", params, timeout=timeout, era=era)
    if reply.result is None:
        return reply
    server = _initialized(reply.result)
    if isinstance(server, ServerInfo):
        await channel.tell("notifications/initialized")
    return server


def refusal(reply: Reply, version: McpVersion) -> Fault:
    """Why no conversation began, from the reply to its first request."""
    if reply.fault is not None:
        return reply.fault if reply.fault.remedy else replace(reply.fault, remedy=_REMEDIES.get(reply.fault.kind))
    error = reply.error or {}
    said = excerpt(str(error.get("message", "")))
    status = f", HTTP {reply.status}" if reply.status not in (None, 200) else ""
    kind = FaultKind.VERSION if _speaks_not(reply) else FaultKind.UNREACHABLE
    remedy = "take --mcp-version auto" if version != "auto" else _REMEDIES[FaultKind.GARBAGE]
    return Fault(
        kind,
        Blame.TARGET,
        f"the target refused to begin a conversation: error {error.get('code')}, {said!r}{status}",
        remedy=remedy,
        received=excerpt(str(error)),
    )


def unknown_server(version: McpVersion) -> ServerInfo:
    """Who answers where the kit was not let in and could not ask: the era to go on in, and nothing else."""
    if version == "modern":
        return ServerInfo(None, None, MODERN_VERSION, "modern")
    return ServerInfo(None, None, LEGACY_OFFER, "legacy")


def envelope(params: dict[str, Any] | None, era: Era, client: str = CLIENT) -> dict[str, Any] | None:
    """The params of a request as they go out: in the modern era with its envelope in ``_meta``."""
    if era == "legacy":
        return params
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
        "io.modelcontextprotocol/clientInfo": _client_info(client),
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    if params is None:
        return {"_meta": meta}
    if not isinstance(params, dict) or not isinstance(params.get("_meta", {}), dict):
        return params
    return {**params, "_meta": meta | params.get("_meta", {})}


def headers(era: Era, mcp_version: str | None, method: str, params: Any) -> dict[str, str]:
    """The HTTP headers of a request that say its version, and in the modern era its method and its object."""
    if era == "legacy":
        return {} if mcp_version is None else {"mcp-protocol-version": mcp_version}
    named = {"mcp-protocol-version": MODERN_VERSION, "mcp-method": _header_value(method)}
    name = params.get("name", params.get("uri")) if isinstance(params, dict) else None
    if method in ("tools/call", "prompts/get", "resources/read") and isinstance(name, str):
        named["mcp-name"] = _header_value(name)
    return named


def _client_info(client: str) -> dict[str, str]:
    return {"name": client, "version": __version__}


def _header_value(text: str) -> str:
    """A text as MCP writes it in a header: as it is where it is plain ASCII, else as Base64 with a mark around it."""
    if re.fullmatch(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?", text) and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{b64encode(text.encode(errors='replace')).decode()}?="


def _initialized(result: dict[str, Any]) -> ServerInfo | Reply:
    version = result.get("protocolVersion")
    if version not in LEGACY_VERSIONS:
        message = f"the target answered initialize with the MCP version {excerpt(repr(version))}"
        remedy = f"the kit speaks {', '.join(LEGACY_VERSIONS)} and {MODERN_VERSION}"
        return Reply(fault=Fault(FaultKind.VERSION, Blame.TARGET, message, remedy=remedy))
    return _server(result, result.get("serverInfo"), str(version), "legacy")


def _discovered(result: dict[str, Any]) -> ServerInfo | Reply:
    supported = result.get("supportedVersions")
    if not isinstance(supported, list) or MODERN_VERSION not in supported:
        answered = f"the target answered server/discover with the MCP versions {excerpt(repr(supported))}"
        message = f"{answered}, not {MODERN_VERSION}"
        remedy = "take --mcp-version legacy, if it speaks an older one"
        return Reply(fault=Fault(FaultKind.VERSION, Blame.TARGET, message, remedy=remedy))
    meta = result.get("_meta")
    info = meta.get(_SERVER_INFO) if isinstance(meta, dict) else None
    return _server(result, info or result.get("serverInfo"), MODERN_VERSION, "modern")


def _server(result: dict[str, Any], info: Any, version: str, era: Era) -> ServerInfo:
    named = info if isinstance(info, dict) else {}
    return ServerInfo(
        name=_text(named.get("name")),
        version=_text(named.get("version")),
        mcp_version=version,
        era=era,
        instructions=_text(result.get("instructions")),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _speaks_not(reply: Reply) -> bool:
    """Whether a refusal means that this era is not spoken, so that the other is worth a try."""
    if reply.error is None or reply.status in (401, 403):
        return False
    return reply.error["code"] in _NO_HANDSHAKE_HERE or 400 <= (reply.status or 200) < 500
