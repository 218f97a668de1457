from __future__ import annotations

import json

from nmemory_kit.report import FORMATS, summary
from nmemory_kit.run import record
from report.sample import everything


def test_the_summary_has_the_verdict_the_books_and_every_case_but_no_transcript():
    told = json.loads(summary.render(everything()))
    assert told["verdict"] == "NOT CONFORMANT"
    assert told["books"] | {"planned": 10, "pass": 1, "fail": 4, "balance": True} == told["books"]
    assert len(told["cases"]) == 10
    assert not any("transcript" in case for case in told["cases"])


def test_a_case_that_is_not_green_says_how_to_reproduce_it():
    told = {case["case"]: case for case in summary.summary(everything())["cases"]}
    assert told["tiny/v1/budget-cap"]["reproduce"].endswith("--case budget-cap")
    assert "reproduce" not in told["tiny/v1/good"]


def test_every_format_can_be_made_again_from_the_result_file():
    kept = record.parse(list(record.lines(everything())), "a file")
    for form in FORMATS.values():
        assert form.render(kept) == form.render(everything())
