"""The lying doubles: the reference with one lie at a time, with one legal difference, or with nothing true in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from nmemory_reference.lies import (
    budget,
    card,
    dedup,
    entity,
    errors,
    forget,
    hidden,
    kept,
    later_verbs,
    recall,
    remember,
    search,
    shapes,
    since,
    store,
    synthesize,
    trust,
    ttl,
    wire,
)
from nmemory_reference.lies.answers import (
    Honest,
    Result,
    as_local,
    ask,
    asking,
    body_of,
    failure,
    is_error,
    success,
    with_body,
    without,
)
from nmemory_reference.lies.lie import Area, Lie
from nmemory_reference.lies.null import all_nulls
from nmemory_reference.lies.systematic import Demand, systematic
from nmemory_reference.lies.variant import Variant
from nmemory_reference.lies.variants import all_variants
from nmemory_reference.serve.endpoint import HONEST, Endpoint, Interceptor, ToolCall

if TYPE_CHECKING:
    from nmemory_reference.serve.config import Config

__all__ = [
    "Area",
    "Demand",
    "Honest",
    "Interceptor",
    "Lie",
    "Result",
    "ToolCall",
    "Variant",
    "all_lies",
    "all_nulls",
    "all_variants",
    "as_local",
    "ask",
    "asking",
    "body_of",
    "failure",
    "is_error",
    "open_double",
    "success",
    "with_body",
    "without",
]

_AREAS = (
    wire,
    shapes,
    store,
    remember,
    kept,
    ttl,
    dedup,
    recall,
    since,
    search,
    hidden,
    budget,
    entity,
    card,
    synthesize,
    forget,
    later_verbs,
    errors,
    trust,
)


def all_lies(demands: Sequence[Demand] = ()) -> tuple[Lie, ...]:
    """Every lie: those made by hand, and those that the schemas in `demands` give."""
    return (*(lie for module in _AREAS for lie in module.area.lies), *systematic(demands))


def open_double(config: Config, double: Lie | Variant | None) -> Endpoint:
    """Open the store that `config` names as a double, or honestly where there is none."""
    if double is None:
        return Endpoint.open(config, interceptor=HONEST)
    return Endpoint.open(replace(config, **double.config), interceptor=double.make())
