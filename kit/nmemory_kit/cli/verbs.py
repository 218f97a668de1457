"""``nmemory remember``, ``recall``, ``entity``, ``forget``: one call to the reference store, as its local owner."""

import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .complaint import FAILED, Complaint
from .options import DbOption, JsonOption


class Kind(StrEnum):
    """What sort of thing a fact is."""

    EVENT = "event"
    PREFERENCE = "preference"
    COMMITMENT = "commitment"
    BELIEF = "belief"
    FACT = "fact"


class Visibility(StrEnum):
    """Who may see a fact."""

    WORLD = "world"
    PRIVATE = "private"


def add_to(app: typer.Typer) -> None:
    """Hang the commands of this module into the root."""
    for command in (remember, recall, entity, forget):
        app.command(command.__name__)(command)


def remember(
    fact: Annotated[str, typer.Argument(help="What to keep, in one sentence.")],
    provenance: Annotated[str, typer.Option("--provenance", metavar="P", help="Where it comes from.")],
    about: Annotated[str | None, typer.Option("--entity", metavar="E", help="Whom or what it is about.")] = None,
    ttl: Annotated[
        str | None, typer.Option("--ttl", metavar="T", help="How long it holds: 45m, 12h, 30d, or an instant.")
    ] = None,
    kind: Annotated[Kind | None, typer.Option("--kind", help="What sort of thing it is (fact).")] = None,
    visibility: Annotated[Visibility | None, typer.Option("--visibility", help="Who may see it (world).")] = None,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Keep a fact with its origin."""
    body = _call(
        "remember",
        db,
        as_json,
        fact=fact,
        provenance=provenance,
        entity=about,
        ttl=ttl,
        kind=kind,
        visibility=visibility,
    )
    _print(_remembered(body))


def recall(
    query: Annotated[str | None, typer.Argument(help="Words to look for in pages.")] = None,
    about: Annotated[str | None, typer.Option("--entity", metavar="E", help="Only facts about this one.")] = None,
    budget_tokens: Annotated[
        int | None, typer.Option("--budget-tokens", metavar="N", help="A ceiling for the answer.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="T", help="Only facts from this instant on.")] = None,
    session_id: Annotated[str | None, typer.Option("--session-id", metavar="S", help="Only this session.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", help="At most so many of each (50).")] = None,
    grep: Annotated[str | None, typer.Option("--grep", metavar="TEXT", help="Only facts with this in them.")] = None,
    include_expired: Annotated[
        bool, typer.Option("--include-expired", help="Forgotten and outdated facts too.")
    ] = False,
    supersessions: Annotated[
        bool, typer.Option("--supersessions", help="Only facts that took the place of another.")
    ] = False,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read facts back, newest first."""
    body = _call(
        "recall",
        db,
        as_json,
        query=query,
        entity=about,
        budget_tokens=budget_tokens,
        since=since,
        session_id=session_id,
        limit=limit,
        grep=grep,
        include_expired=include_expired or None,
        supersessions=supersessions or None,
    )
    _print(_recalled(body))


def entity(
    name: Annotated[str, typer.Argument(help="A name, an alias, a title or a slug.")],
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the card of a known person or thing."""
    _print(_card(_call("entity", db, as_json, name=name)))


def forget(
    fact_id: Annotated[str, typer.Argument(metavar="ID", help="A fact's id, as `remember` and `recall` print it.")],
    reason: Annotated[str | None, typer.Option("--reason", metavar="R", help="Why.")] = None,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """End a fact; a trace stays for audit."""
    body = _call("forget", db, as_json, id=fact_id, reason=reason)
    _print([f"forgot {body['id']}" if body["expired"] else f"{body['id']} was forgotten before"])


def _call(tool: str, db: Path | None, as_json: bool, **arguments: Any) -> dict[str, Any]:
    """Make the call; with ``--json`` print the body and end here. Raises ``Complaint`` for an error."""
    from nmemory_reference.serve.config import Config, default_db
    from nmemory_reference.serve.oneshot import one_shot

    given = {name: value for name, value in arguments.items() if value is not None}
    body, is_error = one_shot(Config(db=db or default_db()), tool, given)
    if as_json:
        typer.echo(json.dumps(body, indent=2))
        raise typer.Exit(FAILED if is_error else 0)
    if is_error:
        raise Complaint(body["message"].rstrip("."), body["suggestion"], FAILED)
    return body


def _print(lines: "list[str] | Iterator[str]") -> None:
    from ..report.foreign import harmless

    for line in lines:
        typer.echo(harmless(line))


def _remembered(body: dict[str, Any]) -> Iterator[str]:
    about = f" about {body['entity_slug']}" if body["entity_slug"] else ""
    until = f", until {body['valid_until']}" if body["valid_until"] else ""
    yield f"{body['id']} {body['status']}{about}{until}"
    if body.get("degraded_dedup"):
        yield "  (no embeddings: what is said twice is kept twice)"


def _recalled(body: dict[str, Any]) -> Iterator[str]:
    for fact in body["facts"]:
        facts = [fact["kind"], fact.get("entity_slug"), f"from {fact['provenance']}", fact.get("visibility")]
        if fact.get("expired_at"):
            facts.append(f"ended {fact['expired_at']}")
        elif fact.get("valid_until"):
            facts.append(f"until {fact['valid_until']}")
        yield f"{fact['fact_id']}  {fact['fact']}"
        yield f"    {' · '.join(str(part) for part in facts if part)}"
    for result in body.get("results", ()):
        yield f"{result['slug']}  {result['title'] or ''} ({result['evidence']})"
        if result.get("chunk"):
            yield f"    {result['chunk']}"
    count = f"{body['total']} fact{'' if body['total'] == 1 else 's'}"
    if "results" in body:
        count += f", {len(body['results'])} page{'' if len(body['results']) == 1 else 's'}"
    if "budget_tokens" in body:
        count += f"; {body['budget_used']} of {body['budget_tokens']} tokens, {body['dropped_count']} dropped"
    yield count


def _card(body: dict[str, Any]) -> Iterator[str]:
    if not body["found"]:
        yield "not known here"
        for suggestion in body["suggestions"]:
            yield f"  perhaps {suggestion['slug']}: {suggestion['title']}"
        return
    card = body["card"]
    who = card["entity"]
    yield f"{who['title']} ({who['slug']}{', ' + who['type'] if who['type'] else ''})"
    if card["aka"]:
        yield f"  also known as {', '.join(card['aka'])}"
    if card["summary"]:
        yield f"  {card['summary']}"
    for thread in card["open_threads"]:
        yield f"  open: {thread['text']}{' (' + thread['date'] + ')' if thread['date'] else ''}"
    for edge in card["edges"]:
        arrow = "->" if edge["direction"] == "out" else "<-"
        yield f"  {arrow} {edge['type']} {edge['slug']}"
    yield f"  {card['active_fact_count']} facts, {card['backlink_count']} links to it"
