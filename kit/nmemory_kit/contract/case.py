"""A case: steps to do against a target, what each answer must be, and the clauses that it decides.

The values, with their placeholders unfilled (see ``template``); ``reading`` makes them from their JSON form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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


#: The name of a case's own store, among those that its steps name.
MAIN = "main"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and where."""

    #: The credential; None is the default one.
    credential: str | None = None
    #: What the client calls itself, placeholders unfilled; None is the kit's own name.
    client: str | None = None
    #: The store.
    at: str = MAIN


DEFAULT_CALLER = Caller()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Which errors answer a step. An answer may match any one of the channels that are named."""

    #: Codes of the pack's error envelope, in an ``isError`` result.
    codes: tuple[str, ...] = ()
    #: JSON-RPC error codes.
    rpc: tuple[int, ...] = ()
    #: A schema for the message of a JSON-RPC error.
    message: Json | None = None
    #: HTTP status codes.
    status: tuple[int, ...] = ()
    #: A schema for the text of an ``isError`` result that need not be an envelope.
    in_band: Json | None = None
    #: A schema for the envelope, or for the ``data`` of a JSON-RPC error, which then has to be there.
    body: Json | None = None
    #: The pack's refusal of this name says all that, with these values for its placeholders.
    named: str | None = None
    values: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """Call a tool. With ``refusal`` an error must come; with ``lenient`` either; otherwise a success must come."""

    clause: str
    tool: str
    arguments: Json
    caller: Caller = DEFAULT_CALLER
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
    caller: Caller = DEFAULT_CALLER
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
    caller: Caller = DEFAULT_CALLER
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
    at: str = MAIN


@dataclass(frozen=True, slots=True)
class Halt:
    """Stop the target on a store, so that its file is complete; the next request there starts it again."""

    clause: str
    at: str = MAIN


@dataclass(frozen=True, slots=True)
class File:
    """Make, replace or remove a file of the case. One of the last six is set; placeholders are unfilled."""

    clause: str
    path: str
    text: str | None = None
    content: bytes | None = None
    #: The text of a symbolic link.
    link: str | None = None
    #: The file that is copied.
    copy: str | None = None
    folder: bool = False
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """Look at a file, a folder or a link; the checks see what is there (``run.folders`` says how)."""

    clause: str
    path: str
    checks: tuple[Check, ...] = ()
    save: Mapping[str, str] | None = None
    precondition: bool = False


@dataclass(frozen=True, slots=True)
class Sqlite:
    """Put SQL to the file of a store; the checks see ``{"rows": [...], "changed": n}``."""

    clause: str
    sql: str
    parameters: Json = ()
    at: str = MAIN
    checks: tuple[Check, ...] = ()
    save: Mapping[str, str] | None = None
    precondition: bool = False


@dataclass(frozen=True, slots=True)
class Judge:
    """Apply checks to a saved value."""

    clause: str
    value: Json
    checks: tuple[Check, ...]


Step = Call | ListTools | Seed | Raw | Parallel | WaitUntil | Follow | Restart | Halt | File | Look | Sqlite | Judge


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
    def apart(self) -> bool:
        """Whether the case does with its target what nobody else's calls would survive."""
        return any(isinstance(step, Restart | Halt | Sqlite) for step in self.steps) or any(
            caller.client is not None for caller in self.callers()
        )

    @property
    def alone(self) -> bool:
        """Whether nobody else may use its store while it runs; whoever did before is all one to it."""
        return self.store == "exclusive" or (self.store == "shared" and self.apart)

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

    def callers(self) -> Iterator[Caller]:
        """Whoever asks something in the case."""
        yield from (call.caller for call in self.calls())
        yield from (step.caller for step in self.steps if isinstance(step, ListTools | Raw))

    @property
    def stores(self) -> tuple[str, ...]:
        """The names of the stores that it uses, its own one first."""
        named = [caller.at for caller in self.callers()]
        named += [step.at for step in self.steps if isinstance(step, Restart | Halt | Sqlite)]
        return tuple(dict.fromkeys((MAIN, *named)))

    def tools(self) -> tuple[str, ...]:
        """The tools that it calls by name, each once."""
        return tuple(dict.fromkeys(call.tool for call in self.calls()))
