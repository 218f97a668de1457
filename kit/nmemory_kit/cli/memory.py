"""``nmemory memory``: one call of a memory tool on the reference store, and what it answered on stdout."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from .complaint import FAILED, Complaint
from .groups import LazyGroup
from .options import db_option

prefix_option = click.option("--project-prefix", metavar="P", help="Only this project and those below it.")


@click.group(
    cls=LazyGroup,  # click's own would list the commands by the alphabet
    places={name: f"memory:{name}" for name in ("recall", "digest", "get", "export", "merge")},
    no_args_is_help=False,
)
def memory() -> None:
    """Call a tool on the capsules of the reference memory."""


@click.command
@click.option(
    "--terms", multiple=True, required=True, metavar="A,B", help="What to look for; split at commas, repeatable."
)
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="At most so many results.")
@click.option("--budget", type=click.IntRange(min=0), metavar="N", help="At most about so many tokens (1500).")
@prefix_option
@db_option
def recall(
    terms: tuple[str, ...], limit: int | None, budget: int | None, project_prefix: str | None, db: Path | None
) -> None:
    """Look for evidence, as memory_retrieve does; it counts as a recall."""
    asked = [term for part in terms for term in map(str.strip, part.split(",")) if term]
    if not asked:
        raise Complaint("--terms has no term in it", "Write some, for instance --terms deploy,rollback")
    answer = _call("retrieve", db, terms=asked, limit=limit, token_budget=budget, project_prefix=project_prefix)
    _print(answer + "\n")


@click.command
@click.option("--headlines", type=click.IntRange(min=0), metavar="N", help="The cap of every list (10).")
@prefix_option
@db_option
def digest(headlines: int | None, project_prefix: str | None, db: Path | None) -> None:
    """Show the store on one page, as memory_digest does."""
    _print(_call("digest", db, headlines=headlines, project_prefix=project_prefix) + "\n")


@click.command
@click.argument("capsule", metavar="ID", help="A capsule's id: cap-<n>.")
@db_option
def get(capsule: str, db: Path | None) -> None:
    """Show one capsule whole, as memory_get does."""
    _print(_call("get", db, id=capsule) + "\n")


@click.command
@click.option("--stamp/--no-stamp", default=True, help="Whether to say when it was made.")
@db_option
def export(stamp: bool, db: Path | None) -> None:
    """Print the document of memory_export, byte for byte."""
    _print(json.loads(_call("export", db, stamp=stamp))["markdown"])


@click.command
@click.argument("other", type=Path, metavar="FILE", help="The other store; it is only read.")
@db_option
def merge(other: Path, db: Path | None) -> None:
    """Take in what another store holds, as memory_merge does."""
    _print(_call("merge", db, **{"from": str(other)}) + "\n")


def _call(tool: str, db: Path | None, **arguments: Any) -> str:
    """The text of the tool's answer. Raises ``Complaint`` for a refusal."""
    from nmemory_reference.serve.config import Config, default_db
    from nmemory_reference.serve.oneshot import Refused, memory_one_shot

    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        return memory_one_shot(Config.told(db=db or default_db(), surface="memory"), f"memory_{tool}", given)
    except Refused as refused:
        raise Complaint(f"memory_{tool}: {refused}", code=FAILED) from refused


def _print(text: str) -> None:
    """Write ``text`` as UTF-8 whatever the locale; a terminal gets it without what would act on it."""
    if sys.stdout.isatty():
        from ..report.foreign import harmless

        text = "\n".join(map(harmless, text.split("\n")))
    click.echo(text.encode(), nl=False)
