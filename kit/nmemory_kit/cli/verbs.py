"""``nmemory remember``, ``recall``, ``entity``, ``forget``: one call to the reference store, as its local owner."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from click.exceptions import Exit

from .complaint import FAILED, Complaint
from .options import db_option, json_option


@click.command
@click.argument("fact", help="What to keep, in one sentence.")
@click.option("--provenance", required=True, metavar="P", help="Where it comes from.")
@click.option("--entity", "about", metavar="E", help="Whom or what it is about.")
@click.option("--ttl", metavar="T", help="How long it holds: 45m, 12h, 30d, or an instant.")
@click.option(
    "--kind",
    type=click.Choice(["event", "preference", "commitment", "belief", "fact"]),
    help="What sort of thing it is (fact).",
)
@click.option("--visibility", type=click.Choice(["world", "private"]), help="Who may see it (world).")
@db_option
@json_option
def remember(
    fact: str,
    provenance: str,
    about: str | None,
    ttl: str | None,
    kind: str | None,
    visibility: str | None,
    db: Path | None,
    as_json: bool,
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


@click.command
@click.argument("query", required=False, help="Words to look for in pages.")
@click.option("--entity", "about", metavar="E", help="Only facts about this one.")
@click.option("--budget-tokens", type=int, metavar="N", help="A ceiling for the answer.")
@click.option("--since", metavar="T", help="Only facts from this instant on.")
@click.option("--session-id", metavar="S", help="Only this session.")
@click.option("--limit", type=int, metavar="N", help="At most so many of each (50).")
@click.option("--grep", metavar="TEXT", help="Only facts with this in them.")
@click.option("--include-expired", is_flag=True, help="Forgotten and outdated facts too.")
@click.option("--supersessions", is_flag=True, help="Only facts that took the place of another.")
@db_option
@json_option
def recall(
    query: str | None,
    about: str | None,
    budget_tokens: int | None,
    since: str | None,
    session_id: str | None,
    limit: int | None,
    grep: str | None,
    include_expired: bool,
    supersessions: bool,
    db: Path | None,
    as_json: bool,
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


@click.command
@click.argument("name", help="A name, an alias, a title or a slug.")
@db_option
@json_option
def entity(name: str, db: Path | None, as_json: bool) -> None:
    """Show the card of a known person or thing."""
    _print(_card(_call("entity", db, as_json, name=name)))


@click.command
@click.argument("fact_id", metavar="ID", help="A fact's id, as `remember` and `recall` print it.")
@click.option("--reason", metavar="R", help="Why.")
@db_option
@json_option
def forget(fact_id: str, reason: str | None, db: Path | None, as_json: bool) -> None:
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
        click.echo(json.dumps(body, indent=2))
        raise Exit(FAILED if is_error else 0)
    if is_error:
        raise Complaint(body["message"].rstrip("."), body["suggestion"], FAILED)
    return body


def _print(lines: "list[str] | Iterator[str]") -> None:
    from ..report.foreign import harmless

    for line in lines:
        click.echo(harmless(line))


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
