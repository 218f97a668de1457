"""How a server is set up."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from nmemory_reference.errors import ConfigError
from nmemory_reference.tools.tool import Surface

SURFACES: Final[tuple[Surface, ...]] = ("verbs", "full")


def default_db() -> Path:
    """Where the memory is unless told otherwise: NMEMORY_DB, else in the user's state folder."""
    if named := os.environ.get("NMEMORY_DB"):
        return Path(named)
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "nmemory" / "memory.sqlite3"


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one server. Raises ConfigError where one makes no sense."""

    #: The SQLite file; it and its folders are created where they are missing.
    db: Path
    surface: Surface = "full"
    #: The default project of tools that have projects.
    project: str | None = None
    #: `none`, `hash` (built in), or the URL of an OpenAI-compatible endpoint (…/v1).
    embeddings: str = "none"
    embeddings_model: str | None = None
    embeddings_key: str | None = field(default=None, repr=False)
    #: `none`, or the URL of an OpenAI-compatible endpoint.
    llm: str = "none"
    llm_model: str | None = None
    llm_key: str | None = field(default=None, repr=False)
    #: The bearer tokens of HTTP callers; None lets everybody in.
    tokens: Path | None = None
    #: The log of verb calls; `beside` is next to `db`, None is off.
    usage_log: Path | Literal["beside"] | None = "beside"
    #: Whether the caller on stdio is remote, and so never sees what is private; callers on HTTP always are.
    remote: bool = True
    #: Whether an answer waits until its change is on the disk; False is for stores that are thrown away.
    durable: bool = True

    def __post_init__(self) -> None:
        if self.surface not in SURFACES:
            raise ConfigError(
                f"Unknown surface {self.surface!r}",
                "the surfaces are " + " and ".join(SURFACES),
                "Use --surface verbs or --surface full.",
            )
        if str(self.db) == ":memory:":
            raise ConfigError("Can't serve from memory alone", "the store is a file", "Name a file with --db.")
        _check_model("embeddings", self.embeddings, self.embeddings_model, words=("none", "hash"))
        _check_model("llm", self.llm, self.llm_model, words=("none",))

    @property
    def usage_path(self) -> Path | None:
        """The file of the usage log."""
        if self.usage_log == "beside":
            return self.db.with_name(self.db.name + ".usage.jsonl")
        return self.usage_log


def _check_model(setting: str, value: str, model: str | None, *, words: tuple[str, ...]) -> None:
    if value in words:
        return
    try:
        url = urlsplit(value)
        is_url = url.scheme in {"http", "https"} and bool(url.hostname)
    except ValueError:
        is_url = False
    if not is_url:
        raise ConfigError(
            f"Can't use --{setting} as given",
            f"it is neither {' nor '.join(words)} nor an http(s) URL",
            f"Use --{setting} {'|'.join(words)}, or the URL of an OpenAI-compatible endpoint ending in /v1.",
        )
    if not model:
        raise ConfigError(
            f"--{setting} names an endpoint but no model",
            "an endpoint serves several",
            f"Add --{setting}-model NAME.",
        )
