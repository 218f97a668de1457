from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from nmemory_kit.prove import Evidence, Fate, LieTrial, NullTrial, Proof, VariantTrial, matrix
from nmemory_kit.report import terminal

EVIDENCE = Evidence("a/v1/first-comes-first", "a1/x/order", "2", "recall {}", "/facts", "sorted", "not")
CAUGHT = LieTrial("x/unsorted", "a1/x/order", "Answers in no order.", Fate.CAUGHT, EVIDENCE, None, 1, 0.1)
MADE = replace(CAUGHT, lie="x/systematic/x/drop/facts", made=True)
SURVIVOR = replace(CAUGHT, lie="x/sorted-by-luck", fate=Fate.SURVIVED, evidence=None)
STUMBLER = replace(SURVIVOR, lie="x/trips", fate=Fate.STUMBLED, reason="it raised KeyError: 'y' on x {}")
ELSEWHERE = replace(CAUGHT, lie="x/by-another", clause="a1/x/other", fate=Fate.ELSEWHERE)


def proof(*lies: LieTrial, variants=(), nulls=()) -> Proof:
    return Proof(lies, variants, nulls, (), (), 1.0)


def told(of: Proof) -> str:
    return "\n".join(map(terminal.plain, matrix.lines(of, ["a/v1"])))


def test_the_matrix_says_which_case_caught_which_lie():
    assert "x/unsorted  first-comes-first" in told(proof(CAUGHT))
    assert "1 made from schemas" in told(proof(CAUGHT, MADE))
    assert told(proof(CAUGHT)).startswith("PROVEN  a/v1\n  1 of 1 lies caught\n")


@pytest.mark.parametrize(
    ("of", "name"),
    [
        (proof(SURVIVOR), "x/sorted-by-luck (a1/x/order): Answers in no order."),
        (proof(STUMBLER), "x/trips (a1/x/order): it raised KeyError: 'y' on x {}"),
        (proof(ELSEWHERE), "x/by-another (a1/x/other), first-comes-first (by a1/x/order): no reason"),
        (
            proof(variants=(VariantTrial("pretty", "Indents.", "NOT CONFORMANT", "r", (EVIDENCE,), (), 0.1),)),
            "pretty: Indents. first-comes-first, step 2: sorted, got not",
        ),
        (proof(nulls=(NullTrial("silent", "Says nothing.", ("a/v1/c",), (), 0.1),)), "silent: c"),
    ],
    ids=["survivor", "stumbler", "elsewhere", "variant", "null"],
)
@pytest.mark.parametrize("as_text", [told, lambda of: matrix.markdown(of, ["a/v1"])], ids=["text", "markdown"])
def test_what_is_not_as_it_should_be_is_told_by_name(of: Proof, name: str, as_text):
    text = as_text(of)
    assert "NOT PROVEN" in text.splitlines()[0]
    assert name in text


HEAD = "from nmemory_reference.lies import Area\narea = Area('mine')\n"
CAUGHT_LIE = """
@area.success('forget', clause='mv1/forget/expires')
def never_expires(call, body):
    'Says that nothing was forgotten.'
    body['expired'] = False
"""
SURVIVING_LIE = """
@area.success('forget', clause='mv1/forget/idempotent')
def tells_the_truth(call, body):
    'Changes nothing at all.'
"""
STUMBLING_LIE = """
@area.success('recall', clause='mv1/recall/total')
def trips(call, body):
    'Has forgotten what the key is called.'
    body['sum'] += 1
"""


@pytest.mark.parametrize(
    ("lies", "fates", "code"),
    [
        ([CAUGHT_LIE], {"mine/never-expires": "caught"}, 0),
        ([CAUGHT_LIE, SURVIVING_LIE], {"mine/never-expires": "caught", "mine/tells-the-truth": "survived"}, 1),
        ([STUMBLING_LIE], {"mine/trips": "stumbled"}, 1),
    ],
    ids=["caught", "survivor", "stumbler"],
)
def test_lies_of_the_users_own_decide_the_exit_code(lies, fates, code: int, nmemory, tmp_path: Path):
    mine = tmp_path / "mine.py"
    mine.write_text(HEAD + "".join(lies) + "LIES = area.lies\n")
    ran = nmemory("protocol", "prove", "--lies", mine, "--only", "mine/*", "--jobs", "1", "--json")
    assert {trial["lie"]: trial["fate"] for trial in json.loads(ran.out)["lies"]} == fates
    assert ran.code == code


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import no_such_module\n", "no_such_module"),
        (HEAD + CAUGHT_LIE, "no list LIES"),
        (HEAD + CAUGHT_LIE + CAUGHT_LIE + "LIES = area.lies\n", "'mine/never-expires'"),
        (HEAD + CAUGHT_LIE.replace("expires'", "expiers'") + "LIES = area.lies\n", "did you mean mv1/forget/expires"),
    ],
    ids=["bad-import", "no-list", "id-twice", "unknown-clause"],
)
def test_a_file_that_cannot_be_tried_is_told_in_a_line(text: str, told: str, nmemory, tmp_path: Path):
    mine = tmp_path / "mine.py"
    mine.write_text(text)
    ran = nmemory("protocol", "prove", "--lies", mine)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert told in ran.err


def test_only_may_be_said_more_than_once(nmemory):
    chosen = ("verbs/forget/echoes-another-id", "verbs/wire/version-is-2")
    ran = nmemory("protocol", "prove", "--only", chosen[0], "--only", chosen[1], "--jobs", "1", "--json")
    assert {trial["lie"] for trial in json.loads(ran.out)["lies"]} == set(chosen)


def test_an_unknown_double_is_told_with_the_nearest(nmemory):
    ran = nmemory("protocol", "prove", "--only", "verbs/forget/echos-another-id")
    assert (ran.code, ran.out) == (2, "")
    assert "verbs/forget/echoes-another-id" in ran.err


def test_a_file_of_lies_that_is_not_there_is_told(nmemory):
    ran = nmemory("protocol", "prove", "--lies", "/no/such.py")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
