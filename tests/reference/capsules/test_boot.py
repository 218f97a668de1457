"""Starting the memory surface: where the store is, what is refused, and what a process opens."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from nmemory_reference.store.database import APPLICATION_ID, Database, schema_statements
from reference.capsules.wire_client import connected
from reference.server import COMMAND, PATIENCE


def boot(*options: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Start the server with no input and wait for its end."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NMEMORY_", "XDG_", "HOME"))}
    return subprocess.run(
        [*COMMAND, "--surface", "memory", *map(str, options)],
        env={**kept, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.mark.parametrize(
    ("options", "variables", "place"),
    [
        (["--db", "by/option"], {"NMEMORY_DB": "by/variable", "XDG_STATE_HOME": "state", "HOME": "home"}, "by/option"),
        ([], {"NMEMORY_DB": "by/variable", "XDG_STATE_HOME": "state", "HOME": "home"}, "by/variable"),
        ([], {"XDG_STATE_HOME": "state", "HOME": "home"}, "state/nmemory/memory.sqlite3"),
        ([], {"NMEMORY_DB": " ", "XDG_STATE_HOME": "", "HOME": "home"}, "home/.local/state/nmemory/memory.sqlite3"),
    ],
    ids=["option", "NMEMORY_DB", "XDG_STATE_HOME", "HOME"],
)
def test_srv57_srv58_where_the_store_is_made(
    tmp_path: Path, options: list[str], variables: dict[str, str], place: str
) -> None:
    options = [str(tmp_path / word) if "/" in word else word for word in options]
    booted = boot(*options, **{name: value.strip() and str(tmp_path / value) for name, value in variables.items()})
    assert (booted.returncode, booted.stdout, booted.stderr) == (0, "", "")
    made = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".installed"]
    assert made == [tmp_path / place]


def test_srv59_srv65_the_store_is_one_file_and_ids_go_on(tmp_path: Path) -> None:
    db = tmp_path / "memory.sqlite3"
    for number in (1, 2):
        with connected("stdio", "legacy", db) as client:
            item = {"content": f"number {number}", "source": "s", "anchor": "a"}
            assert client.call("memory_ingest", **item)["outcomes"][0]["id"] == f"cap-{number}"
            assert db.with_name("memory.sqlite3-wal").exists()
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as found:
        assert found.execute("SELECT count(*) FROM capsule").fetchone() == (2,)


@pytest.mark.parametrize("content", [b"not a database at all", b"SQLite format 3\0 and then nothing of the kind"])
def test_srv55_srv61_a_file_that_is_no_store_is_refused_in_a_line_and_left_alone(
    tmp_path: Path, content: bytes
) -> None:
    db = tmp_path / "notes.txt"
    db.write_bytes(content)
    booted = boot("--db", db)
    assert (booted.returncode, booted.stdout, booted.stderr.count("\n")) == (2, "", 1)
    assert booted.stderr.startswith(f"Can't use {db}: ")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    assert db.read_bytes() == content


def test_srv62_a_store_from_a_newer_server_is_refused(tmp_path: Path) -> None:
    db = tmp_path / "memory.sqlite3"
    boot("--db", db)
    with sqlite3.connect(db) as newer:
        newer.execute("PRAGMA user_version = 99")
    booted = boot("--db", db)
    assert (booted.returncode, booted.stderr.count("\n")) == (2, 1)
    assert "newer server" in booted.stderr


def test_srv62_a_store_that_knew_the_verbs_alone_gets_room_for_capsules(tmp_path: Path) -> None:
    db = tmp_path / "memory.sqlite3"
    with sqlite3.connect(db) as old:
        for statement in schema_statements("nmemory_reference.store"):
            old.execute(statement)
        old.execute("INSERT INTO meta VALUES ('brain_id', 'the-old-one')")
        old.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        old.execute("PRAGMA user_version = 1")
    with connected("stdio", "legacy", db) as client:
        client.call("memory_ingest", content="x", source="s", anchor="a")
        assert client.call("memory_digest")["journal"]["chain"] == "ok"
    opened = Database.open(db)
    assert opened.brain_id == "the-old-one"
    opened.close()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_srv64_no_socket_is_opened(tmp_path: Path) -> None:
    with connected("stdio", "legacy", tmp_path / "memory.sqlite3") as client:
        client.call("memory_ingest", content="x", source="s", anchor="a")
        client.call("memory_retrieve", terms=["x"])
        process = Path("/proc") / str(client.wire.server.process.pid)  # type: ignore[attr-defined]
        opened = {str(link.readlink()) for link in (process / "fd").iterdir()}
        known: set[str] = set()
        for protocol in ("tcp", "tcp6", "udp", "udp6"):
            lines = (process / "net" / protocol).read_text().splitlines()[1:]
            known |= {f"socket:[{line.split()[9]}]" for line in lines}
        assert not opened & known
