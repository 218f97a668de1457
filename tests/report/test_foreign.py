from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_kit.report.foreign import harmless, harmless_lines

#: Any text at all, lone surrogates and controls included.
ANYTHING = st.text(st.characters(codec=None, exclude_categories=()))


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines", "two\\nlines"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\u202eb", "a\\u202eb"),
        ("\ud800", "\\ud800"),
        ("::error::x", "\\::error::x"),
        ("  ::error::x", "\\::error::x"),
        ("see ##vso[task.complete]", "see #\\#vso[task.complete]"),
        ("日本 é 🙂", "日本 é 🙂"),
        ("## a heading", "## a heading"),
    ],
)
def test_what_acts_is_shown_as_an_escape(sent: str, shown: str):
    assert harmless(sent) == shown


def test_a_cut_text_says_how_much_is_missing():
    assert harmless("x" * 1500, 500) == "x" * 500 + " … (1,000 characters more)"


@given(ANYTHING)
def test_no_text_keeps_a_control_character(text: str):
    assert not {unicodedata.category(char) for char in harmless(text)} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@given(ANYTHING)
def test_no_text_starts_a_command_of_a_ci_system(text: str):
    for shown in (harmless("::" + text), harmless(" \t::" + text), harmless(text)):
        assert not shown.lstrip().startswith("::")


def test_of_many_lines_the_last_are_kept():
    assert harmless_lines("\n".join(map(str, range(100))) + "\n\n", 2) == ["98", "99"]
