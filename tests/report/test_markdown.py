from __future__ import annotations

import re

from hypothesis import example, given
from nmemory_kit.report import markdown
from nmemory_kit.report.markdown import LIMIT
from nmemory_kit.run.result import Verdict
from report.sample import BUDGET, case, everything, finding, results
from report.test_foreign import ANYTHING

_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", re.DOTALL)


def outside_code(document: str) -> str:
    """What Markdown would interpret: everything but code spans and fenced blocks."""
    kept, fence = [], None
    for line in document.split("\n"):
        ticks = re.match("`{3,}", line)
        if fence is None and ticks:
            fence = ticks[0]
        elif fence is not None:
            if line == fence:
                fence = None
        else:
            kept.append(_SPAN.sub("", line))
    return "\n".join(kept)


def test_it_says_what_is_broken_and_how_to_see_it_again():
    text = markdown.render(everything())
    for part in (
        "## NOT CONFORMANT: tiny/v1",
        BUDGET,
        "at most 40",
        "1 more case: `budget-small`",
        "--case budget-cap",
    ):
        assert part in text


@given(ANYTHING)
@example("``` \n# heading")
@example("`@somebody` <img src=x> [a](b) | ![x](y)")
def test_no_text_of_a_target_leaves_its_code_span(text: str):
    def document(foreign: str) -> str:
        broken = case(
            "x", Verdict.FAIL, title=foreign, findings=(finding(doing=foreign, got=foreign, stderr="s" + foreign),)
        )
        other = case("y", Verdict.ERROR, reason=foreign)
        return markdown.render(results(broken, other, reason=foreign, left_behind=(foreign,), cut_short="s" + foreign))

    document(text).encode("utf-8")
    assert outside_code(document(text)) == outside_code(document("harmless"))


def test_it_stays_under_the_limit_of_a_step_summary():
    cases = [
        case(f"c{n}", Verdict.FAIL, findings=(finding(f"t1/a/c{n}", got=f"{n} " + "é" * 5000),)) for n in range(1500)
    ]
    text = markdown.render(results(*cases))
    assert len(text.encode("utf-8")) <= LIMIT
    assert "more parts are left out" in text
