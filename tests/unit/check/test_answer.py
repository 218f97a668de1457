"""An answer is taken apart without believing any of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_kit.check import Answer, Outcome
from nmemory_kit.check.answer import MISSING

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def text(body: str) -> dict[str, object]:
    return {"content": [{"type": "text", "text": body}]}


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), st.booleans())
def test_the_object_of_the_first_text_block_is_the_body(body, pretty):
    result = text(json.dumps(body, indent=2 if pretty else None))
    result["content"] = [{"type": "image", "data": ""}, *result["content"], {"type": "text", "text": "done"}]
    answer = Answer.of_result(result)
    assert (answer.body, answer.outcome, answer.problem) == (body, Outcome.SUCCESS, None)


@pytest.mark.parametrize("body", ["", "done", "[]", "null", "7", '"{}"', '{"a": NaN}', '{"a": 1} {"b": 2}', "{'a': 1}"])
def test_a_text_that_is_no_object_leaves_no_body_and_says_why(body):
    answer = Answer.of_result(text(body))
    assert answer.body is MISSING
    assert answer.problem


@given(st.dictionaries(st.sampled_from(["content", "isError", "structuredContent", "x"]), JSON))
def test_any_result_is_taken_apart(result):
    answer = Answer.of_result(result)
    assert answer.body is MISSING
    assert answer.problem
    assert answer.outcome in (Outcome.SUCCESS, Outcome.ERROR)


@pytest.mark.parametrize(
    ("flag", "outcome", "right"),
    [
        (True, Outcome.ERROR, True),
        (False, Outcome.SUCCESS, True),
        ("true", Outcome.SUCCESS, False),
        (1, Outcome.SUCCESS, False),
        (None, Outcome.SUCCESS, False),
    ],
)
def test_only_true_marks_an_error_and_what_is_no_boolean_is_a_problem(flag, outcome, right):
    answer = Answer.of_result({**text("{}"), "isError": flag})
    assert answer.outcome is outcome
    assert (answer.problem is None) == right


@pytest.mark.parametrize(
    "result",
    [
        text(json.dumps({"deep": [{"er": "the sécret is out"}]}, ensure_ascii=True)),
        text(json.dumps({"the sécret": 1})),
        text(' \n{"quoted": ' + json.dumps(json.dumps({"s": "a sécret"})) + "}"),
        {"content": [{"type": "text", "text": "{}"}, {"type": "text", "text": "sécret"}]},
        {**text("{}"), "_meta": {"log": ["", "sécret"]}},
        {**text("{}"), "structuredContent": {"x": json.dumps(["sécret"])}},
    ],
)
def test_a_text_is_found_wherever_it_hides(result):
    assert Answer.of_result(result).mentions("sécret")
    assert not Answer.of_result(result).mentions("Sécret")


def test_a_json_rpc_error_gives_its_data_as_the_body():
    answer = Answer.of_rpc_error({"code": -32602, "message": "no", "data": {"why": "it is late"}})
    assert (answer.outcome, answer.body) == (Outcome.RPC, {"why": "it is late"})
    assert answer.mentions("late")
    assert Answer.of_rpc_error({"code": 1, "message": "no"}).body is MISSING
