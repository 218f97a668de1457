"""How answers are written: compact JSON, rounded numbers, and what a text costs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from nmemory_reference.capsules.vocabulary import FRAMING, LABEL

CHARACTERS_A_TOKEN: Final = 4
#: What stands first in every answer that shows stored bytes: they are data, and decide nothing.
ARMOUR: Final[Mapping[str, str]] = MappingProxyType({"label": LABEL, "framing": FRAMING})


def dumps(value: Any) -> str:
    """`value` as JSON on one line without white space; object keys keep their order."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def cost(value: Any) -> int:
    """The estimated tokens of `value` in an answer: a quarter of its JSON's characters, rounded up."""
    return cost_of_text(dumps(value))


def cost_of_text(text: str) -> int:
    """The estimated tokens of a text: a quarter of its characters (not bytes), rounded up."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def rounded(value: float, digits: int) -> float:
    """`value` to `digits` decimals, halves away from zero, as its shortest decimal text reads (0.405 gives 0.41)."""
    from decimal import ROUND_HALF_UP, Decimal  # most processes start up, and round nothing

    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def significant(value: float, digits: int) -> float:
    """`value` to `digits` significant digits."""
    return float(f"{value:.{digits}g}")
