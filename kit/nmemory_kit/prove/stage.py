"""A stage: a double in this process, as a target with three callers."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, Any

from ..run.options import Options
from ..run.session import Session
from ..target import InProcessTarget
from .doubles import Cast
from .watch import Watched

if TYPE_CHECKING:
    from nmemory_reference.lies import Lie, Variant

    from ..target.inprocess import Double

_OWNER = "nmk_owner_31c5a0d97e"
_READER = "nmk_reader_8b20f6d4ac"
_OTHER = "nmk_other_f47e9c1b53"

#: Who calls: the token with both scopes, a reader of the same tenant, and another tenant.
_TOKENS = f"""\
- {{token: {_OWNER}, name: owner, tenant: default, scopes: [read, write]}}
- {{token: {_READER}, name: reader, tenant: default, scopes: [read]}}
- {{token: {_OTHER}, name: other, tenant: two, scopes: [read, write]}}
"""

#: Seconds for a call: a double that hangs is a double that hangs, and nothing here is slow.
CALL_TIMEOUT = 3.0


def target_of(double: Lie | Variant, config: Mapping[str, Any], mishaps: list[str]) -> InProcessTarget:
    """A double as a target, whose stores are files in a temporary folder.

    ``config`` has the settings of the reference server that it starts from; what it raises is noted in ``mishaps``.
    """
    from nmemory_reference.lies import open_double
    from nmemory_reference.serve.config import Config
    from nmemory_reference.serve.endpoint import Connection as Conversation

    settings = {"tokens": _tokens_file(), "usage_log": None, "durable": False, **config}
    watched = replace(double, make=lambda: Watched(double.make(), mishaps))

    def opened(path: Path) -> Double:
        if not path.exists():
            copyfile(_empty_store(), path)
        return open_double(Config(db=path, anchor_root=target.root, working_folder=target.root, **settings), watched)

    target = InProcessTarget(
        opened,
        name=double.id,
        credentials={"reader": _READER, "other-tenant": _OTHER},
        token=_OWNER,
        conversation=Conversation,
    )
    return target


def options_for(double: Lie | Variant, *, jobs: int = 4, call_timeout: float = CALL_TIMEOUT) -> Options:
    """What a run against a double is asked to do: everything, for nothing costs anything."""
    return Options(
        jobs=jobs,
        call_timeout=call_timeout,
        synthesize=True,
        # Nobody without a token is let in, and a double that hides its list must not hide that it serves.
        auth_required=True,
        # The double is called as HTTP would call it: it refuses with a status.
        declared={"http": True},
        claims=frozenset(double.claims),
    )


@asynccontextmanager
async def staged(double: Lie | Variant, cast: Cast, mishaps: list[str]) -> AsyncIterator[Session]:
    """A session on a double. Raises ``Unreachable`` and ``NotATarget``."""
    target = target_of(double, cast.config, mishaps)
    try:
        session = await Session.open(target, [cast.pack], options_for(double))
        try:
            yield session
        finally:
            await session.close()
    finally:
        await target.close()


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="nmemory-prove-")


@cache
def _empty_store() -> Path:
    """A store that nothing is in: a copy of it is had much sooner than a new one."""
    from nmemory_reference.lies import open_double
    from nmemory_reference.serve.config import Config

    file = Path(_folder().name) / "empty.sqlite3"
    open_double(Config(db=file, usage_log=None, durable=False), None).close()
    return file


@cache
def _tokens_file() -> Path:
    file = Path(_folder().name) / "tokens.yaml"
    file.write_text(_TOKENS, encoding="utf-8")
    return file
