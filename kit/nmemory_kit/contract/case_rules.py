"""Whether a case makes sense: its names exist, its placeholders are filled, its evidence counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..check.laws import laws
from .case import MAIN, Call, Case, Check, File, Halt, Look, Parallel, Refusal, Restart, Seed, Sqlite, Step
from .evidence import decided, is_vague, parts, uncontrolled, unfounded
from .grammar import nearest, schema_violations
from .pack import Pack
from .template import placeholders

Json = Any

#: Capabilities without a name of their own; ``docs/cases.md`` says what each means.
CAPABILITIES = frozenset(
    (
        *("restart", "fresh-store", "second-store", "store-file", "shared-filesystem", "shared-root"),
        *("client-name", "http", "token-demanded", "synthesize"),
    )
)
#: Placeholders that the kit fills, and the capabilities of which one has to be needed for it.
_GIVEN = {
    "marker": (),
    "folder": ("shared-filesystem",),
    "outside": ("shared-filesystem",),
    "here": ("shared-root",),
    "stores": ("store-file", "second-store"),
}
#: Credentials that need no token.
_TOKENLESS = frozenset(("nobody", "stranger"))


def case_problems(case: Case, data: Mapping[str, Json], pack: Pack) -> Iterator[str]:
    """What is wrong with one case of a pack; ``data`` is its document, valid by ``case.schema.json``."""
    yield from _naming_problems(case, pack)
    yield from _placeholder_problems(data)
    yield from _need_problems(case, data)
    yield from _key_problems(data["steps"])
    for number, step in enumerate(case.steps, 1):
        for message in _step_problems(step, pack):
            yield f"step {number}: {message}"
    for clause in sorted(set(case.clauses) - decided(case, pack)):
        yield f"clause {clause} is named, but no step, check or standing check decides it"
    if not case.control:
        yield from uncontrolled(case)
        yield from unfounded(case, pack)


def capability_problem(name: str, pack: Pack) -> str | None:
    """Why a capability is none that the kit knows, or None."""
    kind, colon, rest = name.partition(":")
    if not colon:
        known = CAPABILITIES | {f"seed-{seed}" for seed in pack.seeds}
        return None if name in known else f"there is no capability {name!r}{nearest(name, known)}"
    match kind:
        case "tool":
            known = frozenset(pack.tools)
        case "observed":
            known = frozenset(f"{prefix}{trait}" for trait in pack.observe for prefix in ("", "no-"))
        case "claims" | "credential":
            return None
        case _:
            return f"there is no capability of the kind {kind!r}"
    return None if rest in known else f"there is no capability {name!r}{nearest(rest, known)}"


def _naming_problems(case: Case, pack: Pack) -> Iterator[str]:
    """Names that mean nothing: of clauses and capabilities."""
    own = [check.clause for step in case.steps for part in parts(step) for check in part.checks]
    clauses = dict.fromkeys(
        [*case.clauses, *(step.clause for step in case.steps), *(c.clause for c in case.calls()), *own]
    )
    for clause in clauses:
        if clause not in pack.clauses:
            yield f"there is no clause {clause!r}{nearest(clause, pack.clauses)}"
        elif clause not in case.clauses:
            yield f"clause {clause} is decided by a step, but the case does not name it"
    for need in case.needs:
        if found := capability_problem(need, pack):
            yield f"needs: {found}"
    used = {caller.credential for caller in case.callers()}
    for credential in sorted(filter(None, used - _TOKENLESS)):
        if f"credential:{credential}" not in case.needs:
            yield f"it calls as {credential!r}, so it needs 'credential:{credential}'"


def _need_problems(case: Case, data: Mapping[str, Json]) -> Iterator[str]:
    """Capabilities that a case makes use of and does not say that it needs."""
    filled = set(placeholders(data["steps"]))
    uses: dict[str, tuple[str, ...]] = {
        f"the placeholder {{{{{name}}}}}": needs for name, needs in _GIVEN.items() if needs and name in filled
    }
    for step in case.steps:
        match step:
            case File():
                uses["a file that it makes"] = ("shared-filesystem",)
            case Look():
                uses["a look at a file"] = ("shared-filesystem", "store-file", "second-store")
            case Sqlite():
                uses["SQL"] = ("store-file", "second-store")
            case Restart(at=name) | Halt(at=name) if name == MAIN:
                uses["a stop of the target"] = ("restart",)
            case Parallel(calls=calls) if any(call.caller.client is not None for call in calls):
                yield "calls that are sent at once have no `client`: some targets have one client at a time"
            case _:
                pass
    if len(case.stores) > 1:
        uses[f"the store {case.stores[1]!r}"] = ("second-store",)
    if any(caller.client is not None for caller in case.callers()):
        uses["a client's name"] = ("client-name",)
    for what, needs in uses.items():
        if not set(needs).intersection(case.needs):
            yield f"it uses {what}, so it needs {' or '.join(map(repr, needs))}"
    if "shared-root" in case.needs and "shared-filesystem" not in case.needs:
        yield "with 'shared-root' it needs 'shared-filesystem' too"


def _step_problems(step: Step, pack: Pack) -> Iterator[str]:
    if isinstance(step, Seed):
        yield from _seed_problems(step, pack)
    for part in parts(step):
        for check in part.checks:
            yield from _check_problems(check)
        if isinstance(part, Call):
            yield from _call_problems(part, pack)


def _call_problems(call: Call, pack: Pack) -> Iterator[str]:
    foreign = call.tool not in pack.tools
    if foreign and "*" not in call.unjudged:
        yield (
            f"the protocol has no tool {call.tool!r}{nearest(call.tool, pack.tools)}; "
            'a call of a foreign tool is marked with "unjudged": ["*"]'
        )
    known = {standing.name for standing in pack.standing} | {"*"}
    for name in call.unjudged:
        if name not in known:
            yield f"unjudged: there is no standing check {name!r}{nearest(name, known)}"
    if call.refusal is not None:
        yield from _refusal_problems(call, call.refusal, pack, foreign=foreign)


def _refusal_problems(call: Call, refusal: Refusal, pack: Pack, *, foreign: bool) -> Iterator[str]:
    if refusal.named is not None:
        yield from _named_refusal_problems(refusal.named, refusal.values, pack)
        refusal = pack.refusals.get(refusal.named, refusal)
    else:
        yield from refusal_problems(refusal, pack)
        if is_vague(refusal) and not foreign:
            yield "a rejection names its code: `in_band` that any text meets is for foreign tools only"
    judged = any(check.schema is not None or check.law is not None for check in call.checks)
    if judged and not call.lenient and not refusal.codes and refusal.in_band is None:
        yield "`expect` and `law` judge an envelope, and the errors named here have none: say it in the error's `body`"


def refusal_problems(refusal: Refusal, pack: Pack) -> Iterator[str]:
    """What is wrong with a refusal that is told at length."""
    codes = _error_codes(pack)
    for code in refusal.codes:
        if codes and code not in codes:
            yield f"the protocol has no error {code!r}{nearest(code, codes)}"
    for schema in (refusal.body, refusal.message, refusal.in_band):
        if schema is not None:
            yield from schema_violations(schema)


def _named_refusal_problems(name: str, values: Mapping[str, Json], pack: Pack) -> Iterator[str]:
    if name not in pack.refusals:
        yield f"the pack has no refusal {name!r}{nearest(name, pack.refusals)}"
        return
    refusal = pack.refusals[name]
    wanted = set(placeholders([refusal.message, refusal.in_band, refusal.body]))
    for value in sorted(wanted - set(values)):
        yield f"the refusal {name!r} wants a value {value!r}"
    for value in sorted(set(values) - wanted):
        yield f"the refusal {name!r} has no use for {value!r}{nearest(value, wanted)}"


def _check_problems(check: Check) -> Iterator[str]:
    if check.schema is not None:
        yield from (f"expect: {found}" for found in schema_violations(check.schema))
    yield from law_problems(check.law)


def _seed_problems(seed: Seed, pack: Pack) -> Iterator[str]:
    recipe = pack.seeds.get(seed.kind)
    if recipe is None:
        yield f"the pack has no seed {seed.kind!r}{nearest(seed.kind, pack.seeds)}"
        return
    wanted = set(placeholders(recipe.arguments)) - {"marker"}
    for name in sorted(wanted - set(seed.values) - set(recipe.defaults)):
        yield f"seed {seed.kind!r} wants a value {name!r}"
    for name in sorted(set(seed.values) - wanted):
        yield f"seed {seed.kind!r} has no use for {name!r}{nearest(name, wanted)}"


def _placeholder_problems(data: Mapping[str, Json]) -> Iterator[str]:
    """Placeholders that nothing fills, and saves that nothing uses."""
    saved: dict[str, int] = {}
    used: set[str] = set()
    for number, step in enumerate(data["steps"], 1):
        templates = {key: value for key, value in step.items() if key not in ("note", "save", "title")}
        wanted = set(placeholders(templates))
        used |= wanted
        known = {*_GIVEN, *saved, *(("index",) if "times" in step else ())}
        for name in sorted(wanted - known):
            yield f"step {number}: nothing before it saves {name!r}{nearest(name, known)}"
        for name in _saves(step):
            if name in saved:
                yield f"step {number}: {name!r} was saved in step {saved[name]} already"
            saved[name] = number
    for name in saved.keys() - used:
        yield f"step {saved[name]}: nothing uses what is saved as {name!r}"


def _saves(step: Mapping[str, Json]) -> Iterator[str]:
    yield from step.get("save", {})
    if "wait_until" in step:
        yield from step["wait_until"].get("save", {})
    yield from step.get("gather", {})
    yield from dict.fromkeys(name for call in step.get("parallel", ()) for name in call.get("save", {}))


def _key_problems(value: Json) -> Iterator[str]:
    match value:
        case dict():
            for key, item in value.items():
                if any(True for _ in placeholders(key)):
                    yield f"a placeholder in a key is not filled: {key!r}"
                yield from _key_problems(item)
        case list():
            for item in value:
                yield from _key_problems(item)
        case _:
            pass


def law_problems(name: str | None) -> Iterator[str]:
    """Whether a check names a law that does not exist."""
    if name is not None and name not in laws():
        yield f"there is no law {name!r}{nearest(name, laws())}"


def tool_problems(tools: Iterable[str], pack: Pack) -> Iterator[str]:
    """Tools among ``tools`` that the protocol does not have."""
    for tool in tools:
        if tool not in pack.tools:
            yield f"the protocol has no tool {tool!r}{nearest(tool, pack.tools)}"


def _error_codes(pack: Pack) -> frozenset[str]:
    """The closed set of error codes, as far as the schemas of the pack name one."""
    if pack.error_code is None:
        return frozenset()
    member = pack.error_code.rpartition("/")[2]
    schemas = [pack.error_schema, *(standing.schema for standing in pack.standing if standing.on == "error")]
    sets = [
        frozenset(place["enum"])
        for schema in schemas
        if isinstance(schema, dict) and "enum" in (place := schema.get("properties", {}).get(member, {}))
    ]
    return frozenset.intersection(*sets) if sets else frozenset()
