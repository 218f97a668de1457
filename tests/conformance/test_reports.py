"""The committed reports speak of the packs and the doubles as they are: `make reports` writes them again.

Nothing is run here: what a report says is compared with what is there. Whether the server still does what they say
is for the other tests of this folder, and for `nmemory protocol prove`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from nmemory_kit.contract import load_pack, pack_names
from nmemory_kit.contract.clause import Level
from nmemory_kit.contract.pack import Pack
from nmemory_kit.prove.doubles import Doubles, Sources, gather

REPORTS = Path(__file__).parents[2] / "reports"
RECORDS = ("stdio-legacy", "stdio-modern", "http-legacy", "http-modern")
AGAIN = "`make reports` writes it again"
WRITTEN = (*RECORDS, "proof")
#: What is a matter of the run or the machine: times, words of a run, ports, paths.
OF_A_RUN = re.compile(
    r"\bnmk[a-z0-9]{6,}|\d\.\d+ m?s\b|\d\d:\d\d:\d\d|127\.0\.0\.1|(?<![\w.])/(home|root|tmp|usr|work|Users|var)/"
)


@cache
def packs() -> tuple[Pack, ...]:
    return tuple(map(load_pack, pack_names()))


@cache
def doubles() -> Doubles:
    return gather(Sources(tuple(pack_names())))


def report(name: str) -> str:
    return (REPORTS / f"{name}.md").read_text(encoding="utf-8")


def table(text: str, first: str) -> list[tuple[str, ...]]:
    """The rows of the table whose first column has this name."""
    _, found, rest = text.partition(f"\n| {first} |")
    assert found, f"no table of {first!r}"
    lines = rest.split("\n\n")[0].splitlines()[2:]
    return [tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]) for line in lines]


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_has_each_clause_with_its_level(name: str) -> None:
    told = {clause.strip("`"): level for clause, level, *_ in table(report(name), "clause")}
    assert told == {clause.id: str(clause.level) for pack in packs() for clause in pack.clauses.values()}, AGAIN


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_counts_the_cases_of_each_pack(name: str) -> None:
    planned = {pack: int(number) for pack, number, *_ in table(report(name), "pack")}
    assert planned == {pack.path: len(pack.cases) for pack in packs()}, AGAIN


@pytest.mark.parametrize("name", RECORDS)
def test_no_case_of_a_record_failed_or_stayed_open(name: str) -> None:
    text = report(name)
    head = next(line for line in text.splitlines() if line.startswith("| pack |"))
    assert head == "| pack | planned | pass | fail | skip |"
    assert all(failed == "0" for _, _, _, failed, _ in table(text, "pack"))
    assert "violated" not in {verdict for _, _, verdict, _ in table(text, "clause")}
    assert text.startswith("# CONFORMANT: ")


def test_the_proof_has_each_lie_with_its_clause_and_nothing_survived() -> None:
    rows = table(report("proof"), "clause")
    assert {(lie, clause) for clause, lie, _ in rows} == {(lie.id, lie.clause) for lie in doubles().lies}, AGAIN
    assert not [lie for _, lie, catcher in rows if catcher in ("SURVIVED", "STUMBLED")]
    assert report("proof").startswith("## PROVEN: "), AGAIN


def test_the_proof_has_each_variant_and_each_null_double() -> None:
    variants = table(report("proof"), "variant")
    assert {name for name, *_ in variants} == {variant.id for variant in doubles().variants}, AGAIN
    assert {found for *_, found in variants} == {"conformant"}
    nulls = table(report("proof"), "null double")
    assert {name for name, *_ in nulls} == {null.id for null in doubles().nulls}, AGAIN
    assert {believed for _, _, believed, _ in nulls} == {"0"}


@pytest.mark.parametrize("name", WRITTEN)
def test_nothing_in_a_report_is_of_one_run_or_machine(name: str) -> None:
    assert OF_A_RUN.findall(report(name)) == []


def test_the_readme_promises_no_more_than_the_packs_have() -> None:
    claim = r"More than (\d+) cases decide more than (\d+) clauses that say MUST"
    found = re.search(claim, (REPORTS.parent / "README.md").read_text(encoding="utf-8"))
    assert found is not None
    decided = {clause for pack in packs() for case in pack.cases for clause in case.clauses}
    musts = [clause for pack in packs() for clause in pack.clauses.values() if clause.level is Level.MUST]
    assert sum(len(pack.cases) for pack in packs()) > int(found[1])
    assert sum(clause.id in decided for clause in musts) > int(found[2])


def test_no_report_stands_there_that_nothing_writes() -> None:
    assert {file.stem for file in REPORTS.glob("*.md")} == {*WRITTEN, "README"}
