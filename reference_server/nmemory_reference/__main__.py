"""`python -m nmemory_reference`: the server on stdio, or with --http on Streamable HTTP."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from nmemory_reference.errors import CannotServe
from nmemory_reference.serve.config import SURFACES, Config, default_db

#: What argparse takes where a line has 80 columns.
_HELP_WIDTH = 78


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve as the arguments say; gives the exit code: 0 after a clean stop, 2 if it can't be served so."""
    options = _parser().parse_args(arguments)
    try:
        config = Config.told(
            db=options.db or default_db(),
            surface=options.surface,
            project=options.project,
            anchor_root=options.anchor_root,
            embeddings=options.embeddings,
            embeddings_model=options.embeddings_model,
            llm=options.llm,
            llm_model=options.llm_model,
            tokens=options.tokens,
            remote=not options.trust_local,
        )
        if options.http:
            from nmemory_reference.serve.http import serve_http  # it loads the SDK

            return serve_http(config, options.host, options.port, announce=_say)
        from nmemory_reference.serve.stdio import serve_stdio

        return serve_stdio(config)
    except CannotServe as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m nmemory_reference",
        description=__doc__,
        # Already when it takes an argument in, a formatter that was given no width loads a lot to ask the terminal.
        formatter_class=partial(argparse.HelpFormatter, width=_HELP_WIDTH),
    )
    parser.add_argument("--db", type=Path, metavar="FILE", help="the memory's file")
    parser.add_argument("--surface", choices=SURFACES, default="full", help="which tools there are")
    parser.add_argument("--project", metavar="P", help="where captures go that name no project")
    parser.add_argument("--anchor-root", type=Path, metavar="DIR", help="where `path:line` anchors begin")
    parser.add_argument("--http", action="store_true", help="Streamable HTTP instead of stdio")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=3131, help="0 takes a free one")
    parser.add_argument("--tokens", type=Path, metavar="FILE", help="bearer tokens of HTTP callers")
    parser.add_argument("--embeddings", default="none", metavar="none|hash|URL")
    parser.add_argument("--embeddings-model", metavar="NAME", help="key: NMEMORY_EMBEDDINGS_KEY")
    parser.add_argument("--llm", default="none", metavar="none|URL")
    parser.add_argument("--llm-model", metavar="NAME", help="key: NMEMORY_LLM_KEY")
    parser.add_argument("--trust-local", action="store_true", help="callers without a token see what is private")
    return parser


def _say(url: str) -> None:
    sys.stderr.write(f"Listening on {url}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    # What a start makes stays: looking for garbage after every 700 objects, as Python would, finds none in it.
    gc.set_threshold(10_000)
    code = main()
    # All is closed by now. Python would still search what is loaded for garbage, several times over, and take a
    # quarter of the time of a short conversation for it.
    gc.freeze()
    sys.exit(code)
