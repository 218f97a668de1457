"""The kit against servers that know nothing of its contracts: a clean answer with the reason first, and no noise."""

from __future__ import annotations

import json
import shlex

import pytest
from e2e.others import judge, node, script

ON_STDIO = {
    "server-memory": ("server-memory",),
    "server-everything": ("server-everything", "stdio"),
}


def command(name: str) -> str:
    package, *arguments = ON_STDIO[name]
    return shlex.join([node(), str(script(package)), *arguments])


@pytest.mark.parametrize("name", ON_STDIO)
def test_a_server_with_other_tools_is_inconclusive(name: str) -> None:
    done = judge("--target", command(name))
    assert done.returncode == 3
    verdict, reason, *_ = done.stdout.splitlines()
    assert verdict.startswith("INCONCLUSIVE")
    assert "offers no tool of any contract" in reason
    assert done.stderr == ""


@pytest.mark.parametrize("name", ON_STDIO)
def test_a_server_that_is_said_to_speak_the_contract_is_not_conformant(name: str) -> None:
    done = judge("--target", command(name), "--protocol", "memory-verbs", "--json")
    assert done.returncode == 1
    summary = json.loads(done.stdout)
    assert summary["verdict"] == "NOT CONFORMANT"
    violated = [clause["clause"] for clause in summary["clauses"] if clause["verdict"] == "violated"]
    assert violated == ["mv1/wire/advertises"]


def test_server_everything_over_http_is_inconclusive(everything_url: str) -> None:
    done = judge("--target", everything_url)
    assert done.returncode == 3
    assert "offers no tool of any contract" in done.stdout.splitlines()[1]
    assert done.stderr == ""
