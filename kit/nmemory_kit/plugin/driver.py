"""Doing cases from synchronous code: a thread with an event loop that owns the session with the target."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from ..contract import Case, Pack
from ..run.conduct import PATIENCE, silent
from ..run.options import Options
from ..run.result import CaseResult, TargetIdentity
from ..run.session import Session, not_run
from ..target import Reply, Target


class Driver:
    """One open session with a target. Its methods may be called from the thread that opened it."""

    def __init__(self, target: Target, packs: Sequence[Pack], options: Options, limit: float | None = None) -> None:
        """``limit`` is how many seconds all cases together may take, from the first one on; None for no such limit."""
        self._target, self._packs, self._options = target, packs, options
        self._limit = limit
        self._deadline: float | None = None
        self._opened: Future[Session] = Future()
        self._results: dict[str, Future[CaseResult]] = {}
        self._batches: set[asyncio.Task[None]] = set()
        self._silent = 0
        #: Why no further case is done, or None.
        self.stopped: str | None = None
        #: What stays behind in the target, and what it sent that belongs to no request; known after ``close``.
        self.left: tuple[str, ...] = ()
        self.noise: tuple[str, ...] = ()
        self._begun = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._keeper: asyncio.Task[None]
        self._enough: asyncio.Event
        self._thread = threading.Thread(target=self._run, name="nmemory", daemon=True)

    def open(self) -> None:
        """Reach the target. Raises ``Unreachable``, and ``NotATarget`` where it gives no list of tools."""
        self._thread.start()
        try:
            self._opened.result()
        except KeyboardInterrupt:
            self.close()
            raise

    @property
    def identity(self) -> TargetIdentity:
        """Who answers."""
        return self._opened.result().identity

    @property
    def capabilities(self) -> frozenset[str]:
        """What the target can do."""
        return self._opened.result().capabilities

    def result(self, case: Case, ahead: Sequence[Case] = ()) -> CaseResult:
        """The result of a case. Those ``ahead`` are begun with it, as many at once as the options allow."""
        if case.path not in self._results:
            fresh = [one for one in (case, *ahead) if one.path not in self._results]
            self._results |= {one.path: Future() for one in fresh}
            self._loop.call_soon_threadsafe(self._begin, list({one.path: one for one in fresh}.values()))
        return self._results[case.path].result()

    def ask(self, tool: str, arguments: Mapping[str, Any], credential: str | None = None) -> Reply:
        """A call of one's own. Raises ``Unreachable``."""
        session = self._opened.result()
        call = session.call(tool, arguments, credential=credential)
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()

    def close(self) -> None:
        """Drop what is under way, take back what was made, and end the target's processes."""
        if self._thread.is_alive():
            self._begun.wait()
            with contextlib.suppress(RuntimeError):  # it has just come to its end by itself
                self._loop.call_soon_threadsafe(self._enough.set if self._opened.done() else self._keeper.cancel)
            self._thread.join()

    def _run(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(self._keep())

    async def _keep(self) -> None:
        self._loop, self._enough = asyncio.get_running_loop(), asyncio.Event()
        self._keeper = asyncio.current_task()  # type: ignore[assignment]
        self._begun.set()
        try:
            try:
                session = await Session.open(self._target, self._packs, self._options)
            except Exception as error:  # noqa: BLE001 the thread that opens hears of it
                self._opened.set_exception(error)
                return
            self._opened.set_result(session)
            try:
                await self._enough.wait()
                for batch in self._batches:
                    batch.cancel()
                await asyncio.gather(*self._batches, return_exceptions=True)
            finally:
                self.left = await session.close()
                self.noise = session.noise()
        finally:
            await self._target.close()

    def _begin(self, cases: Sequence[Case]) -> None:
        if self._limit is not None and self._deadline is None:
            self._deadline = self._loop.time() + self._limit
        batch = self._loop.create_task(self._do_all(cases))
        self._batches.add(batch)
        batch.add_done_callback(self._batches.discard)

    async def _do_all(self, cases: Sequence[Case]) -> None:
        gate = asyncio.Semaphore(self._options.jobs)
        for wave in self._opened.result().waves(cases):
            await asyncio.gather(*(self._do(case, gate) for case in wave))

    async def _done_in_time(self, case: Case) -> CaseResult:
        try:
            async with asyncio.timeout_at(self._deadline):
                result = await self._opened.result().do(case)
        except TimeoutError:
            self.stopped = f"the cases were not done within {self._limit:g} s"
            return not_run(case, self.stopped)
        self._silent = self._silent + 1 if silent(result) else 0
        if self._silent >= PATIENCE:
            self.stopped = f"the target gave no answer in {PATIENCE} cases in a row"
        return result

    async def _do(self, case: Case, gate: asyncio.Semaphore) -> None:
        future = self._results[case.path]
        try:
            async with gate:
                result = not_run(case, self.stopped) if self.stopped else await self._done_in_time(case)
            future.set_result(result)
        except asyncio.CancelledError:
            future.cancel()
            raise
        except Exception as error:  # noqa: BLE001 a fault of the kit's: whoever waits for the result hears of it
            future.set_exception(error)
