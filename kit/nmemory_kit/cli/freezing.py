"""``nmemory protocol freeze`` and ``export``: the packs as others rely on them."""

import click
from click.exceptions import Exit

from .complaint import FAILED, Complaint, say
from .options import load, protocol_option


@click.command
@click.option("--check", is_flag=True, help="Only say what is not as it was frozen; exits 1 if anything is.")
@click.option("--force", is_flag=True, help="Freeze changed and removed entries too: for packs that no release has.")
def freeze(check: bool, force: bool) -> None:
    """Freeze the packs: digests of everything that a target is judged by go into `frozen.lock`."""
    from ..contract import freeze as freezer

    if check:
        problems = freezer.check()
        for problem in problems:
            click.echo(problem)
        if problems:
            raise Exit(FAILED)
        click.echo("every pack is as it was frozen")
        return
    before = freezer.freeze(force=force)
    click.echo(f"frozen: {len(before.added)} added, {len(before.changed)} changed, {len(before.removed)} removed")


@click.command
@click.argument("form", metavar="brainbench", help="The format; there is one so far.")
@protocol_option
def export(form: str, protocol: str | None) -> None:
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
    click.echo(json.dumps(entries, indent=2, ensure_ascii=True))
    if left_out:
        say(f"{len(left_out)} cases are left out, for the format cannot carry them")
        click.echo("\n".join(f"  {case}" for case in left_out), err=True)
    if weakened:
        kinds = Counter(what.rpartition(": ")[2] for what in weakened).most_common()
        say(f"{len(weakened)} expectations of the other cases are left out, by what they ask for")
        click.echo("\n".join(f"  {number:>4}  {kind}" for kind, number in kinds), err=True)
