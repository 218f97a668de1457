"""Everything together: in this process or in several, with what is only known of the whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nmemory_kit.contract.pack import Pack
from nmemory_kit.prove import Cast, Doubles, Fate, Sources, Trial, prove, untried
from nmemory_reference.lies import Interceptor, Lie

VERBS = Sources(("memory-verbs",))


def test_each_trial_is_told_as_it_ends_and_stands_in_the_proof() -> None:
    counted: list[int] = []
    told: list[Trial] = []
    proof = prove(VERBS, only=["mv1/forget/reason-echo"], jobs=1, on_start=counted.append, on_trial=told.append)
    assert counted == [len(told)] == [len(proof.lies)]
    assert all(trial.fate is Fate.CAUGHT for trial in proof.lies)
    assert (proof.good, proof.exit_code) == (True, 0)


def test_several_processes_find_the_same_as_one() -> None:
    # A null double and a lie are two batches.
    alone, together = (prove(VERBS, only=["verbs/*nothing-[ks]*"], jobs=jobs) for jobs in (1, 2))
    assert [null.null for null in alone.nulls] == ["verbs/null-nothing-known"]
    assert [lie.lie for lie in alone.lies] == ["verbs/store/nothing-survives-a-restart"]
    assert together.good
    assert [lie.fate for lie in together.lies] == [lie.fate for lie in alone.lies]


def test_of_a_part_the_whole_is_not_judged() -> None:
    proof = prove(VERBS, only=["verbs/null-echo"], jobs=1)
    assert (proof.untried, proof.stale) == ((), ())


def test_a_must_that_a_case_decides_needs_a_lie_that_somebody_wrote(small: Pack) -> None:
    decided = {clause for case in small.cases for clause in case.clauses}
    lie = Lie("mine/one", "mv1/forget/idempotent", "One.", Interceptor, also=frozenset(decided))
    assert set(untried(Doubles((Cast(small),)))) == {
        clause for clause in decided if small.clauses[clause].level == "MUST"
    }
    assert untried(Doubles((Cast(small, (lie,)),))) == ()
    assert untried(Doubles((Cast(small, (replace(lie, made=True),)),)))


def test_what_survives_fails_the_proof(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from nmemory_reference.lies import Interceptor, Lie\n"
        "LIES = [Lie('mine/honest', 'mv1/forget/shape', 'Is honest.', Interceptor)]\n"
    )
    proof = prove(Sources(("memory-verbs",), (file,)), only=["mine/*"], jobs=1)
    assert [trial.lie for trial in proof.survivors] == ["mine/honest"]
    assert proof.exit_code == 1
