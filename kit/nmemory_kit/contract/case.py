"""A case: steps to do against a target, what each answer must be, and the clauses that it decides.

The JSON form is described by ``cases/case.schema.json`` and explained in ``docs/cases.md``; this module turns a
validated document into frozen values. Placeholders are still unfilled here (see ``template``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Json = Any
Store = Literal["shared", "exclusive", "fresh"]


@dataclass(frozen=True, slots=True)
class Check:
    """One expectation on one answer, and the clause that it decides. Exactly one of the last four is set."""

    clause: str
    #: A JSON Schema (2020-12 with the kit's keywords) for the body.
    schema: Json | None = None
    #: The name of a law, with its arguments.
    law: str | None = None
    args: Mapping[str, Json] | None = None
    #: Texts that occur nowhere in the whole answer.
    nowhere: tuple[str, ...] = ()
    #: Texts that occur somewhere in the answer.
    shows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Which errors answer a step. An answer may match any one of the channels that are named."""

    #: Codes of the pack's error envelope, in an ``isError`` result.
    codes: tuple[str, ...] = ()
    #: JSON-RPC error codes.
    rpc: tuple[int, ...] = ()
    #: Those from MCP 2026-07-28 on, where they are others.
    rpc_modern: tuple[int, ...] | None = None
    #: HTTP status codes.
    status: tuple[int, ...] = ()
    #: A schema for the text of an ``isError`` result that need not be an envelope.
    in_band: Json | None = None
    #: A schema for the envelope, or for the ``data`` of a JSON-RPC error.
    body: Json | None = None
    #: The pack's refusal of this name says all that, with these values for its placeholders.
    named: str | None = None
    values: Mapping[str, Json] = field(default_factory=dict)

    def in_era(self, era: Literal["legacy", "modern"]) -> Refusal:
        """The same with the JSON-RPC codes of one era only."""
        rpc = self.rpc_modern if era == "modern" and self.rpc_modern is not None else self.rpc
        return replace(self, rpc=rpc, rpc_modern=None)


@dataclass(frozen=True, slots=True)
class Call:
    """Call a tool. With ``refusal`` an error must come; with ``lenient`` either; otherwise a success must come."""

    clause: str
    tool: str
    arguments: Json
    credential: str | None = None
    refusal: Refusal | None = None
    lenient: bool = False
    checks: tuple[Check, ...] = ()
    save: Mapping[str, str] | None = None
    #: Names of the pack's standing checks that do not apply to this answer; ``*`` for all.
    unjudged: tuple[str, ...] = ()
    #: What this step shows is a condition of the case: if it is not met, the case is not-run.
    precondition: bool = False


@dataclass(frozen=True, slots=True)
class ListTools:
    """Walk ``tools/list`` to its end; the checks see ``{"tools": [...]}``."""

    clause: str
    credential: str | None = None
    refusal: Refusal | None = None
    checks: tuple[Check, ...] = ()
    save: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Seed:
    """Make a thing by the target's own means: ``kind`` names a seed of the pack or the profile."""

    clause: str
    kind: str
    values: Mapping[str, Json]
    save: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Raw:
    """Send a hand-made request; the checks see the whole reply, ``{"result": ...}`` or ``{"error": ...}``."""

    clause: str
    method: str
    params: Json
    checks: tuple[Check, ...] = ()
    save: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Parallel:
    """Send calls at once. With ``times`` each is sent that often, and ``save`` gathers lists in index order."""

    clause: str
    calls: tuple[Call, ...]
    times: int = 1


@dataclass(frozen=True, slots=True)
class WaitUntil:
    """Repeat a call until it meets its expectations, for ``within`` seconds at most."""

    clause: str
    call: Call
    within: float


@dataclass(frozen=True, slots=True)
class Follow:
    """Repeat a call with the cursor of its last answer until there is no more; gather what each answer holds."""

    clause: str
    call: Call
    #: Argument of the next call -> where its value stands in the answer.
    cursor: Mapping[str, str]
    #: Where the answer says that there is more.
    more: str
    #: Name -> an array in each answer; all of them are saved as one.
    gather: Mapping[str, str]
    #: How many calls there may be.
    calls: int


@dataclass(frozen=True, slots=True)
class Restart:
    """Stop the target and start it again on the same store."""

    clause: str


@dataclass(frozen=True, slots=True)
class Judge:
    """Apply checks to a saved value."""

    clause: str
    value: Json
    checks: tuple[Check, ...]


Step = Call | ListTools | Seed | Raw | Parallel | WaitUntil | Follow | Restart | Judge


@dataclass(frozen=True, slots=True)
class Case:
    """A frozen case of a pack."""

    #: ``<protocol>/<version>/<id>``, unique over all packs.
    path: str
    id: str
    title: str
    #: The clauses that it decides; the first is the one that steps decide unless they say otherwise.
    clauses: tuple[str, ...]
    #: Capabilities without which it is skipped.
    needs: tuple[str, ...]
    store: Store
    steps: tuple[Step, ...]
    #: Seconds for the whole case, instead of the run's own limit.
    timeout: float | None = None
    #: Why its absences need no positive control (read by the linter).
    control: str | None = None

    @property
    def waits(self) -> bool:
        """Whether the case has to let time pass."""
        return any(isinstance(step, WaitUntil) for step in self.steps)

    @property
    def restarts(self) -> bool:
        """Whether the case stops and starts its target, so that it needs one of its own."""
        return any(isinstance(step, Restart) for step in self.steps)

    def calls(self) -> Iterator[Call]:
        """Every call of the case, in order, those inside groups too."""
        for step in self.steps:
            match step:
                case Call():
                    yield step
                case Parallel(calls=calls):
                    yield from calls
                case WaitUntil(call=call) | Follow(call=call):
                    yield call
                case _:
                    pass

    def tools(self) -> tuple[str, ...]:
        """The tools that it calls by name, each once."""
        return tuple(dict.fromkeys(call.tool for call in self.calls()))


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
        return ListTools(clause, data.get("as"), _refusal(data.get("error")), _checks(data, clause), data.get("save"))
    if "seed" in data:
        return Seed(clause, data["seed"], data.get("with", {}), data.get("save"))
    if "raw" in data:
        raw = data["raw"]
        return Raw(clause, raw["method"], raw.get("params"), _checks(data, clause), data.get("save"))
    if "parallel" in data:
        return Parallel(clause, tuple(_call(c, clause) for c in data["parallel"]), data.get("times", 1))
    if "wait_until" in data:
        return WaitUntil(clause, _call(data["wait_until"], clause), data["within"])
    if "follow" in data:
        call = _call(data["follow"], clause)
        return Follow(clause, call, data["cursor"], data["while"], data["gather"], data["calls"])
    if "restart" in data:
        return Restart(clause)
    return Judge(clause, data["judge"], _checks(data, clause))


def _call(data: Mapping[str, Any], primary: str) -> Call:
    clause = data.get("clause", primary)
    refusal = _refusal(data.get("error", data.get("may_fail")))
    return Call(
        clause=clause,
        tool=data["call"],
        arguments=data.get("with", {}),
        credential=data.get("as"),
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
    rpc = data.get("rpc")
    eras = rpc if isinstance(rpc, dict) else {"legacy": rpc}
    return Refusal(
        codes=_many(data.get("code")),
        rpc=_many(eras["legacy"]),
        rpc_modern=_many(eras["modern"]) if "modern" in eras else None,
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
