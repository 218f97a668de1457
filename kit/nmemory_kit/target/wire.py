"""One message on the wire: JSON-RPC 2.0 as MCP uses it, read strictly and written plainly.

Reading never raises and never repairs: a frame comes out as a `Response`, a `Request`, a `Notification`, or
as `Unread` when it is none of these. A response that breaks a rule is still a response, with the rule in
``broken``, so that it ends the request it answers instead of letting it run into its limit.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .reply import Blame, Fault, FaultKind

if TYPE_CHECKING:
    from collections.abc import Mapping

METHOD_NOT_FOUND = -32601


@dataclass(frozen=True, slots=True)
class Broken:
    """The rule that a response breaks."""

    kind: FaultKind
    #: What is wrong, to follow "the answer ": ``is not valid UTF-8``.
    why: str


@dataclass(frozen=True, slots=True)
class Response:
    """An answer. ``result`` or ``error`` is set, as sent, unless ``broken`` says why it is none."""

    id: Any
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    broken: Broken | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A request from the target to the kit."""

    id: Any
    method: str


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that wants no answer."""

    method: str


@dataclass(frozen=True, slots=True)
class Unread:
    """What is no message: ``not-json``, ``invalid-utf-8``, ``not-json-rpc`` or ``batch``."""

    kind: str


Incoming = Response | Request | Notification | Unread


def encode(message: Mapping[str, Any]) -> bytes:
    """One line of JSON without its newline: raw UTF-8, or ASCII escapes where a text has lone surrogates.

    NaN and infinities have no JSON form and raise ``ValueError``.
    """
    try:
        return json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(message, allow_nan=False, separators=(",", ":")).encode()


def request(number: int, method: str, params: Any) -> dict[str, Any]:
    """A request; ``params`` of None are left out."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": method}
    return message if params is None else message | {"params": params}


def notification(method: str, params: Any = None) -> dict[str, Any]:
    """A message that wants no answer; ``params`` of None are left out."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    return message if params is None else message | {"params": params}


def answer(incoming: Request) -> dict[str, Any]:
    """The answer to a request of the target's: a ping is answered, the kit has offered nothing else."""
    if incoming.method == "ping":
        return {"jsonrpc": "2.0", "id": incoming.id, "result": {}}
    error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
    return {"jsonrpc": "2.0", "id": incoming.id, "error": error}


def unsendable(method: str, error: ValueError) -> Fault:
    """The fault of a request that has no JSON form."""
    return Fault(FaultKind.MALFORMED, Blame.KIT, f"the params of {method} have no JSON form: {error}")


def parse_frame(frame: bytes) -> Incoming:
    """Read one frame: a line of stdout, the data of a server-sent event, or the body of an HTTP reply."""
    broken: Broken | None = None
    try:
        text = frame.decode()
    except UnicodeDecodeError as error:
        broken = Broken(FaultKind.GARBAGE, f"is not valid UTF-8 (byte {error.start})")
        text = frame.decode(errors="replace")
    outside: list[str] = []
    try:
        message = _read(text, outside)
    except (ValueError, RecursionError):
        return Unread("invalid-utf-8" if broken else "not-json")
    if outside and broken is None:
        broken = Broken(FaultKind.MALFORMED, f"holds {outside[0]}, which is not JSON")
    return _classify(message, broken)


def _read(text: str, outside: list[str]) -> Any:
    """Parse JSON; the numbers in it that JSON or a double cannot hold are gathered in ``outside``."""

    def constant(name: str) -> float:
        outside.append(name)
        return math.nan

    def number(digits: str) -> float:
        value = float(digits)
        if math.isinf(value):
            outside.append(f"the number {digits[:40]}")
        return value

    return json.loads(text, parse_constant=constant, parse_float=number)


def _classify(message: Any, broken: Broken | None) -> Incoming:
    if isinstance(message, list):
        return Unread("batch")
    if not isinstance(message, dict):
        return Unread("not-json-rpc")
    if "result" in message or "error" in message:
        if "id" not in message:
            return Unread("not-json-rpc")
        return _response(message, broken)
    if broken is not None:
        return Unread("not-json" if broken.kind is FaultKind.MALFORMED else "invalid-utf-8")
    if message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        return Unread("not-json-rpc")
    if "id" not in message:
        return Notification(message["method"])
    # An answer has to repeat the id, so that only one that JSON-RPC knows can be answered.
    if not isinstance(message["id"], str | int) or isinstance(message["id"], bool):
        return Unread("not-json-rpc")
    return Request(message["id"], message["method"])


def _response(message: dict[str, Any], broken: Broken | None) -> Response:
    why = broken.why if broken else _broken_rule(message)
    if why is not None:
        return Response(message["id"], broken=broken or Broken(FaultKind.MALFORMED, why))
    return Response(message["id"], result=message.get("result"), error=message.get("error"))


def _broken_rule(message: dict[str, Any]) -> str | None:
    if message.get("jsonrpc") != "2.0":
        return 'has no member "jsonrpc" with the value "2.0"'
    if "result" in message and "error" in message:
        return "has both a result and an error"
    if "result" in message:
        return None if isinstance(message["result"], dict) else "has a result that is not an object"
    error = message["error"]
    if not isinstance(error, dict):
        return "has an error that is not an object"
    code = error.get("code")
    if not isinstance(code, int) or isinstance(code, bool):
        return "has an error whose code is not an integer"
    return None if isinstance(error.get("message"), str) else "has an error whose message is not a text"
