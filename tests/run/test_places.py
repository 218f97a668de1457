"""Steps that go somewhere else: another store, another client's name, a file, the file of a store."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from nmemory_kit.run.result import Verdict
from nmemory_kit.target import Command, HttpTarget, InProcessTarget, StdioTarget
from run.stage import Toy, only, play, put, success

SHOWS = {"call": "get", "clause": "toy/get/shows"}


def case(*steps: dict[str, Any], needs: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    return {
        "id": "the-case",
        "clauses": ["toy/put/keeps", "toy/get/shows"],
        "needs": list(needs),
        "steps": list(steps),
        **more,
    }


# --- stores ---------------------------------------------------------------------------------------------------------


def test_each_store_that_a_case_names_keeps_its_own_things() -> None:
    steps = case(
        put("{{marker}} here"),
        put("{{marker}} there", at="laptop"),
        {**SHOWS, "expect": {"properties": {"texts": {"const": ["{{marker}} here"]}}}},
        {**SHOWS, "at": "laptop", "expect": {"properties": {"texts": {"const": ["{{marker}} there"]}}}},
        needs=("second-store",),
        store="fresh",
    )
    result = only(play(steps))
    assert result.verdict is Verdict.PASS, result.reason
    assert [exchange.store for exchange in result.transcript] == [None, "laptop", None, "laptop"]


def test_the_file_of_a_store_is_named_and_there_once_it_has_been_used() -> None:
    steps = case(
        {"look": "{{stores/laptop/file}}", "expect": {"properties": {"kind": {"const": "nothing"}}}},
        put("{{marker}} there", at="laptop"),
        {"stop": True, "at": "laptop"},
        {"look": "{{stores/laptop/file}}", "shows": ["{{marker}} there"]},
        {"file": "copy.json", "copy": "{{stores/laptop/file}}"},
        {"look": "copy.json", "shows": ["{{marker}} there"]},
        {
            "look": "{{stores/laptop/folder}}",
            "expect": {"properties": {"files": {"required": ["store.db"]}}},
        },
        put("{{marker}} again", at="laptop", expect={"properties": {"id": {"const": "2"}}}),
        needs=("second-store", "shared-filesystem"),
    )
    result = only(play(steps))
    assert result.verdict is Verdict.PASS, (result.reason, result.findings)


def test_a_case_that_stops_its_target_has_a_store_of_its_own() -> None:
    lives: list[str] = []

    async def act(toy: Toy, name: str, arguments: dict[str, Any]) -> Any:
        lives.append(toy.path.parent.name)

    play(case(put("x"), {"stop": True}, put("y")), act=act)
    assert len(set(lives)) == 1
    assert lives[0] != "main"


def test_a_second_store_on_a_target_that_has_one_only_is_skipped() -> None:
    class One(InProcessTarget):
        def fresh_store(self) -> None:  # type: ignore[override]
            return None

    steps = case(put("x", at="laptop"), needs=("second-store",))
    result = only(play(steps, target=One(lambda path: Toy(path), name="one")))
    assert result.verdict is Verdict.SKIP
    assert "does not know the file of its store" in str(result.reason)


# --- clients --------------------------------------------------------------------------------------------------------


async def _who(toy: Toy, name: str, arguments: dict[str, Any]) -> Any:
    return success({"version": 1, "id": "1", "client": toy.client}) if name == "put" else None


def test_a_call_is_made_under_the_name_that_the_step_gives() -> None:
    steps = case(
        put("x", expect={"properties": {"client": {"const": "nmemory-kit"}}}),
        put("x", client="Kit {{marker}}", expect={"properties": {"client": {"const": "Kit {{marker}}"}}}),
        put("x", expect={"properties": {"client": {"const": "nmemory-kit"}}}),
        needs=("client-name",),
    )
    result = only(play(steps, act=_who))
    assert result.verdict is Verdict.PASS, (result.reason, result.findings)
    assert [exchange.client for exchange in result.transcript] == [None, "Kit {{marker}}", None]


def test_a_double_that_cannot_tell_its_callers_apart_has_no_client_names() -> None:
    steps = case(put("x", client="Kit"), needs=("client-name",))
    result = only(play(steps, target=InProcessTarget(lambda path: Toy(path), name="deaf")))
    assert result.verdict is Verdict.SKIP


# --- files ----------------------------------------------------------------------------------------------------------


async def _reads(toy: Toy, name: str, arguments: dict[str, Any]) -> Any:
    """A tool that reads the file whose path it is given."""
    if name != "get" or "path" not in arguments:
        return None
    path = Path(arguments["path"])
    return success({"version": 1, "there": path.exists(), "text": path.read_text() if path.is_file() else None})


def read(path: str, **more: Any) -> dict[str, Any]:
    return {"call": "get", "with": {"path": path}, "clause": "toy/get/shows", **more}


def text(value: Any) -> dict[str, Any]:
    return {"expect": {"properties": {"text": {"const": value}}}}


def test_a_target_sees_the_files_of_a_case() -> None:
    steps = case(
        {"file": "notes/a.md", "text": "# {{marker}}\r\n"},
        read("{{folder}}/notes/a.md", shows=["# {{marker}}"]),
        {"file": "notes/a.md", "text": "changed"},
        read("{{folder}}/notes/a.md", **text("changed")),
        {"file": "link.md", "link": "notes/a.md"},
        read("{{folder}}/link.md", **text("changed")),
        {"file": "{{outside}}/b.md", "base64": "aGk="},
        read("{{outside}}/b.md", **text("hi")),
        {"file": "notes/a.md", "gone": True},
        read("{{folder}}/link.md", **text(None)),
        {"file": "notes", "folder": True},
        {"look": "notes", "expect": {"properties": {"files": {"const": {}}}}},
        {"look": "link.md", "expect": {"properties": {"kind": {"const": "link"}, "target": {"const": "notes/a.md"}}}},
        needs=("shared-filesystem",),
    )
    result = only(play(steps, act=_reads))
    assert result.verdict is Verdict.PASS, (result.reason, result.findings)


def test_what_a_look_finds_is_judged_and_may_be_saved() -> None:
    steps = case(
        {"file": "a", "text": "one"},
        {"look": "a", "save": {"before": "/sha256"}},
        {"file": "a", "text": "two"},
        {"look": "a", "clause": "toy/get/shows", "expect": {"properties": {"sha256": {"const": "{{before}}"}}}},
        needs=("shared-filesystem",),
    )
    (finding,) = only(play(steps)).findings
    assert (finding.step, finding.clause, finding.pointer) == ("4", "toy/get/shows", "/sha256")


def test_the_folders_are_gone_afterwards() -> None:
    seen: list[Path] = []

    async def act(toy: Toy, name: str, arguments: dict[str, Any]) -> Any:
        seen.extend(Path(path) for path in arguments["text"].split())

    steps = case({"file": "a", "text": "x"}, put("{{folder}} {{outside}}"), needs=("shared-filesystem",))
    play(steps, act=act)
    assert len(seen) == 2
    assert not any(path.exists() or path.parent.exists() for path in seen[1:])
    assert not seen[0].exists()


@pytest.mark.parametrize("path", ["../x", "/etc/hosts", "{{folder}}/../../x", "a/../../x", "{{folder}}", ".."])
def test_nothing_is_made_outside_of_the_folders(path: str) -> None:
    result = only(play(case({"file": path, "text": "x"}, put("x"), needs=("shared-filesystem",))))
    assert result.verdict is Verdict.ERROR
    assert "leads out of the folders" in str(result.reason)


def test_nothing_is_made_or_seen_through_a_link_that_leads_out(tmp_path: Path) -> None:
    for last in ({"file": "out/x", "text": "x"}, {"look": "out/x"}, {"file": "y", "copy": "out/x"}):
        steps = case({"file": "out", "link": str(tmp_path)}, last, put("x"), needs=("shared-filesystem",))
        assert only(play(steps)).verdict is Verdict.ERROR
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ["/etc/hosts", "{{stores/main/file}}/../../../x"])
def test_nothing_is_looked_at_that_is_not_the_kits(path: str) -> None:
    result = only(play(case({"look": path}, put("x"), needs=("store-file",))))
    assert result.verdict is Verdict.ERROR


def test_here_is_the_folder_as_the_targets_root_has_it() -> None:
    target = InProcessTarget(lambda path: Toy(path, _reads), name="rooted")

    async def act(toy: Toy, name: str, arguments: dict[str, Any]) -> Any:
        if "path" in arguments:
            assert not arguments["path"].startswith("/")
        return await _reads(toy, name, {**arguments, "path": str(target.root / arguments.get("path", ""))})

    target = InProcessTarget(lambda path: Toy(path, act), name="rooted")
    steps = case(
        {"file": "a", "text": "found"},
        read("{{here}}/a", **text("found")),
        needs=("shared-filesystem", "shared-root"),
    )
    result = only(play(steps, target=target))
    assert result.verdict is Verdict.PASS, (result.reason, result.findings)


# --- the file of a store --------------------------------------------------------------------------------------------


async def _in_sqlite(toy: Toy, name: str, arguments: dict[str, Any]) -> Any:
    with closing(sqlite3.connect(toy.path)) as db, db:
        db.execute("CREATE TABLE IF NOT EXISTS texts (text, raw)")
        if name == "put":
            db.execute("INSERT INTO texts VALUES (?, x'00ff')", (arguments["text"],))
            return success({"version": 1, "id": "1"})
        return success({"version": 1, "texts": [text for (text,) in db.execute("SELECT text FROM texts")]})


def test_the_file_of_a_store_is_asked_and_changed() -> None:
    steps = case(
        put("{{marker}} a"),
        {
            "sqlite": "SELECT text, raw FROM texts WHERE text LIKE ?",
            "with": ["{{marker}}%"],
            "expect": {"properties": {"rows": {"const": [{"text": "{{marker}} a", "raw": "00ff"}]}}},
        },
        {"sqlite": "UPDATE texts SET text = 'forged'", "expect": {"properties": {"changed": {"const": 1}}}},
        {**SHOWS, "expect": {"properties": {"texts": {"const": ["forged"]}}}},
        needs=("store-file",),
    )
    result = only(play(steps, act=_in_sqlite))
    assert result.verdict is Verdict.PASS, (result.reason, result.findings)


@pytest.mark.parametrize("sql", ["SELECT nothing FROM nowhere", "SELECT 1; SELECT 2", "SELEC"])
def test_a_store_that_is_laid_out_otherwise_blames_nobody(sql: str) -> None:
    result = only(play(case(put("x"), {"sqlite": sql}, needs=("store-file",)), act=_in_sqlite))
    assert result.verdict is Verdict.NOT_RUN
    assert not result.findings


def test_a_store_that_is_not_sqlite_blames_nobody() -> None:
    steps = case(put("x"), {"sqlite": "SELECT * FROM sqlite_schema"}, needs=("store-file",))
    assert only(play(steps)).verdict is Verdict.NOT_RUN


# --- what a target can do -------------------------------------------------------------------------------------------


def test_a_command_gives_stores_and_a_root_where_it_has_a_place_for_them() -> None:
    plain = StdioTarget(Command([sys.executable, "server.py"]))
    assert plain.shares_files
    assert plain.root is None
    assert plain.store_file(None) is None
    full = StdioTarget(Command(["server", "{store}"], env={"ROOT": "{folder}"}))
    assert full.root is not None
    assert full.root.is_dir()
    assert full.store_file(None) != full.store_file(full.fresh_store())
    assert StdioTarget(Command(["server"], root=full.root)).root == full.root


@pytest.mark.parametrize("program", ["docker", "/usr/bin/ssh", "kubectl"])
def test_a_door_to_elsewhere_shares_no_files(program: str) -> None:
    assert not StdioTarget(Command([program, "run", "server"])).shares_files


def test_a_url_shares_files_only_where_its_folder_is_known(tmp_path: Path) -> None:
    assert not HttpTarget("http://127.0.0.1:9/").shares_files
    assert HttpTarget("http://127.0.0.1:9/", root=tmp_path).shares_files
