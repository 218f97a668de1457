"""The usage log: one JSON line a verb call, in a local file, never uploaded; and what it adds up to."""

from __future__ import annotations

import contextlib
import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from nmemory_reference.errors import ConfigError
from nmemory_reference.instant import iso, parse_instant

ROTATE_BYTES = 10 * 1024 * 1024


class Use(NamedTuple):
    """One verb call, as it is logged."""

    ts: str
    brain_id: str
    verb: str
    surface: str
    remote: bool
    ok: bool
    latency_ms: float
    source_id: str
    budget_dropped: int | None = None
    entity_found: bool | None = None


class UsageLog:
    """Appends to the log; whatever goes wrong with it, the call it is about goes on."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def installed(self, now: datetime) -> None:
        """Note when the server first ran here, unless that is noted already."""
        if self._path is not None:
            with contextlib.suppress(OSError), _stamp_path(self._path).open("x", encoding="utf-8") as file:
                file.write(iso(now))

    def append(self, use: Use) -> None:
        """Log one call."""
        if self._path is None:
            return
        fields = {key: value for key, value in use._asdict().items() if value is not None}
        with contextlib.suppress(OSError):
            # One write of one line with O_APPEND: lines of several processes don't mix.
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(descriptor, json.dumps(fields).encode() + b"\n")
                full = os.fstat(descriptor).st_size >= ROTATE_BYTES
            finally:
                os.close(descriptor)
            if full:
                self._path.replace(_rotated_path(self._path))


@dataclass(slots=True)
class _Tally:
    """The calls of one verb, added up."""

    calls: int = 0
    errors: int = 0
    latency_ms: float = 0.0
    budget_drops: int = 0
    entity_hits: int = 0
    entity_misses: int = 0

    def add(self, use: Mapping[str, Any]) -> None:
        self.calls += 1
        self.errors += not use["ok"]
        self.latency_ms += use["latency_ms"]
        self.budget_drops += bool(use.get("budget_dropped"))
        self.entity_hits += use.get("entity_found") is True
        self.entity_misses += use.get("entity_found") is False

    def body(self) -> dict[str, Any]:
        return {
            "calls": self.calls,
            "errors": self.errors,
            "mean_latency_ms": round(self.latency_ms / self.calls, 3),
            "budget_drops": self.budget_drops,
            "entity_hits": self.entity_hits,
            "entity_misses": self.entity_misses,
        }


def stats(path: Path, *, days: int | None, now: datetime) -> dict[str, Any]:
    """What the log at `path` adds up to, over the last `days` days or over all that is kept.

    Per verb: calls, errors, mean_latency_ms, budget_drops (calls that dropped something), entity_hits and
    entity_misses. Besides: installed_at, first_call_at, and the seconds between them. Torn lines are
    skipped and counted. Raises ConfigError if the log can't be read; a missing one is an empty one.
    """
    tallies: defaultdict[str, _Tally] = defaultdict(_Tally)
    skipped = 0
    first: datetime | None = None
    oldest = _days_before(now, days)
    for entry in _entries(path):
        if entry is None:
            skipped += 1
            continue
        at, use = entry
        first = at if first is None else min(first, at)
        if oldest is None or at >= oldest:
            tallies[use["verb"]].add(use)
    installed = _installed_at(path)
    waited = None if first is None or installed is None else max(0.0, (first - installed).total_seconds())
    return {
        "days": days,
        "verbs": {verb: tallies[verb].body() for verb in sorted(tallies)},
        "total_calls": sum(tally.calls for tally in tallies.values()),
        "skipped_lines": skipped,
        "installed_at": None if installed is None else iso(installed),
        "first_call_at": None if first is None else iso(first),
        "seconds_to_first_call": waited,
    }


def _days_before(now: datetime, days: int | None) -> datetime | None:
    try:
        return None if days is None else now - timedelta(days=days)
    except OverflowError:  # before the year 1: that is all there is
        return None


def _entries(path: Path) -> Iterator[tuple[datetime, dict[str, Any]] | None]:
    """The log's lines, oldest first; None for one that is torn."""
    for file in (_rotated_path(path), path):
        try:
            with file.open("rb") as lines:
                yield from map(_entry, lines)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise ConfigError(
                f"Can't read the usage log {file}", error.strerror or str(error), "Check who may read it."
            ) from error


def _entry(line: bytes) -> tuple[datetime, dict[str, Any]] | None:
    try:
        use = json.loads(line)
        if not isinstance(use["verb"], str) or not isinstance(use["ok"], bool):
            return None
        use["latency_ms"] = float(use["latency_ms"])
        return parse_instant(use["ts"]), use
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


def _installed_at(path: Path) -> datetime | None:
    try:
        return parse_instant(_stamp_path(path).read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _rotated_path(path: Path) -> Path:
    return path.with_name(path.name + ".1")


def _stamp_path(path: Path) -> Path:
    return path.with_name(path.name + ".installed")
