"""Printing what was measured: figures and ratios, never a verdict."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


def say(what: str, value: str) -> None:
    """One line of the bench's report."""
    print(f"  {what:<72} {value:>18}")


def spread(what: str, seconds: Sequence[float]) -> None:
    """The median, the 99th percentile and the number of some durations."""
    ordered = sorted(seconds)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    say(f"{what}, p50 / p99 of {len(ordered)}", f"{statistics.median(ordered) * 1e3:.2f} / {p99 * 1e3:.2f} ms")


@contextmanager
def timed() -> Iterator[list[float]]:
    """The seconds that a block took, as the one item of a list."""
    taken: list[float] = []
    began = time.perf_counter()
    yield taken
    taken.append(time.perf_counter() - began)
