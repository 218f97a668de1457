"""Finishing the clean-up of runs that crashed: only what their ledgers name is taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..target import Target
from .ledger import Ledger
from .options import Options
from .place import Place
from .session import take_back


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What a clean-up did with one ledger."""

    ledger: Path
    taken_back: int
    #: What stays behind, in words.
    left: tuple[str, ...]


async def clean_up(target: Target, ledgers: Sequence[Path], options: Options) -> tuple[Cleaned, ...]:
    """Take back what the ledgers name. Raises ``Unreachable`` where the target is not there; nothing is lost then."""
    place = Place(target)
    done: list[Cleaned] = []
    try:
        await place.connection()
        for path in ledgers:
            done.append(await _one(place, path, options))
    finally:
        await place.close()
    return tuple(done)


async def _one(place: Place, path: Path, options: Options) -> Cleaned:
    async def call(tool: str, arguments: object, *, credential: str | None = None) -> object:
        connection = await place.connection(credential)
        params = {"name": tool, "arguments": arguments}
        return await connection.request("tools/call", params, timeout=options.call_timeout)

    ledger = Ledger.load(path)
    before = len(ledger.there())
    await take_back(ledger, call)
    left = ledger.there()
    ledger.close()
    return Cleaned(path, before - len(left), tuple(f"{made.case}: {made.what}" for made in left))
