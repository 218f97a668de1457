"""``nmemory protocol prove``: the kit against every double, and which case caught which lie."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .complaint import say
from .options import JsonOption, ProtocolOption
from .progress import Progress
from .runs import prepare

if TYPE_CHECKING:
    from ..prove import Trial


def add_to(app: typer.Typer) -> None:
    """Hang the command of this module into a group."""
    app.command("prove")(prove)


def prove(
    protocol: ProtocolOption = None,
    lies: Annotated[
        list[Path] | None, typer.Option("--lies", metavar="FILE", help="A Python file with more lies; repeatable.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="GLOB", help="Only doubles whose id or clause matches; repeatable."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", metavar="N", min=1, max=256, help="Processes (one a processor).")
    ] = None,
    as_json: JsonOption = False,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write the matrix as Markdown.")
    ] = None,
) -> None:
    """Try the kit on servers that lie. Each lie has to be caught, each legal variant found conformant."""
    from ..contract import load_pack, pack_names
    from ..prove import Sources, matrix
    from ..prove import prove as try_all
    from ..report import terminal

    packs = (load_pack(protocol).path,) if protocol is not None else pack_names()
    write = prepare(markdown) if markdown is not None else None
    with Progress("gathering the doubles") as progress:

        def on_trial(trial: "Trial") -> None:
            progress.add(good=trial.good)

        sources = Sources(packs, tuple(lies or ()))
        proof = try_all(sources, only=tuple(only or ()), jobs=jobs, on_start=progress.start, on_trial=on_trial)
    if only:
        say("only some of the doubles were tried")
    if as_json:
        typer.echo(json.dumps(proof.to_json(), indent=2))
    else:
        terminal.put(matrix.lines(proof, packs), sys.stdout)
    if write is not None:
        write(matrix.markdown(proof, packs))
    raise typer.Exit(proof.exit_code)
