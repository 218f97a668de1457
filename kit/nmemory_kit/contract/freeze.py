"""Freezing packs: ``frozen.lock`` beside them holds a digest of everything that a target is judged by.

A case that changes under a server that was certified by it makes the certificate worthless. So adding is allowed; a
case, clause, schema, tool or standing check that was changed or removed is a fault until it is frozen on purpose.

What is digested is canonical JSON: members sorted, no white space. Reformatting a file changes nothing.
A file of clauses counts a clause at a time and ``pack.json`` an entry at a time: one can be added beside the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

Json = Any

LOCK = "frozen.lock"
_FORMAT = 1
_COMMAND = "nmemory protocol freeze"


class FrozenError(Exception):
    """Frozen entries would change, or the lock cannot be used; the message says which and what to do."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How the packs differ from their lock; names as in ``memory-verbs/v1/cases/remember/remember-x.json``."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def pack_digest(root: Traversable) -> str:
    """``sha256:…`` over everything in a pack's folder: the identity of the case set in a result file."""
    return _digest_of(_entries(root))


def difference(root: Traversable | None = None) -> Difference:
    """How the packs under ``root`` (those of the kit, where None) differ from its lock. Raises ``FrozenError``."""
    root = root or files("nmemory_cases")
    locked = _flat(_read_lock(root))
    found = _flat({name: _entries(folder) for name, folder in _packs(root)})
    return Difference(
        added=tuple(sorted(found.keys() - locked.keys())),
        changed=tuple(sorted(name for name in found.keys() & locked.keys() if found[name] != locked[name])),
        removed=tuple(sorted(locked.keys() - found.keys())),
    )


def check(root: Traversable | None = None) -> list[str]:
    """What is not as it was frozen, a sentence each with what to do; empty if nothing."""
    try:
        found = difference(root)
    except FrozenError as error:
        return [str(error)]
    return [
        *(f"{name} was changed since it was frozen: undo it, or add a new one beside it" for name in found.changed),
        *(f"{name} was removed since it was frozen: put it back" for name in found.removed),
        *(f"{name} is new: freeze it with `{_COMMAND}`" for name in found.added),
    ]


def freeze(root: Traversable | None = None, *, force: bool = False) -> Difference:
    """Write the lock: what is new is added to it. Answers what differed before.

    Raises ``FrozenError``, and writes nothing, where a frozen entry was changed or removed. ``force`` freezes that
    too; it is for packs that no release has carried yet.
    """
    root = root or files("nmemory_cases")
    packs = {name: _entries(folder) for name, folder in _packs(root)}
    found = difference(root) if (root / LOCK).is_file() else Difference(added=tuple(sorted(_flat(packs))))
    lost = [*(f"{name} (changed)" for name in found.changed), *(f"{name} (removed)" for name in found.removed)]
    if lost and not force:
        raise FrozenError(
            "nothing was frozen, for a released pack never changes: " + ", ".join(lost) + ". Undo that, or add new "
            "entries beside the old ones"
        )
    lock = {
        "format": _FORMAT,
        "packs": {
            name: {"digest": _digest_of(entries), "entries": dict(sorted(entries.items()))}
            for name, entries in sorted(packs.items())
        },
    }
    _write(Path(str(root / LOCK)), json.dumps(lock, indent=1) + "\n")
    return found


def _entries(root: Traversable) -> dict[str, str]:
    """Every entry of a pack with its digest (hexadecimal SHA-256)."""
    return {
        entry: sha256(_canonical(part)).hexdigest()
        for file, data in _documents(root, "")
        for entry, part in _parts(file, data)
    }


def _documents(folder: Traversable, prefix: str) -> Iterator[tuple[str, Json]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _documents(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".json"):
            try:
                yield prefix + entry.name, json.loads(entry.read_bytes())
            except ValueError as error:
                raise FrozenError(f"{prefix}{entry.name} is not JSON, so it cannot be frozen: {error}") from error


def _parts(file: str, data: Json) -> Iterator[tuple[str, Json]]:
    """The entries that a file counts as."""
    if file.startswith("clauses/"):
        for clause in data["clauses"]:
            yield f"clauses/{clause['id']}", clause
    elif file == "pack.json":
        for member, value in data.items():
            if isinstance(value, dict):
                yield from ((f"{file}#{member}/{name}", part) for name, part in value.items())
            elif isinstance(value, list):
                yield from ((f"{file}#{member}/{part['name']}", part) for part in value)
            else:
                yield f"{file}#{member}", value
    else:
        yield file, data


def _canonical(value: Json) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _digest_of(entries: Mapping[str, str]) -> str:
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(entries.items()))
    return "sha256:" + sha256(lines.encode()).hexdigest()


def _packs(root: Traversable) -> Iterator[tuple[str, Traversable]]:
    for protocol in root.iterdir():
        if protocol.is_dir():
            for version in protocol.iterdir():
                if version.is_dir() and (version / "pack.json").is_file():
                    yield f"{protocol.name}/{version.name}", version


def _read_lock(root: Traversable) -> dict[str, dict[str, str]]:
    try:
        lock = json.loads((root / LOCK).read_text(encoding="utf-8"))
        if lock["format"] != _FORMAT:
            raise FrozenError(f"{LOCK} has format {lock['format']}; this kit reads format {_FORMAT}")
        return {name: pack["entries"] for name, pack in lock["packs"].items()}
    except FileNotFoundError:
        raise FrozenError(f"there is no {LOCK}: make it with `{_COMMAND}`") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FrozenError(f"{LOCK} is damaged ({error!r}): take it back from version control") from error


def _flat(packs: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    return {f"{pack}/{entry}": digest for pack, entries in packs.items() for entry, digest in entries.items()}


def _write(file: Path, text: str) -> None:
    part = file.with_name(file.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(file)
