"""``nmemory protocol coverage``: which clauses are decided by a case, and which cases are proven by a lie."""

from collections import Counter
from dataclasses import dataclass

import click
from click.exceptions import Exit

from .complaint import FAILED
from .options import json_option, load, protocol_option


@dataclass(frozen=True, slots=True)
class Row:
    """What stands behind one clause."""

    clause: str
    level: str
    cases: int
    #: Lies that break it.
    lies: int
    #: Why no case decides it, or None.
    excluded: str | None

    @property
    def problem(self) -> str | None:
        """What a MUST lacks, or None."""
        if self.level != "MUST" or self.excluded:
            return None
        if not self.cases:
            return "no case and no stated reason"
        return None if self.lies else "no lie that would show that its cases notice"


@click.command
@protocol_option
@json_option
def coverage(protocol: str | None, as_json: bool) -> None:
    """Count cases and lies a clause; exits 1 if a MUST has no case, or no lie that its cases catch."""
    found = rows(protocol)
    problems = [row for row in found if row.problem]
    if as_json:
        import json
        from dataclasses import asdict

        click.echo(json.dumps([{**asdict(row), "problem": row.problem} for row in found], indent=2))
    else:
        click.echo(_table(found))
        for row in problems:
            click.echo(f"{row.clause}: {row.problem}")
        decided = sum(bool(row.cases) for row in found)
        click.echo(f"{len(found)} clauses, {decided} decided by cases, {len(problems)} MUST without enough behind them")
    if problems:
        raise Exit(FAILED)


def rows(protocol: str | None) -> list[Row]:
    """A row for each clause of the packs, in the order of the registry."""
    from ..prove.doubles import lies_of

    packs = load(protocol)
    lies = Counter(clause for lie in lies_of(packs) for clause in {lie.clause, *lie.also})
    found = []
    for pack in packs:
        cases = Counter(clause for case in pack.cases for clause in case.clauses)
        cases.update(standing.clause for standing in pack.standing)
        found += [
            Row(clause.id, clause.level, cases[clause.id], lies[clause.id], clause.excluded)
            for clause in pack.clauses.values()
        ]
    return found


def _table(found: list[Row]) -> str:
    width = max((len(row.clause) for row in found), default=6)
    lines = [f"{'clause':<{width}}  level   cases  lies"]
    for row in found:
        excluded = f"  excluded: {row.excluded}" if row.excluded else ""
        lines.append(f"{row.clause:<{width}}  {row.level:<6}  {row.cases:>5}  {row.lies:>4}{excluded}")
    return "\n".join(lines)
