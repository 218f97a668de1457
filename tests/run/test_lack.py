"""Why a case does not apply is told in words that say what the target's owner could do about it."""

from __future__ import annotations

import pytest
from nmemory_kit.run.lack import lacking


@pytest.mark.parametrize(
    ("needs", "capabilities", "told"),
    [
        ((), (), None),
        (("tool:x", "http"), ("tool:x", "http"), None),
        (("synthesize",), (), "expensive calls are not allowed (--synthesize)"),
        (("fresh-store",), (), "the kit cannot give it an empty store (`{store}` in its command does)"),
        (("restart",), (), "the kit cannot restart it (it can where it starts it by a command)"),
        (("http",), (), "it is not reached over HTTP"),
        (("token-demanded",), (), "it demands no token"),
        (("tool:put_page",), (), "it does not list the tool put_page"),
        (("credential:reader",), (), "no token 'reader' is given (`tokens` in a profile)"),
        (("claims:quick",), (), "'quick' is not claimed (`claims` in a profile)"),
        (("seed-page",), (), "the kit cannot make a page in it (`seeds` in a profile)"),
        (("observed:llm",), ("observed:no-llm",), "it does not show 'llm'"),
        (("observed:no-llm",), ("observed:llm",), "it shows 'llm'"),
        (("observed:no-llm",), (), "whether it shows 'llm' could not be found out"),
        (("something-of-a-later-kit",), (), "it has no 'something-of-a-later-kit'"),
    ],
)
def test_what_is_missing_is_told_in_words(needs, capabilities, told):
    assert lacking(needs, capabilities) == told


def test_several_reasons_are_told_each_once():
    assert lacking(("http", "restart", "http"), ()).count("; ") == 1


def test_a_trait_that_could_not_be_looked_for_is_told_only_where_nothing_else_is_missing():
    assert lacking(("synthesize", "observed:llm"), ()) == "expensive calls are not allowed (--synthesize)"
