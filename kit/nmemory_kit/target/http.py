"""A target behind a URL: MCP's Streamable HTTP, one POST a request."""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

from .connection import NOBODY, STRANGER, STRANGERS_TOKEN, Store
from .era import CLIENT, McpVersion, negotiate, unknown_server
from .errors import TargetError
from .http_connection import HttpConnection
from .limits import Limits
from .reply import Blame, Fault, FaultKind, Unreachable
from .secrets import Redactor, marked_keys, secret_values

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import httpx

#: Seconds for a server to take a connection; what it does after that is bounded by the limits.
_CONNECT = 10.0

#: Seconds an idle connection is used again: less than the 5 after which common servers close it, because a
#: request that meets such a close could not be told from one that was lost.
_KEEP_ALIVE = 2.0

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
_OWN_HEADERS = frozenset({"accept", "content-type", "content-length", "host", "mcp-session-id", "transfer-encoding"})


class HttpTarget:
    """A server that is reached at a URL.

    ``headers`` go with every request; ``token`` is the default bearer token, ``tokens`` those of named
    credentials. A credential's token takes the place of an ``Authorization`` header among ``headers``; nobody
    has neither. Proxies are taken from the environment, cookies are not kept, and redirects never take a
    token elsewhere. ``root`` is the folder from which the server counts relative paths, where it is known; then
    it shares the files of this machine. Raises ``TargetError`` for a URL or a header that makes no sense.
    """

    kind = "http"
    can_restart = False
    disposable = False
    where: tuple[str, ...] = ()

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        token: str | None = None,
        tokens: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        version: McpVersion = "auto",
        name: str | None = None,
        root: Path | None = None,
    ) -> None:
        self.root = root
        self.shares_files = root is not None
        named = dict(headers or {})
        tokens = dict(tokens or {})
        self._url, userinfo = _checked_url(url)
        _check_headers(named, [token, *tokens.values()])
        self._headers = {key: value for key, value in named.items() if key.lower() != "authorization"}
        self._authorizations: dict[str | None, str | None] = {
            None: _bearer(token) or _authorization(named) or userinfo,
            NOBODY: None,
            STRANGER: _bearer(STRANGERS_TOKEN),
            **{key: _bearer(value) for key, value in tokens.items()},
        }
        self.credentials = frozenset(tokens)
        basic = secret_values({"authorization": userinfo or ""})
        self.secrets = (
            *(token, *tokens.values(), *secret_values(named), *basic, *marked_keys(url), urlsplit(url).password),
        )
        self.redactor = Redactor(self.secrets)
        self.display = self.redactor.text(name or self._url)
        self.limits = limits or Limits()
        self._version = version
        self._client: httpx.AsyncClient | None = None

    def fresh_store(self) -> Store | None:
        """None: what is behind a URL is not the kit's to make anew."""
        return None

    def store_file(self, store: Store | None) -> Path | None:
        """None: the kit knows of no file."""

    async def connect(
        self, *, store: Store | None = None, credential: str | None = None, client: str | None = None
    ) -> HttpConnection:
        """Begin a conversation with ``credential``. Raises ``Unreachable``.

        A refusal (401, 403) of the default credential is ``Unreachable``. With any other, whether it is let
        in may be what the caller wants to know: the connection opens, and each request on it gets the
        target's own refusal.
        """
        if store is not None:
            raise Unreachable(_kit_fault("a target on HTTP has one store only"))
        if credential not in self._authorizations:
            known = ", ".join(sorted(self.credentials)) or "none"
            raise Unreachable(
                _kit_fault(
                    f"no credential is named {credential!r} (the profile names {known})",
                    remedy="add it under `tokens:` in the profile",
                )
            )
        refusal: HttpConnection | None = None
        name = client or CLIENT

        async def open_channel() -> HttpConnection:
            nonlocal refusal
            refusal = self._channel(credential, name)
            return refusal

        try:
            connection, server = await negotiate(open_channel, self._version, timeout=self.limits.start, client=name)
        except Unreachable as error:
            if refusal is None or refusal.refused is None:
                raise Unreachable(self.redactor.fault(error.fault)) from None
            if credential is None:
                wanted = _needs_token(error.fault, refusal.refused, self._authorizations[None])
                raise Unreachable(self.redactor.fault(wanted)) from None
            refused = self._channel(credential, name)
            refused.server = unknown_server(self._version)
            return refused
        connection.server = server
        # The next connections need not ask again which era it is.
        self._version = server.era
        return connection

    async def close(self) -> None:
        """Close the idle connections."""
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.limits.grace):
                    await client.aclose()

    def _channel(self, credential: str | None, client: str) -> HttpConnection:
        headers = dict(self._headers)
        authorization = self._authorizations[credential]
        if authorization is not None:
            headers["authorization"] = authorization
        if self._client is None:
            try:
                self._client = _open_client()
            except (ImportError, ValueError, OSError) as error:
                # It reads the proxies and the certificates that the environment names.
                message = f"the HTTP client cannot be set up: {self.redactor.text(str(error))}"
                remedy = "check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE"
                raise Unreachable(_kit_fault(message, remedy)) from None
        return HttpConnection(self._client, self._url, headers, limits=self.limits, redactor=self.redactor, name=client)


def _open_client() -> httpx.AsyncClient:
    from http.cookiejar import CookieJar, DefaultCookiePolicy

    # Imported here because it takes longer than the whole of a run on stdio needs to start.
    import httpx

    return httpx.AsyncClient(
        timeout=httpx.Timeout(None, connect=_CONNECT),
        limits=httpx.Limits(max_connections=None, keepalive_expiry=_KEEP_ALIVE),
        follow_redirects=False,
        # A cookie of one credential must not open the door for the next one.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        # A proxy that the environment names is of no use between this machine and itself.
        mounts={f"all://{host}": None for host in ("127.0.0.1", "localhost", "[::1]")},
    )


def _checked_url(url: str) -> tuple[str, str | None]:
    """The URL without the user and password in it, and these as the value of an ``Authorization`` header."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise TargetError(f"the target is not a URL: {error}", "write it as http://host:port/path") from None
    if parts.scheme not in ("http", "https") or not host:
        raise TargetError("the target is not an http:// or https:// URL", "write it as http://host:port/path")
    bare = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path or "/", parts.query, ""))
    if parts.username is None:
        return bare, None
    from base64 import b64encode

    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return bare, f"Basic {b64encode(pair.encode()).decode()}"


def _check_headers(headers: Mapping[str, str], tokens: list[str | None]) -> None:
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise TargetError(f"{name!r} is no name of a header", "write headers as 'Name: value'")
        if name.lower() in _OWN_HEADERS:
            raise TargetError(f"the header {name} is the kit's own to send", "leave it out")
        if not _HEADER_VALUE.fullmatch(value):
            raise TargetError(f"the value of the header {name} has characters that no header can hold", "check it")
    for token in tokens:
        if token is not None and not re.fullmatch(r"[\x21-\x7e]+", token):
            raise TargetError(
                "a token is empty or has spaces, line ends or letters that are not ASCII",
                "check the variable or file that holds it",
            )


def _authorization(headers: Mapping[str, str]) -> str | None:
    return next((value for name, value in headers.items() if name.lower() == "authorization"), None)


def _bearer(token: str | None) -> str | None:
    return None if token is None else f"Bearer {token}"


def _kit_fault(message: str, remedy: str | None = None) -> Fault:
    return Fault(FaultKind.UNREACHABLE, Blame.KIT, message, remedy=remedy)


def _needs_token(fault: Fault, status: int, authorization: str | None) -> Fault:
    """The refusal of the default credential, with what to do about it."""
    if authorization is not None:
        message = f"the target refused the token (HTTP {status})"
        remedy = "give a token that it knows: --token-env NAME"
    else:
        wants = "wants a token" if status == 401 else "does not let the kit in without a token, or at all"
        message, remedy = f"the target {wants} (HTTP {status})", "give a token: --token-env NAME"
    return Fault(FaultKind.HTTP_STATUS, Blame.TARGET, message, remedy=remedy, received=fault.received)
