"""``nmemory memory``: one call of a memory tool on the reference store, and what it answered on stdout."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .complaint import FAILED, Complaint
from .options import DbOption

app = typer.Typer(
    help="Call a tool on the capsules of the reference memory.",
    rich_markup_mode=None,
)

PrefixOption = Annotated[
    str | None, typer.Option("--project-prefix", metavar="P", help="Only this project and those below it.")
]


@app.command()
def recall(
    terms: Annotated[
        list[str], typer.Option("--terms", metavar="A,B", help="What to look for; split at commas, repeatable.")
    ],
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=0, help="At most so many results.")] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", metavar="N", min=0, help="At most about so many tokens (1500).")
    ] = None,
    project_prefix: PrefixOption = None,
    db: DbOption = None,
) -> None:
    """Look for evidence, as memory_retrieve does; it counts as a recall."""
    asked = [term for part in terms for term in map(str.strip, part.split(",")) if term]
    if not asked:
        raise Complaint("--terms has no term in it", "Write some, for instance --terms deploy,rollback")
    answer = _call("retrieve", db, terms=asked, limit=limit, token_budget=budget, project_prefix=project_prefix)
    _print(answer + "\n")


@app.command()
def digest(
    headlines: Annotated[
        int | None, typer.Option("--headlines", metavar="N", min=0, help="The cap of every list (10).")
    ] = None,
    project_prefix: PrefixOption = None,
    db: DbOption = None,
) -> None:
    """Show the store on one page, as memory_digest does."""
    _print(_call("digest", db, headlines=headlines, project_prefix=project_prefix) + "\n")


@app.command()
def get(
    capsule: Annotated[str, typer.Argument(metavar="ID", help="A capsule's id: cap-<n>.")],
    db: DbOption = None,
) -> None:
    """Show one capsule whole, as memory_get does."""
    _print(_call("get", db, id=capsule) + "\n")


@app.command()
def export(
    stamp: Annotated[bool, typer.Option("--stamp/--no-stamp", help="Whether to say when it was made.")] = True,
    db: DbOption = None,
) -> None:
    """Print the document of memory_export, byte for byte."""
    _print(json.loads(_call("export", db, stamp=stamp))["markdown"])


@app.command()
def merge(
    other: Annotated[Path, typer.Argument(metavar="FILE", help="The other store; it is only read.")],
    db: DbOption = None,
) -> None:
    """Take in what another store holds, as memory_merge does."""
    _print(_call("merge", db, **{"from": str(other)}) + "\n")


def add_to(root: typer.Typer) -> None:
    """Hang the group into the root."""
    root.add_typer(app, name="memory")


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
    typer.echo(text.encode(), nl=False)
