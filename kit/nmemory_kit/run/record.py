"""The result file: JSON Lines with a header, a line a case and a footer. Writing it and reading it back.

Each line is an object with a ``type``: ``header``, ``case`` or ``footer``. ``docs/results.md`` describes the members.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..contract.clause import Level
from .result import (
    FORMAT,
    Books,
    CaseResult,
    ClauseResult,
    Exchange,
    Finding,
    Footer,
    Header,
    PackIdentity,
    Results,
    TargetIdentity,
    Verdict,
)


class RecordError(Exception):
    """A result file that cannot be used; the message says what is wrong and in which line."""


def lines(results: Results) -> Iterator[str]:
    """The lines of a result file."""
    yield line("header", results.header)
    for case in results.cases:
        yield line("case", case)
    yield line("footer", results.footer)


def line(kind: str, value: Header | CaseResult | Footer) -> str:
    """One line of a result file, without its end."""
    return json.dumps({"type": kind, **_members(value)}, default=_members, ensure_ascii=True, separators=(",", ":"))


def read(path: Path) -> Results:
    """Read a result file. Raises ``RecordError`` where it is not one, is cut short, or is of a later format."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(f"cannot read the result file {path}: {error}") from error
    return parse(text.splitlines(), str(path))


def parse(source: Iterable[str], name: str) -> Results:
    """Read the lines of a result file; ``name`` is for messages."""
    header: Header | None = None
    footer: Footer | None = None
    cases: list[CaseResult] = []
    for number, text in enumerate(source, 1):
        try:
            data = json.loads(text)
            match data.pop("type"):
                case "header":
                    header = _header(data, name)
                case "case":
                    cases.append(case_result(data))
                case "footer":
                    footer = _footer(data)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RecordError(f"{name}:{number}: this is not a line of a result file ({error!r})") from error
    if header is None:
        raise RecordError(f"{name} has no header line: it is not a result file")
    if footer is None:
        raise RecordError(f"{name} has no footer line: its run was cut off, so it says nothing")
    return Results(header, tuple(cases), footer)


def _members(value: Any) -> dict[str, Any]:
    """The members of a value of a run, as they are: ``asdict`` would copy whole transcripts."""
    return {member.name: getattr(value, member.name) for member in fields(value)}


def _header(data: Mapping[str, Any], name: str) -> Header:
    if data["format"] > FORMAT:
        raise RecordError(f"{name} has format {data['format']}; this kit reads up to {FORMAT}: use a newer nmemory-kit")
    target = data["target"]
    return Header(
        **{
            **data,
            "packs": tuple(PackIdentity(**pack) for pack in data["packs"]),
            "target": TargetIdentity(
                **{**target, "tools": tuple(target["tools"]), "capabilities": tuple(target["capabilities"])}
            ),
        }
    )


def case_result(data: Mapping[str, Any]) -> CaseResult:
    """A case's result from the members of its line. Raises ``KeyError``, ``TypeError`` or ``ValueError``."""
    return CaseResult(
        **{
            **data,
            "verdict": Verdict(data["verdict"]),
            "clauses": tuple(data["clauses"]),
            "decided": tuple(data["decided"]),
            "findings": tuple(Finding(**{**found, "level": Level(found["level"])}) for found in data["findings"]),
            "transcript": tuple(Exchange(**exchange) for exchange in data["transcript"]),
        }
    )


def _footer(data: Mapping[str, Any]) -> Footer:
    books = data["books"]
    return Footer(
        **{
            **data,
            "books": Books(books["planned"], {Verdict(name): count for name, count in books["counts"].items()}),
            "clauses": tuple(
                ClauseResult(**{**clause, "level": Level(clause["level"]), "cases": tuple(clause["cases"])})
                for clause in data["clauses"]
            ),
            "left_behind": tuple(data["left_behind"]),
            "noise": tuple(data["noise"]),
        }
    )
