"""``nmemory serve`` and ``protocol stats``: the reference server started, and the log of its use added up."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .complaint import Complaint, say
from .options import DbOption, JsonOption


class Surface(StrEnum):
    """Which tools the server offers."""

    VERBS = "verbs"
    MEMORY = "memory"
    FULL = "full"


def add_to(app: typer.Typer, protocol: typer.Typer) -> None:
    """Hang the commands of this module into the groups that they belong to."""
    app.command("serve")(serve)
    protocol.command("stats")(stats)


def serve(
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP instead of stdio.")] = False,
    host: Annotated[str, typer.Option("--host", metavar="H", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="Where to listen; 0 takes a free one.")
    ] = 3131,
    surface: Annotated[Surface, typer.Option("--surface", help="Which tools to offer.")] = Surface.FULL,
    db: DbOption = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="P", help="Where captures go that name no project.")
    ] = None,
    tokens: Annotated[
        Path | None, typer.Option("--tokens", metavar="FILE", help="Bearer tokens of HTTP callers, in YAML.")
    ] = None,
    embeddings: Annotated[
        str, typer.Option("--embeddings", metavar="none|hash|URL", help="What compares facts by meaning.")
    ] = "none",
    embeddings_model: Annotated[
        str | None, typer.Option("--embeddings-model", metavar="M", help="The model behind that URL.")
    ] = None,
    llm: Annotated[str, typer.Option("--llm", metavar="none|URL", help="What answers `synthesize`.")] = "none",
    llm_model: Annotated[
        str | None, typer.Option("--llm-model", metavar="M", help="The model behind that URL.")
    ] = None,
    trust_local: Annotated[
        bool, typer.Option("--trust-local", help="Callers without a token see what is private.")
    ] = False,
    lie: Annotated[
        str | None, typer.Option("--lie", metavar="ID", help="Break one clause on purpose, to try a kit's teeth.")
    ] = None,
    list_lies: Annotated[bool, typer.Option("--list-lies", help="Print the lies and their clauses.")] = False,
) -> None:
    """Serve the reference memory. Keys of models come from NMEMORY_EMBEDDINGS_KEY and NMEMORY_LLM_KEY."""
    from dataclasses import replace

    from nmemory_reference.serve.config import Config, default_db
    from nmemory_reference.serve.interceptor import HONEST

    if list_lies:
        from .lies import listed

        typer.echo(listed())
        return
    if tokens is not None and not http:
        raise Complaint("tokens are for HTTP callers", "Add --http, or take out --tokens")
    config = Config.told(
        db=db or default_db(),
        surface=surface.value,
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
    raise typer.Exit(code)


def stats(
    days: Annotated[int | None, typer.Option("--days", metavar="N", min=0, help="Only the last N days.")] = None,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
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

        typer.echo(json.dumps(told, indent=2))
    else:
        typer.echo(_stats_table(told))


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
