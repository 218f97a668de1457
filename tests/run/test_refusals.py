"""Errors that a step asks for by the name that the pack gave them."""

from __future__ import annotations

from typing import Any

import pytest
from nmemory_kit.run.result import Verdict
from run.stage import only, play, put


def dropping(error: Any, **more: Any) -> dict[str, Any]:
    """A case that puts a text and wants an error when it drops it."""
    drop = {"call": "drop", "with": {"id": "{{kept}}"}, "clause": "toy/drop/ends", "error": error, **more}
    return {
        "id": "the-case",
        "clauses": ["toy/put/keeps", "toy/drop/ends"],
        "steps": [put("{{marker}}", save={"kept": "/id"}), drop],
    }


def refusing(code: int, data: Any = None, message: str = "no") -> Any:
    async def act(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        return {"rpc": code, "data": data, "message": message} if name == "drop" else None

    return act


BY_NAME = {"is": "gone", "with": {"id": "{{kept}}"}}


def test_a_named_refusal_is_the_packs_with_the_values_of_the_step() -> None:
    assert only(play(dropping(BY_NAME), act=refusing(-32002, {"id": "1"}))).verdict is Verdict.PASS


@pytest.mark.parametrize("answer", [refusing(-32002, {"id": "2"}), refusing(-32002, {}), refusing(-32602, {"id": "1"})])
def test_another_id_no_id_and_another_code_are_broken(answer: Any) -> None:
    (finding,) = only(play(dropping(BY_NAME), act=answer)).findings
    assert finding.clause == "toy/drop/ends"


def test_placeholders_are_filled_in_a_refusal_that_is_told_at_length() -> None:
    at_length = {"rpc": -7, "body": {"properties": {"id": {"const": "{{kept}}"}}}}
    assert only(play(dropping(at_length), act=refusing(-7, {"id": "1"}))).verdict is Verdict.PASS
    assert only(play(dropping(at_length), act=refusing(-7, {"id": "{{kept}}"}))).verdict is Verdict.FAIL


def test_what_a_json_rpc_error_must_mention_is_looked_for_in_all_of_it() -> None:
    case = dropping({"rpc": -7}, shows=["the id {{kept}}"])
    assert only(play(case, act=refusing(-7, message="see the id 1"))).verdict is Verdict.PASS
    assert only(play(case, act=refusing(-7, data={"see": "the id 1"}))).verdict is Verdict.PASS
    assert only(play(case, act=refusing(-7))).verdict is Verdict.FAIL
