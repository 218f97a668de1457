"""The console script: the commands put together, and whatever they raise turned into a line and an exit code."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from . import conformance, coverage, freezing, protocol, proving, serving, verbs
from .complaint import BROKEN_PIPE, INTERRUPTED, USAGE, complain, say

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


def run(arguments: Sequence[str] | None = None) -> int:
    """Run ``nmemory`` with these arguments (the process's own by default) and answer the exit code.

    Nothing is raised for what a user, a target or a file does: it ends in a line on stderr. Ctrl-C ends with 130 once
    the children are stopped, a closed pipe silently with 141.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _invoke(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Python would try to flush what is left at exit, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001  (the last line of defence: no traceback for a user)
        return complain(error)
    return code


def _invoke(arguments: list[str]) -> int:
    """Parse and do a command, without the parser's own handling of errors, interrupts and pipes."""
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
