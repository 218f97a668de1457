"""A place to do cases: one store of a target, and the connections to it, opened as they are needed."""

from __future__ import annotations

import asyncio

from ..target import Connection, Noise, Store, Target


class Place:
    """The connections to one store, one for each credential; a lost one is opened again on the next use."""

    def __init__(self, target: Target, store: Store | None = None) -> None:
        self._target = target
        self._store = store
        self._open: dict[str | None, Connection] = {}
        self._locks: dict[str | None, asyncio.Lock] = {}
        self._noise: list[Noise] = []
        #: How many connections were lost to the target's doing.
        self.losses = 0

    async def connection(self, credential: str | None = None) -> Connection:
        """The connection for a credential. Raises ``Unreachable``."""
        async with self._locks.setdefault(credential, asyncio.Lock()):
            known = self._open.get(credential)
            if known is not None and known.lost:
                self.losses += 1
                await self._leave(credential)
                known = None
            if known is None:
                known = await self._target.connect(store=self._store, credential=credential)
                self._open[credential] = known
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
        await asyncio.gather(*(self._leave(credential) for credential in tuple(self._open)))

    async def _leave(self, credential: str | None) -> None:
        connection = self._open.pop(credential)
        self._noise += connection.noise()
        await connection.close()
