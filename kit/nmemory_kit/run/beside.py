"""Steps that ask the target nothing: files that are made, a look at what is there, a question to a store's file."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..check import Answer
from ..check.vocabulary import show
from ..contract.case import File, Look, Sqlite
from .docket import Stop
from .folders import Folders, OutOfBounds
from .result import Verdict
from .store_file import NotAsked, ask

if TYPE_CHECKING:
    from .perform import Performance

Json = Any


def make_file(case: Performance, label: str, step: File, now: datetime) -> None:
    """Make, replace or remove a file. Raises ``Stop``."""
    try:
        _folders(case, label).make(step, lambda template: case.fill(template, now))
    except OutOfBounds as error:
        raise Stop(Verdict.ERROR, f"the case is at fault: step {label}: {error}") from None
    except OSError as error:
        raise Stop(Verdict.NOT_RUN, f"step {label}: {step.path!r} could not be made: {error}") from None


def look(case: Performance, label: str, step: Look, now: datetime) -> None:
    """Judge what is at a path. Raises ``Stop``."""
    path = str(case.fill(step.path, now))
    try:
        document = _folders(case, label).look(path)
    except OutOfBounds as error:
        raise Stop(Verdict.ERROR, f"the case is at fault: step {label}: {error}") from None
    except OSError as error:
        raise Stop(Verdict.NOT_RUN, f"step {label}: {path!r} could not be looked at: {error}") from None
    _judge(case, label, f"look at {path}", step, document, now)


def ask_store(case: Performance, label: str, step: Sqlite, now: datetime) -> None:
    """Judge what the file of a store answers. Raises ``Stop``."""
    file = case.means.places.place(step.at).file
    if file is None:
        raise Stop(Verdict.ERROR, f"the case is at fault: step {label}: the kit knows no file of the store")
    sql, parameters = str(case.fill(step.sql, now)), case.fill(step.parameters, now)
    try:
        document = ask(file, sql, parameters)
    except NotAsked as error:
        raise Stop(Verdict.NOT_RUN, f"step {label}: {error}") from None
    _judge(case, label, f"{show(sql)} on the file of the store {step.at}", step, document, now)


def _judge(case: Performance, label: str, what: str, step: Look | Sqlite, document: Json, now: datetime) -> None:
    answer = Answer.of_document(document)
    case.check(label, what, step.checks, answer, now, precondition=step.precondition)
    case.save(label, step, answer, step.save)


def _folders(case: Performance, label: str) -> Folders:
    folders = case.means.folders
    if folders is None:
        raise Stop(Verdict.ERROR, f"the case is at fault: step {label} needs folders, and the case does not say so")
    return folders
