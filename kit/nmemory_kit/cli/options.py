"""Options that several commands share, and what they stand for."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..contract import Pack


class Seconds(click.FloatRange):
    """A time to wait: up to a day."""

    def __init__(self) -> None:
        super().__init__(0.001, 86_400)

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Refuse also what is not a number: to click it is within any range."""
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value} is not in the range {self.min}<=x<={self.max}.", param, ctx)
        return seconds


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object for programs.")
protocol_option = click.option(
    "--protocol", metavar="P", help="A contract: `memory-verbs`, or with its version `memory-verbs/v1`."
)
target_option = click.option(
    "--target",
    metavar="URL|COMMAND",
    help="An http(s) URL, or a command; {store} in it becomes a file in a temporary folder.",
)
start_option = click.option(
    "--start",
    metavar="COMMAND",
    help="What starts the server behind the URL; {port} in both becomes a free port.",
)
command_argument = click.argument(
    "command", nargs=-1, metavar="[-- COMMAND]...", help="The target's command as a list of arguments."
)
profile_option = click.option(
    "--profile", type=Path, metavar="FILE", help="A YAML file that says how to reach the target."
)
token_option = click.option("--token", metavar="T", help="A bearer token; others can see it in the process list.")
token_env_option = click.option("--token-env", metavar="NAME", help="The environment variable that holds the token.")
token_file_option = click.option("--token-file", type=Path, metavar="FILE", help="The file that holds the token.")
header_option = click.option("--header", multiple=True, metavar="'K: V'", help="A header for each request; repeatable.")
version_option = click.option(
    "--mcp-version", type=click.Choice(["auto", "legacy", "modern"]), help="Which of MCP's eras to speak (auto)."
)
timeout_option = click.option("--timeout", type=Seconds(), metavar="S", help="Seconds for a call (30).")
db_option = click.option(
    "--db", type=Path, metavar="FILE", help="The memory's SQLite file (NMEMORY_DB, or the user's own)."
)


def load(protocol: str | None) -> "tuple[Pack, ...]":
    """The packs that a command is about: the one that is named, or all that ship with the kit."""
    from ..contract import load_pack, pack_names

    return (load_pack(protocol),) if protocol is not None else tuple(map(load_pack, pack_names()))
