"""Options that several commands share, and what they stand for."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..contract import Pack

if TYPE_CHECKING:
    from ..target import McpVersion


class Version(StrEnum):
    """Which of MCP's eras to speak."""

    AUTO = "auto"
    LEGACY = "legacy"
    MODERN = "modern"


JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object for programs.")]
ProtocolOption = Annotated[
    str | None,
    typer.Option("--protocol", metavar="P", help="A contract: `memory-verbs`, or with its version `memory-verbs/v1`."),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="URL|COMMAND",
        help="An http(s) URL, or a command; {store} in it becomes a file in a temporary folder.",
    ),
]
CommandArgument = Annotated[
    list[str] | None, typer.Argument(metavar="-- COMMAND", help="The target's command as a list of arguments.")
]
ProfileOption = Annotated[
    Path | None, typer.Option("--profile", metavar="FILE", help="A YAML file that says how to reach the target.")
]
TokenOption = Annotated[
    str | None, typer.Option("--token", metavar="T", help="A bearer token; others can see it in the process list.")
]
TokenEnvOption = Annotated[
    str | None, typer.Option("--token-env", metavar="NAME", help="The environment variable that holds the token.")
]
TokenFileOption = Annotated[
    Path | None, typer.Option("--token-file", metavar="FILE", help="The file that holds the token.")
]
HeaderOption = Annotated[
    list[str] | None, typer.Option("--header", metavar="'K: V'", help="A header for each request; repeatable.")
]
VersionOption = Annotated[Version | None, typer.Option("--mcp-version", help="Which of MCP's eras to speak (auto).")]
TimeoutOption = Annotated[
    float | None, typer.Option("--timeout", metavar="S", min=0.001, max=86_400, help="Seconds for a call (30).")
]
DbOption = Annotated[
    Path | None, typer.Option("--db", metavar="FILE", help="The memory's SQLite file (NMEMORY_DB, or the user's own).")
]


def told(version: Version | None) -> "McpVersion | None":
    """The era that was asked for, as the rest of the kit names it."""
    return None if version is None else version.value


def load(protocol: str | None) -> "tuple[Pack, ...]":
    """The packs that a command is about: the one that is named, or all that ship with the kit."""
    from ..contract import load_pack, pack_names

    return (load_pack(protocol),) if protocol is not None else tuple(map(load_pack, pack_names()))
