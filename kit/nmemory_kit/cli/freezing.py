"""``nmemory protocol freeze`` and ``export``: the packs as others rely on them."""

from typing import Annotated

import typer

from .complaint import FAILED, Complaint, say
from .options import ProtocolOption, load


def add_to(app: typer.Typer) -> None:
    """Hang the commands of this module into a group."""
    app.command("freeze")(freeze)
    app.command("export")(export)


def freeze(
    check: Annotated[
        bool, typer.Option("--check", help="Only say what is not as it was frozen; exits 1 if anything is.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Freeze changed and removed entries too: for packs that no release has.")
    ] = False,
) -> None:
    """Freeze the packs: digests of everything that a target is judged by go into `frozen.lock`."""
    from ..contract import freeze as freezer

    if check:
        problems = freezer.check()
        for problem in problems:
            typer.echo(problem)
        if problems:
            raise typer.Exit(FAILED)
        typer.echo("every pack is as it was frozen")
        return
    before = freezer.freeze(force=force)
    typer.echo(f"frozen: {len(before.added)} added, {len(before.changed)} changed, {len(before.removed)} removed")


def export(
    form: Annotated[str, typer.Argument(metavar="brainbench", help="The format; there is one so far.")],
    protocol: ProtocolOption = None,
) -> None:
    """Write the cases as seeds of another suite to stdout; what its format cannot carry is named on stderr."""
    import json
    from collections import Counter

    from ..contract import brainbench

    if form != "brainbench":
        raise Complaint(f"there is no export format {form!r}", "Use `nmemory protocol export brainbench`")
    entries: list[object] = []
    left_out: list[str] = []
    weakened: list[str] = []
    for pack in load(protocol):
        exported = brainbench.export(pack)
        entries += exported.entries
        left_out += exported.left_out
        weakened += exported.weakened
    typer.echo(json.dumps(entries, indent=2, ensure_ascii=True))
    if left_out:
        say(f"{len(left_out)} cases are left out, for the format cannot carry them")
        typer.echo("\n".join(f"  {case}" for case in left_out), err=True)
    if weakened:
        kinds = Counter(what.rpartition(": ")[2] for what in weakened).most_common()
        say(f"{len(weakened)} expectations of the other cases are left out, by what they ask for")
        typer.echo("\n".join(f"  {number:>4}  {kind}" for kind, number in kinds), err=True)
