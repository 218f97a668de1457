"""What the tests of ``target/`` share: the event loop, and patience with a busy machine."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says something of the machine and nothing of the kit.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture
def anyio_backend():
    return "asyncio"
