"""Instants as RFC 3339 texts: what callers send goes back out as it came, and compares as whole microseconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

DAY_US: Final = 86_400_000_000

_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:([Zz])|([+-])(\d\d):(\d\d))", re.ASCII
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Instant(NamedTuple):
    """One instant: `us` is microseconds since 1970 (digits beyond are cut), `text` how it is written."""

    us: int
    text: str

    def days_before(self, later: Instant) -> float:
        """The days from here to `later`, never below 0."""
        return max(0, later.us - self.us) / DAY_US


def minted(moment: datetime) -> Instant:
    """The instant of a clock: UTC with `Z`, without trailing zeros in the fraction."""
    utc = moment.astimezone(UTC)
    written = utc.replace(tzinfo=None).isoformat()
    if utc.microsecond:
        written = written.rstrip("0")
    return Instant((utc - _EPOCH) // timedelta(microseconds=1), written + "Z")


def from_us(us: int) -> Instant:
    """The instant that lies `us` microseconds after the start of 1970, as if the clock had read it."""
    return minted(_EPOCH + timedelta(microseconds=us))


def parse(text: str) -> Instant:
    """Read an RFC 3339 date-time, which has an offset. Raises ValueError for anything else.

    The text is kept with its offset and digits; only `t`, `z` and a space become `T` and `Z`. A leap second
    counts as the second after it.
    """
    found = _RFC3339.fullmatch(text)
    if found is None:
        raise ValueError(text)
    year, month, day, hour, minute, second, fraction, zulu, sign, off_hours, off_minutes = found.groups()
    leap = second == "60"
    try:
        local = datetime(
            int(year), int(month), int(day), int(hour), int(minute), 59 if leap else int(second), tzinfo=UTC
        )
    except ValueError:
        raise ValueError(text) from None
    offset = 0
    if not zulu:
        if int(off_hours) > 23 or int(off_minutes) > 59:
            raise ValueError(text)
        offset = (int(off_hours) * 60 + int(off_minutes)) * (60 if sign == "+" else -60)
    seconds = (local - _EPOCH) // timedelta(seconds=1) + leap - offset
    micros = int((fraction or "0")[:6].ljust(6, "0"))
    return Instant(seconds * 1_000_000 + micros, text[:10] + "T" + text[11:].upper())
