"""Where throw-away stores are made."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from nmemory_kit.target import throwaway
from nmemory_kit.target.throwaway import ThrowAwayStores, in_memory


@pytest.mark.parametrize(("room", "there"), [(1, True), (2**80, False)])
def test_stores_are_in_memory_only_where_there_is_room(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, room: int, there: bool
) -> None:
    monkeypatch.setattr(throwaway, "_IN_MEMORY", tmp_path)
    monkeypatch.setattr(throwaway, "_ROOM", room)
    before, stores = tempfile.gettempdir(), ThrowAwayStores()
    with in_memory():
        folder = stores.path(stores.fresh())
    assert folder.is_relative_to(tmp_path.resolve()) is there
    assert tempfile.gettempdir() == before
    stores.remove()


def test_a_machine_without_such_a_place_has_its_stores_where_temporary_files_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(throwaway, "_IN_MEMORY", tmp_path / "nowhere")
    before = tempfile.gettempdir()
    with in_memory():
        assert tempfile.gettempdir() == before
