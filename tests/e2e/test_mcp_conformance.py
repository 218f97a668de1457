"""The reference server before MCP's own conformance suite.

The scenarios that are left out want tools, resources or prompts that were made for that suite by name, or capabilities
that a server of tools and their pages does not declare. ``tools-call-simple-text`` and ``tools-call-error`` pass here
too, but only because an unknown tool is an error: they would say nothing.
"""

from __future__ import annotations

import pytest
from e2e.others import node, run, script

APPLY_TO_A_SERVER_OF_TOOLS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)


@pytest.mark.parametrize("scenario", APPLY_TO_A_SERVER_OF_TOOLS)
def test_the_reference_server_passes(scenario: str, reference_url: str) -> None:
    done = run(node(), script("conformance"), "server", "--url", reference_url, "--scenario", scenario)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failed, 0 warnings" in done.stdout
