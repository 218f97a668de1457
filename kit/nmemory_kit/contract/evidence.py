"""Evidence in a case: what a step would show, what it would miss, and which clauses it decides.

An absence (a text that is nowhere, an empty list, a total of 0) proves nothing by itself: a server that answers
with nothing would pass. So the same tool has to show something in the same case.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .case import (
    Call,
    Case,
    Check,
    Follow,
    Judge,
    ListTools,
    Look,
    Parallel,
    Raw,
    Refusal,
    Sqlite,
    Step,
    WaitUntil,
)
from .pack import Pack, Standing
from .template import placeholders

Json = Any

#: A part of a step that looks at something.
Part = Call | ListTools | Raw | Look | Sqlite | Judge

#: Keywords whose value is one schema, several, several by name; ``not`` is apart: it turns the meaning round.
_ONE = (
    "items",
    "contains",
    "additionalProperties",
    "unevaluatedItems",
    "if",
    "then",
    "else",
    "propertyNames",
)
_SEVERAL = ("allOf", "anyOf", "oneOf", "prefixItems")
_BY_NAME = ("properties", "patternProperties", "dependentSchemas")


@dataclass(frozen=True, slots=True)
class Glance:
    """One look at a source of answers: what it is, and the expectations on what it gives."""

    #: The tool, or what stands for one: ``tools/list``, a method, the tool that a saved value came from.
    source: str
    step: str
    checks: tuple[Check, ...]


def glances(case: Case) -> Iterator[Glance]:
    """Every look at an answer that the case takes, in order."""
    origins: dict[str, str] = {}
    for number, step in enumerate(case.steps, 1):
        for position, part in enumerate(parts(step), 1):
            place = f"{number}.{position}" if isinstance(step, Parallel) else str(number)
            source = _source(part, origins)
            if not isinstance(part, Judge):
                saved = step.gather if isinstance(step, Follow) else part.save
                origins.update(dict.fromkeys(saved or (), source))
            yield Glance(source, place, part.checks)


def parts(step: Step) -> tuple[Part, ...]:
    """The requests and judgements of a step, those inside groups too."""
    match step:
        case Parallel(calls=calls):
            return calls
        case WaitUntil(call=call) | Follow(call=call):
            return (call,)
        case Call() | ListTools() | Raw() | Look() | Sqlite() | Judge():
            return (step,)
        case _:
            return ()


def uncontrolled(case: Case) -> list[str]:
    """The absences of a case without a positive control, each as a sentence."""
    looks = list(glances(case))
    showing = {look.source for look in looks if any(shows_something(check) for check in look.checks)}
    return [
        f"step {look.step}: {what} is no evidence unless {look.source} shows something in the same case: "
        "add `shows` or a demand that needs content, or say in `control` why none is needed"
        for look in looks
        if look.source not in showing
        for check in look.checks
        for what in list(absences(check))[:1]
    ]


def absences(check: Check) -> Iterator[str]:
    """The absences that an expectation demands, in words."""
    if check.nowhere:
        yield f"`nowhere` {check.nowhere[0]!r}"
    if check.schema is not None:
        yield from _absences(check.schema)


def shows_something(check: Check) -> bool:
    """Whether an answer needs content to meet the expectation."""
    return bool(check.shows) or (check.schema is not None and _demands_content(check.schema))


def decided(case: Case, pack: Pack) -> frozenset[str]:
    """The clauses that some step decides: its own, those of its checks and of the standing checks on it."""
    found: set[str] = set()
    for step in case.steps:
        for part in parts(step):
            if not (isinstance(part, Call | Look | Sqlite) and part.precondition):
                found.update(check.clause for check in part.checks)
            if isinstance(part, Call) and not part.precondition:
                found.add(part.clause)
            if isinstance(part, ListTools) and part.refusal is not None:
                found.add(part.clause)
            if isinstance(part, Call):
                found.update(standing.clause for standing in pack.standing if applies(standing, part, pack))
    return frozenset(found)


def applies(standing: Standing, call: Call, pack: Pack) -> bool:
    """Whether a standing check judges some right answer to a call."""
    if call.tool not in pack.tools or "*" in call.unjudged or standing.name in call.unjudged:
        return False
    if standing.tools is not None and call.tool not in standing.tools:
        return False
    succeeds = call.refusal is None or call.lenient
    return {"success": succeeds, "error": call.refusal is not None, "any": True}[standing.on]


def is_vague(refusal: Refusal) -> bool:
    """Whether any error at all would do."""
    return refusal.in_band in (True, {})


def unfounded(case: Case, pack: Pack) -> list[str]:
    """The refusals of a case that any text in an ``isError`` result meets, without a success of the same tool.

    A server that refuses everything would pass them.
    """
    serving = {call.tool for call in case.calls() if call.refusal is None}
    return [
        f"{call.tool} may refuse with any text: that is no evidence unless the same tool accepts something in this case"
        for call in case.calls()
        if call.tool in pack.tools.keys() - serving
        if call.refusal is not None
        and not call.lenient
        and _any_text(pack.refusals.get(call.refusal.named or "", call.refusal))
    ]


def _any_text(refusal: Refusal) -> bool:
    schema = refusal.in_band
    if schema is None or refusal.codes or refusal.rpc:
        return False
    return not (isinstance(schema, dict) and {"const", "enum", "pattern", "mentions"} & schema.keys())


def _source(part: Part, origins: dict[str, str]) -> str:
    match part:
        case Call(tool=tool):
            return tool
        case ListTools():
            return "tools/list"
        case Raw(method=method, params=params):
            named = params.get("name") if isinstance(params, dict) else None
            return named if method == "tools/call" and isinstance(named, str) else method
        case Look():
            return "look"
        case Sqlite():
            return "sqlite"
        case Judge(value=value):
            return next((origins[name] for name in placeholders(value) if name in origins), "a given value")


def _absences(schema: Json) -> Iterator[str]:
    if not isinstance(schema, dict):
        return
    if schema.get("const", ...) in ([], "") or schema.get("maxItems") == 0:
        yield "an empty list"
    if _is_zero(schema.get("const")) or _is_zero(schema.get("maximum")):
        yield "a count of 0"
    denied = schema.get("not")
    if isinstance(denied, dict) and ({"mentions", "contains"} & denied.keys()):
        yield "`not` " + next(word for word in ("mentions", "contains") if word in denied)
    for inner in _inner(schema):
        yield from _absences(inner)


def _demands_content(schema: Json) -> bool:
    if not isinstance(schema, dict):
        return False
    if "mentions" in schema or "contains" in schema or schema.get("const") not in (None, False, 0, "", [], {}):
        return True
    if any(_at_least_one(schema.get(bound)) for bound in ("minItems", "minimum", "exclusiveMinimum", "minContains")):
        return True
    return any(_demands_content(inner) for inner in _inner(schema))


def _inner(schema: dict[str, Json]) -> Iterator[Json]:
    for keyword in _ONE:
        if keyword in schema:
            yield schema[keyword]
    for keyword in _SEVERAL:
        yield from schema.get(keyword, ())
    for keyword in _BY_NAME:
        yield from schema.get(keyword, {}).values()


def _is_zero(value: Json) -> bool:
    return value == 0 and not isinstance(value, bool) and value is not None


def _at_least_one(value: Json) -> bool:
    return isinstance(value, str) or (isinstance(value, int | float) and value >= 1)
