from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from nmemory_kit.report import junit
from nmemory_kit.run.result import Results, Verdict
from report.sample import BUDGET, case, everything, finding, results
from report.test_foreign import ANYTHING


def named_tests(run: Results) -> dict[str, ET.Element]:
    return {test.get("name", ""): test for test in ET.fromstring(junit.render(run)).iter("testcase")}


@pytest.mark.parametrize(
    ("name", "element"),
    [
        ("good", None),
        ("budget-cap", "failure"),
        ("mended", "failure"),
        ("tenant", "skipped"),
        ("excused", "skipped"),
        ("seeded", "error"),
        ("broken", "error"),
    ],
)
def test_a_verdict_becomes_the_element_that_readers_expect(name: str, element: str | None):
    test = named_tests(everything())[name]
    assert [child.tag for child in test if child.tag != "properties"] == ([element] if element else [])


def test_a_broken_recommendation_is_a_passed_test_with_a_note():
    test = named_tests(everything())["hint"]
    assert test.find("failure") is None
    assert test.findtext("system-out", "").startswith("warning: ")


@pytest.mark.parametrize("place", ["text", "message"])
def test_text_and_message_both_carry_the_whole_finding(place: str):
    failure = named_tests(everything())["budget-cap"].find("failure")
    told = failure.text if place == "text" else failure.get("message")
    for part in (
        BUDGET,
        "the text of",
        "step 3",
        "/budget_used",
        "at most 40",
        "61",
        "last words",
        "--case budget-cap",
    ):
        assert part in told


def test_properties_name_the_clauses():
    test = named_tests(everything())["order"]
    assert [p.get("value") for p in test.iter("property") if p.get("name") == "clause"] == ["t1/recall/order"]


def test_the_counts_match_what_is_there():
    root = ET.fromstring(junit.render(everything()))
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "10",
        "failures": "4",
        "errors": "2",
        "skipped": "2",
    }


@pytest.mark.parametrize("cases", [(), (case("a", Verdict.SKIP, reason="no"),)], ids=["no cases", "nothing but skips"])
def test_a_run_that_decided_nothing_is_an_error_and_never_an_empty_file(cases):
    root = ET.fromstring(junit.render(results(*cases, verdict="INCONCLUSIVE")))
    assert root.get("errors") == "1"


def test_names_are_unique_even_if_a_run_did_a_case_twice():
    assert list(named_tests(results(case("a"), case("a")))) == ["a", "a #2"]


@given(ANYTHING)
def test_no_text_of_a_target_breaks_the_document(text: str):
    broken = case("x", Verdict.FAIL, title=text, findings=(finding(doing=text, pointer=text, got=text, stderr=text),))
    run = results(broken, case("y", Verdict.ERROR, reason=text), case("z", Verdict.SKIP, reason=text), reason=text)
    document = junit.render(run)
    document.encode("utf-8")
    assert len(list(ET.fromstring(document).iter("testcase"))) == 3
