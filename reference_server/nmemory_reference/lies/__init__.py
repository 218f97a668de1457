"""The lying doubles: the reference with one lie at a time, with one legal difference, or with nothing true in it.

Each protocol has a repertoire of them, in a package of its own: `verbs`, `memory`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    as_local,
    ask,
    asking,
    body_of,
    is_error,
    text_of,
    text_result,
    with_body,
    without,
)
from nmemory_reference.lies.framed import Framed
from nmemory_reference.lies.lie import Area, Lie
from nmemory_reference.lies.memory import MEMORY
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.lies.repertoire import Repertoire
from nmemory_reference.lies.systematic import Demand
from nmemory_reference.lies.variant import Variant
from nmemory_reference.lies.verbs import VERBS
from nmemory_reference.serve.endpoint import HONEST, Endpoint, Interceptor, RpcFault, ToolCall

if TYPE_CHECKING:
    from nmemory_reference.serve.config import Config

__all__ = [
    "REPERTOIRES",
    "Area",
    "Body",
    "Demand",
    "Honest",
    "Interceptor",
    "Lie",
    "Refusal",
    "Repertoire",
    "Result",
    "RpcFault",
    "ToolCall",
    "Variant",
    "as_local",
    "ask",
    "asking",
    "body_of",
    "is_error",
    "open_double",
    "text_of",
    "text_result",
    "with_body",
    "without",
]

#: Every repertoire.
REPERTOIRES = (VERBS, MEMORY)


def open_double(config: Config, double: Lie | Variant | None) -> Endpoint | Framed:
    """Open the store that `config` names as a double, or honestly where there is none."""
    if double is None:
        return Endpoint.open(config, interceptor=HONEST)
    endpoint = Endpoint.open(replace(config, **double.config), interceptor=double.make())
    around = double.around if isinstance(double, Variant) else None
    return endpoint if around is None else around(endpoint)
