"""A pack: one protocol version as data. Loading it from the files that ship with the kit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal

from .case import Case, Refusal
from .clause import Clause
from .freeze import pack_digest
from .reading import parse_case, parse_refusal

Json = Any


class PackError(Exception):
    """A pack that is not there or cannot be read; the message names it and what there is."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the protocol knows."""

    name: str
    description: str
    #: Whether a target must list it.
    required: bool
    #: JSON Schema of the arguments as the protocol demands them.
    params: Json
    #: JSON Schema of a success body.
    response: Json
    annotations: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class Standing:
    """A check that every answer undergoes unless a step opts out."""

    name: str
    clause: str
    on: Literal["success", "error", "any"]
    #: The tools whose answers it judges; None for all tools of the pack.
    tools: frozenset[str] | None
    schema: Json | None
    law: str | None
    #: The law's arguments.
    args: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to make a thing, or unmake it: a tool with a template of its arguments."""

    tool: str
    arguments: Json
    #: What to take out of an answer for the recipe, by JSON Pointer.
    save: Mapping[str, str] = field(default_factory=dict)
    #: Values for the placeholders that a case leaves open.
    defaults: Mapping[str, Json] = field(default_factory=dict)
    #: For taking back: an array in the answer of which each item is a thing; None where the answer is one.
    each: str | None = None
    #: For taking back: a schema that the answer, or the item, meets if the thing was made by this call.
    where: Json = True
    #: For taking back: a schema that the ``data`` of a JSON-RPC error meets if the thing was gone already.
    gone: Json = False

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Recipe:
        """Build a recipe from its JSON form."""
        return cls(
            tool=data["tool"],
            arguments=data["with"],
            save=data.get("save", {}),
            defaults=data.get("defaults", {}),
            each=data.get("each"),
            where=data.get("where", True),
            gone=data.get("gone", False),
        )


@dataclass(frozen=True, slots=True)
class Observation:
    """A trait of a target that is found out by a call: ``observed:<name>`` where the answer meets the schema,
    ``observed:no-<name>`` where it does not."""

    tool: str
    arguments: Json
    #: JSON Schema of the success body.
    schema: Json
    #: Capabilities without which it is not asked.
    needs: tuple[str, ...] = ()
    #: Calls that are made before it: tools with their arguments.
    first: tuple[tuple[str, Json], ...] = ()


@dataclass(frozen=True)
class Pack:
    """One protocol version: its tools, clauses, standing checks and cases."""

    protocol: str
    version: str
    #: The protocol's own name, and the number that rides its answers.
    name: str
    protocol_version: int
    title: str
    policy: str
    tools: Mapping[str, Tool]
    #: JSON Schema of an error, and the pointer to its code; None where errors have no envelope.
    error_schema: Json | None
    error_code: str | None
    #: The clause that demands the required tools.
    advertises: str
    standing: tuple[Standing, ...]
    #: Things that cases need and the protocol has no tool for, with the built-in way of making them.
    seeds: Mapping[str, Recipe]
    #: Tool that makes something -> how to take it back; of several recipes each one applies.
    cleanup: Mapping[str, tuple[Recipe, ...]]
    #: Errors by name, as steps refer to them.
    refusals: Mapping[str, Refusal]
    #: Traits that are found out once a target.
    observe: Mapping[str, Observation]
    clauses: Mapping[str, Clause]
    cases: tuple[Case, ...]
    #: Where its files are.
    root: Traversable = field(repr=False)
    #: MCP version -> code of a JSON-RPC error as the protocol has it -> the code that this version has for it.
    renumbered: Mapping[str, Mapping[int, int]] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """``<protocol>/<version>``, as case ids begin."""
        return f"{self.protocol}/{self.version}"

    @cached_property
    def digest(self) -> str:
        """``sha256:…`` over all of its files: the identity of the case set in a result file."""
        return pack_digest(self.root)

    @cached_property
    def required_tools(self) -> tuple[str, ...]:
        """The tools that a target must list."""
        return tuple(name for name, tool in self.tools.items() if tool.required)

    def refusal(self, refusal: Refusal) -> Refusal:
        """What a step's refusal says at length: where it is a name, the pack's of this name (placeholders unfilled)."""
        return refusal if refusal.named is None else self.refusals[refusal.named]


def pack_names() -> tuple[str, ...]:
    """The packs that ship with the kit, as ``<protocol>/<version>``."""
    found = [
        f"{protocol.name}/{version.name}"
        for protocol in files("nmemory_cases").iterdir()
        if protocol.is_dir()
        for version in protocol.iterdir()
        if version.is_dir() and (version / "pack.json").is_file()
    ]
    return tuple(sorted(found))


def load_pack(name: str) -> Pack:
    """Load a pack by ``<protocol>`` (its newest version) or ``<protocol>/<version>``. Raises ``PackError``."""
    candidates = [path for path in pack_names() if path == name or path.rpartition("/")[0] == name]
    if not candidates:
        raise PackError(f"there is no pack {name!r}; there are: {', '.join(pack_names()) or 'none'}")
    protocol, _, version = candidates[-1].partition("/")
    return read_pack(files("nmemory_cases") / protocol / version)


def read_pack(root: Traversable) -> Pack:
    """Read a pack from its folder. The files are trusted here; the linter is what checks them."""
    data = _read(root / "pack.json")
    path = f"{data['protocol']}/{data['version']}"
    errors = data.get("errors") or {}
    cases = [parse_case(document, path) for _, document in case_documents(root)]
    return Pack(
        protocol=data["protocol"],
        version=data["version"],
        name=data["name"],
        protocol_version=data["protocol_version"],
        title=data["title"],
        policy=data["versioning_policy"],
        tools={name: _tool(root, name, tool) for name, tool in data["tools"].items()},
        error_schema=_schema(root, errors.get("envelope")),
        error_code=errors.get("code"),
        advertises=data["advertises"],
        standing=tuple(_standing(root, standing) for standing in data["standing"]),
        seeds={kind: Recipe.of(recipe) for kind, recipe in data.get("seeds", {}).items()},
        cleanup={tool: _recipes(recipes) for tool, recipes in data.get("cleanup", {}).items()},
        refusals={name: parse_refusal(refusal) for name, refusal in data.get("refusals", {}).items()},
        observe={name: _observation(observation) for name, observation in data.get("observe", {}).items()},
        clauses={clause["id"]: Clause.of(clause) for clause in _clause_documents(root)},
        cases=tuple(sorted(cases, key=lambda case: case.path)),
        root=root,
        renumbered={
            version: {int(code): other for code, other in codes.items()}
            for version, codes in errors.get("renumbered", {}).items()
        },
    )


def case_documents(root: Traversable) -> list[tuple[str, Json]]:
    """Every case document of a pack folder, with its path below the folder, sorted."""
    found: list[tuple[str, Json]] = []
    for area in (root / "cases").iterdir():
        if area.is_dir():
            found += [
                (f"cases/{area.name}/{file.name}", _read(file))
                for file in area.iterdir()
                if file.name.endswith(".json")
            ]
    return sorted(found, key=lambda item: item[0])


def _clause_documents(root: Traversable) -> list[Json]:
    """Every clause of a pack folder, area by area."""
    areas = sorted((root / "clauses").iterdir(), key=lambda area: area.name)
    return [clause for area in areas for clause in _read(area)["clauses"]]


def _recipes(data: Any) -> tuple[Recipe, ...]:
    return tuple(map(Recipe.of, data if isinstance(data, list) else [data]))


def _tool(root: Traversable, name: str, data: Mapping[str, Any]) -> Tool:
    return Tool(
        name=name,
        description=data["description"],
        required=data.get("required", False),
        params=_schema(root, data["params"]),
        response=_schema(root, data["response"]),
        annotations=data.get("annotations", {}),
    )


def _standing(root: Traversable, data: Mapping[str, Any]) -> Standing:
    return Standing(
        name=data["name"],
        clause=data["clause"],
        on=data["on"],
        tools=frozenset(data["tools"]) if "tools" in data else None,
        schema=_schema(root, data.get("schema")),
        law=data.get("law"),
        args=data.get("args", {}),
    )


def _observation(data: Mapping[str, Any]) -> Observation:
    return Observation(
        tool=data["call"],
        arguments=data["with"],
        schema=data["expect"],
        needs=tuple(data.get("needs", ())),
        first=tuple((call["call"], call["with"]) for call in data.get("first", ())),
    )


def _schema(root: Traversable, schema: Json) -> Json:
    """A schema given in place, or by the name of its file."""
    return _read(root / "schemas" / schema) if isinstance(schema, str) else schema


def _read(file: Traversable) -> Json:
    return json.loads(file.read_text(encoding="utf-8"))
