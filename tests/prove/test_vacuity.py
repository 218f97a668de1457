"""The list of cases that may pass against a null double is short, and true."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from nmemory_kit.contract.pack import load_pack, pack_names
from nmemory_kit.prove import NullTrial, vacuity

ENTRIES = {"*": {"a/v1/listed": "a list"}, "null-echo": {"a/v1/said": "an echo"}}


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Mapping[str, str]]:
    monkeypatch.setattr(vacuity, "_entries", lambda: ENTRIES)
    return ENTRIES


def trial(null: str, *excused: str) -> NullTrial:
    return NullTrial(null, "Does nothing.", (), excused, 0.1)


def test_some_excuses_are_for_every_double_and_some_for_one(entries: object) -> None:
    assert vacuity.excuses("null-silence") == {"a/v1/listed": "a list"}
    assert vacuity.excuses("null-echo") == {"a/v1/listed": "a list", "a/v1/said": "an echo"}


def test_an_excuse_is_used_if_any_of_its_doubles_needs_it(entries: object) -> None:
    trials = [trial("null-echo", "a/v1/said"), trial("null-silence", "a/v1/listed")]
    assert vacuity.stale(trials, ["a/v1"]) == []


def test_an_excuse_that_no_double_needs_is_told(entries: object) -> None:
    trials = [trial("null-echo"), trial("null-silence", "a/v1/said")]
    assert vacuity.stale(trials, ["a/v1"]) == ["*: a/v1/listed", "null-echo: a/v1/said"]


def test_excuses_of_a_pack_that_was_not_tried_are_left_alone(entries: object) -> None:
    assert vacuity.stale([], ["b/v1"]) == []


def test_every_excuse_names_a_case_and_gives_a_reason() -> None:
    cases = {case.path for name in pack_names() for case in load_pack(name).cases}
    for excused in vacuity._entries().values():
        assert set(excused) <= cases
        assert all(excused.values())
