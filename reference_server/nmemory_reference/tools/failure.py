"""How a call fails: as a result of the tool that says so, or as an error of JSON-RPC."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any, Final

PROTOCOL_VERSION: Final = 1


class ToolFailure(Exception, ABC):
    """A tool refuses: it answers a result with `isError: true`; each contract words it its own way."""

    @abstractmethod
    def text(self) -> str:
        """The text of the error result's only content block."""


class RpcFault(Exception):
    """A JSON-RPC error as the answer to a request; `data` is left out of it if it is None."""

    def __init__(self, code: int, message: str, data: Any | None = None) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return self.message


class VerbFailure(ToolFailure):
    """The error envelope of MEMORY_VERBS (mv1/error/envelope): `code` is for branching, the rest for people."""

    def __init__(self, code: str, message: str, suggestion: str, detail: str | None = None) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.suggestion = suggestion
        self.detail = detail

    def text(self) -> str:
        """The envelope as JSON."""
        envelope: dict[str, Any] = {
            "error": self.code,
            "message": self.message,
            "suggestion": self.suggestion,
        }
        if self.detail is not None:
            envelope["detail"] = self.detail
        envelope["protocol_version"] = PROTOCOL_VERSION
        return json.dumps(envelope, ensure_ascii=False)


def invalid(message: str, suggestion: str, detail: str | None = None) -> VerbFailure:
    """The commonest failure: an argument that can't be what was meant."""
    return VerbFailure("invalid_params", message, suggestion, detail)


def shown(value: object, limit: int = 60) -> str:
    """`value` as it may stand in a message: on one line, cut to `limit` characters, always encodable."""
    text = ascii(value) if not isinstance(value, str) else value
    text = " ".join(text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\0").split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
