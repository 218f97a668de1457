from __future__ import annotations

from dataclasses import replace

from nmemory_kit.contract.clause import Level
from nmemory_kit.report import record
from nmemory_kit.run.result import ClauseResult, Verdict
from report.sample import BUDGET, HEADER, PACK, TENANT, case, everything, results

CLAUSES = (
    ClauseResult(BUDGET, Level.MUST, "A budget is a ceiling.", "proven", None, (f"{PACK}/a", f"{PACK}/b")),
    ClauseResult(TENANT, Level.MUST, "Tenants are apart.", "unverified", "no token"),
)


def test_each_clause_has_a_row_and_each_pack_its_books():
    text = record.render(results(case("a"), case("b"), clauses=CLAUSES, verdict="CONFORMANT WITH GAPS"))
    lines = text.splitlines()
    assert lines[0] == "# CONFORMANT WITH GAPS: tiny/v1"
    assert "| `t1/recall/budget` | MUST | proven | 2 |" in lines
    assert "| `t1/trust/tenant` | MUST | unverified | 0 |" in lines
    assert "| tiny/v1 | 2 | 2 | 0 | 0 |" in lines
    assert "- `no token`: `t1/trust/tenant`" in lines


def test_a_verdict_that_somebody_should_see_has_a_column():
    assert "| pack | planned | pass | fail | skip | not-run | error | xfail | xpass |" in record.render(everything())


def test_another_run_of_the_same_target_gives_the_same_record():
    first, second = (case(name, Verdict.SKIP, reason="nmkabc7 has no page") for name in ("one", "two"))
    one = results(first, second, case("ran", took=0.1), clauses=CLAUSES)
    again = results(
        case("ran", took=7.5),
        *(replace(each, reason="nmkxyz9 has no page", took=3.0) for each in (second, first)),
        clauses=CLAUSES,
        took=99.0,
    )
    header = replace(HEADER, run="nmkxyz", started="2040-01-01T00:00:00Z", environment={"python": "3.14"})
    assert record.render(replace(again, header=header)) == record.render(one)
