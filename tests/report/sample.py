"""A run made by hand, with something of everything in it."""

from __future__ import annotations

from dataclasses import replace

from nmemory_kit.contract.clause import Level
from nmemory_kit.run.result import (
    Books,
    CaseResult,
    ClauseResult,
    Exchange,
    Finding,
    Footer,
    Header,
    PackIdentity,
    Results,
    TargetIdentity,
    Verdict,
)

PACK = "tiny/v1"
BUDGET = "t1/recall/budget"
ORDER = "t1/recall/order"
HINT = "t1/error/hint"
TENANT = "t1/trust/tenant"

HEADER = Header(
    kit="0.1.0",
    packs=(PackIdentity(PACK, "sha256:00"),),
    target=TargetIdentity(
        "stdio", "some-server --db x", "some", "1.4", "2025-11-25", ("recall", "remember"), ("restart",)
    ),
    run="nmkabc",
    started="2031-05-04T03:02:01Z",
    reproduce="nmemory protocol conformance --target 'some-server --db x'",
    environment={"python": "3.11"},
)


def finding(clause: str = BUDGET, level: Level = Level.MUST, **changes: object) -> Finding:
    """A broken budget, or what the changes make of it."""
    whole = Finding(
        clause, level, f"the text of {clause}", "3", 'recall {"entity": "x"}', "/budget_used", "at most 40", "61"
    )
    return replace(whole, **changes)


def case(name: str, verdict: Verdict = Verdict.PASS, **changes: object) -> CaseResult:
    """A case of the tiny pack."""
    whole = CaseResult(f"{PACK}/{name}", f"title of {name}", verdict, (BUDGET,), took=0.25)
    return replace(whole, **changes)


def results(*cases: CaseResult, verdict: str = "NOT CONFORMANT", **footer: object) -> Results:
    """A run of these cases."""
    counts = {one: sum(case.verdict is one for case in cases) for one in Verdict}
    whole = Footer(verdict, "a reason", Books(len(cases), counts), (), (), (), 1.5)
    return Results(HEADER, cases, replace(whole, **footer))


def everything() -> Results:
    """Each verdict once or more, two breaches of one cause, a warning, a gap, noise and leftovers."""
    return results(
        case("good", decided=(BUDGET,)),
        case(
            "budget-cap",
            Verdict.FAIL,
            findings=(finding(stderr="first\nlast words"),),
            transcript=(Exchange("1", "tools/call", {"name": "recall"}, {"result": {}}, 1.25),),
        ),
        case("budget-small", Verdict.FAIL, findings=(finding(got="62"),)),
        case("order", Verdict.FAIL, clauses=(ORDER,), findings=(finding(ORDER),)),
        case("hint", Verdict.FAIL, clauses=(HINT,), findings=(finding(HINT, Level.SHOULD, got="no hint"),)),
        case("tenant", Verdict.SKIP, clauses=(TENANT,), reason="no token 'other-tenant' is given"),
        case("seeded", Verdict.NOT_RUN, reason="the page could not be made"),
        case("broken", Verdict.ERROR, reason="nothing fills {{x}}"),
        case("excused", Verdict.XFAIL, findings=(finding(TENANT),), reason="known since May"),
        case("mended", Verdict.XPASS, reason="it no longer fails"),
        clauses=(
            ClauseResult(BUDGET, Level.MUST, "the text", "violated", None, (f"{PACK}/budget-cap",)),
            ClauseResult(TENANT, Level.MUST, "the text", "unverified", "no token 'other-tenant' is given"),
            ClauseResult("t1/soft/one", Level.SHOULD, "the text", "unverified", "no case of this run decides it"),
        ),
        left_behind=("tiny/v1/good: a page",),
        noise=("not-json: hello",),
    )
