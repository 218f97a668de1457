"""The usage log: one line a verb call, whatever happens to it, and what it adds up to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from nmemory_reference.errors import ConfigError
from nmemory_reference.serve import usage
from nmemory_reference.serve.usage import stats
from reference.talk import Memory


@pytest.fixture
def logged(open_memory: Callable[..., Memory]) -> Memory:
    return open_memory(usage_log="beside")


def lines(memory: Memory) -> list[dict[str, object]]:
    return [json.loads(line) for line in memory.config.usage_path.read_text("utf-8").splitlines()]


def test_every_verb_call_is_a_line(logged: Memory) -> None:
    logged.put("people/a", title="A")
    logged.remember("canary", entity="people/a")
    logged.refusal("remember", fact="canary")
    logged.call("entity", name="A")
    logged.call("entity", name="canary")
    logged.call("recall", budget_tokens=0)
    logged.refusal("nothing")
    uses = lines(logged)
    assert [(use["verb"], use["ok"]) for use in uses] == [
        ("remember", True),
        ("remember", False),
        ("entity", True),
        ("entity", True),
        ("recall", True),
    ]
    assert [use.get("entity_found") for use in uses] == [None, None, True, False, None]
    assert [use.get("budget_dropped") for use in uses] == [None, None, None, None, 1]
    assert {(use["surface"], use["remote"], use["source_id"]) for use in uses} == {("full", True, "default")}
    assert len({use["brain_id"] for use in uses}) == 1
    assert "canary" not in str(uses)


def test_the_log_adds_up(logged: Memory) -> None:
    logged.clock.advance(seconds=90)
    logged.call("entity", name="nobody")
    logged.clock.advance(days=10)
    logged.remember("f")
    logged.refusal("remember", fact="f")
    logged.call("recall", budget_tokens=0)
    path = logged.config.usage_path
    with path.open("a", encoding="utf-8") as file:
        file.write('{"ts": "2026-06-\n[]\n{"ts": 5, "verb": "x", "ok": true, "latency_ms": 1}\n')
    result = stats(path, days=None, now=logged.clock.now)
    remember = result["verbs"]["remember"]
    assert (remember["calls"], remember["errors"], remember["mean_latency_ms"] >= 0) == (2, 1, True)
    assert result["verbs"]["entity"]["entity_misses"] == 1
    assert result["verbs"]["recall"]["budget_drops"] == 1
    assert (result["total_calls"], result["skipped_lines"]) == (4, 3)
    assert result["seconds_to_first_call"] == 90
    recent = stats(path, days=7, now=logged.clock.now)
    assert set(recent["verbs"]) == {"remember", "recall"}
    assert recent["seconds_to_first_call"] == 90


def test_a_missing_log_is_an_empty_one(tmp_path: Path, memory: Memory) -> None:
    result = stats(tmp_path / "none.jsonl", days=None, now=memory.clock.now)
    assert (result["total_calls"], result["verbs"], result["first_call_at"]) == (0, {}, None)


def test_a_log_that_cannot_be_read_is_an_error(tmp_path: Path, memory: Memory) -> None:
    with pytest.raises(ConfigError):
        stats(tmp_path, days=None, now=memory.clock.now)


def test_a_full_log_is_rotated_and_still_counted(logged: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "ROTATE_BYTES", 500)
    for _ in range(5):
        logged.call("recall")
    path = logged.config.usage_path
    assert path.with_name(path.name + ".1").exists()
    assert stats(path, days=None, now=logged.clock.now)["total_calls"] == 5


def test_a_log_that_cannot_be_written_fails_no_call(open_memory: Callable[..., Memory], tmp_path: Path) -> None:
    memory = open_memory(usage_log=tmp_path / "no" / "such" / "folder" / "log")
    memory.remember("f")


def test_a_log_can_be_off(memory: Memory, tmp_path: Path) -> None:
    memory.remember("f")
    assert not list(tmp_path.glob("*usage*"))
