"""Worker processes and Ctrl-C, which reaches all of them at once: only the one that the user started tells it."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def deaf_children() -> Iterator[None]:
    """Processes that are started inside do not hear Ctrl-C until they call ``hear``."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def hear() -> None:
    """In a worker: end quietly on Ctrl-C from now on."""
    signal.signal(signal.SIGINT, _end)


def _end(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + signal.SIGINT)
