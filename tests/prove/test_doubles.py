"""Doubles are gathered by name, and lies of one's own are read with care."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from nmemory_kit.contract.pack import Pack
from nmemory_kit.prove import ProveError, Sources, casting, gather
from nmemory_kit.prove.doubles import read_lies

Write = Callable[..., Path]

GOOD = (
    "@area.success('forget', clause='{clause}')\n"
    "def {name}(call, body):\n"
    "    '''Says that nothing was forgotten.'''\n"
    "    body['expired'] = False\n"
)
ONE = GOOD.format(clause="mv1/forget/expires", name="never_expires")


def test_every_double_of_a_pack_is_in_its_cast(small: Pack) -> None:
    (cast,) = casting([small]).casts
    assert cast.pack is small
    assert cast.config == {"surface": "full"}
    assert {lie.made for lie in cast.lies} == {True, False}
    assert cast.variants[0].id == "verbs/honest"
    ids = [lie.id for lie in cast.lies] + [other.id for other in (*cast.variants, *cast.nulls)]
    assert all(name.startswith("verbs/") for name in ids)
    assert len(casting([small])) == len(ids)


def test_a_pack_that_the_reference_does_not_know_has_no_doubles(small: Pack) -> None:
    (cast,) = casting([replace(small, protocol="toy")]).casts
    assert len(cast) == 0


def test_lies_of_ones_own_join_the_pack_whose_clause_they_break(small: Pack, lies_file: Write) -> None:
    toy = replace(small, protocol="toy", clauses={})
    brought = read_lies(lies_file(ONE + "LIES = area.lies\n"))
    first, second = casting([toy, small], brought).casts
    assert [lie.id for lie in first.lies] == []
    assert second.lies[-1].id == "mine/never-expires"


def test_the_glob_is_for_ids_and_clauses(small: Pack) -> None:
    doubles = casting([small])
    assert {lie.clause for lie in doubles.only("mv1/forget/expires").lies} == {"mv1/forget/expires"}
    assert [variant.id for variant in doubles.only("verbs/honest").variants] == ["verbs/honest"]
    assert {null.id for null in doubles.only("verbs/null-echo*").nulls} > {"verbs/null-echo"}


def test_each_of_several_globs_adds_its_own(small: Pack) -> None:
    doubles = casting([small]).only("mv1/forget/expires", "verbs/honest")
    assert {lie.clause for lie in doubles.lies} == {"mv1/forget/expires"}
    assert [variant.id for variant in doubles.variants] == ["verbs/honest"]


def test_a_double_that_is_not_there_is_told_with_the_nearest(small: Pack) -> None:
    with pytest.raises(ProveError, match="did you mean verbs/honest"):
        casting([small]).only("mv1/forget/expires", "verbs/honset")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import no_such_module\n", "cannot be run: ModuleNotFoundError"),
        ("raise SystemExit(3)\n", "cannot be run: SystemExit"),
        ("def (\n", "cannot be run: SyntaxError"),
        (ONE, "has no list LIES"),
        ("LIES = []\n", "has no list LIES"),
        ("LIES = ['never expires']\n", "has no list LIES"),
        ("LIES = 7\n", "has no list LIES"),
    ],
    ids=["bad-import", "exit", "syntax", "no-list", "empty-list", "list-of-texts", "number"],
)
def test_a_file_that_gives_no_lies_is_told_by_name(text: str, told: str, lies_file: Write) -> None:
    file = lies_file(text)
    with pytest.raises(ProveError, match=told) as caught:
        read_lies(file)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("name", ["no-such.py", ""], ids=["missing", "folder"])
def test_a_file_that_is_not_there_is_told_by_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(ProveError, match="no Python file that is there"):
        read_lies(tmp_path / name)


def test_a_file_may_have_dataclasses_of_its_own(lies_file: Write) -> None:
    file = lies_file(
        "from dataclasses import dataclass\n@dataclass\nclass Note:\n    text: str\n" + ONE + "LIES = area.lies\n",
        head="from __future__ import annotations\nfrom nmemory_reference.lies import Area\narea = Area('mine')\n",
    )
    assert [lie.id for lie in read_lies(file)] == ["mine/never-expires"]


def test_no_two_lies_share_an_id(lies_file: Write) -> None:
    file = lies_file(ONE + ONE + "LIES = area.lies\n")
    with pytest.raises(ProveError, match="2 lies are called 'mine/never-expires'"):
        gather(Sources(("memory-verbs",), (file,)))


def test_a_lie_does_not_take_the_id_of_one_of_the_kits(lies_file: Write) -> None:
    text = GOOD.format(clause="mv1/recall/newest-first", name="oldest_first") + "LIES = area.lies\n"
    file = lies_file(text, head="from nmemory_reference.lies import Area\narea = Area('verbs/recall')\n")
    with pytest.raises(ProveError, match="2 lies are called 'verbs/recall/oldest-first'"):
        gather(Sources(("memory-verbs",), (file,)))


def test_a_clause_that_is_not_there_is_told_with_the_nearest(lies_file: Write) -> None:
    file = lies_file(GOOD.format(clause="mv1/forget/expiers", name="typo") + "LIES = area.lies\n")
    with pytest.raises(ProveError, match="did you mean mv1/forget/expires"):
        gather(Sources(("memory-verbs",), (file,)))
