"""``nmemory protocol prove``: the kit against every double, and which case caught which lie."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from .complaint import say
from .options import json_option, protocol_option
from .progress import Progress
from .runs import prepare

if TYPE_CHECKING:
    from ..prove import Trial


@click.command
@protocol_option
@click.option("--lies", multiple=True, type=Path, metavar="FILE", help="A Python file with more lies; repeatable.")
@click.option("--only", multiple=True, metavar="GLOB", help="Only doubles whose id or clause matches; repeatable.")
@click.option("--jobs", type=click.IntRange(1, 256), metavar="N", help="Processes (one more than processors).")
@json_option
@click.option("--markdown", type=Path, metavar="FILE", help="Write the matrix as Markdown.")
def prove(
    protocol: str | None,
    lies: tuple[Path, ...],
    only: tuple[str, ...],
    jobs: int | None,
    as_json: bool,
    markdown: Path | None,
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

        sources = Sources(packs, lies)
        proof = try_all(sources, only=only, jobs=jobs, on_start=progress.start, on_trial=on_trial)
    if only:
        say("only some of the doubles were tried")
    if as_json:
        click.echo(json.dumps(proof.to_json(), indent=2))
    else:
        terminal.put(matrix.lines(proof, packs), sys.stdout)
    if write is not None:
        write(matrix.markdown(proof, packs))
    raise Exit(proof.exit_code)
