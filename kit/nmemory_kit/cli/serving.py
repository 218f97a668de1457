"""``nmemory serve`` and ``protocol stats``: the reference server started, and the log of its use added up."""

from pathlib import Path
from typing import Any

import click
from click.exceptions import Exit

from .complaint import Complaint, say
from .options import db_option, json_option


@click.command
@click.option("--http", is_flag=True, help="Streamable HTTP instead of stdio.")
@click.option("--host", default="127.0.0.1", metavar="H", help="Where to listen.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=3131, metavar="N", help="Where to listen; 0 takes a free one."
)
@click.option("--surface", type=click.Choice(["verbs", "memory", "full"]), default="full", help="Which tools to offer.")
@db_option
@click.option("--project", metavar="P", help="Where captures go that name no project.")
@click.option("--tokens", type=Path, metavar="FILE", help="Bearer tokens of HTTP callers, in YAML.")
@click.option("--embeddings", default="none", metavar="none|hash|URL", help="What compares facts by meaning.")
@click.option("--embeddings-model", metavar="M", help="The model behind that URL.")
@click.option("--llm", default="none", metavar="none|URL", help="What answers `synthesize`.")
@click.option("--llm-model", metavar="M", help="The model behind that URL.")
@click.option("--trust-local", is_flag=True, help="Callers without a token see what is private.")
@click.option("--lie", metavar="ID", help="Break one clause on purpose, to try a kit's teeth.")
@click.option("--list-lies", is_flag=True, help="Print the lies and their clauses.")
def serve(
    http: bool,
    host: str,
    port: int,
    surface: str,
    db: Path | None,
    project: str | None,
    tokens: Path | None,
    embeddings: str,
    embeddings_model: str | None,
    llm: str,
    llm_model: str | None,
    trust_local: bool,
    lie: str | None,
    list_lies: bool,
) -> None:
    """Serve the reference memory. Keys of models come from NMEMORY_EMBEDDINGS_KEY and NMEMORY_LLM_KEY."""
    from dataclasses import replace

    from nmemory_reference.serve.config import Config, default_db
    from nmemory_reference.serve.interceptor import HONEST

    if list_lies:
        from .lies import listed

        click.echo(listed())
        return
    if tokens is not None and not http:
        raise Complaint("tokens are for HTTP callers", "Add --http, or take out --tokens")
    config = Config.told(
        db=db or default_db(),
        surface=surface,
        project=project,
        embeddings=embeddings,
        embeddings_model=embeddings_model,
        llm=llm,
        llm_model=llm_model,
        tokens=tokens,
        remote=not trust_local,
    )
    interceptor = HONEST
    if lie is not None:
        from .lies import lie_called

        told = lie_called(lie)
        config, interceptor = replace(config, **told.config), told.make()
        say(f"this server lies on purpose: {told.says} (it breaks {told.clause})")
    if http:
        from nmemory_reference.serve.http import serve_http

        code = serve_http(config, host, port, interceptor=interceptor, announce=say)
    else:
        from nmemory_reference.serve.stdio import serve_stdio

        code = serve_stdio(config, interceptor=interceptor)
    raise Exit(code)


@click.command
@click.option("--days", type=click.IntRange(min=0), metavar="N", help="Only the last N days.")
@db_option
@json_option
def stats(days: int | None, db: Path | None, as_json: bool) -> None:
    """Say how the reference server was used, from its local log."""
    from datetime import UTC, datetime

    from nmemory_reference.serve.config import Config, default_db
    from nmemory_reference.serve.usage import stats as add_up

    path = Config(db=db or default_db()).usage_path
    if path is None:
        raise Complaint("the usage log is off")
    told = add_up(path, days=days, now=datetime.now(UTC))
    if as_json:
        import json

        click.echo(json.dumps(told, indent=2))
    else:
        click.echo(_stats_table(told))


def _stats_table(told: dict[str, Any]) -> str:
    span = "all that is kept" if told["days"] is None else f"the last {told['days']} days"
    lines = [f"{told['total_calls']} calls ({span})"]
    if told["verbs"]:
        lines.append(f"{'verb':<14} {'calls':>7} {'errors':>7} {'mean ms':>9} {'drops':>7} {'hits':>7} {'misses':>7}")
    for verb, row in told["verbs"].items():
        lines.append(
            f"{verb[:14]:<14} {row['calls']:>7} {row['errors']:>7} {row['mean_latency_ms']:>9.2f}"
            f" {row['budget_drops']:>7} {row['entity_hits']:>7} {row['entity_misses']:>7}"
        )
    if told["seconds_to_first_call"] is not None:
        lines.append(f"first call {told['seconds_to_first_call']:.0f} s after the installation")
    if told["skipped_lines"]:
        lines.append(f"{told['skipped_lines']} damaged lines of the log were passed over")
    return "\n".join(lines)
