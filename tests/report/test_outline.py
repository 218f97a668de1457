from __future__ import annotations

from nmemory_kit.contract.clause import Level
from nmemory_kit.report.outline import books_line, breaches, reproduce, undecided, unverified
from nmemory_kit.run.result import Books, Verdict
from report.sample import BUDGET, HEADER, ORDER, TENANT, case, everything, finding, results


def test_a_clause_is_told_once_with_its_first_case_and_the_names_of_the_others():
    budget = breaches(everything(), Level.MUST)[0]
    assert (budget.clause, budget.case.case, budget.others) == (BUDGET, "tiny/v1/budget-cap", ("budget-small",))


def test_a_second_clause_with_the_same_cause_points_to_the_first():
    assert [(breach.clause, breach.like) for breach in breaches(everything(), Level.MUST)] == [
        (BUDGET, None),
        (ORDER, BUDGET),
    ]


def test_the_markers_of_cases_do_not_hide_a_common_cause():
    run = results(
        case("one", Verdict.FAIL, findings=(finding(got="nothing of nmkabcaa"),)),
        case("two", Verdict.FAIL, findings=(finding(ORDER, got="nothing of nmkabcab"),)),
    )
    assert breaches(run, Level.MUST)[1].like == BUDGET


def test_an_excused_failure_is_no_breach():
    assert TENANT not in {breach.clause for breach in breaches(everything(), Level.MUST)}


def test_what_stayed_open_is_grouped_by_its_reason():
    run = results(*(case(f"c{n}", Verdict.NOT_RUN, reason="the target died") for n in range(30)))
    (group,) = undecided(run)
    assert (group.reason, len(group.members)) == ("the target died", 30)


def test_only_unverified_clauses_of_the_level_asked_for_are_gaps():
    assert [group.members for group in unverified(everything(), Level.MUST)] == [(TENANT,)]


def test_the_command_that_reproduces_names_the_case_by_its_short_id():
    assert reproduce(HEADER, "tiny/v1/good") == HEADER.reproduce + " --case good"


def test_the_books_name_what_there_is_and_nothing_else():
    books = Books(3, {Verdict.PASS: 2, Verdict.FAIL: 0, Verdict.SKIP: 1})
    assert books_line(books) == "planned 3 = 2 pass + 1 skip"


def test_books_that_do_not_balance_are_the_kits_fault():
    assert "kit's fault" in books_line(Books(3, {Verdict.PASS: 2}))


def test_a_breach_is_shown_by_the_case_that_is_about_that_clause_alone():
    aside = case("aside", Verdict.FAIL, clauses=(ORDER, BUDGET), findings=(finding(BUDGET),))
    about = case("about", Verdict.FAIL, clauses=(BUDGET,), findings=(finding(BUDGET),))
    (breach,) = breaches(results(aside, about), Level.MUST)
    assert (breach.case.case, breach.others) == (about.case, ("aside",))
