"""Laws about how many there are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_kit.check import Answer
from nmemory_kit.check.laws import laws

TOTAL = {"count": "/total", "of": ["/facts"]}
SPLIT = {"kept": ["/facts", "/results"], "dropped": "/dropped_count"}


def broken(law, body, **args):
    return list(laws()[law](Answer.of_document(body), args))


@given(st.lists(st.integers()))
def test_a_stated_number_holds_only_if_it_is_the_length(items):
    assert not broken("counts", {"total": len(items), "facts": items}, **TOTAL)
    assert [one.pointer for one in broken("counts", {"total": len(items) + 1, "facts": items}, **TOTAL)] == ["/total"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/total"),
        ({"total": "0", "facts": []}, "/total"),
        ({"total": False, "facts": []}, "/total"),
        ({"total": 0}, "/facts"),
        ({"total": 0, "facts": {}}, "/facts"),
        ([], "/total"),
        (None, "/total"),
    ],
)
def test_what_is_missing_or_of_another_type_breaks_the_law_unless_it_may(body, pointer):
    assert [one.pointer for one in broken("counts", body, **TOTAL)] == [pointer]
    assert not broken("counts", body, **TOTAL, if_present=True)


@given(st.lists(st.integers()), st.lists(st.integers()), st.integers(0, 50), st.sampled_from([-1, 1]))
def test_kept_and_dropped_add_up_to_all(facts, results, dropped, off):
    body = {"facts": facts, "results": results, "dropped_count": dropped}
    everything = [facts + [0] * dropped, len(results)]
    assert not broken("kept-plus-dropped", body, **SPLIT, all=everything)
    wrong = body | {"dropped_count": dropped + off}
    assert broken("kept-plus-dropped", wrong, **SPLIT, all=everything)


def test_a_negative_number_dropped_is_broken_even_if_it_adds_up():
    body = {"facts": [1, 2], "results": [], "dropped_count": -1}
    assert broken("kept-plus-dropped", body, **SPLIT, all=[1])


def test_an_array_that_may_be_left_out_counts_as_empty_but_not_as_anything_else():
    body = {"facts": [1], "dropped_count": 1}
    assert broken("kept-plus-dropped", body, **SPLIT, all=[2])
    assert not broken("kept-plus-dropped", body, **SPLIT, all=[2], optional=True)
    assert broken("kept-plus-dropped", body | {"results": "none"}, **SPLIT, all=[2], optional=True)


@pytest.mark.parametrize("earlier", [None, "text", {"facts": []}, True])
def test_an_earlier_answer_without_an_array_breaks_the_law(earlier):
    assert broken("kept-plus-dropped", {"facts": [], "results": [], "dropped_count": 0}, **SPLIT, all=[earlier])


def summed(body):
    args = {"total": "/total", "items": "/by", "member": "/count"}
    return [one.pointer for one in laws()["adds-up"](Answer.of_document(body), args)]


@given(st.lists(st.integers(0, 9)), st.integers(-1, 1))
def test_a_total_is_the_sum_of_its_parts(parts, off):
    body = {"total": sum(parts) + off, "by": [{"count": part} for part in parts]}
    assert summed(body) == (["/total"] if off else [])


@pytest.mark.parametrize(
    ("body", "pointer"),
    [({"by": []}, "/total"), ({"total": 0}, "/by"), ({"total": 0, "by": [{}]}, "/count"), ({"total": "0"}, "/total")],
)
def test_a_part_that_is_missing_breaks_the_law(body, pointer):
    assert summed(body) == [pointer]


def capped(body, **args):
    found = laws()["capped"](Answer.of_document(body), {"items": "/rows", "total": "/rows_total", **args})
    return [one.expected for one in found]


@given(st.integers(0, 9), st.integers(0, 9))
def test_a_capped_list_is_whole_or_as_long_as_its_cap(total, cap):
    body = {"rows": [1] * min(total, cap), "rows_total": total}
    assert not capped(body, cap=cap)
    assert not capped(body)
    assert capped({**body, "rows": [1] * (min(total, cap) + 1)}, cap=cap)


def test_a_list_and_a_total_that_are_not_there_are_empty():
    assert not capped({}, cap=10)
    assert not capped({"rows": []}, cap=10)
    assert not capped({"rows_total": 3}, cap=0)
    assert capped({"rows_total": 3}, cap=10)
    assert capped({"rows": [1]}, cap=10)
    assert capped({"rows": [1, 2], "rows_total": 1})


@pytest.mark.parametrize("body", [{"rows": {}}, {"rows": [], "rows_total": "3"}, {"rows": [], "rows_total": None}])
def test_what_is_no_list_or_no_number_is_not_capped(body):
    assert capped(body, cap=10)


TALLIED = {"items": "/rows", "by": "/status", "counts": {"new": "/new", "old": "/old"}}


@given(st.lists(st.sampled_from(["new", "old", "odd"])))
def test_tallies_count_the_items_of_each_value(found):
    body = {"rows": [{"status": status} for status in found], "new": found.count("new"), "old": found.count("old")}
    assert not broken("tallies", body, **TALLIED)
    assert [one.pointer for one in broken("tallies", body | {"old": body["old"] + 1}, **TALLIED)] == ["/old"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"rows": [{}], "new": 0, "old": 0}, "/rows/0/status"),
        ({"rows": [], "new": 0}, "/old"),
        ({"rows": [], "new": "0", "old": 0}, "/new"),
        ({"rows": {}, "new": 0, "old": 0}, "/rows"),
    ],
)
def test_tallies_need_the_rows_and_every_number(body, pointer):
    assert [one.pointer for one in broken("tallies", body, **TALLIED)] == [pointer]
