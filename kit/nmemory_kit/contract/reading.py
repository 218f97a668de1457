"""Reading a case: from its JSON form to values.

The form is described by ``cases/case.schema.json`` and explained in ``docs/cases.md``.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any

from .case import (
    MAIN,
    Call,
    Caller,
    Case,
    Check,
    File,
    Follow,
    Halt,
    Judge,
    ListTools,
    Look,
    Parallel,
    Raw,
    Refusal,
    Restart,
    Seed,
    Sqlite,
    Step,
    WaitUntil,
)


def parse_case(data: Mapping[str, Any], pack: str) -> Case:
    """Build a case from its JSON form.

    ``data`` is valid by ``case.schema.json``; ``pack`` is ``<protocol>/<version>``.
    """
    primary = data["clauses"][0]
    return Case(
        path=f"{pack}/{data['id']}",
        id=data["id"],
        title=data["title"],
        clauses=tuple(data["clauses"]),
        needs=tuple(data.get("needs", ())),
        store=data.get("store", "shared"),
        steps=tuple(_step(step, primary) for step in data["steps"]),
        timeout=data.get("timeout"),
        control=data.get("control"),
    )


def _step(data: Mapping[str, Any], primary: str) -> Step:
    clause = data.get("clause", primary)
    if "call" in data:
        return _call(data, primary)
    if "list_tools" in data:
        return ListTools(clause, _caller(data), _refusal(data.get("error")), _checks(data, clause), data.get("save"))
    if "seed" in data:
        return Seed(clause, data["seed"], data.get("with", {}), data.get("save"))
    if "raw" in data:
        raw = data["raw"]
        return Raw(clause, raw["method"], raw.get("params"), _caller(data), _checks(data, clause), data.get("save"))
    if "parallel" in data:
        return Parallel(clause, tuple(_call(c, clause) for c in data["parallel"]), data.get("times", 1))
    if "wait_until" in data:
        return WaitUntil(clause, _call(data["wait_until"], clause), data["within"])
    if "follow" in data:
        call = _call(data["follow"], clause)
        return Follow(clause, call, data["cursor"], data["while"], data["gather"], data["calls"])
    if "restart" in data:
        return Restart(clause, data.get("at", MAIN))
    if "stop" in data:
        return Halt(clause, data.get("at", MAIN))
    if "file" in data:
        return _file(data, clause)
    if "look" in data:
        more = _checks(data, clause), data.get("save"), data.get("precondition", False)
        return Look(clause, data["look"], *more)
    if "sqlite" in data:
        more = _checks(data, clause), data.get("save"), data.get("precondition", False)
        return Sqlite(clause, data["sqlite"], data.get("with", []), data.get("at", MAIN), *more)
    return Judge(clause, data["judge"], _checks(data, clause))


def _file(data: Mapping[str, Any], clause: str) -> File:
    return File(
        clause=clause,
        path=data["file"],
        text=data.get("text"),
        content=b64decode(data["base64"]) if "base64" in data else None,
        link=data.get("link"),
        copy=data.get("copy"),
        folder=data.get("folder", False),
        gone=data.get("gone", False),
    )


def _caller(data: Mapping[str, Any]) -> Caller:
    return Caller(data.get("as"), data.get("client"), data.get("at", MAIN))


def _call(data: Mapping[str, Any], primary: str) -> Call:
    clause = data.get("clause", primary)
    refusal = _refusal(data.get("error", data.get("may_fail")))
    return Call(
        clause=clause,
        tool=data["call"],
        arguments=data.get("with", {}),
        caller=_caller(data),
        refusal=refusal,
        lenient="may_fail" in data,
        checks=_checks(data, clause),
        save=data.get("save"),
        unjudged=tuple(data.get("unjudged", ())),
        precondition=data.get("precondition", False),
    )


def _checks(data: Mapping[str, Any], clause: str) -> tuple[Check, ...]:
    return (*_check(data, clause), *(c for more in data.get("checks", ()) for c in _check(more, clause)))


def _check(data: Mapping[str, Any], clause: str) -> Iterator[Check]:
    clause = data.get("clause", clause)
    if "expect" in data:
        yield Check(clause, schema=data["expect"])
    if "law" in data:
        yield Check(clause, law=data["law"], args=data.get("args", {}))
    if "nowhere" in data:
        yield Check(clause, nowhere=tuple(data["nowhere"]))
    if "shows" in data:
        yield Check(clause, shows=tuple(data["shows"]))


def parse_refusal(data: Mapping[str, Any] | str) -> Refusal:
    """Build a refusal from its JSON form: the name of one of the pack's, or what is right."""
    if isinstance(data, str):
        return Refusal(named=data)
    if "is" in data:
        return Refusal(named=data["is"], values=data.get("with", {}))
    return Refusal(
        codes=_many(data.get("code")),
        rpc=_many(data.get("rpc")),
        message=data.get("message"),
        status=_many(data.get("status")),
        in_band=data.get("in_band"),
        body=data.get("body"),
    )


def _refusal(data: Mapping[str, Any] | str | None) -> Refusal | None:
    return None if data is None else parse_refusal(data)


def _many(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list) else (value,)
