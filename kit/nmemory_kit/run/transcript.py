"""The transcript of a case: each request and what came of it, without secrets and without endless texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..contract.case import MAIN, Caller
from ..target import Reply
from .result import Exchange

Json = Any

#: A text longer than this is cut.
KEPT = 20_000


@dataclass(slots=True)
class Transcript:
    """What has passed between the kit and the target in one case."""

    redact: Callable[[Json], Json]
    exchanges: list[Exchange] = field(default_factory=list)

    def note(self, label: str, method: str, params: Json, reply: Reply, caller: Caller) -> None:
        """Write down a request and its reply."""
        if reply.fault is not None:
            came: Json = {"fault": reply.fault.message, "status": reply.status}
        else:
            came = {"result": reply.result} if reply.result is not None else {"error": reply.error}
        took = round(reply.elapsed * 1000, 3)
        self.exchanges.append(
            Exchange(
                label,
                method,
                self.redact(_cut(params)),
                self.redact(_cut(came)),
                took,
                caller.credential,
                caller.client,
                caller.at if caller.at != MAIN else None,
            )
        )


def _cut(value: Json) -> Json:
    match value:
        case str() if len(value) > KEPT:
            return f"{value[:200]}… ({len(value)} characters)"
        case list():
            return [_cut(item) for item in value]
        case dict():
            return {key: _cut(item) for key, item in value.items()}
        case _:
            return value
