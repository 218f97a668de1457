"""Memories for the tests of the reference server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from reference.talk import Memory


@pytest.fixture
def open_memory(tmp_path: Path) -> Iterator[Callable[..., Memory]]:
    """Opens memories with the settings given, in the test's folder, and closes them after the test."""
    opened: list[Memory] = []

    def open_one(**settings: object) -> Memory:
        opened.append(Memory(tmp_path, **settings))
        return opened[-1]

    yield open_one
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    """A new memory without embeddings."""
    return open_memory()


@pytest.fixture
def hashing(open_memory: Callable[..., Memory]) -> Memory:
    """A new memory with the built-in embeddings."""
    return open_memory(embeddings="hash")
