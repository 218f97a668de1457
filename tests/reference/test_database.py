"""The file: foreign ones are left alone, what is answered is kept, and no look-up scans a table."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from nmemory_reference.errors import ConfigError, StoreError
from nmemory_reference.serve.config import Config, default_db
from nmemory_reference.serve.oneshot import one_shot
from nmemory_reference.store import facts, names, pages
from nmemory_reference.store.database import Database
from reference.talk import Memory


def test_a_memory_is_kept(open_memory: Callable[..., Memory]) -> None:
    first = open_memory()
    first.put("people/a", title="A")
    first.remember("kept", entity="people/a")
    first.endpoint.close()
    second = open_memory()
    assert second.texts(entity="A") == ["kept"]


@pytest.mark.parametrize(("durable", "level"), [(True, 2), (False, 0)])
def test_an_answer_waits_for_the_disk_unless_told_not_to(tmp_path: Path, durable: bool, level: int) -> None:
    database = Database.open(tmp_path / "memory.sqlite3", durable=durable)
    with database.reading() as db:
        assert db.execute("PRAGMA synchronous").fetchone()[0] == level
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    database.close()
    assert Config(db=tmp_path).durable is True


def test_folders_are_made(tmp_path: Path) -> None:
    Database.open(tmp_path / "a" / "b" / "memory.sqlite3").close()
    assert (tmp_path / "a" / "b" / "memory.sqlite3").exists()


def being_made(file: Path) -> sqlite3.Connection:
    """Another process's connection to a file that does not write ahead yet, while it writes."""
    Database.open(file).close()
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("BEGIN IMMEDIATE")
    return other


def test_a_new_file_that_another_process_is_making_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "memory.sqlite3"
    other = being_made(file)
    waited: list[float] = []

    def done_meanwhile(seconds: float) -> None:
        waited.append(seconds)
        other.execute("COMMIT")

    monkeypatch.setattr("nmemory_reference.store.database.time.sleep", done_meanwhile)
    Database.open(file).close()
    assert len(waited) == 1
    other.close()


def test_a_new_file_that_stays_locked_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "memory.sqlite3"
    other = being_made(file)
    monkeypatch.setattr("nmemory_reference.store.database.BUSY_MILLISECONDS", 0)
    with pytest.raises(StoreError, match="database is locked"):
        Database.open(file)
    other.close()


def foreign_database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    connection.close()


def newer_database(path: Path) -> None:
    Database.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_bytes(b"not a database, but long enough to look like a file of some sort" * 40),
        lambda path: path.write_bytes(b"x"),
        foreign_database,
        newer_database,
    ],
)
def test_a_file_that_is_not_ours_is_refused_and_unchanged(tmp_path: Path, make: Callable[[Path], object]) -> None:
    path = tmp_path / "memory.sqlite3"
    make(path)
    before = path.read_bytes()
    with pytest.raises(StoreError) as refused:
        Database.open(path)
    assert str(path) in str(refused.value)
    assert "--db" in refused.value.remedy
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("size", [1, 16, 511, 512, 5_000])
def test_a_text_is_called_no_database_however_long_it_is(tmp_path: Path, size: int) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"n" * size)
    with pytest.raises(StoreError, match="no SQLite database"):
        Database.open(path)


def test_opening_a_memory_again_in_the_same_process_keeps_its_locks(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    database = Database.open(path)
    Database.open(path).close()
    elsewhere = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('SELECT * FROM meta'); db.close()"
    subprocess.run([sys.executable, "-c", elsewhere, path], check=True)
    assert path.with_name("memory.sqlite3-wal").exists()
    database.close()


def test_a_damaged_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    Database.open(path).close()
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(StoreError):
        Database.open(path)


def test_a_place_that_can_hold_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "file" / "memory.sqlite3", Path("/proc/no/memory.sqlite3")):
        with pytest.raises(StoreError):
            Database.open(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    Database.open(tmp_path / "memory.sqlite3").close()
    (tmp_path / "memory.sqlite3").chmod(0o400)
    with pytest.raises(StoreError):
        Database.open(tmp_path / "memory.sqlite3")


def test_an_empty_file_is_a_new_memory(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    path.touch()
    Database.open(path).close()


def test_a_failed_write_leaves_nothing(memory: Memory) -> None:
    database = Database.open(memory.config.db)

    def write_and_fail() -> None:
        with database.writing() as db:
            facts.insert(db, "default", facts.NewFact("f", "fact", None, "world", "p", None, None), memory.clock.now)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_and_fail()
    database.close()
    assert memory.texts() == []


def test_a_memory_locked_for_long_is_unavailable(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    holder = Database.open(memory.config.db)
    memory.endpoint._memory.database._connection.execute("PRAGMA busy_timeout = 10")
    with holder.writing():
        envelope = memory.refusal("remember", fact="f", provenance="p")
        assert memory.endpoint.healthy() is False
        assert memory.texts() == []
    holder.close()
    assert envelope["error"] == "unavailable"
    assert memory.endpoint.healthy() is True


LOOK_UPS = {
    "entity, every kind of name": lambda memory: memory.call("entity", name="a/b"),
    "entity, a miss": lambda memory: memory.call("entity", name="one two three"),
    "recall by entity": lambda memory: memory.call("recall", entity="people/a"),
    "recall by entity, all of it": lambda memory: memory.call("recall", entity="people/a", include_expired=True),
    "recall, the newest": lambda memory: memory.call("recall"),
    "recall by session": lambda memory: memory.call("recall", session_id="s"),
    "recall by query": lambda memory: memory.call("recall", query="one two"),
    "recall, supersessions": lambda memory: memory.call("recall", entity="people/a", supersessions=True),
    "context_pack": lambda memory: memory.call("context_pack", entities="people/a"),
    "delta": lambda memory: memory.call("delta", since="2026-06-01"),
    "remember": lambda memory: memory.remember("f", entity="people/a", kind="belief"),
    "forget": lambda memory: memory.refusal("forget", id="77"),
    "put_page": lambda memory: memory.put("people/a", "[[x]]", title="A", aliases=["b"], links=["c"]),
}


@pytest.mark.parametrize("look_up", LOOK_UPS)
def test_nothing_scans_a_table_or_sorts_but_by_rank(hashing: Memory, look_up: str) -> None:
    hashing.put("people/a", title="A", aliases=["a/b"], links=["x"])
    hashing.remember("f", entity="people/a")
    connection = hashing.endpoint._memory.database._connection
    statements: list[str] = []
    connection.set_trace_callback(statements.append)
    LOOK_UPS[look_up](hashing)
    connection.set_trace_callback(None)
    plans = {
        statement: [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
        for statement in statements
        if statement.lstrip().startswith(("SELECT", "INSERT", "UPDATE", "DELETE"))
    }
    assert plans
    # A virtual table says SCAN even where it searches; json_each goes over the argument it is given.
    allowed = ("SCAN name_words VIRTUAL", "SCAN page_words VIRTUAL", "SCAN fact_words VIRTUAL", "SCAN json_each")
    scans = {
        statement: step
        for statement, plan in plans.items()
        for step in plan
        if step.startswith("SCAN") and not step.startswith((*allowed, "SCAN CONSTANT ROW"))
    }
    assert not scans
    sorts = [statement for statement, plan in plans.items() if any("TEMP B-TREE" in step for step in plan)]
    assert all("bm25" in statement for statement in sorts)


def test_a_hub_is_counted_without_counting(memory: Memory) -> None:
    with memory.endpoint._memory.database.reading() as db:
        plan = db.execute(f"EXPLAIN QUERY PLAN {pages._BACKLINKS}", ("t", "s")).fetchall()
        live = db.execute(
            f"EXPLAIN QUERY PLAN {facts._COUNT_LIVE}",
            {"tenant": "t", "entity": "e", "visibility": "world", "now": ""},
        ).fetchall()
    assert "USING PRIMARY KEY" in plan[0][3]
    assert sum("COVERING INDEX fact_live" in row[3] for row in live) == 2


def test_near_misses_start_from_the_words(memory: Memory) -> None:
    with memory.endpoint._memory.database.reading() as db:
        plan = db.execute(f"EXPLAIN QUERY PLAN {names._BY_NAME_WORDS}", ('"a"', "t", 1)).fetchall()
    assert plan[0][3].startswith("SCAN name_words VIRTUAL TABLE")


def test_settings_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    db = tmp_path / "m.sqlite3"
    for settings in (
        {"surface": "some"},
        {"embeddings": "magic"},
        {"embeddings": "ftp://x/v1", "embeddings_model": "m"},
        {"embeddings": "http://x/v1"},
        {"llm": "hash", "llm_model": "m"},
        {"llm": "http://[", "llm_model": "m", "llm_key": "canary"},
        {"db": Path(":memory:")},
    ):
        with pytest.raises(ConfigError) as refused:
            Config(**{"db": db, **settings})
        assert "canary" not in str(refused.value)


def test_a_key_is_never_shown(tmp_path: Path) -> None:
    config = Config(db=tmp_path / "m", llm="http://x/v1", llm_model="m", llm_key="canary", embeddings_key="canary")
    assert "canary" not in repr(config)


def test_the_memory_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    monkeypatch.delenv("NMEMORY_DB", raising=False)
    assert default_db() == Path("/state/nmemory/memory.sqlite3")
    monkeypatch.setenv("NMEMORY_DB", "/else/where")
    assert default_db() == Path("/else/where")


def test_one_shot_is_a_local_call(tmp_path: Path) -> None:
    config = Config(db=tmp_path / "m.sqlite3")
    body, failed = one_shot(config, "remember", {"fact": "f", "provenance": "p", "visibility": "private"})
    assert (failed, body["status"]) == (False, "inserted")
    assert one_shot(config, "recall", {})[0]["total"] == 1
    assert one_shot(config, "forget", {"id": "9"})[1] is True
