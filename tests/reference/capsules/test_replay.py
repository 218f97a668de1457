"""Determinism: the same calls on a fresh store with the same clock are answered with the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from nmemory_reference.capsules.registry import MEMORY_TOOLS
from reference.capsules import recorded_session
from reference.capsules.recorded_session import CALLS

TESTS = Path(recorded_session.__file__).parents[2]
#: What differs between machines, and must not between answers.
SURROUNDINGS = (
    {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"},
    {"PYTHONHASHSEED": "2", "TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8"},
)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """What two processes printed that played the session in different surroundings."""
    folder = tmp_path_factory.mktemp("replay")
    command = [sys.executable, recorded_session.__file__]
    return [
        subprocess.run(
            [*command, folder / f"store{number}.sqlite3", folder / "files"],
            env={**os.environ, **surroundings, "PYTHONPATH": str(TESTS)},
            capture_output=True,
            check=True,
        ).stdout
        for number, surroundings in enumerate(SURROUNDINGS)
    ]


def test_a_session_of_300_calls_is_answered_twice_with_the_same_bytes(played: list[bytes]) -> None:
    one, other = (output.split(b"\n") for output in played)
    for first, second in zip(one, other, strict=True):
        assert first == second


def test_the_session_has_every_tool_succeed_and_ends_with_an_export(played: list[bytes]) -> None:
    answers = [json.loads(line) for line in played[0].splitlines()]
    assert len(answers) == CALLS + 1
    succeeded = Counter(tool for tool, answer in answers if answer.startswith("{"))
    assert set(succeeded) == set(MEMORY_TOOLS)
    assert sum(succeeded.values()) > CALLS * 0.8
    document = answers[-1][1]
    assert document.startswith("# nMEMORY store")
    for section in ("## project kit-runner-3", "## project lab/x", "## relations", "tombstoned (", "superseded by"):
        assert section in document
