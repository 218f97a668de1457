"""A frozen pack stays as it is: adding is allowed, changing and removing are not."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from nmemory_kit.contract.freeze import LOCK, FrozenError, check, difference, freeze, pack_digest

if TYPE_CHECKING:
    from unit.contract.conftest import SmallPack

BLANK = "notes/v1/cases/write/write-blank.json"


@pytest.fixture
def frozen(small: SmallPack) -> SmallPack:
    freeze(_cases(small))
    return small


@pytest.mark.skipif(not (files("nmemory_cases") / LOCK).is_file(), reason="no pack was released yet")
def test_the_packs_of_the_kit_are_as_they_were_frozen() -> None:
    assert check() == []


def _cases(small: SmallPack) -> Path:
    return small.written().parent.parent


def test_a_frozen_pack_has_nothing_to_report(frozen: SmallPack) -> None:
    assert check(_cases(frozen)) == []


def test_the_first_freeze_tells_all_that_it_froze(small: SmallPack) -> None:
    assert BLANK in freeze(_cases(small)).added


def test_a_changed_case_is_named_with_what_to_do(frozen: SmallPack) -> None:
    frozen.case["title"] = "Another title of this case"
    (message,) = check(_cases(frozen))
    assert message == f"{BLANK} was changed since it was frozen: undo it, or add a new one beside it"


def test_a_changed_case_is_not_frozen_over(frozen: SmallPack) -> None:
    frozen.case["title"] = "Another title of this case"
    before = (_cases(frozen) / LOCK).read_bytes()
    with pytest.raises(FrozenError, match=r"write-blank\.json \(changed\)"):
        freeze(_cases(frozen))
    assert (_cases(frozen) / LOCK).read_bytes() == before


def test_force_freezes_over_a_pack_that_was_never_released(frozen: SmallPack) -> None:
    frozen.case["title"] = "Another title of this case"
    assert freeze(_cases(frozen), force=True).changed == (BLANK,)
    assert check(_cases(frozen)) == []


def test_a_removed_case_is_named(frozen: SmallPack) -> None:
    (_cases(frozen) / BLANK).unlink()
    assert check(frozen.root.parent.parent) == [f"{BLANK} was removed since it was frozen: put it back"]
    with pytest.raises(FrozenError, match="removed"):
        freeze(frozen.root.parent.parent)


def test_a_new_case_is_frozen_beside_the_others(frozen: SmallPack) -> None:
    frozen.cases["write-more"] = {**frozen.case, "id": "write-more"}
    root = _cases(frozen)
    assert check(root) == [
        "notes/v1/cases/write/write-more.json is new: freeze it with `nmemory protocol freeze`",
    ]
    freeze(root)
    assert check(root) == []


@pytest.mark.parametrize(
    ("change", "entry"),
    [
        (lambda small: small.clauses["clauses"][1].update(level="SHOULD"), "clauses/n1/wire/json"),
        (lambda small: small.schemas["read.json"].update(minProperties=1), "schemas/read.json"),
        (lambda small: small.pack["tools"]["read"].update(required=True), "pack.json#tools/read"),
        (lambda small: small.pack["standing"][0].update(on="any"), "pack.json#standing/read-shape"),
        (lambda small: small.pack.update(protocol_version=2), "pack.json#protocol_version"),
    ],
)
def test_one_change_costs_one_entry(frozen: SmallPack, change, entry: str) -> None:
    change(frozen)
    assert difference(_cases(frozen)).changed == (f"notes/v1/{entry}",)


def test_adding_a_clause_and_a_tool_is_allowed(frozen: SmallPack) -> None:
    frozen.clauses["clauses"].insert(0, {**frozen.clauses["clauses"][0], "id": "n1/read/new"})
    frozen.pack["tools"]["list"] = {**frozen.pack["tools"]["read"]}
    found = freeze(_cases(frozen))
    assert found.added == ("notes/v1/clauses/n1/read/new", "notes/v1/pack.json#tools/list")


def test_reformatting_is_no_change(frozen: SmallPack) -> None:
    file = _cases(frozen) / BLANK
    digest = pack_digest(frozen.root)
    backwards = dict(reversed(json.loads(file.read_text()).items()))
    file.write_text(json.dumps(backwards, indent=7))
    assert check(frozen.root.parent.parent) == []
    assert pack_digest(frozen.root) == digest


def test_any_change_changes_the_digest_of_the_pack(small: SmallPack) -> None:
    before = pack_digest(small.written())
    small.clauses["clauses"][0]["text"] = "Something that it must do as well."
    after = pack_digest(small.written())
    assert before != after
    assert after.startswith("sha256:")
    assert len(after) == len("sha256:") + 64


def test_the_lock_holds_the_digest_of_each_pack(frozen: SmallPack) -> None:
    lock = json.loads((_cases(frozen) / LOCK).read_text())
    assert lock["packs"]["notes/v1"]["digest"] == pack_digest(frozen.root)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no frozen.lock: make it with `nmemory protocol freeze`"),
        ("<<<<<<< ours", "frozen.lock is damaged"),
        ("[]", "frozen.lock is damaged"),
        ('{"format": 9, "packs": {}}', "has format 9"),
    ],
)
def test_a_lock_that_cannot_be_used_says_so(small: SmallPack, text: str | None, message: str) -> None:
    root = _cases(small)
    if text is not None:
        (root / LOCK).write_text(text)
    (found,) = check(root)
    assert message in found


def test_a_lone_surrogate_in_a_case_can_be_frozen(small: SmallPack) -> None:
    small.others["cases/write/write-odd.json"] = '{"text": "\\ud800"}'
    root = _cases(small)
    freeze(root)
    assert check(root) == []
