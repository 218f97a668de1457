from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from nmemory_kit.run.ledger import Ledger, LedgerHeld
from nmemory_kit.run.reach import Address, reach
from nmemory_kit.target.held import hold


@pytest.fixture
def server(tmp_path: Path) -> tuple[str, ...]:
    """A server with a store of its own, which outlives a run."""
    return (sys.executable, "-P", "-m", "nmemory_reference", "--db", str(tmp_path / "memory.sqlite3"))


@pytest.fixture
def crashed(server, tmp_path: Path, nmemory) -> Path:
    """The ledger of a run that made fact 1 and crashed; fact 2 is the user's own."""
    db = tmp_path / "memory.sqlite3"
    for fact in ("made by the run", "dear to its owner"):
        nmemory("remember", fact, "--provenance", "p", "--entity", "x", "--db", db)
    ledger = reach(Address(command=server)).options().ledger
    ledger.parent.mkdir(parents=True)
    made = {
        "number": 1,
        "case": "a/v1/c",
        "what": "a fact",
        "tool": "forget",
        "arguments": {"id": "1"},
        "credential": None,
    }
    ledger.write_text(json.dumps({"made": made}) + "\n")
    return ledger


def facts(nmemory, tmp_path: Path) -> list[str]:
    told = json.loads(nmemory("recall", "--entity", "x", "--json", "--db", tmp_path / "memory.sqlite3").out)
    return [fact["fact"] for fact in told["facts"]]


def test_a_crashed_run_is_cleaned_up_and_nothing_else_is_touched(crashed: Path, server, nmemory, tmp_path: Path):
    ran = nmemory("protocol", "cleanup", "--", *server)
    assert (ran.code, ran.out) == (0, f"run {crashed.stem}: 1 taken back, 0 left\n")
    assert facts(nmemory, tmp_path) == ["dear to its owner"]
    assert not crashed.exists()


def test_a_ledger_is_never_applied_to_another_target(crashed: Path, server, nmemory, tmp_path: Path):
    ran = nmemory("protocol", "cleanup", "--", *server, "--embeddings", "hash")
    assert (ran.code, ran.out) == (0, "no run left anything behind in this target\n")
    assert crashed.exists()


def test_a_run_that_is_still_under_way_is_left_alone(crashed: Path, server, nmemory, tmp_path: Path):
    with crashed.open("a") as held:
        assert hold(held)
        ran = nmemory("protocol", "cleanup", "--", *server)
    assert (ran.code, ran.out) == (0, f"run {crashed.stem}: still under way, left alone\n")
    assert len(facts(nmemory, tmp_path)) == 2
    assert crashed.exists()


def test_a_run_holds_its_ledger_while_it_lives(tmp_path: Path):
    live = Ledger(tmp_path / "run.jsonl")
    live.made("a/v1/c", "a fact", "forget", {"id": "1"})
    with pytest.raises(LedgerHeld):
        Ledger.load(tmp_path / "run.jsonl")
    live.close()
    assert Ledger.load(tmp_path / "run.jsonl").there()


def test_an_unknown_run_is_told_with_those_that_there_are(crashed: Path, server, nmemory):
    ran = nmemory("protocol", "cleanup", "--run", "nope", "--", *server)
    assert ran.code == 2
    assert crashed.stem in ran.err


def test_a_target_that_is_not_there_loses_nothing(nmemory):
    ledger = reach(Address(target="no-such-program-anywhere")).options().ledger
    ledger.parent.mkdir(parents=True)
    ledger.write_text('{"made": {"number": 1, "case": "c", "what": "w", "tool": "t", "arguments": {}}}\n')
    ran = nmemory("protocol", "cleanup", "--target", "no-such-program-anywhere")
    assert (ran.code, ran.err.count("\n")) == (3, 1)
    assert ledger.exists()
