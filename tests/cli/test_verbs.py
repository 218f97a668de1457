from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture
def db(tmp_path: Path) -> tuple[str, Path]:
    return ("--db", tmp_path / "memory.sqlite3")


def test_a_remembered_fact_is_recalled_and_once_forgotten_it_is_gone(nmemory, db):
    said = nmemory("remember", "Ann likes tea", "--provenance", "a letter", "--entity", "people/ann", *db)
    assert (said.code, said.out.splitlines()[0]) == (0, "1 inserted about people/ann")
    recalled = nmemory("recall", "--entity", "people/ann", *db).out
    assert recalled.splitlines()[0] == "1  Ann likes tea"
    assert "from a letter" in recalled
    assert nmemory("forget", "1", "--reason", "tea is over", *db).out == "forgot 1\n"
    assert nmemory("forget", "1", *db).out == "1 was forgotten before\n"
    assert nmemory("recall", "--entity", "people/ann", *db).out == "0 facts\n"
    assert "ended" in nmemory("recall", "--entity", "people/ann", "--include-expired", *db).out


def test_the_owner_sees_what_is_private(nmemory, db):
    nmemory("remember", "a secret", "--provenance", "p", "--visibility", "private", *db)
    assert "a secret" in nmemory("recall", *db).out


def test_json_is_the_body_of_the_answer(nmemory, db):
    told = json.loads(
        nmemory("remember", "x", "--provenance", "p", "--ttl", "30d", "--kind", "event", "--json", *db).out
    )
    assert (told["status"], told["protocol_version"]) == ("inserted", 1)
    assert json.loads(nmemory("entity", "Nobody", "--json", *db).out)["found"] is False


def test_a_refusal_is_told_with_the_servers_suggestion(nmemory, db):
    ran = nmemory("remember", "x", "--provenance", "p", "--ttl", "P30D", *db)
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "30d" in ran.err


def test_a_refusal_as_json_is_the_envelope(nmemory, db):
    ran = nmemory("forget", "77", "--json", *db)
    assert (ran.code, json.loads(ran.out)["error"]) == (1, "not_found")


def test_an_unknown_name_is_an_answer(nmemory, db):
    assert nmemory("entity", "Nobody", *db).out == "not known here\n"


def test_a_stored_text_cannot_reach_the_terminal(nmemory, db):
    nmemory("remember", "red \x1b[31m alert\n::error::x", "--provenance", "\x07", *db)
    assert "\x1b" not in (told := nmemory("recall", *db).out)
    assert "\x07" not in told
    assert not any(line.startswith("::") for line in told.splitlines())


def test_use_is_added_up_from_the_local_log(nmemory, db):
    nmemory("remember", "x", "--provenance", "p", *db)
    nmemory("recall", *db)
    told = json.loads(nmemory("protocol", "stats", "--json", *db).out)
    assert {verb: row["calls"] for verb, row in told["verbs"].items()} == {"recall": 1, "remember": 1}
    assert "2 calls" in nmemory("protocol", "stats", "--days", "7", *db).out


def test_an_unused_memory_has_empty_statistics(nmemory, db):
    assert nmemory("protocol", "stats", *db).out.startswith("0 calls")
