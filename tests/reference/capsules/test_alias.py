"""memory_alias: synonyms that are taught, one way."""

from __future__ import annotations

from typing import Any

import pytest
from nmemory_reference.capsules.faults import ProtocolFault, ShapeFault
from nmemory_reference.capsules.lifecycle import consolidate
from nmemory_reference.capsules.recall import alias
from nmemory_reference.capsules.views import bootstrap
from reference.capsules.acts import ask, capture
from reference.capsules.inspection import audit, rows
from reference.capsules.recalling import column, ids, teach
from reference.capsules.stage import Stage

AT = "2031-05-01T08:00:00Z"


def listed(stage: Stage) -> list[dict[str, Any]]:
    """The whole table."""
    answer = stage.call(alias.TOOL)
    assert list(answer) == ["label", "aliases", "total"]
    assert answer["label"] == "ADVISORY_NOT_AUTHORITY"
    assert answer["total"] == len(answer["aliases"])
    rows: list[dict[str, Any]] = answer["aliases"]
    return rows


def pairs(stage: Stage) -> list[tuple[str, str]]:
    """(term, alias) of the whole table."""
    return [(row["term"], row["alias"]) for row in listed(stage)]


def test_ali01_a_fresh_pair_is_recorded(stage: Stage) -> None:
    answer = teach(stage, "db", "database")
    assert list(answer) == ["label", "recorded", "already_recorded", "aliases_for_term"]
    assert answer == {
        "label": "ADVISORY_NOT_AUTHORITY",
        "recorded": True,
        "already_recorded": False,
        "aliases_for_term": ["database"],
    }


def test_ali02_ali03_a_replay_is_told_and_keeps_the_first_instant(stage: Stage) -> None:
    teach(stage, "db", "database")
    stage.later(days=3)
    answer = teach(stage, "db", "database")
    assert (answer["recorded"], answer["already_recorded"]) == (True, True)
    assert listed(stage) == [{"term": "db", "alias": "database", "at": AT}]


@pytest.mark.parametrize("same", [("DB", "Database"), (" db\t", "\ndatabase "), ("dB", "dátábàse"), ("db", "DATABASE")])
def test_ali04_case_outer_blanks_and_latin_accents_make_no_other_pair(stage: Stage, same: tuple[str, str]) -> None:
    teach(stage, "db", "database")
    assert teach(stage, *same)["already_recorded"] is True
    assert pairs(stage) == [("db", "database")]


def test_ali05_ali06_rows_hold_the_folded_texts_and_three_keys(stage: Stage) -> None:
    teach(stage, "Configuração", "CFG")
    (row,) = listed(stage)
    assert list(row) == ["term", "alias", "at"]
    assert row == {"term": "configuracao", "alias": "cfg", "at": AT}


def test_ali07_a_fresh_store_lists_nothing(stage: Stage) -> None:
    assert listed(stage) == []
    assert stage.call(alias.TOOL, term=None, alias=None)["total"] == 0


def test_ali08_ali09_ali16_the_list_goes_by_term_then_alias_in_bytes(stage: Stage) -> None:
    for term, other in (("b", "z"), ("é x", "y"), ("b", "a"), ("日本", "j"), ("a b", "c"), ("b", "é"), ("b", "日")):
        answer = teach(stage, term, other)
    assert answer["aliases_for_term"] == ["a", "e", "z", "日"]
    assert pairs(stage) == [("a b", "c"), ("b", "a"), ("b", "e"), ("b", "z"), ("b", "日"), ("e x", "y"), ("日本", "j")]


def test_ali10_ali11_a_pair_works_one_way_and_the_reverse_is_a_second_row(stage: Stage) -> None:
    stage.put("only config here")
    stage.put("só configuração aqui")
    teach(stage, "configuração", "config")
    assert set(ids(ask(stage, "configuração"))) == {"cap-1", "cap-2"}
    assert ids(ask(stage, "config")) == ["cap-1"]
    teach(stage, "config", "configuração")
    assert set(ids(ask(stage, "config"))) == {"cap-1", "cap-2"}
    assert len(listed(stage)) == 2


@pytest.mark.parametrize("spelled", ["Configuração", "CONFIGURACAO", "configuração"])
def test_ali12_an_alias_hit_is_shown_under_the_term_as_the_caller_spelled_it(stage: Stage, spelled: str) -> None:
    stage.put("only config here")
    teach(stage, "configuração", "config")
    assert column(ask(stage, f" {spelled} "), "matched_terms") == [[f"alias:{spelled}"]]


@pytest.mark.parametrize(
    ("sent", "named"),
    [
        ({"term": "db"}, ["term", "alias"]),
        ({"alias": "database"}, ["term", "alias"]),
        ({"term": "db", "alias": None}, ["term", "alias"]),
        ({"term": "", "alias": "database"}, ["term"]),
        ({"term": "db", "alias": " \t"}, ["alias"]),
        ({"term": "", "alias": ""}, ["term"]),
        ({"term": "Café", "alias": " cafe "}, ["cafe"]),
        ({"term": "db", "alias": "DB"}, ["db"]),
    ],
)
def test_ali13_ali14_ali15_half_blank_and_self_pairs_are_refused_and_leave_nothing(
    stage: Stage, sent: dict[str, Any], named: list[str]
) -> None:
    with pytest.raises(ProtocolFault) as fault:
        stage.call(alias.TOOL, **sent)
    assert (fault.value.code, fault.value.data) == (-32602, None)
    assert all(name in fault.value.message for name in named)
    assert listed(stage) == []
    assert audit(stage) == []


def test_ali17_an_alias_of_an_alias_is_not_followed(stage: Stage) -> None:
    stage.put("only bbb")
    teach(stage, "ttt", "aaa")
    teach(stage, "aaa", "bbb")
    assert ask(stage, "ttt")["outcome"] == "abstain"
    assert ids(ask(stage, "aaa")) == ["cap-1"]


def test_ali18_a_fresh_pair_is_one_row_in_the_journal_and_nothing_else_is(stage: Stage) -> None:
    teach(stage, "DB", "database")
    teach(stage, "db", "database")
    stage.call(alias.TOOL)
    assert rows(stage, "SELECT actor, action, subject, reason FROM audit_events") == [
        ("kit", "memory_alias", "db", "alias=database")
    ]


def test_ali19_inner_spaces_stay_and_the_term_is_asked_as_a_whole(stage: Stage) -> None:
    stage.put("the scheduler")
    teach(stage, " Job  Queue ", "scheduler")
    assert pairs(stage) == [("job  queue", "scheduler")]
    assert ids(ask(stage, "JOB  queue")) == ["cap-1"]
    assert ask(stage, "job")["outcome"] == "abstain"
    assert ask(stage, "queue")["outcome"] == "abstain"


def test_ali20_a_term_that_has_an_alias_is_proposed_no_more(stage: Stage) -> None:
    stage.put("the turbine is cold")
    for _ in range(3):
        ask(stage, "turbines")
    proposals = stage.call(consolidate.TOOL)["plan"]["alias_proposals"]
    assert [proposal["term"] for proposal in proposals] == ["turbines"]
    teach(stage, "turbines", "turbine")
    assert stage.call(consolidate.TOOL)["plan"]["alias_proposals"] == []


def test_ali21_ali22_aliases_change_no_capsule_and_no_pack(stage: Stage) -> None:
    for content, kind in (("database stays", "constraint"), ("disk stays", "constraint")):
        capture(stage, content, kind=kind)
    before = rows(stage, "SELECT * FROM capsule"), rows(stage, "SELECT * FROM standing")
    pack = stage.call(bootstrap.TOOL, terms=["disks"])
    teach(stage, "disks", "disk")
    assert (rows(stage, "SELECT * FROM capsule"), rows(stage, "SELECT * FROM standing")) == before
    assert stage.call(bootstrap.TOOL, terms=["disks"]) == pack


def test_ali23_a_word_of_a_script_without_spaces_can_be_mapped_to_a_run(stage: Stage) -> None:
    stage.put("東京タワーの高さ 333m")
    assert ask(stage, "東京タワー")["outcome"] == "abstain"
    teach(stage, "東京タワー", "東京タワーの高さ")
    assert column(ask(stage, "東京タワー"), "matched_terms") == [["alias:東京タワー"]]


@pytest.mark.parametrize("sent", [{"made_up": 1}, {"term": 1, "alias": "x"}, {"term": "x", "alias": ["y"]}])
def test_ali24_what_has_not_the_shape_is_refused_in_band(stage: Stage, sent: dict[str, Any]) -> None:
    with pytest.raises(ShapeFault):
        stage.call(alias.TOOL, **sent)
    assert listed(stage) == []


def test_an_alias_is_read_as_words_and_never_as_syntax(stage: Stage) -> None:
    stage.put("one two")
    teach(stage, "x", 'one" OR "zzz')
    teach(stage, "y", "'; DROP TABLE term_alias; --")
    assert ask(stage, "x")["outcome"] == "abstain"
    assert len(listed(stage)) == 2
