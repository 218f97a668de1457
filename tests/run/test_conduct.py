"""A run as a whole: what overlaps, what is given up, what is cleaned up, and that the books balance."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_kit.check import Answer
from nmemory_kit.contract.clause import Clause, Level
from nmemory_kit.contract.pack import Observation, Recipe
from nmemory_kit.run.conduct import PATIENCE
from nmemory_kit.run.excuse import Excuse, ExcuseError, check_excuses, excuse, read_excuses
from nmemory_kit.run.ledger import Ledger
from nmemory_kit.run.record import RecordError, lines, parse
from nmemory_kit.run.result import Books, CaseResult, ClauseResult, Verdict
from nmemory_kit.run.select import UnknownName, choose
from nmemory_kit.run.verdict import TargetVerdict, judge_clauses, judge_target, keep_books
from nmemory_kit.target import InProcessTarget
from run.stage import Toy, clause, get, make_pack, only, play, put, success


def case(identity: str, *steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": identity, "clauses": ["toy/put/keeps"], "steps": list(steps) or [put("{{marker}}")], **more}


def verdicts(results: Any) -> dict[str, Verdict]:
    return {result.case.rpartition("/")[2]: result.verdict for result in results.cases}


def test_independent_cases_overlap() -> None:
    met = asyncio.Barrier(4)

    async def together(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        await asyncio.wait_for(met.wait(), 5)

    results = play(*(case(f"case-{number}") for number in range(4)), act=together, jobs=4)
    assert set(verdicts(results).values()) == {Verdict.PASS}


def test_an_exclusive_case_runs_alone_on_the_one_store_there_is() -> None:
    under_way: list[str] = []
    crowded: list[str] = []

    async def watch(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        under_way.append(arguments["text"])
        await asyncio.sleep(0)
        if len(under_way) > 1 and "alone" in under_way:
            crowded.append("alone")
        under_way.remove(arguments["text"])

    alone = case("alone", put("alone"), put("alone"), store="exclusive")
    play(alone, *(case(f"case-{n}") for n in range(6)), act=watch, declared={"fresh-store": False})
    assert not crowded


def test_an_exclusive_case_overlaps_with_others_in_a_store_of_its_own() -> None:
    met, stores = asyncio.Barrier(2), {}

    async def together(toy: Toy, name: str, arguments: dict[str, Any]) -> Any:
        stores[arguments["text"]] = toy.path
        await asyncio.wait_for(met.wait(), 5)

    results = play(case("alone", put("alone"), store="exclusive"), case("beside", put("beside")), act=together)
    assert set(verdicts(results).values()) == {Verdict.PASS}
    assert stores["alone"] != stores["beside"]


def test_exclusive_cases_hand_on_a_store_that_they_leave_whole_and_fresh_ones_get_an_empty_one() -> None:
    stores: dict[str, Path] = {}

    async def watch(toy: Toy, name: str, arguments: dict[str, Any]) -> Any:
        stores[arguments["text"]] = toy.path
        return success({}) if arguments["text"] == "fails" else None

    kinds = {"first": "exclusive", "second": "exclusive", "empty": "fresh", "fails": "exclusive", "third": "exclusive"}
    steps = {name: put(name, expect={"required": ["id"]}) for name in kinds}
    results = play(*(case(name, steps[name], store=kind) for name, kind in kinds.items()), act=watch, jobs=1)
    assert {name for name, verdict in verdicts(results).items() if verdict is Verdict.FAIL} == {"fails"}
    assert stores["first"] == stores["second"] == stores["fails"]
    assert len({stores["first"], stores["empty"], stores["third"]}) == 3


def test_a_case_that_could_not_be_decided_in_a_used_store_is_done_again_in_an_empty_one() -> None:
    none = {"properties": {"texts": {"maxItems": 0}}}
    untouched = [{"call": "get", "clause": "toy/get/shows", "precondition": True, "expect": none}, put("{{marker}}")]
    users = [case(name, put("{{marker}}"), store="exclusive") for name in ("first", "second")]
    results = play(*users, case("third", *untouched, store="exclusive"), jobs=1)
    assert set(verdicts(results).values()) == {Verdict.PASS}


def test_only_the_case_that_kills_the_target_is_blamed_for_it() -> None:
    async def fragile(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        await asyncio.sleep(0)
        if arguments["text"] == "poison":
            raise RuntimeError("dead")

    cases = [case(f"case-{number}", *(put("{{marker}}") for _ in range(4))) for number in range(6)]
    results = play(*cases, case("poison", put("poison")), act=fragile)
    assert {name for name, verdict in verdicts(results).items() if verdict is Verdict.FAIL} == {"poison"}


def test_a_target_that_answers_nothing_is_given_up_and_the_rest_is_not_run() -> None:
    async def hang(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        await asyncio.Event().wait()

    results = play(*(case(f"case-{n}") for n in range(PATIENCE + 8)), act=hang, call_timeout=0.05, jobs=1)
    assert results.footer.books.counts[Verdict.NOT_RUN] == 8
    assert "no answer" in (results.footer.cut_short or "")
    assert results.footer.books.balance


def test_a_run_has_an_end() -> None:
    async def hang(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        await asyncio.Event().wait()

    results = play(case("slow"), act=hang, call_timeout=20, run_timeout=0.2)
    assert only(results).verdict is Verdict.NOT_RUN
    assert results.footer.verdict == "INCONCLUSIVE"


def test_a_target_that_cannot_be_opened_is_inconclusive_with_the_reason_first() -> None:
    def refuse(path: Path) -> Toy:
        raise OSError("no such store")

    results = play(case("a"), target=InProcessTarget(refuse, name="gone"))
    assert results.footer.verdict == "INCONCLUSIVE"
    assert "could not be reached" in results.footer.reason
    assert results.exit_code == 3
    assert only(results).verdict is Verdict.NOT_RUN


def test_a_target_with_none_of_the_tools_is_inconclusive() -> None:
    results = play(case("a"), tools=("other",))
    assert results.footer.verdict == "INCONCLUSIVE"
    assert "no tool of any contract" in results.footer.reason
    assert not results.cases


def test_a_case_without_its_needs_is_skipped_with_the_reason() -> None:
    results = play(case("needy", needs=["credential:reader"]), case("fine"))
    assert verdicts(results) == {"fine": Verdict.PASS, "needy": Verdict.SKIP}
    assert "'reader'" in (next(r for r in results.cases if r.verdict is Verdict.SKIP).reason or "")


def test_a_clause_about_a_tool_that_is_optional_does_not_apply_without_it() -> None:
    extra = {"id": "extra", "clauses": ["toy/extra/only"], "steps": [{"call": "extra"}]}
    assert clause(play(case("fine"), extra), "toy/extra/only") == "not-applicable"


def test_a_trait_is_found_out_once_and_cases_can_need_it() -> None:
    observe = {
        "listing": Observation("get", {}, {"required": ["texts"]}),
        "odd": Observation("get", {}, {"required": ["odd"]}),
    }
    cases = [
        case("yes", needs=["observed:listing"]),
        case("no", needs=["observed:odd"]),
        case("not", needs=["observed:no-odd"]),
    ]
    results = play(pack=make_pack(*cases, observe=observe))
    assert verdicts(results) == {"yes": Verdict.PASS, "no": Verdict.SKIP, "not": Verdict.PASS}


def test_a_trait_is_looked_for_after_the_calls_that_it_needs_first() -> None:
    shows = {"properties": {"texts": {"contains": {"mentions": "first"}}}}
    observe = {
        "keeping": Observation("get", {"like": "{{marker}}"}, shows, first=(("put", {"text": "{{marker}} first"}),)),
        "empty": Observation("get", {"like": "{{marker}}"}, shows),
    }
    cases = [case("kept", needs=["observed:keeping"]), case("nothing", needs=["observed:no-empty"])]
    results = play(pack=make_pack(*cases, observe=observe))
    assert verdicts(results) == {"kept": Verdict.PASS, "nothing": Verdict.PASS}


@pytest.mark.parametrize(
    ("capabilities", "verdict"),
    [
        ({"observed:no-llm"}, "not-applicable"),
        ({"observed:llm"}, "unverified"),
        (set(), "unverified"),
    ],
)
def test_a_clause_about_a_trait_that_was_not_looked_for_stays_unverified(capabilities: set[str], verdict: str) -> None:
    clauses = {"toy/ask/answers": Clause("toy/ask/answers", Level.MUST, "It answers.", "toy", where=("observed:llm",))}
    (judged,) = judge_clauses(clauses, (), frozenset(capabilities))
    assert judged.verdict == verdict


def test_what_was_made_is_taken_back_and_what_stays_is_told(tmp_path: Path) -> None:
    refused: list[str] = []

    async def keep_one(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        if name == "drop" and arguments["id"] == "1":
            refused.append(arguments["id"])
            return {"rpc": -32000}
        return None

    calls: list[tuple[str, dict[str, Any]]] = []
    target = InProcessTarget(lambda path: Toy(path, keep_one, calls=calls), name="toy")
    target.disposable = False  # type: ignore[misc]
    ledger = tmp_path / "run.jsonl"
    results = play(case("a", put("one"), put("two")), target=target, ledger=ledger)
    assert [arguments["id"] for name, arguments in calls if name == "drop"] == ["2", "1"]
    assert len(results.footer.left_behind) == 1
    assert [made.arguments for made in Ledger.load(ledger).there()] == [{"id": "1"}]


@pytest.mark.parametrize(("kind", "left"), [("gone", 0), ("locked", 1), (None, 1)])
def test_what_is_gone_already_is_not_left_behind(kind: str | None, left: int) -> None:
    async def refuse(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        return {"rpc": -32002, "data": {"kind": kind} if kind else None} if name == "drop" else None

    gone = {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "gone"}}}
    recipe = Recipe("drop", {"id": "{{id}}"}, {"id": "/id"}, gone=gone)
    target = InProcessTarget(lambda path: Toy(path, refuse), name="toy")
    target.disposable = False  # type: ignore[misc]
    results = play(target=target, pack=replace(make_pack(case("a", put("one"))), cleanup={"put": (recipe,)}))
    assert len(results.footer.left_behind) == left


def _written(tmp_path: Path, recipe: Recipe, body: Any) -> list[Any]:
    ledger = Ledger(tmp_path / "run.jsonl")
    ledger.answered("case", "put", recipe, Answer.of_result(success(body)))
    return [made.arguments for made in reversed(ledger.there())]


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ({"status": "kept", "id": "1"}, [{"id": "1"}]),
        ({"status": "found", "id": "1"}, []),
        ({"status": "kept"}, []),
        ({}, []),
    ],
)
def test_nothing_is_taken_back_that_was_there_before(tmp_path: Path, body: Any, written: list[Any]) -> None:
    recipe = Recipe("drop", {"id": "{{id}}"}, {"id": "/id"}, where={"properties": {"status": {"const": "kept"}}})
    assert _written(tmp_path, recipe, body) == written


@pytest.mark.parametrize(
    ("rows", "written"),
    [
        ([{"status": "kept", "id": "1"}, {"status": "found", "id": "2"}, {"status": "kept", "id": "3"}], ["1", "3"]),
        ([], []),
        ({"status": "kept", "id": "1"}, []),
        (None, []),
        ([7, None, {"status": "kept", "id": "4"}], ["4"]),
    ],
)
def test_each_item_of_an_answer_may_be_a_thing(tmp_path: Path, rows: Any, written: list[str]) -> None:
    kept = {"properties": {"status": {"const": "kept"}}}
    recipe = Recipe("drop", {"id": "{{id}}"}, {"id": "/id"}, each="/rows", where=kept)
    assert _written(tmp_path, recipe, {"rows": rows}) == [{"id": identity} for identity in written]


def test_an_answer_without_the_array_of_things_names_none(tmp_path: Path) -> None:
    assert _written(tmp_path, Recipe("drop", {}, {}, each="/rows"), {}) == []


def test_a_ledger_is_removed_when_nothing_is_left_to_take_back(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "run.jsonl")
    ledger.made("case", "a thing", "drop", {"id": "1"})
    ledger.undone(ledger.there()[0])
    ledger.close()
    assert not list(tmp_path.iterdir())


def test_a_result_file_is_read_back_as_it_was_written() -> None:
    results = play(case("a"), case("b", get(shows=["never"])))
    assert parse(list(lines(results)), "memory") == results


@pytest.mark.parametrize(("cut", "why"), [(slice(1, None), "header"), (slice(0, -1), "footer")])
def test_a_result_file_that_was_cut_off_says_nothing(cut: slice, why: str) -> None:
    written = list(lines(play(case("a"))))
    with pytest.raises(RecordError, match=why):
        parse(written[cut], "memory")


def test_a_result_file_of_a_later_format_is_refused() -> None:
    header, *rest = lines(play(case("a")))
    later = json.dumps({**json.loads(header), "format": 99})
    with pytest.raises(RecordError, match="newer"):
        parse([later, *rest], "memory")


def test_an_unknown_glob_names_the_nearest() -> None:
    pack = make_pack(case("remember-shape"))
    assert choose([pack], ["remember-*"])
    assert choose([pack], ["toy/v1/*"], ["toy/put/*"])
    with pytest.raises(UnknownName, match="remember-shape"):
        choose([pack], ["remember-shpae"])
    with pytest.raises(UnknownName, match="toy/put/keeps"):
        choose([pack], [], ["toy/put/keep"])


def test_an_excused_failure_is_an_xfail_and_is_never_conformant(tmp_path: Path) -> None:
    failed = only(play(case("a", get(shows=["never"]))))
    passed = only(play(case("a")))
    the_case = make_pack(case("a")).cases[0]
    (known,) = read_excuses(_file(tmp_path, "- {case: a, reason: not yet, link: 'https://example.org/1'}"))
    assert excuse(failed, the_case, [known]).verdict is Verdict.XFAIL
    assert excuse(passed, the_case, [known]).verdict is Verdict.XPASS
    assert excuse(failed, the_case, [Excuse("b", "other")]).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{case: a}", "list"),
        ("- {case: a}", "entry 1: `reason`"),
        ("- {case: a, reason: b, why: c}", "unknown member 'why'"),
        ("- {case: a, reason: b, until: soon}", "date"),
        ("- [", "not YAML"),
    ],
)
def test_a_bad_file_of_excuses_says_what_is_wrong(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(ExcuseError, match=why):
        read_excuses(_file(tmp_path, text))


def test_an_excuse_that_names_no_case_is_refused() -> None:
    from datetime import date

    cases = make_pack(case("a")).cases
    check_excuses([Excuse("a", "x", until=date(2030, 1, 1))], cases, date(2029, 1, 1))
    with pytest.raises(ExcuseError, match="names no case"):
        check_excuses([Excuse("b", "x")], cases, date(2029, 1, 1))
    with pytest.raises(ExcuseError, match="held until"):
        check_excuses([Excuse("a", "x", until=date(2030, 1, 1))], cases, date(2030, 1, 2))


RESULT = CaseResult("toy/v1/a", "A case", Verdict.PASS, ("toy/put/keeps",))


@given(st.lists(st.sampled_from(list(Verdict))))
def test_the_books_balance_whatever_the_verdicts(found: list[Verdict]) -> None:
    books = keep_books(len(found), [replace(RESULT, verdict=verdict) for verdict in found])
    assert books.balance


@given(
    st.lists(st.sampled_from(["proven", "violated", "unverified", "not-applicable", "excluded"])),
    st.sampled_from(["MUST", "SHOULD"]),
    st.booleans(),
    st.integers(0, 3),
    st.dictionaries(st.sampled_from([Verdict.XFAIL, Verdict.XPASS, Verdict.ERROR, Verdict.NOT_RUN]), st.integers(0, 2)),
)
def test_a_target_is_conformant_only_if_nothing_speaks_against_it(
    found: list[str], level: str, complete: bool, passed: int, others: dict[Verdict, int]
) -> None:
    clauses = [ClauseResult(f"c{n}", Level(level), "text", verdict) for n, verdict in enumerate(found)]
    counts = dict.fromkeys(Verdict, 0) | {Verdict.PASS: passed} | others
    books = Books(sum(counts.values()), counts)
    verdict = judge_target(clauses, books, complete=complete)
    if verdict is TargetVerdict.CONFORMANT:
        assert level == "MUST"
        assert set(found) <= {"proven", "not-applicable", "excluded"}
        assert "proven" in found
        assert complete
        assert passed
        assert not any(others.values())
    if "violated" in found and level == "MUST":
        assert verdict is TargetVerdict.NOT_CONFORMANT
    if not books.decided and "violated" not in found:
        assert verdict is TargetVerdict.INCONCLUSIVE


def _file(folder: Path, text: str) -> Path:
    file = folder / "excuses.yaml"
    file.write_text(text)
    return file


def test_texts_of_a_target_never_reach_a_result_with_a_secret() -> None:
    async def chatty(toy: Any, name: str, arguments: dict[str, Any]) -> Any:
        return success({"version": 1, "texts": ["the token is s3cret"]})

    results = play(
        case("a", get(shows=["never"])), act=chatty, redact=lambda text: text.replace("s3cret", "[redacted]")
    )
    assert "s3cret" not in "".join(lines(results))
