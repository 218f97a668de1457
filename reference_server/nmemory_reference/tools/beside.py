"""Running what computes for long beside the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


async def beside(work: Callable[[], Value]) -> Value:
    """What `work` gives, or raises, in a thread of its own.

    Unlike the threads of the event loop's own pool, it keeps nobody waiting who wants to stop: a server that is told to
    end does so, and a cancelled call is given up.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Value] = loop.create_future()

    def settle(value: Value | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(value)  # type: ignore[arg-type]
        else:
            done.set_exception(error)

    def run() -> None:
        value, error = None, None
        try:
            value = work()
        except Exception as raised:  # noqa: BLE001  (it is the caller's to handle)
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody waits any more
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=run, name="beside", daemon=True).start()
    return await done
