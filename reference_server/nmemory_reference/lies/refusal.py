"""How a call is refused, on whichever channel: as a result that says so, or as an error of JSON-RPC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nmemory_reference.lies.answers import Result, text_of, text_result
from nmemory_reference.serve.interceptor import RpcFault


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal; ``dataclasses.replace`` makes another of it."""

    #: The message of a JSON-RPC error, or the text of an error result.
    text: str
    #: The code of a JSON-RPC error; None for an error result.
    code: int | None = None
    data: Any | None = None

    @property
    def in_band(self) -> bool:
        """Whether it is an error result."""
        return self.code is None

    def told(self) -> Result:
        """The error result; raises RpcFault where it is an error of JSON-RPC."""
        if self.code is None:
            return text_result(self.text, error=True)
        raise RpcFault(self.code, self.text, self.data)


def refusal_of(result: Result) -> Refusal:
    """An error result as a refusal."""
    return Refusal(text_of(result))
