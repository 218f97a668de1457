"""The linter of packs; ``python -m nmemory_kit.contract.lint [FOLDER...]``.

Every rule is here because the fault that it finds is silent otherwise: a misspelt keyword that JSON Schema
ignores, a clause that nothing decides, an absence that an empty answer would meet. It reads files and runs nothing.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from .case import Case
from .case_rules import capability_problem, case_problems, law_problems, refusal_problems, tool_problems
from .clause import Clause
from .grammar import nearest, parse_json, schema_violations, violations
from .pack import Pack, pack_names, read_pack

Json = Any

_PLACES = ("cases/<area>/<id>.json", "clauses/<area>.json", "schemas/<name>.json")


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A fault in a file of a pack."""

    #: Relative to the pack's folder.
    file: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.message}"


def lint(root: Traversable) -> list[Problem]:
    """Every problem of the pack in a folder, sorted by file; none is the only good answer.

    Files that break their grammar are reported first and alone: what they mean can't be told.
    """
    documents, problems = _read_all(root)
    problems += _grammar_problems(documents)
    if problems:
        return sorted(set(problems))
    pack = read_pack(root)
    by_file = {name: data for name, data in documents.items() if name.startswith("cases/")}
    problems += _pack_problems(pack, documents)
    for (file, data), case in zip(sorted(by_file.items(), key=_id), pack.cases, strict=True):
        problems += [Problem(file, message) for message in case_problems(case, data, pack)]
        problems += [Problem(file, message) for message in _place_problems(file, case)]
    problems += _clause_problems(pack, documents)
    return sorted(set(problems))


def _read_all(root: Traversable) -> tuple[dict[str, Json], list[Problem]]:
    """Every JSON file of a pack by its relative name, and what cannot be read or does not belong."""
    documents: dict[str, Json] = {}
    problems: list[Problem] = []
    for name, file in sorted(_files(root, "")):
        if not name.endswith(".json"):
            problems.append(Problem(name, "only .json files belong in a pack"))
            continue
        try:
            documents[name] = parse_json(file.read_text(encoding="utf-8"))
        except ValueError as error:
            problems.append(Problem(name, f"this is not JSON that can be used: {error}"))
    if "pack.json" not in documents:
        problems.append(Problem("pack.json", "a pack needs this file"))
    if not any(name.startswith("clauses/") for name in documents):
        problems.append(Problem("clauses", "a pack needs clauses, in clauses/<area>.json"))
    return documents, problems


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry


def _grammar_problems(documents: Mapping[str, Json]) -> Iterator[Problem]:
    for name, data in documents.items():
        folder, depth = name.partition("/")[0], name.count("/")
        if name == "pack.json":
            found = violations(data, "pack") + [
                f"schema {schema!r} is not in schemas/"
                for schema in sorted(_schema_files(data))
                if f"schemas/{schema}" not in documents
            ]
        elif folder == "clauses" and depth == 1:
            found = violations(data, "clauses")
        elif folder == "schemas" and depth == 1:
            found = schema_violations(data)
        elif folder == "cases" and depth == 2:
            found = violations(data, "case")
        else:
            found = [f"this file is in no place where a pack has one: {', '.join(_PLACES)}"]
        yield from (Problem(name, message) for message in found)


def _pack_problems(pack: Pack, documents: Mapping[str, Json]) -> Iterator[Problem]:
    data = documents["pack.json"]
    for schema in sorted(name for name in documents if name.startswith("schemas/")):
        if schema.removeprefix("schemas/") not in _schema_files(data):
            yield Problem(schema, "pack.json does not use this schema")
    messages: list[str] = []
    for place, schema in _inline_schemas(data):
        messages += [f"{place}: {found}" for found in schema_violations(schema)]
    for standing in pack.standing:
        where = f"standing check {standing.name!r}"
        if standing.clause not in pack.clauses:
            messages.append(f"{where}: there is no clause {standing.clause!r}{nearest(standing.clause, pack.clauses)}")
        messages += [f"{where}: {found}" for found in law_problems(standing.law)]
        messages += [f"{where}: {found}" for found in tool_problems(standing.tools or (), pack)]
    if pack.advertises not in pack.clauses:
        messages.append(f"advertises: there is no clause {pack.advertises!r}{nearest(pack.advertises, pack.clauses)}")
    messages += [f"standing check {name!r} stands twice" for name in _twice(one.name for one in pack.standing)]
    for name, refusal in pack.refusals.items():
        messages += [f"refusal {name!r}: {found}" for found in refusal_problems(refusal, pack)]
    messages += [f"cleanup: {found}" for found in tool_problems(pack.cleanup, pack)]
    messages += [
        f"cleanup of {tool}: {found}"
        for tool, recipes in pack.cleanup.items()
        for recipe in recipes
        for found in (
            *tool_problems((recipe.tool,), pack),
            *schema_violations(recipe.where),
            *schema_violations(recipe.gone),
        )
    ]
    for name, observation in pack.observe.items():
        needs = [found for need in observation.needs if (found := capability_problem(need, pack))]
        messages += [f"observe {name!r}: {found}" for found in (*tool_problems((observation.tool,), pack), *needs)]
    yield from (Problem("pack.json", message) for message in messages)


def _id(item: tuple[str, Json]) -> str:
    """The key that puts documents in the order of a pack's cases."""
    return str(item[1]["id"])


def _place_problems(file: str, case: Case) -> Iterator[str]:
    _, area, name = file.split("/")
    if name != f"{case.id}.json":
        yield f"the file is not named after its id {case.id!r}"
    if not case.id.startswith(f"{area}-"):
        yield f"the id {case.id!r} does not begin with its area, {area!r}"


def _clause_problems(pack: Pack, documents: Mapping[str, Json]) -> Iterator[Problem]:
    files = {name: data["clauses"] for name, data in documents.items() if name.startswith("clauses/")}
    for file, clauses in files.items():
        area = file.removeprefix("clauses/").removesuffix(".json")
        strangers = [clause["id"] for clause in clauses if clause["id"].split("/")[1] != area]
        yield from (Problem(file, f"{stranger} belongs to another area") for stranger in strangers)
    for twice in _twice(clause["id"] for clauses in files.values() for clause in clauses):
        yield Problem("clauses", f"{twice} stands twice")
    named = {clause for case in pack.cases for clause in case.clauses}
    for clause in pack.clauses.values():
        for capability in clause.where:
            if found := capability_problem(capability, pack):
                yield Problem(_clause_file(clause), f"{clause.id}: where: {found}")
        if clause.excluded and clause.id in named:
            yield Problem(_clause_file(clause), f"{clause.id} is excluded, but a case names it")
        if not clause.excluded and clause.id not in named:
            yield Problem(_clause_file(clause), f"{clause.id} has no case, and no reason in `excluded`")
    for place in _twice(case.id for case in pack.cases):
        yield Problem("cases", f"two cases have the id {place!r}")


def _clause_file(clause: Clause) -> str:
    return f"clauses/{clause.id.split('/')[1]}.json"


def _schema_files(data: Mapping[str, Json]) -> set[str]:
    """The names of the schema files that a pack.json uses."""
    return {schema for _, schema in _schemas(data) if isinstance(schema, str)}


def _inline_schemas(data: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    yield from ((place, schema) for place, schema in _schemas(data) if not isinstance(schema, str))


def _schemas(data: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    for name, tool in data.get("tools", {}).items():
        yield f"tool {name!r} params", tool.get("params", {})
        yield f"tool {name!r} response", tool.get("response", {})
    yield "errors", data.get("errors", {}).get("envelope", {})
    for standing in data.get("standing", ()):
        yield f"standing check {standing.get('name')!r}", standing.get("schema", {})
    for name, observation in data.get("observe", {}).items():
        yield f"observe {name!r}", observation.get("expect", {})


def _twice(names: Iterable[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def main(arguments: list[str]) -> int:
    """Lint the folders that are named, or every pack of the kit; print the problems. 0 if there are none."""
    shipped = (files("nmemory_cases").joinpath(*name.split("/")) for name in pack_names())
    roots: list[Traversable] = [*map(Path, arguments)] or [*shipped]
    problems = [f"{root}/{problem}" for root in roots for problem in lint(root)]
    print("\n".join(problems) or f"no problems in {len(roots)} packs")  # noqa: T201
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
