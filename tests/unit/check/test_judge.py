"""Which error is right: the code, the channel and what stands in it."""

from __future__ import annotations

import json

import pytest
from nmemory_kit.check import Answer, Judges
from nmemory_kit.check.judge import describe
from nmemory_kit.contract.case import Refusal
from nmemory_kit.contract.pack import load_pack

JUDGES = Judges(load_pack("memory-verbs/v1"))


def in_band(body) -> Answer:
    text = body if isinstance(body, str) else json.dumps(body)
    return Answer.of_result({"content": [{"type": "text", "text": text}], "isError": True})


def rpc(code: int, **more) -> Answer:
    return Answer.of_rpc_error({"code": code, "message": "no", **more})


RIGHT = in_band({"error": "not_found", "message": "m", "suggestion": "s"})


@pytest.mark.parametrize(
    ("refusal", "answer"),
    [
        (Refusal(codes=("not_found",)), RIGHT),
        (Refusal(codes=("invalid_params", "not_found")), RIGHT),
        (Refusal(codes=("not_found",), body={"required": ["suggestion"]}), RIGHT),
        (Refusal(codes=("not_found",), rpc=(-32602,)), rpc(-32602)),
        (Refusal(rpc=(-32002,), body={"required": ["id"]}), rpc(-32002, data={"id": 7})),
        (Refusal(status=(401, 403)), Answer.of_status(403)),
        (Refusal(in_band=True), in_band("anything")),
        (Refusal(codes=("not_found",), in_band={"pattern": "gone"}), in_band("it is gone")),
    ],
)
def test_any_channel_that_is_named_is_right(refusal, answer):
    assert JUDGES.refusal(refusal, answer) is None


@pytest.mark.parametrize(
    ("refusal", "answer", "got"),
    [
        (Refusal(codes=("not_found",)), in_band({"error": "internal"}), 'the error "internal"'),
        (Refusal(codes=("not_found",)), in_band({"error": ["not_found"]}), 'the error ["not_found"]'),
        (Refusal(codes=("not_found",)), in_band("prose"), 'an error without a code: "prose"'),
        (Refusal(codes=("not_found",)), in_band({"message": "not_found"}), "an error without a code"),
        (Refusal(codes=("not_found",)), rpc(-32602), "JSON-RPC error -32602"),
        (Refusal(codes=("not_found",)), Answer.of_status(401), "HTTP status 401"),
        (Refusal(codes=("not_found",)), Answer.of_result({"content": RIGHT.raw["content"]}), "a success"),
        (Refusal(codes=("not_found",), body={"required": ["detail"]}), RIGHT, '{"error": "not_found"'),
        (Refusal(rpc=(-32002,), body={"required": ["id"]}), rpc(-32002, data={}), "{}"),
        (Refusal(in_band={"pattern": "gone"}), in_band("it is here"), '"it is here"'),
    ],
)
def test_another_code_another_channel_or_another_body_is_broken(refusal, answer, got):
    broken = JUDGES.refusal(refusal, answer)
    assert broken is not None
    assert broken.got.startswith(got)


def test_what_is_asked_for_is_told_in_words():
    refusal = Refusal(codes=("a", "b"), rpc=(-1,), status=(401,), in_band=True)
    assert describe(refusal) == "the error a or b or JSON-RPC error -1 or HTTP status 401 or an error result"


def test_a_standing_check_can_be_left_out_by_name_or_all_of_them():
    bare = in_band({"error": "not_found", "message": "m", "protocol_version": 1})
    assert [one.clause for one in JUDGES.standing("forget", bare)] == ["mv1/error/suggestion"]
    assert not list(JUDGES.standing("forget", bare, ("error-suggestion",)))
    assert not list(JUDGES.standing("forget", in_band("prose"), ("*",)))
    assert not list(JUDGES.standing("a tool of somebody else's", bare))
