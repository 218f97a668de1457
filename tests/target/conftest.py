"""What the tests of ``target/`` share: the event loop, and targets that play a double."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend():
    return "asyncio"
