"""Places to do a case: the stores of a target, and the connections to each, opened as they are needed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from ..contract.case import MAIN
from ..target import Blame, Connection, Fault, FaultKind, Noise, Store, Target, Unreachable

#: A credential, and the name under which the kit asks; None is the default one.
Key = tuple[str | None, str | None]


class Place:
    """The connections to one store, one for each caller; a lost one is opened again on the next use.

    A store behind a command is never given to two processes for the sake of another client's name: the one ends
    before the other begins, so the requests of several clients must not overlap there.
    """

    def __init__(self, target: Target, store: Store | None = None) -> None:
        self._target = target
        self._store = store
        self._open: dict[Key, Connection] = {}
        self._locks: dict[Key, asyncio.Lock] = {}
        self._noise: list[Noise] = []
        #: How many connections were lost to the target's doing.
        self.losses = 0

    @property
    def file(self) -> Path | None:
        """The file of the store, where the kit has made its place."""
        return self._target.store_file(self._store)

    async def connection(self, credential: str | None = None, client: str | None = None) -> Connection:
        """The connection for a caller. Raises ``Unreachable``."""
        key = (credential, client)
        async with self._locks.setdefault(key, asyncio.Lock()):
            known = self._open.get(key)
            if known is not None and known.lost:
                self.losses += 1
                await self._leave(key)
                known = None
            if known is None:
                if self._target.kind == "stdio":
                    await self._leave_all(other for other in self._open if other[1] != client)
                known = await self._target.connect(store=self._store, credential=credential, client=client)
                self._open[key] = known
            return known

    async def restart(self) -> None:
        """End every connection and open the main one again on the same store. Raises ``Unreachable``."""
        await self.close()
        await self.connection()

    def noise(self) -> tuple[Noise, ...]:
        """What the target has sent here that belongs to no request."""
        return (*self._noise, *(noise for connection in self._open.values() for noise in connection.noise()))

    async def close(self) -> None:
        """End every connection."""
        await self._leave_all(self._open)

    async def _leave_all(self, keys: Iterable[Key]) -> None:
        await asyncio.gather(*(self._leave(key) for key in tuple(keys)))

    async def _leave(self, key: Key) -> None:
        connection = self._open.pop(key)
        self._noise += connection.noise()
        await connection.close()


class Places:
    """The stores of one case by name: its own one, and fresh ones that are made as they are named."""

    def __init__(self, target: Target, main: Place) -> None:
        self._target = target
        self._places = {MAIN: main}

    def place(self, name: str) -> Place:
        """The store of a name. Raises ``Unreachable`` where the target cannot give another."""
        if name not in self._places:
            store = self._target.fresh_store()
            if store is None:
                raise Unreachable(Fault(FaultKind.UNREACHABLE, Blame.KIT, "the target cannot give a second store"))
            self._places[name] = Place(self._target, store)
        return self._places[name]

    def noise(self) -> tuple[Noise, ...]:
        """What came from the stores that were made here."""
        return tuple(noise for name, place in self._places.items() if name != MAIN for noise in place.noise())

    async def close(self) -> None:
        """End the connections to the stores that were made here."""
        await asyncio.gather(*(place.close() for name, place in self._places.items() if name != MAIN))
