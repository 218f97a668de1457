"""Export of a pack's cases as seeds for BrainBench: a flat list of calls, done in order on one store.

Where a case of the kit stands alone, an entry there stands in a row: all share one ``{{marker}}``, and refer to what
earlier entries saved as ``{{id:key}}``. So each case gets a marker of its own made from the shared one. Cases that need
a page use the one that BrainBench's runner seeds. What the format cannot carry is left out and named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .brainbench_items import Item, not_containing, translate
from .case import DEFAULT_CALLER, Call, Case, Seed
from .evidence import applies
from .pack import Pack
from .template import placeholders

Json = Any
Entry = dict[str, Json]

#: The page that the runner seeds, for entries that say ``requiresSeededEntity``.
SEEDED = "people/conformance-{{marker}}"

_SYNTHESIZE = "synthesize"
_CARRIED_NEEDS = frozenset((_SYNTHESIZE, "seed-page"))
_NAME = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")
_REPEAT = re.compile(r"\{\{([^{}*]+)\*(\d+)\}\}")


@dataclass(frozen=True, slots=True)
class Export:
    """The entries, and what the format could not carry."""

    entries: list[Entry]
    #: Whole cases, each with the reason: ``wire-advertises (step 1 is no call of one tool)``.
    left_out: list[str]
    #: Expectations of cases that are there: ``recall-total, step 3: the law counts``.
    weakened: list[str]


class NotCarriedError(Exception):
    """A case that the format cannot carry; the message says why."""


@dataclass(slots=True)
class _Row:
    """A case on its way into the list."""

    pack: Pack
    case: Case
    #: Three digits, so that no marker is the beginning of another.
    number: str
    #: The slug of the page that becomes the runner's, or None.
    slug: str | None = None
    #: What entries of this case have saved: our name -> their key.
    keys: dict[str, str] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    weakened: list[str] = field(default_factory=list)


def export(pack: Pack) -> Export:
    """Export every case that the format can carry."""
    entries: list[Entry] = []
    left_out: list[str] = []
    weakened: list[str] = []
    for number, case in enumerate(pack.cases, 1):
        row = _Row(pack, case, f"{number:03d}")
        try:
            _carry(row)
        except NotCarriedError as error:
            left_out.append(f"{case.id} ({error})")
            continue
        entries += row.entries
        weakened += [f"{case.id}, {what}" for what in row.weakened]
    return Export(entries, left_out, weakened)


def _carry(row: _Row) -> None:
    case, pack = row.case, row.pack
    if missing := [need for need in case.needs if need not in _CARRIED_NEEDS]:
        raise NotCarriedError(f"it needs {', '.join(missing)}")
    if case.store == "fresh":
        raise NotCarriedError("it needs an empty store of its own")
    if optional := [tool for tool in case.tools() if tool in pack.tools and not pack.tools[tool].required]:
        raise NotCarriedError(f"not every server has {optional[0]}")
    steps = list(case.steps)
    if isinstance(first := steps[0], Seed):
        row.slug = _slug_of(first)
        del steps[0]
    for number, step in enumerate(steps, 1 + len(case.steps) - len(steps)):
        if not isinstance(step, Call):
            raise NotCarriedError(f"step {number} is no call of one tool")
        _carry_call(row, number, step)
    if not row.entries:
        raise NotCarriedError("it calls the page by other words than its slug")


def _slug_of(step: Seed) -> str:
    slug = step.values.get("slug")
    if step.kind != "page" or not isinstance(slug, str) or step.save:
        raise NotCarriedError(f"it seeds a {step.kind}")
    return slug


def _carry_call(row: _Row, number: int, step: Call) -> None:
    label = f"step {number}"
    if step.tool not in row.pack.tools:
        raise NotCarriedError(f"{label} calls a foreign tool")
    if step.caller != DEFAULT_CALLER:
        raise NotCarriedError(f"{label} calls as somebody else, or elsewhere")
    if step.precondition:
        raise NotCarriedError(f"{label} is a condition of the case")
    about_page = row.slug is not None and row.slug in json.dumps(step.arguments, ensure_ascii=False)
    if row.slug is not None and not about_page:
        if row.pack.tools[step.tool].annotations.get("readOnlyHint"):
            row.weakened.append(f"{label}: it is about other words of the page")
            return
        raise NotCarriedError(f"{label} writes about something else than the page")
    entry: Entry = {
        "name": f"{row.case.title} ({row.case.id}, {label})",
        "verb": step.tool,
        "params": _filled(row, step.arguments),
    }
    if about_page:
        entry["requiresSeededEntity"] = True
    if _SYNTHESIZE in row.case.needs and step.tool == _SYNTHESIZE:
        entry["requiresSynthesizeFlag"] = True
    if step.refusal is not None:
        _carry_refusal(row, label, step, entry)
    else:
        _carry_success(row, label, step, entry)
    row.entries.append(entry)


def _carry_refusal(row: _Row, label: str, step: Call, entry: Entry) -> None:
    refusal = step.refusal
    assert refusal is not None
    if step.lenient:
        # The runner itself takes `unavailable` for an answer to a call that the user had to allow.
        if "requiresSynthesizeFlag" not in entry or refusal.codes != ("unavailable",):
            raise NotCarriedError(f"{label} may succeed or fail")
        row.weakened.append(f"{label}: what a success must be")
        return
    if len(refusal.codes) != 1:
        raise NotCarriedError(f"{label} has not one right error code")
    entry["expectErrorCode"] = refusal.codes[0]
    entry["expectSuggestion"] = _wants_suggestion(row.pack, step)
    row.weakened += [f"{label}: JSON-RPC error {code} is right too" for code in refusal.rpc]
    if step.checks:
        row.weakened.append(f"{label}: what else the error must be")


def _wants_suggestion(pack: Pack, step: Call) -> bool:
    """Whether the error has to carry a suggestion, by the step itself or by a standing check."""
    own = step.refusal.body if step.refusal is not None else None
    standing = [check.schema for check in pack.standing if check.on == "error" and applies(check, step, pack)]
    return any(isinstance(schema, dict) and "suggestion" in _demanded(schema) for schema in (own, *standing))


def _demanded(schema: dict[str, Json]) -> set[str]:
    """The members whose content a schema demands something of beyond a type."""
    properties = schema.get("properties", {})
    return {
        name
        for name in schema.get("required", ())
        if isinstance(properties.get(name), dict) and properties[name].keys() - {"type"}
    }


def _carry_success(row: _Row, label: str, step: Call, entry: Entry) -> None:
    response = _with_required(row.pack.tools[step.tool].response, step)
    shared = row.slug is not None
    items: list[Item] = []
    for standing in row.pack.standing:
        if standing.on == "success" and standing.schema is not None and applies(standing, step, row.pack):
            items += translate(standing.schema, response, shared=False).items
    for check in step.checks:
        if check.schema is not None:
            found = translate(check.schema, response, shared=shared)
            items += found.items
            row.weakened += [f"{label}: {what}" for what in found.left_out]
        if check.law is not None:
            row.weakened.append(f"{label}: the law {check.law}")
        for text in check.nowhere:
            if "{{" in text:
                row.weakened.append(f"{label}: nowhere")
            else:
                items += not_containing(text, response)
        row.weakened += [f"{label}: shows"] * len(check.shows)
    entry["validateSchema"] = not step.unjudged
    entry["expect"] = _once(items)
    if step.save:
        _carry_save(row, label, step.save, entry)


def _with_required(response: Json, step: Call) -> Json:
    """The response schema with what the step itself requires: members that need not be there always, but here."""
    own = [name for check in step.checks if isinstance(check.schema, dict) for name in check.schema.get("required", ())]
    return {**response, "required": [*response.get("required", ()), *own]}


def _carry_save(row: _Row, label: str, save: Mapping[str, str], entry: Entry) -> None:
    used = [name for name in save if _is_used(row.case, name)]
    if len(used) > 1:
        raise NotCarriedError(f"{label} saves two things")
    for name in used:
        row.keys[name] = f"c{row.number}{name}"
        entry["saveAs"] = {"key": row.keys[name], "path": save[name].removeprefix("/").replace("/", ".")}


def _is_used(case: Case, name: str) -> bool:
    """Whether a saved value is an argument of a later call; those in expectations cannot be carried anyway."""
    return any(name in placeholders(call.arguments) for call in case.calls())


def _once(items: Iterable[Item]) -> list[Item]:
    """Items without repetitions; a type says nothing beside an exact value at the same place."""
    unique = {json.dumps(item, sort_keys=True): item for item in items}.values()
    exact = {item["path"] for item in unique if "equals" in item or "oneOf" in item}
    return [item for item in unique if not ("type" in item and item["path"] in exact)]


def _filled(row: _Row, value: Json) -> Json:
    """Arguments with their placeholders in the format's form. Raises ``NotCarriedError`` for one that has none."""
    match value:
        case str():
            return _text(row, value)
        case list():
            return [_filled(row, item) for item in value]
        case dict():
            return {key: _filled(row, item) for key, item in value.items()}
        case _:
            return value


def _text(row: _Row, text: str) -> str:
    if "\\{{" in text:
        raise NotCarriedError("an argument has literal braces")
    text = _REPEAT.sub(lambda found: found[1] * int(found[2]), text)
    if row.slug is not None:
        text = text.replace(row.slug, SEEDED)
    parts = text.split(SEEDED) if row.slug is not None else [text]
    filled = SEEDED.join(_NAME.sub(lambda found: _reference(row, found[1]), part) for part in parts)
    for inner in re.findall(r"\{\{(.*?)\}\}", filled):
        if inner != "marker" and not inner.startswith("id:"):
            raise NotCarriedError(f"an argument is {{{{{inner}}}}}")
    return filled


def _reference(row: _Row, name: str) -> str:
    if name == "marker":
        return f"{{{{marker}}}}-{row.number}"
    if name == "now":
        raise NotCarriedError("an argument is the present instant")
    return f"{{{{id:{row.keys[name]}}}}}"
