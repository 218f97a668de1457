"""What went wrong below HTTP, said so that people can do something about it."""

from __future__ import annotations

import errno
import socket
import ssl
from typing import TYPE_CHECKING

from .reply import Blame, Fault, FaultKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx


def no_connection(error: httpx.HTTPError) -> Fault:
    """No connection could be made: refused, an unknown name, TLS, a proxy."""
    import httpx

    place = _place(error)
    causes = list(_causes(error))
    if isinstance(error, httpx.ProxyError):
        return _unreachable(f"the proxy would not connect to {place}", "check HTTPS_PROXY and NO_PROXY")
    if isinstance(error, httpx.ConnectTimeout):
        tls = "; if it speaks plain HTTP, write http:// in the URL" if error.request.url.scheme == "https" else ""
        return _unreachable(f"{place} does not answer", f"check the address and the firewall{tls}")
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = f"the certificate of {place} is not valid: {cause.verify_message or cause.reason}"
            return _unreachable(why, "have it signed, or point SSL_CERT_FILE at the authority that signed it")
        if isinstance(cause, ssl.SSLError):
            why = f"no TLS with {place}: {(cause.reason or str(cause)).lower().replace('_', ' ')}"
            return _unreachable(why, "if it speaks plain HTTP, write http:// in the URL")
        if isinstance(cause, socket.gaierror):
            return _unreachable(f"the name of {place} is unknown", "check the spelling of the URL")
    for cause in causes:
        if isinstance(cause, OSError) and cause.errno == errno.ECONNREFUSED:
            return _unreachable(f"nothing listens at {place}", "start the server, or check the port in the URL")
    return _unreachable(f"no connection to {place}: {_reason(error)}", "check the URL")


def broken_off(method: str, error: httpx.HTTPError | httpx.InvalidURL) -> Fault:
    """The connection broke between the request and the end of its reply, or what came was no HTTP."""
    import httpx

    if isinstance(error, httpx.RemoteProtocolError) and "disconnected" not in str(error).lower():
        cut = "incomplete" in str(error).lower() or "closed" in str(error).lower()
        if not cut:
            message = f"{method} was answered with something that is not HTTP: {_reason(error)}"
            remedy = "check the URL: its port, and whether it begins with https://"
            return Fault(FaultKind.GARBAGE, Blame.TARGET, message, remedy=remedy)
    if isinstance(error, httpx.LocalProtocolError | httpx.InvalidURL):
        return Fault(FaultKind.UNREACHABLE, Blame.KIT, f"{method} cannot be sent: {_reason(error)}")
    message = f"the connection broke before the answer to {method} was complete: {_reason(error)}"
    remedy = "look into the server's log; if it speaks TLS, write https:// in the URL"
    return Fault(FaultKind.CLOSED, Blame.TRANSPORT, message, remedy=remedy)


def _unreachable(message: str, remedy: str) -> Fault:
    return Fault(FaultKind.UNREACHABLE, Blame.TRANSPORT, message, remedy=remedy, lost=True)


def _place(error: httpx.HTTPError) -> str:
    url = error.request.url
    return f"{url.host}:{url.port or (443 if url.scheme == 'https' else 80)}"


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what it came from, and what that came from."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        current = pending.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        pending += [current.__cause__, current.__context__]
        if isinstance(current, BaseExceptionGroup):
            pending += current.exceptions
