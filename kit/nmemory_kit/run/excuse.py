"""Excuses: failures that are known and accepted, each with its reason. They never make a target conformant.

The file is YAML: a list of ``{case: id or glob, reason: text, link?: URL, until?: date}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from ..contract.case import Case
from .result import CaseResult, Verdict
from .select import matches

_MEMBERS = frozenset({"case", "reason", "link", "until"})


class ExcuseError(Exception):
    """A file of excuses that cannot be used; the message names the file, the place and the remedy."""


@dataclass(frozen=True, slots=True)
class Excuse:
    """A failure that is known and accepted."""

    #: A case id or glob.
    case: str
    reason: str
    link: str | None = None
    #: The day after which it no longer holds.
    until: date | None = None


def read_excuses(path: Path) -> tuple[Excuse, ...]:
    """Read a file of excuses. Raises ``ExcuseError``."""
    import yaml

    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ExcuseError(f"cannot read the excuses {path}: {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ExcuseError(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, list):
        raise ExcuseError(f"{path} must be a list of excuses: `- {{case: ..., reason: ...}}`")
    return tuple(_excuse(item, f"{path}, entry {number}") for number, item in enumerate(data, 1))


def check_excuses(excuses: Sequence[Excuse], cases: Iterable[Case], today: date) -> None:
    """Refuse excuses that name no case, or that are out of date. Raises ``ExcuseError``."""
    cases = tuple(cases)
    for excuse in excuses:
        if not any(matches(case, excuse.case) for case in cases):
            raise ExcuseError(f"the excuse for {excuse.case!r} names no case: take it out or correct its name")
        if excuse.until and today > excuse.until:
            raise ExcuseError(f"the excuse for {excuse.case!r} held until {excuse.until}: mend the target or renew it")


def excuse(result: CaseResult, case: Case, excuses: Iterable[Excuse]) -> CaseResult:
    """The result in the light of the excuses: an excused failure is an xfail, an excused pass an xpass."""
    found = next((one for one in excuses if matches(case, one.case)), None)
    if found is None or result.verdict not in (Verdict.FAIL, Verdict.PASS):
        return result
    reason = f"{found.reason} ({found.link})" if found.link else found.reason
    if result.verdict is Verdict.FAIL:
        return replace(result, verdict=Verdict.XFAIL, reason=reason)
    return replace(result, verdict=Verdict.XPASS, reason=f"it no longer fails; take out the excuse: {reason}")


def _excuse(item: Any, place: str) -> Excuse:
    if not isinstance(item, dict):
        raise ExcuseError(f"{place}: an excuse is a mapping with `case` and `reason`")
    if unknown := sorted(set(map(str, item)) - _MEMBERS):
        raise ExcuseError(f"{place}: unknown member {unknown[0]!r}; there are {', '.join(sorted(_MEMBERS))}")
    for member in ("case", "reason"):
        if not isinstance(item.get(member), str) or not item[member].strip():
            raise ExcuseError(f"{place}: `{member}` must be a text")
    until = item.get("until")
    if until is not None and not isinstance(until, date):
        raise ExcuseError(f"{place}: `until` must be a date such as 2027-01-31")
    link = item.get("link")
    if link is not None and not isinstance(link, str):
        raise ExcuseError(f"{place}: `link` must be a text")
    return Excuse(item["case"], item["reason"].strip(), link, until)
