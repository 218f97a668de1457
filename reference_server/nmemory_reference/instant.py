"""Instants: read from ISO 8601, written in one sortable form, always UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_FRACTION = re.compile(r"(?<=:\d\d)[.,](\d{7,9})")


def utc_now() -> datetime:
    """The current instant, in UTC."""
    return datetime.now(UTC)


def iso(moment: datetime) -> str:
    """The text form of `moment`: UTC, six fractional digits, `Z`; texts sort as their instants do."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f").rjust(26, "0") + "Z"


def parse_instant(text: str) -> datetime:
    """Read an ISO 8601 date or date-time; without an offset it is UTC, without a time midnight.

    Raises ValueError for anything else, and for instants that leave the years 1 to 9999.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(text) from error


def normalise(text: str) -> str:
    """The same instant as `text` in the form of `iso`, keeping digits finer than a microsecond."""
    written = iso(parse_instant(text))
    finer = _FRACTION.search(text)
    return f"{written[:-7]}{finer[1]}Z" if finer else written
