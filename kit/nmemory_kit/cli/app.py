"""The root of the commands, and a mistake in a command line told in a line."""

import click
from click.exceptions import Exit

from .complaint import USAGE, say
from .groups import LazyGroup


@click.group(
    cls=LazyGroup,
    places={
        "serve": "serving:serve",
        "remember": "verbs:remember",
        "recall": "verbs:recall",
        "entity": "verbs:entity",
        "forget": "verbs:forget",
        "protocol": "protocol:protocol",
        "memory": "memory:memory",
    },
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
    context_settings={"show_default": True},
    epilog="Exit codes: 0 conformant (perhaps with gaps), 1 not conformant, 2 usage or profile error, 3 inconclusive.",
)
@click.option("--version", is_flag=True, help="Print the version and exit.")
@click.pass_context
def root(context: click.Context, version: bool) -> None:
    """Certifies agent-memory servers against a frozen contract."""
    if version:
        from .. import __version__

        click.echo(f"nmemory {__version__}")
        raise Exit
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        raise Exit(USAGE)


def invoke(arguments: list[str]) -> int:
    """Do a command and answer its exit code, without the parser's own handling of errors, interrupts and pipes."""
    try:
        with root.make_context("nmemory", arguments) as context:
            root.invoke(context)
    except Exit as end:
        return end.exit_code
    except click.UsageError as error:
        return _misused(error)
    return 0


def _misused(error: click.UsageError) -> int:
    """Tell a usage error of the parser: which option, what is wrong, where the help is."""
    path = error.ctx.command_path if error.ctx is not None else "nmemory"
    message = error.format_message().strip()
    hint = f"See `{path} --help`"
    if isinstance(error, click.NoSuchOption):
        near = f" (Possible options: {', '.join(sorted(error.possibilities))})" if error.possibilities else ""
        message = f"no such option: {error.option_name}{near}"
        if path.endswith(" conformance"):
            hint += "; the options of a target's own command stand after `--`"
    message = message[:1].lower() + message[1:].rstrip(".")
    say(f"{message}{'' if message.endswith('?') else '.'} {hint}")
    return USAGE
