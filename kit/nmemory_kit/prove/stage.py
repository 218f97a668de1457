"""A stage: a double in this process, as a target with three callers."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..contract.pack import Pack
from ..run.options import Options
from ..run.session import Session
from ..target import InProcessTarget

if TYPE_CHECKING:
    from nmemory_reference.lies import Lie, Variant

_OWNER = "nmk_owner_31c5a0d97e"
_READER = "nmk_reader_8b20f6d4ac"
_OTHER = "nmk_other_f47e9c1b53"

#: Who calls: the token with both scopes, a reader of the same tenant, and another tenant.
_TOKENS = f"""\
- {{token: {_OWNER}, name: owner, tenant: one, scopes: [read, write]}}
- {{token: {_READER}, name: reader, tenant: one, scopes: [read]}}
- {{token: {_OTHER}, name: other, tenant: two, scopes: [read, write]}}
"""

#: Seconds for a call: a double that hangs is a double that hangs, and nothing here is slow.
CALL_TIMEOUT = 3.0


def target_of(double: Lie | Variant) -> InProcessTarget:
    """A double as a target; its stores are files in a temporary folder."""
    from nmemory_reference.lies import open_double
    from nmemory_reference.serve.config import Config

    return InProcessTarget(
        lambda path: open_double(Config(db=path, tokens=_tokens_file(), usage_log=None, durable=False), double),
        name=double.id,
        credentials={"reader": _READER, "other-tenant": _OTHER},
        token=_OWNER,
    )


def options_for(double: Lie | Variant, *, jobs: int = 8, call_timeout: float = CALL_TIMEOUT) -> Options:
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
async def staged(double: Lie | Variant, packs: Sequence[Pack]) -> AsyncIterator[Session]:
    """A session on a double. Raises ``Unreachable`` and ``NotATarget``."""
    target = target_of(double)
    try:
        session = await Session.open(target, packs, options_for(double))
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
def _tokens_file() -> Path:
    file = Path(_folder().name) / "tokens.yaml"
    file.write_text(_TOKENS, encoding="utf-8")
    return file
