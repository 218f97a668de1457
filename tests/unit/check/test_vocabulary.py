"""The few keywords that JSON Schema lacks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_kit.check.vocabulary import compile_schema, judge_schema, parse_instant, show

MOMENTS = st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1))  # noqa: DTZ001
OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


def broken(schema, instance):
    return judge_schema(compile_schema(schema), instance)


@given(MOMENTS, OFFSETS, OFFSETS)
def test_an_instant_is_itself_at_any_offset(moment, here, there):
    one = moment.replace(tzinfo=here)
    assert not broken({"instant": {"equals": one.isoformat()}}, one.astimezone(there).isoformat())
    later = (one + timedelta(milliseconds=1)).astimezone(there).isoformat()
    assert broken({"instant": {"equals": one.isoformat()}}, later)
    assert not broken({"instant": {"after": one.isoformat()}}, later)
    assert broken({"instant": {"before": one.isoformat()}}, later)
    assert not broken({"instant": {"near": one.isoformat(), "within": 1}}, later)


@pytest.mark.parametrize(
    "value",
    ["2061-01-02T03:04:05Z", "2061-01-02t03:04:05z", "2061-01-02T03:04:05.123456789+05:30", "20610102T030405Z"],
)
def test_any_form_of_a_date_time_is_an_instant(value):
    assert not broken({"instant": {}}, value)


@pytest.mark.parametrize(
    "value", ["2061-01-02", "soon", "", "2061-13-02T00:00:00Z", 1767323045, None, ["2061-01-02T03:04:05Z"]]
)
def test_what_is_no_date_time_is_none(value):
    assert [one.expected for one in broken({"instant": {}}, value)] == ["an ISO 8601 date-time"]


def test_an_instant_without_an_offset_is_taken_as_utc():
    assert parse_instant("2061-01-02T03:04:05") == datetime(2061, 1, 2, 3, 4, 5, tzinfo=UTC)


@given(st.lists(st.integers(), max_size=6))
def test_a_sorted_list_is_in_order_and_no_other_is(numbers):
    items = [{"n": number} for number in numbers]
    rising = {"ordered": {"by": "/n", "as": "number"}}
    falling = {"ordered": {"by": "/n", "as": "number", "direction": "desc"}}
    assert (not broken(rising, items)) == (numbers == sorted(numbers))
    assert (not broken(falling, items)) == (numbers == sorted(numbers, reverse=True))


def test_instants_are_sorted_as_instants_not_as_texts():
    items = ["2061-01-01T23:00:00-02:00", "2061-01-02T00:30:00Z"]
    assert broken({"ordered": {"as": "instant"}}, items)
    assert not broken({"ordered": {"as": "instant", "direction": "desc"}}, items)


def test_an_item_without_its_key_is_out_of_order():
    assert broken({"ordered": {"by": "/n", "as": "number"}}, [{"n": 1}, {}])
    assert broken({"ordered": {"by": "/n", "as": "number"}}, [{"n": True}])


@pytest.mark.parametrize(
    ("ids", "unique"), [([1, 2, "1"], True), ([1, 1], False), ([], True), ([{"a": 1}, {"a": 1}], False)]
)
def test_items_with_one_value_at_a_place_are_not_unique(ids, unique):
    assert (not broken({"uniqueBy": "/id"}, [{"id": one} for one in ids])) == unique


def test_an_item_without_the_member_is_not_compared():
    assert not broken({"uniqueBy": "/id"}, [{}, {}, {"id": 1}])


@pytest.mark.parametrize("value", ["a needle", {"needle": 1}, [[{"x": "needles"}]], '{"x": "needle"}'])
def test_a_text_is_mentioned_at_any_depth(value):
    assert not broken({"mentions": "needle"}, value)
    assert broken({"mentions": "Needle"}, value)


@pytest.mark.parametrize("keyword", [{"ordered": {}}, {"uniqueBy": "/id"}])
@pytest.mark.parametrize("value", [None, 7, "text", {}])
def test_a_keyword_about_arrays_says_nothing_of_other_values(keyword, value):
    assert not broken(keyword, value)


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        ({"minItems": 2}, [1], "at least 2 items"),
        ({"maxItems": 1}, [1, 2], "at most 1 item"),
        ({"minLength": 1}, "", "at least 1 character"),
        ({"minimum": 1}, 0, "at least 1"),
        ({"maximum": 40}, 61, "at most 40"),
        ({"pattern": "^a"}, "b", "a text that matches ^a"),
        ({"contains": {"const": 1}}, [2], 'an item like {"const": 1}'),
        ({"not": {"const": 1}}, 1, 'anything but {"const": 1}'),
        ({"type": ["string", "null"]}, 1, "type string or null"),
        ({"multipleOf": 2}, 3, "multipleOf: 2"),
    ],
)
def test_what_was_expected_is_told_in_words(schema, value, told):
    assert [one.expected for one in broken(schema, value)] == [told]


def test_findings_come_with_their_place_and_what_was_expected():
    schema = {"required": ["a/b"], "properties": {"n": {"enum": [1, 2]}, "t": {"type": ["string", "null"]}}}
    assert [(one.pointer, one.expected, one.got) for one in broken(schema, {"n": 3, "t": 4})] == [
        ("", "the member a/b", '{"n": 3, "t": 4}'),
        ("/n", "one of 1, 2", "3"),
        ("/t", "type string or null", "4"),
    ]
    assert [one.pointer for one in broken({"properties": {"a/b~": {"const": 1}}}, {"a/b~": 2})] == ["/a~1b~0"]


def test_a_value_is_shown_cut():
    assert len(show("x" * 10_000)) < 350
    assert show("x" * 10_000).endswith("(10002 characters)")
