"""``nmemory protocol``: the contract itself, for people and for machines."""

from typing import TYPE_CHECKING

import click

from .complaint import Complaint
from .groups import LazyGroup
from .options import json_option, load, protocol_option

if TYPE_CHECKING:
    from ..contract import Pack


@click.group(
    cls=LazyGroup,
    places={
        "conformance": "conformance:conformance",
        "cleanup": "conformance:cleanup",
        "coverage": "coverage:coverage",
        "prove": "proving:prove",
        "freeze": "freezing:freeze",
        "export": "freezing:export",
        "stats": "serving:stats",
    },
    invoke_without_command=True,
)
@protocol_option
@json_option
@click.pass_context
def protocol(context: click.Context, protocol: str | None, as_json: bool) -> None:
    """The contract: print it, judge a server by it, prove that the kit would notice."""
    if context.invoked_subcommand is not None:
        if protocol is not None or as_json:
            raise Complaint(
                "--protocol and --json before a subcommand mean nothing to it", "Write them behind the subcommand"
            )
        return
    packs = load(protocol)
    if as_json:
        import json

        shapes = [as_object(pack) for pack in packs]
        click.echo(json.dumps(shapes[0] if len(shapes) == 1 else shapes, indent=2))
    else:
        click.echo("\n\n".join(as_text(pack) for pack in packs))


def as_object(pack: "Pack") -> dict[str, object]:
    """A contract in the shape that the protocol's own ``protocol --json`` has."""
    return {
        "protocol": pack.name,
        "protocol_version": pack.protocol_version,
        "versioning_policy": pack.policy,
        "verbs": {
            name: {
                "description": tool.description,
                "input_schema": tool.params,
                **({"annotations": dict(tool.annotations)} if tool.annotations else {}),
                "response_schema": tool.response,
            }
            for name, tool in pack.tools.items()
        },
        "error_schema": pack.error_schema,
    }


def as_text(pack: "Pack") -> str:
    """A contract to read: its tools with their parameters, its clauses by area."""
    import textwrap

    lines = [pack.title, "", *textwrap.wrap(pack.policy, 100), "", "Tools"]
    for name, tool in pack.tools.items():
        required = tool.params.get("required", [])
        parameters = [
            parameter if parameter in required else f"[{parameter}]" for parameter in tool.params.get("properties", {})
        ]
        optional = "" if tool.required else " (optional)"
        lines += ["", f"  {name} {' '.join(parameters)}{optional}"]
        lines += textwrap.wrap(tool.description, 96, initial_indent="    ", subsequent_indent="    ")
    area = None
    for clause in pack.clauses.values():
        if (here := clause.id.split("/")[1]) != area:
            area = here
            lines += ["", f"Clauses: {area}", ""]
        where = f" (where the target has {', '.join(clause.where)})" if clause.where else ""
        text = f"{clause.level:<6} {clause.id}: {clause.text}{where}"
        lines += textwrap.wrap(text, 100, initial_indent="  ", subsequent_indent=" " * 9)
    return "\n".join(lines)
