"""A file of lies, and a pack that is soon tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from nmemory_kit.contract.pack import Pack, load_pack

#: What a file of lies begins with.
HEAD = "from nmemory_reference.lies import Area, Interceptor, Lie, RpcFault, text_result\narea = Area('mine')\n"


@pytest.fixture
def lies_file(tmp_path: Path) -> Callable[..., Path]:
    """Write a Python file: the usual beginning, and what is given."""

    def write(text: str, *, head: str = HEAD, name: str = "mine.py") -> Path:
        file = tmp_path / name
        file.write_text(head + text)
        return file

    return write


@pytest.fixture(scope="session")
def small() -> Pack:
    """The first pack with three of its cases: a round trip, forgetting, and a list of tools."""
    pack = load_pack("memory-verbs")
    names = {f"{pack.path}/{name}" for name in ("recall-round-trip", "forget-idempotent", "wire-advertises")}
    return replace(pack, cases=tuple(case for case in pack.cases if case.path in names))
