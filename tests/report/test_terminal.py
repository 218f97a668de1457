from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from nmemory_kit.report import terminal
from nmemory_kit.run.result import Verdict
from report.sample import case, everything, finding, results
from report.test_foreign import ANYTHING


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_screen(run, monkeypatch: pytest.MonkeyPatch, **environment: str) -> str:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm-256color", "COLUMNS": "60", **environment}.items():
        monkeypatch.setenv(name, value)
    screen = Screen()
    terminal.write(run, screen)
    return screen.getvalue()


def test_the_verdict_and_its_reason_come_first():
    assert terminal.render(everything()).splitlines()[:2] == ["NOT CONFORMANT  tiny/v1", "  a reason"]


def test_a_broken_promise_has_everything_that_is_needed_to_mend_it():
    text = terminal.render(everything())
    for part in (
        "MUST t1/recall/budget",
        "the text of t1/recall/budget",
        "budget-cap: title of budget-cap",
        '3: recall {"entity": "x"}',
        "/budget_used",
        "expected  at most 40",
        "got       61",
        "| last words",
        "rerun     nmemory protocol conformance --target 'some-server --db x' --case budget-cap",
        "1 more case: budget-small",
        "as under t1/recall/budget",
    ):
        assert part in text


def test_it_says_what_was_not_decided_what_stays_behind_and_what_made_noise():
    text = terminal.render(everything())
    for part in (
        "no token 'other-tenant' is given: t1/trust/tenant",
        "the page could not be made: seeded",
        "planned 10 = 1 pass + 4 fail + 1 skip + 1 not-run + 1 error + 1 xfail + 1 xpass",
        "tiny/v1/good: a page",
        "not-json: hello",
        "excused: known since May",
        "mended: it no longer fails",
    ):
        assert part in text


def test_a_terminal_gets_colours_and_lines_that_fit(monkeypatch: pytest.MonkeyPatch):
    shown = on_screen(everything(), monkeypatch)
    assert "\x1b[" in shown
    assert shown.count("\n\n") == terminal.render(everything()).count("\n\n")


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_no_colour_is_honoured_and_lines_still_fit(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch):
    shown = on_screen(everything(), monkeypatch, **environment)
    assert "\x1b" not in shown
    assert max(len(line) for line in shown.splitlines() if "rerun" not in line) <= 60


def test_the_command_to_rerun_is_never_broken_so_that_it_can_be_copied(monkeypatch: pytest.MonkeyPatch):
    shown = on_screen(everything(), monkeypatch, NO_COLOR="1", COLUMNS="40")
    assert "nmemory protocol conformance --target 'some-server --db x' --case budget-cap\n" in shown


def test_markup_in_a_text_of_the_target_is_only_text(monkeypatch: pytest.MonkeyPatch):
    broken = case("x", Verdict.FAIL, findings=(finding(got="[bold]x[/bold] [link=http://h]"),))
    assert "[bold]x[/bold] [link=http://h]" in on_screen(results(broken), monkeypatch, NO_COLOR="1", COLUMNS="200")


@given(ANYTHING)
def test_no_text_of_a_target_reaches_the_terminal_unescaped(text: str):
    broken = case("x", Verdict.FAIL, title=text, findings=(finding(doing=text, pointer=text, got=text, stderr=text),))
    run = results(broken, case("y", Verdict.ERROR, reason=text), reason=text, noise=(text,), left_behind=(text,))
    shown = terminal.render(run)
    assert not {unicodedata.category(char) for char in shown if char != "\n"} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())


def test_of_many_cases_that_broke_one_clause_a_few_are_named():
    text = terminal.render(results(*(case(f"c{n}", Verdict.FAIL, findings=(finding(),)) for n in range(60))))
    assert "and       59 more cases: c1, c2, c3, c4, c5, c6, c7, c8 and 51 more" in text
