"""What must not stay behind when the kit itself is ended: processes of targets, throw-away stores.

In the ordinary course whoever makes such a thing removes it. Here stands the way out for the rest: the
interpreter ends with an event loop torn down half-way (``atexit``), or the kit is sent SIGTERM or SIGHUP. The
signal handlers are there only while something is kept, only where nobody else has set one, and they end the
process by the same signal once all is removed, so that whoever sent it sees what they expect. SIGKILL leaves
no time for anything.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_kept: dict[object, Callable[[], None]] = {}
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


def keep(key: object, remove: Callable[[], None]) -> None:
    """Have ``remove`` called if the kit ends before ``forget(key)``."""
    if not _kept:
        _install()
    _kept[key] = remove


def forget(key: object) -> None:
    """The thing is gone."""
    _kept.pop(key, None)
    if not _kept:
        _uninstall()


def remove_all() -> None:
    """Remove everything that is still there, the newest first."""
    while _kept:
        _, remove = _kept.popitem()
        with contextlib.suppress(OSError):
            remove()


def _install() -> None:
    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _on_signal)


def _uninstall() -> None:
    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            if signal.getsignal(number) is _on_signal:
                signal.signal(number, signal.SIG_DFL)


def _on_signal(number: int, _frame: FrameType | None) -> None:
    remove_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


atexit.register(remove_all)
if hasattr(os, "register_at_fork"):
    # What is kept belongs to the process that made it, not to a copy of it.
    os.register_at_fork(after_in_child=_kept.clear)
