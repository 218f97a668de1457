"""Where the kit keeps its own files: result files of runs, and ledgers of what they made."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..target import Target


def state() -> Path:
    """The folder of the kit's own files: ``$XDG_STATE_HOME/nmemory``, or ``~/.local/state/nmemory``."""
    named = os.environ.get("XDG_STATE_HOME")
    return (Path(named) if named else Path.home() / ".local" / "state") / "nmemory"


def ledgers(target: "Target") -> Path:
    """The folder of the ledgers of runs against this very target.

    Kept apart by target, so that a clean-up never takes an id to a server that did not give it out.
    """
    import hashlib

    who = "\n".join((target.kind, target.display, *target.where))
    return state() / "ledgers" / hashlib.sha256(who.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def ledger(target: "Target", run: str) -> Path | None:
    """Where a run writes down what it makes: nowhere for a throw-away store, nor where the kit's folder is closed."""
    if target.disposable:
        return None
    folder = ledgers(target)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder / f"{run}.jsonl"
