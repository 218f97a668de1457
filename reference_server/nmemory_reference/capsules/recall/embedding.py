"""Embeddings as they are sent and as they are kept: numbers of single precision, in a fixed byte order."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Sequence
from typing import Final

from nmemory_reference.capsules.faults import value_fault

#: The array type of float32.
SINGLE: Final = "f"

#: Beyond this a number rounds to an infinite float32: halfway between the largest and the next power of two.
_OVERFLOW: Final = (2 - 2**-24) * 2.0**127


def single_precision(numbers: Sequence[float], field: str) -> array[float]:
    """`numbers` rounded to float32. Raises -32602 where a cosine is not defined: none, infinite, or all zero."""
    if not numbers:
        raise value_fault(f"{field} is empty: send the numbers that your model gives, all of them.")
    for place, number in enumerate(numbers):
        if not math.isfinite(number) or abs(number) >= _OVERFLOW:
            raise value_fault(
                f"{field}[{place}] is no finite number of 32-bit precision. Send the numbers that your model gives."
            )
    rounded = array(SINGLE, numbers)
    if not any(rounded):
        raise value_fault(
            f"{field} is zero in every one of its {len(rounded)} components (at 32-bit precision): it points nowhere, "
            "and so is similar to nothing."
        )
    return rounded


def to_bytes(embedding: array[float]) -> bytes:
    """The little-endian bytes that are stored."""
    return _swapped(embedding).tobytes()


def from_bytes(stored: bytes) -> array[float]:
    """The numbers in what was stored, to the bit."""
    read = array(SINGLE)
    read.frombytes(stored)
    return _swapped(read)


def _swapped(numbers: array[float]) -> array[float]:
    """`numbers` with the other byte order on a big-endian machine, and themselves on all others."""
    if sys.byteorder == "little":
        return numbers
    swapped = numbers[:]
    swapped.byteswap()
    return swapped
