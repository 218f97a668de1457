"""Throw-away stores go with their run; what a killed run left is removed by the next."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest
from nmemory_kit.target import throwaway
from nmemory_kit.target.throwaway import ThrowAwayStores, in_memory

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there nobody can tell whether a run still lives")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def aged(folder: Path) -> Path:
    """A folder that was made long ago."""
    os.utime(folder, (0, 0))
    return folder


def dead(temporary: Path, name: str) -> Path:
    """What a killed run leaves."""
    folder = temporary / f"nmemory-store-{name}"
    (folder / "main").mkdir(parents=True)
    (folder / "main" / "store.db").write_text("somebody's facts")
    (folder / "in-use").touch()
    return aged(folder)


def test_the_folder_goes_with_its_run(temporary: Path):
    stores = ThrowAwayStores()
    assert stores.path(None) != stores.path(stores.fresh())
    stores.remove()
    assert list(temporary.iterdir()) == []


def test_what_a_killed_run_left_is_removed_by_the_next(temporary: Path):
    left = dead(temporary, "killed")
    stores = ThrowAwayStores()
    stores.path(None)
    assert not left.exists()
    stores.remove()


def test_the_stores_of_a_run_that_lives_are_left_alone(temporary: Path):
    living, other = ThrowAwayStores(), ThrowAwayStores()
    folder = aged(living.path(None).parent.parent)
    other.path(None)
    assert folder.exists()
    living.remove()
    other.remove()


def test_a_folder_that_is_just_being_made_or_is_no_runs_is_left_alone(temporary: Path):
    new, foreign = dead(temporary, "new"), temporary / "nmemory-store-foreign"
    os.utime(new)
    foreign.mkdir()
    aged(foreign)
    stores = ThrowAwayStores()
    stores.path(None)
    assert new.exists()
    assert foreign.exists()
    stores.remove()


@pytest.mark.parametrize(("room", "there"), [(1, True), (2**80, False)])
def test_stores_are_in_memory_only_where_there_is_room(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, room: int, there: bool
) -> None:
    memory = tmp_path_factory.mktemp("memory").resolve()
    monkeypatch.setattr(throwaway, "_IN_MEMORY", memory)
    monkeypatch.setattr(throwaway, "_ROOM", room)
    before, stores = tempfile.gettempdir(), ThrowAwayStores()
    with in_memory():
        folder = stores.path(stores.fresh())
    assert folder.is_relative_to(memory) is there
    assert tempfile.gettempdir() == before
    stores.remove()


def test_a_machine_without_such_a_place_has_its_stores_where_temporary_files_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(throwaway, "_IN_MEMORY", tmp_path / "nowhere")
    before = tempfile.gettempdir()
    with in_memory():
        assert tempfile.gettempdir() == before
