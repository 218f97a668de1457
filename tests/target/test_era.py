"""Which of MCP's eras is spoken, and how the kit finds out."""

from __future__ import annotations

import json
import sys

import pytest
from nmemory_kit import __version__
from nmemory_kit.target import Command, FaultKind, StdioTarget, Unreachable

from .playing import DOUBLES, LIMITS, call, connected, playing, text

pytestmark = pytest.mark.anyio


async def test_auto_begins_with_the_older_era():
    async with connected("speaks_only_legacy") as connection:
        assert (connection.server.era, connection.server.mcp_version) == ("legacy", "2025-11-25")
        assert (connection.server.name, connection.server.version) == ("double", "1")


async def test_auto_takes_the_newer_era_where_the_older_is_refused():
    async with connected("speaks_only_modern") as connection:
        assert (connection.server.era, connection.server.mcp_version) == ("modern", "2026-07-28")


async def test_every_request_of_the_newer_era_says_its_version_and_who_asks():
    async with connected("speaks_only_modern", version="modern") as connection:
        assert json.loads(text(await call(connection))) == {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "nmemory-kit", "version": __version__},
            "io.modelcontextprotocol/clientCapabilities": {},
        }


async def test_meta_that_is_in_the_params_stays_in_them():
    async with connected("speaks_only_modern", version="modern") as connection:
        reply = await connection.request("tools/call", {"name": "echo", "_meta": {"mine": 1}}, timeout=10)
        assert json.loads(text(reply))["mine"] == 1


@pytest.mark.parametrize(("double", "version"), [("speaks_only_modern", "legacy"), ("speaks_only_legacy", "modern")])
async def test_an_era_that_was_asked_for_and_is_not_spoken_is_a_version_fault(double, version):
    with pytest.raises(Unreachable) as caught:
        await playing(double, version=version).connect()
    assert caught.value.fault.kind is FaultKind.VERSION
    assert caught.value.fault.remedy == "take --mcp-version auto"


@pytest.mark.parametrize("version", ["auto", "modern"])
async def test_the_official_sdk_is_spoken_to_on_stdio(version):
    target = StdioTarget(Command([sys.executable, str(DOUBLES / "sdk_server.py")]), limits=LIMITS, version=version)
    connection = await target.connect()
    try:
        assert connection.server.name == "sdk-double"
        assert connection.server.era == ("modern" if version == "modern" else "legacy")
        assert text(await call(connection, "grüße, 今天 \u2028 🦊")) == "grüße, 今天 \u2028 🦊"
        refused = await connection.request("tools/call", {"name": "none"}, timeout=10)
        assert refused.error == {"code": -32602, "message": "no tool is named none", "data": {"name": "none"}}
        assert connection.noise() == ()
    finally:
        await connection.close()
