"""What a lie is, and the usual shapes of one, so that each is a short function or class with its clause above it.

    area = Area("recall")

    @area.success("recall", clause="mv1/recall/newest-first")
    def oldest_first(call: ToolCall, body: Body) -> None:
        \"\"\"Facts come oldest first.\"\"\"
        body["facts"].reverse()

becomes the lie ``recall/oldest-first``; the first line of the docstring is what it says of itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, TypedDict, TypeVar, Unpack

from nmemory_reference.lies.answers import Body, Honest, Result, body_of, is_error, with_body
from nmemory_reference.lies.refusal import Refusal, refusal_of
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall
from nmemory_reference.tools.caller import Caller

#: Changes a body in place, or answers another one.
Change = Callable[[ToolCall, Body], Body | None]
#: Answers in the reference's place.
Answering = Callable[[ToolCall, Honest], Awaitable[Result]]
#: Refuses otherwise: answers another refusal, or a result; None leaves it.
Refusing = Callable[[ToolCall, Refusal], Refusal | Result | None]
#: What is true of the reference unless a double says otherwise: nothing answers in a language model's place.
CLAIMS = frozenset({"no-llm"})
ChangeT = TypeVar("ChangeT", bound=Change)
AnsweringT = TypeVar("AnsweringT", bound=Answering)
AskingT = TypeVar("AskingT", bound=Callable[[ToolCall], ToolCall])
RefusingT = TypeVar("RefusingT", bound=Refusing)
ListingT = TypeVar("ListingT", bound=Callable[[list[Body]], list[Body] | None])
LiarT = TypeVar("LiarT", bound=type[Interceptor])


@dataclass(frozen=True, slots=True)
class Lie:
    """One named way to break one clause."""

    #: Kebab-case, ``area/name``.
    id: str
    #: The clause that it breaks.
    clause: str
    #: What it does, in a sentence.
    says: str
    #: Makes the interceptor of one open store; its state ends with that.
    make: Callable[[], Interceptor]
    #: Changes of the server's `Config` that it needs.
    config: Mapping[str, Any] = field(default_factory=dict)
    #: Clauses that demand the same: a finding for one of them is as good.
    also: frozenset[str] = frozenset()
    #: Why only another clause's case can catch it, or None.
    elsewhere: str | None = None
    #: What a profile would claim of the double.
    claims: frozenset[str] = CLAIMS
    #: The tools whose answers it changes; none where that can't be told.
    tools: frozenset[str] = frozenset()
    #: Whether it was made from a schema, and nobody wrote it.
    made: bool = False


class Terms(TypedDict, total=False):
    """What a lie may say beside its clause."""

    config: Mapping[str, Any]
    also: Collection[str]
    elsewhere: str | None
    claims: Collection[str]


class Area:
    """A group of lies, of which several may have one name. Its decorators turn functions and classes into lies."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lies: list[Lie] = []

    @property
    def lies(self) -> tuple[Lie, ...]:
        """The lies so far, in the order in which they were written."""
        return tuple(self._lies)

    def success(self, *tools: str, clause: str, **terms: Unpack[Terms]) -> Callable[[ChangeT], ChangeT]:
        """Changes the body of a tool's success."""
        return lambda change: self._keep(change, clause, tools, lambda: Successes(tools, change), terms)

    def item(
        self, *tools: str, at: str | Collection[str], clause: str, **terms: Unpack[Terms]
    ) -> Callable[[ChangeT], ChangeT]:
        """Changes each item of the arrays `at` these places of a success, as ``"results"`` or ``"plan/tier_moves"``."""
        places = (at,) if isinstance(at, str) else tuple(at)
        return lambda change: self._keep(change, clause, tools, lambda: Successes(tools, each(places, change)), terms)

    def refusal(self, *tools: str, clause: str, **terms: Unpack[Terms]) -> Callable[[RefusingT], RefusingT]:
        """Changes how a tool refuses, in band or by an error of JSON-RPC."""
        return lambda change: self._keep(change, clause, tools, lambda: Refusals(tools, change), terms)

    def failure(self, *tools: str, clause: str, **terms: Unpack[Terms]) -> Callable[[ChangeT], ChangeT]:
        """Changes the body of a tool's error, where errors have bodies."""
        return lambda change: self._keep(change, clause, tools, lambda: Failures(tools, change), terms)

    def result(self, *tools: str, clause: str, **terms: Unpack[Terms]) -> Callable[[ChangeT], ChangeT]:
        """Changes the whole result of a tool, whether success or error."""
        return lambda change: self._keep(change, clause, tools, lambda: Results(tools, change), terms)

    def asking(self, *tools: str, clause: str, **terms: Unpack[Terms]) -> Callable[[AskingT], AskingT]:
        """Hears another call than the one that was made."""
        return lambda change: self._keep(change, clause, tools, lambda: Mishearing(tools, change), terms)

    def answer(self, *tools: str, clause: str, **terms: Unpack[Terms]) -> Callable[[AnsweringT], AnsweringT]:
        """Answers in the reference's place, which it may ask as often as it likes."""
        return lambda answer: self._keep(answer, clause, tools, lambda: Answers(tools, answer), terms)

    def listing(self, *, clause: str, **terms: Unpack[Terms]) -> Callable[[ListingT], ListingT]:
        """Changes the list of tools."""
        return lambda change: self._keep(change, clause, (), lambda: Listings(change), terms)

    def liar(self, *tools: str, clause: str, **terms: Unpack[Terms]) -> Callable[[LiarT], LiarT]:
        """A whole interceptor, for a lie that has to remember something."""
        return lambda made: self._keep(made, clause, tools, made, terms)

    def add(self, lie: Lie) -> None:
        """Adds a lie that was made some other way."""
        self._lies.append(lie)

    def _keep(
        self, named: Any, clause: str, tools: Collection[str], make: Callable[[], Interceptor], terms: Terms
    ) -> Any:
        says = (inspect.getdoc(named) or "").partition("\n")[0]
        name = kebab(named.__name__)
        self._lies.append(
            Lie(
                id=f"{self.name}/{name}",
                clause=clause,
                says=says,
                make=make,
                config=terms.get("config", {}),
                also=frozenset(terms.get("also", ())),
                elsewhere=terms.get("elsewhere"),
                claims=frozenset(terms.get("claims", CLAIMS)),
                tools=frozenset(tools),
            )
        )
        return named


def kebab(name: str) -> str:
    """A Python name as an id: ``OldestFirst`` and ``oldest_first`` both give ``oldest-first``."""
    spaced = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)
    return spaced.strip("-").replace("_", "-")


class Successes(Interceptor):
    """Changes the bodies of successes."""

    def __init__(self, tools: Collection[str], change: Change) -> None:
        self._tools, self._change = frozenset(tools), change

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name not in self._tools or is_error(result):
            return result
        return changed(call, result, self._change)


class Failures(Interceptor):
    """Changes the envelopes of errors."""

    def __init__(self, tools: Collection[str], change: Change) -> None:
        self._tools, self._change = frozenset(tools), change

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name not in self._tools or not is_error(result):
            return result
        return changed(call, result, self._change)


class Refusals(Interceptor):
    """Changes refusals, on both channels."""

    def __init__(self, tools: Collection[str], change: Refusing) -> None:
        self._tools, self._change = frozenset(tools), change

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name not in self._tools:
            return await honest(call)
        try:
            result = await honest(call)
        except RpcFault as fault:
            if (other := self._change(call, Refusal(fault.message, fault.code, fault.data))) is None:
                raise
        else:
            if not is_error(result) or (other := self._change(call, refusal_of(result))) is None:
                return result
        return other.told() if isinstance(other, Refusal) else other


class Results(Interceptor):
    """Changes whole results."""

    def __init__(self, tools: Collection[str], change: Change) -> None:
        self._tools, self._change = frozenset(tools), change

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name not in self._tools:
            return result
        result = deepcopy(result)
        other = self._change(call, result)
        return result if other is None else other


class Mishearing(Interceptor):
    """Passes another call on than the one that was made."""

    def __init__(self, tools: Collection[str], change: Callable[[ToolCall], ToolCall]) -> None:
        self._tools, self._change = frozenset(tools), change

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        return await honest(self._change(call) if call.name in self._tools else call)


class Answers(Interceptor):
    """Answers some tools in the reference's place."""

    def __init__(self, tools: Collection[str], answer: Answering) -> None:
        self._tools, self._answer = frozenset(tools), answer

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        return await (self._answer(call, honest) if call.name in self._tools else honest(call))


class Listings(Interceptor):
    """Changes the list of tools."""

    def __init__(self, change: Callable[[list[Body]], list[Body] | None]) -> None:
        self._change = change

    async def list_tools(self, caller: Caller, honest: Callable[[Caller], Awaitable[Result]]) -> Result:
        result = deepcopy(await honest(caller))
        other = self._change(result["tools"])
        return result if other is None else {**result, "tools": other}


def each(places: Collection[str], change: Change) -> Change:
    """Changes each item of some arrays of a body; what is not there is left alone."""

    def over(call: ToolCall, body: Body) -> None:
        for place in places:
            owner: Any = body
            *way, last = place.split("/")
            for step in way:
                owner = owner.get(step) if isinstance(owner, dict) else None
            items = owner.get(last) if isinstance(owner, dict) else None
            if isinstance(items, list):
                owner[last] = [item if (other := change(call, item)) is None else other for item in items]

    return over


def changed(call: ToolCall, result: Result, change: Change) -> Result:
    """A result with its body changed."""
    body = body_of(result)
    other = change(call, body)
    return with_body(result, body if other is None else other)
