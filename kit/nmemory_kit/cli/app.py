"""The commands put together, and a mistake in a command line told in a line."""

from typing import Annotated

import typer

from . import conformance, coverage, freezing, memory, protocol, proving, serving, verbs
from .complaint import USAGE, say

app = typer.Typer(
    name="nmemory",
    help="Certifies agent-memory servers against a frozen contract.",
    add_completion=False,
    rich_markup_mode=None,
    epilog="Exit codes: 0 conformant (perhaps with gaps), 1 not conformant, 2 usage or profile error, 3 inconclusive.",
)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Certifies agent-memory servers against a frozen contract."""
    if version:
        from .. import __version__

        typer.echo(f"nmemory {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(USAGE)


app.add_typer(protocol.app, name="protocol")
for module in (conformance, coverage, proving, freezing):
    module.add_to(protocol.app)
serving.add_to(app, protocol.app)
verbs.add_to(app)
memory.add_to(app)


def invoke(arguments: list[str]) -> int:
    """Do a command and answer its exit code, without the parser's own handling of errors, interrupts and pipes."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("nmemory", arguments) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        return _misused(error)
    return 0


def _misused(error: Exception) -> int:
    """Tell a usage error of the parser: which option, what is wrong, where the help is."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "nmemory"
    message = error.format_message().strip().replace("Value error, ", "")  # type: ignore[attr-defined]
    message = message[:1].lower() + message[1:].rstrip(".")
    hint = f"See `{path} --help`"
    if path.endswith(conformance.NAME) and message.startswith("no such option"):
        hint += "; the options of a target's own command stand after `--`"
    say(f"{message}{'' if message.endswith('?') else '.'} {hint}")
    return USAGE
