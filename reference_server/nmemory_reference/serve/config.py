"""How a server is set up."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from nmemory_reference.errors import ConfigError
from nmemory_reference.tools.tool import Surface

SURFACES: Final[tuple[Surface, ...]] = ("verbs", "memory", "full")


def default_db(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the memory is unless told otherwise: NMEMORY_DB, else in the user's state folder."""
    if named := _variable(environment, "NMEMORY_DB"):
        return Path(named)
    if state := _variable(environment, "XDG_STATE_HOME"):
        return Path(state) / "nmemory" / "memory.sqlite3"
    home = _home(environment)
    if home is None:
        raise ConfigError("No place for the memory", "there is no home folder", "Name a file with --db.")
    return home / ".local" / "state" / "nmemory" / "memory.sqlite3"


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one server. Raises ConfigError where one makes no sense."""

    #: The SQLite file; it and its folders are created where they are missing.
    db: Path
    surface: Surface = "full"
    #: Where a capture goes that names no project; None and `default` leave that to the client's name.
    project: str | None = None
    #: Where the `path:line` anchors of capsules begin; None is the folder that the server was started in.
    anchor_root: Path | None = None
    #: Where memory_import looks for a project's files (None as above), and for the user's (None: nowhere).
    working_folder: Path | None = None
    home: Path | None = None
    #: The key of the fingerprints of forgotten capsules; None keeps one in a file beside `db`.
    hmac_key: str | None = field(default=None, repr=False)
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
    #: Whether anybody on a network may call; then no file of this machine is read for a caller.
    exposed: bool = False
    #: Whether an answer waits until its change is on the disk; False is for stores that are thrown away.
    durable: bool = True

    def __post_init__(self) -> None:
        if self.surface not in SURFACES:
            raise ConfigError(
                f"Unknown surface {self.surface!r}",
                f"the surfaces are {', '.join(SURFACES)}",
                "Use --surface with one of them.",
            )
        if str(self.db) == ":memory:":
            raise ConfigError("Can't serve from memory alone", "the store is a file", "Name a file with --db.")
        _check_model("embeddings", self.embeddings, self.embeddings_model, words=("none", "hash"))
        _check_model("llm", self.llm, self.llm_model, words=("none",))

    @classmethod
    def told(cls, environment: Mapping[str, str] = os.environ, **given: Any) -> Config:
        """The settings that are given, and for those that are None what the environment says.

        A variable that is empty or blank counts as not set. Raises ConfigError.
        """
        found = {name: setting for name, setting in _settings(environment).items() if setting is not None}
        return cls(**{**found, **{name: setting for name, setting in given.items() if setting is not None}})

    @property
    def usage_path(self) -> Path | None:
        """The file of the usage log."""
        if self.usage_log == "beside":
            return self.db.with_name(self.db.name + ".usage.jsonl")
        return self.usage_log


def _settings(environment: Mapping[str, str]) -> dict[str, Any]:
    root = _variable(environment, "NMEMORY_ANCHOR_ROOT")
    return {
        "project": _variable(environment, "NMEMORY_PROJECT"),
        "anchor_root": None if root is None else Path(root),
        "home": _home(environment),
        "hmac_key": _variable(environment, "NMEMORY_HMAC_KEY"),
        "embeddings_key": _variable(environment, "NMEMORY_EMBEDDINGS_KEY"),
        "llm_key": _variable(environment, "NMEMORY_LLM_KEY"),
    }


def _variable(environment: Mapping[str, str], name: str) -> str | None:
    return environment.get(name, "").strip() or None


def _home(environment: Mapping[str, str]) -> Path | None:
    if named := _variable(environment, "HOME"):
        return Path(named)
    try:
        return Path.home()
    except RuntimeError:  # no HOME, and no entry for this user
        return None


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
