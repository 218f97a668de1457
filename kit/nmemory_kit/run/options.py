"""What a run is asked to do."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..contract.pack import Recipe

_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


def new_run_id() -> str:
    """A word of its own for a run; each case's marker begins with it, so that nothing of two runs is mixed up."""
    return "nmk" + "".join(secrets.choice(_ALPHABET) for _ in range(6))


def unredacted(text: str) -> str:
    """The text as it is: for targets that were reached without a secret."""
    return text


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is asked to do, beside which cases."""

    #: How many cases may be under way at once.
    jobs: int = 8
    #: Seconds for a call.
    call_timeout: float = 30.0
    #: Seconds for the whole run.
    run_timeout: float = 900.0
    #: Whether expensive tools may be called.
    synthesize: bool = False
    #: The run's word.
    run: str = field(default_factory=new_run_id)
    #: The profile's ways of making things, over the pack's own.
    seeds: Mapping[str, Recipe] = field(default_factory=dict)
    #: Capabilities that the profile declares or denies.
    declared: Mapping[str, bool] = field(default_factory=dict)
    #: What the profile claims of the target.
    claims: frozenset[str] = frozenset()
    #: Whether the profile says that the target demands a token.
    auth_required: bool = False
    #: Where the run writes what it has made until it has taken it back; None for throw-away stores.
    ledger: Path | None = None
    #: The command that repeats the run, without secrets.
    reproduce: str = "nmemory protocol conformance"
    #: The profile's name, for the record.
    profile: str | None = None
    #: Names of the environment variables that the target was given.
    environment: tuple[str, ...] = ()
    #: Takes secrets out of a text.
    redact: Callable[[str], str] = unredacted
