"""How long and how much the kit lets a target take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds for one target, in seconds and bytes."""

    #: Seconds from starting a process, or from the first byte sent, to the end of the handshake. Generous,
    #: because a slow first start (an index that is built, a model that is loaded) is a warm-up and not a
    #: failure.
    start: float = 60.0
    #: Seconds for one request.
    call: float = 30.0
    #: Seconds for a whole run; None for no such limit.
    run: float | None = None
    #: Seconds a process gets to end after its stdin is closed, and again after SIGTERM.
    grace: float = 2.0
    #: Bytes of one message at most.
    frame: int = 32 * 1024 * 1024

    @property
    def frame_shown(self) -> str:
        """The size of a message at most, for people."""
        return f"{self.frame // 2**20} MiB" if self.frame >= 2**20 else f"{self.frame} bytes"
