"""Stages for the tests of capsules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from reference.capsules.stage import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A new store without a project of its own, called by a client named kit."""
    opened = Stage.at(tmp_path)
    yield opened
    opened.store.database.close()
