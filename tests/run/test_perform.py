"""What becomes of a case, by what the target answers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from nmemory_kit.run.result import Verdict
from run.stage import clause, failure, get, make_pack, only, play, put, success


def case(*steps: dict[str, Any], clauses: tuple[str, ...] = ("toy/put/keeps", "toy/get/shows"), **more: Any) -> Any:
    return {"id": "the-case", "clauses": list(clauses), "steps": list(steps), **more}


ROUND_TRIP = case(put("{{marker}} a"), get(clause="toy/get/shows", shows=["{{marker}} a"]))


def answer(tool: str, body: Any) -> Any:
    async def act(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        return body if name == tool else None

    return act


def test_a_target_that_keeps_its_promise_passes_and_its_clauses_are_proven() -> None:
    results = play(ROUND_TRIP)
    assert only(results).verdict is Verdict.PASS
    assert only(results).decided == ("toy/put/keeps", "toy/get/shows")
    assert clause(results, "toy/get/shows") == "proven"
    assert results.footer.verdict == "CONFORMANT WITH GAPS"
    assert results.footer.books.balance


def test_a_broken_expectation_is_a_finding_for_the_clause_of_its_step() -> None:
    results = play(ROUND_TRIP, act=answer("get", success({"version": 1, "texts": []})))
    (finding,) = only(results).findings
    assert (finding.clause, finding.step) == ("toy/get/shows", "2")
    assert "{{marker}}" not in finding.expected
    assert only(results).verdict is Verdict.FAIL
    assert results.footer.verdict == "NOT CONFORMANT"
    assert clause(results, "toy/put/keeps") == "unverified", (
        "a case that stopped decides nothing in the target's favour"
    )


def test_a_case_stops_at_its_own_broken_expectation() -> None:
    steps = case(get(shows=["never"]), put("{{marker}}"))
    assert [exchange.step for exchange in only(play(steps)).transcript] == ["1"]


def test_a_standing_check_blames_its_own_clause_and_does_not_stop_the_case() -> None:
    async def old(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        return success({**toy.do(name, arguments), "version": 2})

    results = play(ROUND_TRIP, act=old)
    assert {finding.clause for finding in only(results).findings} == {"toy/wire/version"}
    assert only(results).verdict is Verdict.FAIL
    assert only(results).decided == ("toy/put/keeps", "toy/get/shows")


def test_a_step_opts_out_of_a_standing_check_by_name() -> None:
    steps = case(put("x", unjudged=["version"]))
    results = play(steps, act=answer("put", success({"version": 2, "id": "1"})))
    assert only(results).verdict is Verdict.PASS


def test_a_broken_should_is_a_warning_and_does_not_stop_the_case() -> None:
    steps = case(
        put("{{marker}}", checks=[{"clause": "toy/get/polite", "expect": {"required": ["please"]}}]),
        get(clause="toy/get/shows", shows=["{{marker}}"]),
        clauses=("toy/put/keeps", "toy/get/shows", "toy/get/polite"),
    )
    results = play(steps)
    assert only(results).verdict is Verdict.FAIL
    assert not only(results).binding
    assert clause(results, "toy/get/shows") == "proven"
    assert results.footer.verdict == "CONFORMANT WITH GAPS"


def test_an_error_where_a_success_should_be_is_a_finding() -> None:
    (finding,) = only(play(ROUND_TRIP, act=answer("put", failure("no")))).findings
    assert finding.expected == "a success"


def test_a_rejection_must_have_the_right_code() -> None:
    steps = case(put("x", error={"code": "blank"}))
    assert only(play(steps, act=answer("put", failure("blank")))).verdict is Verdict.PASS
    assert only(play(steps, act=answer("put", failure("other")))).verdict is Verdict.FAIL
    assert only(play(steps, act=answer("put", {"rpc": -32602}))).verdict is Verdict.FAIL
    assert only(play(steps)).verdict is Verdict.FAIL


def test_a_rejection_may_name_several_channels() -> None:
    steps = case(put("x", error={"code": ["blank"], "rpc": -32602}))
    assert only(play(steps, act=answer("put", {"rpc": -32602}))).verdict is Verdict.PASS
    assert only(play(steps, act=answer("put", {"rpc": -32603}))).verdict is Verdict.FAIL


STATE = {"type": "object", "required": ["kind", "id"], "properties": {"id": {"const": "{{marker}}"}}}


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ({"rpc": -32002, "data": {"kind": "unknown", "id": "nmk"}}, True),
        ({"rpc": -32002, "data": {"kind": "unknown", "id": "another"}}, False),
        ({"rpc": -32002, "data": {"kind": "unknown"}}, False),
        ({"rpc": -32002, "data": None}, False),
        ({"rpc": -32002}, False),
        ({"rpc": -32602, "data": {"kind": "unknown", "id": "nmk"}}, False),
    ],
)
def test_the_data_of_an_error_is_judged_with_its_placeholders(given: Any, right: bool) -> None:
    async def act(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        data = given.get("data")
        return {**given, "data": {**data, "id": arguments["text"]}} if data and data.get("id") == "nmk" else given

    result = only(play(case(put("{{marker}}", error={"rpc": -32002, "body": STATE})), act=act))
    assert (result.verdict is Verdict.PASS) is right
    assert all("{{" not in finding.expected for finding in result.findings)


def test_a_body_that_is_asked_for_has_to_be_there_whatever_its_schema() -> None:
    steps = case(put("x", error={"rpc": -32002, "body": {"required": ["kind"]}}))
    (finding,) = only(play(steps, act=answer("put", {"rpc": -32002}))).findings
    assert (finding.pointer, finding.got) == ("/error/data", "nothing")


def test_the_message_of_an_error_is_judged() -> None:
    steps = case(put("x", error={"rpc": -32602, "message": {"mentions": "text"}}))
    assert only(play(steps, act=answer("put", {"rpc": -32602, "message": "text is blank"}))).verdict is Verdict.PASS
    (finding,) = only(play(steps, act=answer("put", {"rpc": -32602, "message": "no"}))).findings
    assert finding.pointer == "/error/message"


def test_what_an_error_must_show_and_must_not_is_looked_for_in_any_channel() -> None:
    refused = {"code": "blank", "rpc": -32602}
    for body in (failure("blank"), {"rpc": -32602, "message": "blank"}):
        act = answer("put", body)
        assert only(play(case(put("x", error=refused, nowhere=["blank"])), act=act)).findings
        assert only(play(case(put("x", may_fail=refused, nowhere=["blank"])), act=act)).findings
        assert not only(play(case(put("x", error=refused, shows=["blank"])), act=act)).findings
        assert only(play(case(put("x", error=refused, shows=["never"])), act=act)).findings


def test_a_code_that_the_version_of_mcp_has_another_number_for_is_right_under_both() -> None:
    steps = case(put("x", error={"rpc": -32002}))
    pack = make_pack(steps)
    act = answer("put", {"rpc": -32602})
    assert only(play(steps, act=act, pack=pack)).verdict is Verdict.FAIL
    newer = replace(pack, renumbered={"2025-11-25": {-32002: -32602}})
    assert only(play(steps, act=act, pack=newer)).verdict is Verdict.PASS
    assert only(play(steps, act=answer("put", {"rpc": -32002}), pack=newer)).verdict is Verdict.PASS
    assert only(play(steps, act=answer("put", {"rpc": -32603}), pack=newer)).verdict is Verdict.FAIL


def test_a_lenient_step_takes_a_success_or_the_errors_that_it_names() -> None:
    steps = case(put("x", may_fail={"code": "blank"}))
    assert only(play(steps)).verdict is Verdict.PASS
    assert only(play(steps, act=answer("put", failure("blank")))).verdict is Verdict.PASS
    assert only(play(steps, act=answer("put", failure("other")))).verdict is Verdict.FAIL


def test_an_unmet_precondition_leaves_the_case_not_run_and_blames_nobody() -> None:
    steps = case(get(precondition=True, shows=["{{marker}}"]), put("x"))
    result = only(play(steps))
    assert result.verdict is Verdict.NOT_RUN
    assert not result.findings
    assert result.reason is not None
    assert result.reason.startswith("step 1")


def test_a_precondition_holds_back_a_case_of_a_clause_of_level_should_as_well() -> None:
    steps = case(get(precondition=True, shows=["{{marker}}"]), put("x"), clauses=("toy/get/polite", "toy/put/keeps"))
    assert only(play(steps)).verdict is Verdict.NOT_RUN


def test_a_precondition_without_a_body_to_look_at_is_not_met() -> None:
    prose = {"content": [{"type": "text", "text": "nothing to see"}], "isError": False}
    steps = case(get(precondition=True, shows=["{{marker}}"]), put("x"))
    assert only(play(steps, act=answer("get", prose))).verdict is Verdict.NOT_RUN


def test_what_was_found_stands_even_if_the_case_cannot_be_decided() -> None:
    async def old(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        return success({**toy.do(name, arguments), "version": 2})

    steps = case(put("{{marker}}"), get(precondition=True, shows=["never"]))
    result = only(play(steps, act=old))
    assert result.verdict is Verdict.FAIL
    assert result.decided == ()


def test_an_absence_is_looked_for_in_every_part_of_the_answer() -> None:
    leak = success({"version": 1, "texts": []})
    leak["structuredContent"] = {"deep": [{"inner": '{"quoted": "the sécret"}'}]}
    steps = case(get(nowhere=["sécret"]))
    assert only(play(steps, act=answer("get", leak))).verdict is Verdict.FAIL


def test_a_body_that_is_not_json_is_a_finding_where_the_step_needs_it() -> None:
    steps = case(get(expect={}))
    assert (
        only(play(steps, act=answer("get", {"content": [{"type": "text", "text": "hello"}]}))).verdict is Verdict.FAIL
    )


def test_calls_of_a_group_overlap_and_their_ids_are_gathered() -> None:
    met = asyncio.Barrier(3)

    async def together(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        if name == "put":
            await asyncio.wait_for(met.wait(), 5)

    steps = case(
        {"parallel": [put("{{marker}} {{index}}", save={"ids": "/id"})], "times": 3},
        {"judge": "{{ids}}", "expect": {"minItems": 3, "uniqueItems": True}},
    )
    assert only(play(steps, act=together)).verdict is Verdict.PASS


def test_waiting_ends_when_the_expectation_is_met_and_leaves_no_finding() -> None:
    looks = 0

    async def late(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        nonlocal looks
        if name == "get":
            looks += 1
            return success({"version": 1, "texts": ["there"] if looks > 2 else []})
        return None

    steps = case({"wait_until": get(shows=["there"]), "within": 5})
    assert only(play(steps, act=late)).verdict is Verdict.PASS
    assert looks == 3


def _later(late: int, before: Any) -> Any:
    """Answers ``get`` by ``before`` until it has been asked so often."""

    async def act(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        asked = [call for call in toy.calls if call[0] == "get"]
        return before if name == "get" and len(asked) <= late else None

    return act


def test_a_clause_that_no_answer_was_judged_by_is_not_proven() -> None:
    steps = case(
        put("{{marker}}"),
        put("x", may_fail={"code": "blank"}, clause="toy/put/keeps", expect={}, unjudged=["version"]),
        clauses=("toy/put/keeps", "toy/wire/version"),
    )
    steps["steps"][0]["unjudged"] = ["version"]
    assert only(play(steps)).decided == ("toy/put/keeps",)
    lenient = case(
        put("x", may_fail={"code": "blank"}, checks=[{"clause": "toy/get/shows", "expect": {"required": ["id"]}}])
    )
    assert only(play(lenient)).decided == ("toy/put/keeps", "toy/get/shows")
    assert only(play(lenient, act=answer("put", failure("blank")))).decided == ("toy/put/keeps",)


def test_a_condition_of_the_case_proves_nothing() -> None:
    steps = case(put("{{marker}}"), get(shows=["{{marker}}"], precondition=True, clause="toy/get/shows"))
    assert only(play(steps)).decided == ("toy/put/keeps",)


def test_waiting_goes_on_for_a_precondition_and_for_a_should() -> None:
    nothing = success({"version": 1, "texts": []})
    steps = case(put("{{marker}}"), {"wait_until": get(shows=["{{marker}}"], precondition=True), "within": 5})
    assert only(play(steps, act=_later(2, nothing))).verdict is Verdict.PASS
    polite = get(shows=["{{marker}}"], clause="toy/get/polite")
    clauses = ("toy/put/keeps", "toy/get/polite")
    steps = case(put("{{marker}}"), {"wait_until": polite, "within": 5}, clauses=clauses)
    assert only(play(steps, act=_later(2, nothing))).verdict is Verdict.PASS
    steps = case(put("{{marker}}"), {"wait_until": polite, "within": 0.1}, clauses=clauses)
    (finding,) = only(play(steps, act=_later(99, nothing))).findings
    assert finding.clause == "toy/get/polite"


def test_what_a_standing_check_finds_while_the_kit_waits_stands() -> None:
    steps = case(put("{{marker}}"), {"wait_until": get(shows=["{{marker}}"]), "within": 5})
    (finding,) = only(play(steps, act=_later(2, success({"version": 2, "texts": []})))).findings
    assert finding.clause == "toy/wire/version"


def test_waiting_has_an_end() -> None:
    steps = case({"wait_until": get(shows=["never"]), "within": 0.15})
    assert only(play(steps)).verdict is Verdict.FAIL


def test_a_call_without_an_answer_is_a_finding_against_the_target() -> None:
    async def hang(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        await asyncio.Event().wait()

    (finding,) = only(play(ROUND_TRIP, act=hang, call_timeout=0.1)).findings
    assert finding.expected == "an answer"


def test_a_placeholder_that_nothing_fills_is_an_error_of_the_case() -> None:
    result = only(play(case(put("{{nothing}}"))))
    assert result.verdict is Verdict.ERROR
    assert "nothing fills {{nothing}}" in (result.reason or "")


def test_a_saved_text_where_a_number_has_to_stand_in_a_schema_leaves_the_case_not_run() -> None:
    steps = case(
        put("{{marker}}", save={"many": "/id"}),
        get(expect={"properties": {"texts": {"minItems": "{{many}}"}}}),
    )
    result = only(play(steps))
    assert result.verdict is Verdict.NOT_RUN
    assert "step 2: what an earlier answer gave is of no use to judge by" in (result.reason or "")


def test_a_fault_of_the_kit_costs_one_case_and_not_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: object) -> None:
        raise ZeroDivisionError("by none")

    monkeypatch.setattr("nmemory_kit.run.perform.resolve", faulty)
    saving = case(put("{{marker}}", save={"made": "/id"}))
    results = play({**saving, "id": "first"}, {**ROUND_TRIP, "id": "second"})
    first, second = results.cases
    assert first.verdict is Verdict.ERROR
    assert "the kit is at fault, please report it: ZeroDivisionError: by none (test_perform.py" in (first.reason or "")
    assert second.verdict is Verdict.PASS


def test_a_restart_keeps_the_store() -> None:
    steps = case(put("{{marker}}"), {"restart": True}, get(shows=["{{marker}}"]))
    assert only(play(steps)).verdict is Verdict.PASS


def test_a_fresh_store_is_empty() -> None:
    steps = case({"call": "get", "expect": {"properties": {"texts": {"maxItems": 0}}}}, store="fresh")
    results = play({**ROUND_TRIP, "id": "first"}, {**steps, "id": "second"}, jobs=1)
    assert [result.verdict for result in results.cases] == [Verdict.PASS, Verdict.PASS]


def test_a_seed_fills_what_the_case_leaves_open() -> None:
    async def pages(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        return success({"version": 1, "made": arguments["text"]}) if name == "make_page" else None

    steps = case(
        {"seed": "page", "with": {"title": "{{marker}}"}, "save": {"made": "/made"}},
        {"judge": "{{made}}", "expect": {"pattern": " plain$"}},
    )
    assert only(play(steps, act=pages, tools=("put", "get", "drop", "make_page"))).verdict is Verdict.PASS


def test_a_seed_that_fails_leaves_the_case_not_run() -> None:
    steps = case({"seed": "page", "with": {"title": "x"}})
    result = only(play(steps, act=answer("make_page", failure("no"))))
    assert result.verdict is Verdict.NOT_RUN
    assert "make_page" in (result.reason or "")


def paged(size: int, *, honest: bool = True) -> Any:
    """Answers ``get`` by pages, with a cursor; the lying one says that there is always more."""

    async def act(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        if name != "get":
            return None
        texts = toy.do("get", {})["texts"]
        begin = int(arguments.get("after", "0"))
        end = begin + size
        more = end < len(texts) or not honest
        return success(
            {"version": 1, "texts": texts[begin:end], "more": more, "next": {"after": str(end)} if more else None}
        )

    return act


def follow(**more: Any) -> dict[str, Any]:
    step = {"follow": get(), "cursor": {"after": "/next/after"}, "while": "/more", "gather": {"all": "/texts"}}
    return {**step, "calls": 4, **more}


@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_a_cursor_is_followed_to_its_end_and_what_the_answers_hold_is_joined(size: int) -> None:
    steps = case(
        *(put(f"{{{{marker}}}} {number}") for number in range(3)),
        follow(),
        {"judge": "{{all}}", "expect": {"const": [f"{{{{marker}}}} {number}" for number in range(3)]}},
    )
    result = only(play(steps, act=paged(size)))
    assert result.verdict is Verdict.PASS
    turns = [exchange.step for exchange in result.transcript[3:]]
    assert turns == [f"4.{turn}" for turn in range(1, -(-3 // size) + 1)]


def test_a_cursor_without_an_end_is_a_finding_after_the_last_call() -> None:
    result = only(play(case(put("{{marker}}"), follow(clause="toy/get/shows")), act=paged(1, honest=False)))
    (finding,) = result.findings
    assert (finding.clause, finding.pointer) == ("toy/get/shows", "/more")
    assert len(result.transcript) == 1 + 4


def test_a_cursor_that_is_not_there_is_a_finding() -> None:
    lost = success({"version": 1, "texts": [], "more": True})
    (finding,) = only(play(case(follow()), act=answer("get", lost))).findings
    assert finding.pointer == "/next/after"
