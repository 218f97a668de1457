"""Finishing the clean-up of runs that crashed: only what their ledgers name is taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..target import Target
from .ledger import Ledger, LedgerHeld
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
    #: Whether the run is still under way, so that nothing of it was touched.
    under_way: bool = False


async def clean_up(target: Target, ledgers: Sequence[Path], options: Options) -> tuple[Cleaned, ...]:
    """Take back what the ledgers name. Raises ``Unreachable`` where the target is not there; nothing is lost then."""
    place = Place(target)
    opened = {path: _load(path) for path in ledgers}
    done: list[Cleaned] = []
    try:
        if any(opened.values()):
            await place.connection()
        for path, ledger in opened.items():
            done.append(Cleaned(path, 0, (), under_way=True) if ledger is None else await _one(place, ledger, options))
    finally:
        for ledger in filter(None, opened.values()):
            ledger.close()
        await place.close()
    return tuple(done)


def _load(path: Path) -> Ledger | None:
    """The ledger in a file, or None where its run is still under way."""
    try:
        return Ledger.load(path)
    except LedgerHeld:
        return None


async def _one(place: Place, ledger: Ledger, options: Options) -> Cleaned:
    async def call(tool: str, arguments: object, *, credential: str | None = None) -> object:
        connection = await place.connection(credential)
        params = {"name": tool, "arguments": arguments}
        return await connection.request("tools/call", params, timeout=options.call_timeout)

    before = len(ledger.there())
    await take_back(ledger, call)
    left = ledger.there()
    assert ledger.path is not None
    return Cleaned(ledger.path, before - len(left), tuple(f"{made.case}: {made.what}" for made in left))
