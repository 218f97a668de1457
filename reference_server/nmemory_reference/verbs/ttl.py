"""How long a fact holds: `45m`, `12h`, `30d`, or an ISO 8601 instant."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from nmemory_reference.instant import parse_instant
from nmemory_reference.tools.failure import invalid, shown

_SHORTHAND = re.compile(r"([0-9]{1,9})([mhd])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}
_ISO_DURATION = re.compile(r"[+-]?P", re.IGNORECASE)


def valid_until(ttl: str, now: datetime) -> datetime:
    """The instant at which a fact remembered `now` expires.

    Raises VerbFailure (invalid_params) for anything else than the shorthand and an instant
    (mv1/remember/ttl-iso-duration-rejected, mv1/remember/ttl-garbage-rejected).
    """
    text = ttl.strip()
    if match := _SHORTHAND.fullmatch(text):
        amount = int(match[1])
        try:
            if amount:
                return now + timedelta(**{_UNITS[match[2]]: amount})
        except OverflowError:
            pass
        raise invalid(
            f"ttl is {shown(text)!r}, which ends at once or beyond the year 9999",
            "Use a ttl of at least 1m, such as 30d, or leave it out for a fact that never expires.",
        )
    try:
        return parse_instant(text)
    except ValueError:
        pass
    if _ISO_DURATION.match(text):
        raise invalid(
            f"ttl is {shown(text)!r}; ISO 8601 durations are not supported",
            "Write the duration as a number and a unit: 45m, 12h or 30d (P30D is 30d, PT12H is 12h).",
        )
    raise invalid(
        f"ttl is {shown(text)!r}, which is neither a duration nor an instant",
        "Write 45m, 12h or 30d, or an ISO 8601 instant such as 2026-07-01T00:00:00Z.",
    )
