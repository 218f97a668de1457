"""The matrix of lies: which case caught which lie, what survived, and what was wrongly believed or refused.

A line a lie that somebody wrote; those made from schemas are too many and too alike, and are counted by the case
that caught them. What is not as it should be is told by name below the matrix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..report.foreign import harmless
from ..report.markdown import code
from ..report.outline import short
from ..report.terminal import Line
from .proof import Fate, LieTrial, Proof


def lines(proof: Proof, packs: Sequence[str]) -> Iterator[Line]:
    """The proof to read: the matrix, what is not in order, and the verdict first and last."""
    verdict, colour = ("PROVEN", "bold green") if proof.good else ("NOT PROVEN", "bold red")
    yield Line(f"{verdict}  {', '.join(packs)}", style=colour)
    yield Line(summary(proof), 2)
    width = max((len(trial.lie) for trial in proof.lies if not trial.made), default=0)
    for clause, trials in _by_clause(proof.lies).items():
        yield Line()
        yield Line(clause, style="bold")
        for trial in trials:
            if not trial.made:
                style = "" if trial.good else "red"
                yield Line(f"{harmless(trial.lie):<{width}}  {_catcher(trial)}", 2, style=style)
        if made := Counter(_catcher(trial) for trial in trials if trial.made):
            caught = ", ".join(f"{name} ({number})" for name, number in made.most_common())
            yield Line(f"{f'{made.total()} made from schemas':<{width}}  {caught}", 2)
    for title, troubles in _troubles(proof):
        yield Line()
        yield Line(f"{title} ({len(troubles)})" if troubles else f"{title}: none", style="bold")
        for trouble in troubles:
            yield Line(harmless(trouble), 2)
    yield Line()
    yield Line(f"{proof.took:.1f} s", label="time")
    yield Line(verdict, label="verdict", style=colour)


def markdown(proof: Proof, packs: Sequence[str]) -> str:
    """The proof as GitHub-flavoured Markdown: every double has a row."""
    parts = [f"## {'PROVEN' if proof.good else 'NOT PROVEN'}: {', '.join(packs)}", summary(proof)]
    for title, troubles in _troubles(proof):
        parts.append(f"### {title}" if troubles else f"{title}: none.")
        if troubles:
            parts.append("\n".join(f"- {code(trouble)}" for trouble in troubles))
    if proof.variants:
        others = [
            f"| {_cell(trial.variant)} | {_cell(trial.says)} | {'conformant' if trial.good else 'refused'} |"
            for trial in proof.variants
        ]
        parts += ["### Legal variants", "\n".join(["| variant | how it differs | found |", "|---|---|---|", *others])]
    if proof.nulls:
        others = [
            f"| {_cell(trial.null)} | {_cell(trial.says)} | {len(trial.believed)} | {len(trial.excused)} |"
            for trial in proof.nulls
        ]
        head = ["| null double | what it does | believed by cases | excused |", "|---|---|---|---|"]
        parts += ["### Null doubles", "\n".join([*head, *others])]
    rows = [
        f"| {_cell(trial.clause)} | {_cell(trial.lie)} | {_cell(_catcher(trial))} |"
        for trials in _by_clause(proof.lies).values()
        for trial in trials
    ]
    parts += ["### The matrix", "\n".join(["| clause | lie | caught by |", "|---|---|---|", *rows])]
    return "\n\n".join(parts) + "\n"


def summary(proof: Proof) -> str:
    """The proof in a sentence."""
    caught = sum(trial.good for trial in proof.lies)
    found = sum(trial.good for trial in proof.variants)
    seen_through = sum(trial.good for trial in proof.nulls)
    said = (
        (len(proof.lies), f"{caught} of {len(proof.lies)} lies caught"),
        (len(proof.variants), f"{found} of {len(proof.variants)} legal variants found conformant"),
        (len(proof.nulls), f"{seen_through} of {len(proof.nulls)} null doubles believed by no case"),
    )
    return ", ".join(text for number, text in said if number)


def _troubles(proof: Proof) -> Iterator[tuple[str, list[str]]]:
    """What a reader looks for by name, each list under its title, empty ones too where their emptiness is the point."""
    yield "Survivors", [f"{trial.lie} ({trial.clause}): {trial.says}" for trial in proof.survivors]
    yield (
        "Caught only through another clause",
        [
            f"{trial.lie} ({trial.clause}), {_catcher(trial)}: {trial.reason or 'no reason'}"
            for trial in proof.elsewhere
        ],
    )
    yield (
        "Legal variants that were refused",
        [
            f"{trial.variant}: {trial.says} {problem}"
            for trial in proof.variants
            for problem in (
                *(f"{short(one.case)}, step {one.step}: {one.expected}, got {one.got}" for one in trial.failures),
                *trial.undecided,
            )
        ],
    )
    yield (
        "Null doubles that a case believed",
        [f"{trial.null}: {', '.join(map(short, trial.believed))}" for trial in proof.nulls if trial.believed],
    )
    if proof.stumblers:
        yield "Lies that stumbled", [f"{trial.lie} ({trial.clause}): {trial.reason}" for trial in proof.stumblers]
    if proof.untried:
        yield "Clauses that no lie breaks", list(proof.untried)
    if proof.stale:
        yield "Excused passes that no longer happen", list(proof.stale)


def _by_clause(trials: Sequence[LieTrial]) -> dict[str, list[LieTrial]]:
    found: dict[str, list[LieTrial]] = {}
    for trial in trials:
        found.setdefault(trial.clause, []).append(trial)
    return dict(sorted(found.items()))


def _catcher(trial: LieTrial) -> str:
    if trial.fate is Fate.STUMBLED:
        return "STUMBLED"
    if trial.evidence is None:
        return "SURVIVED"
    case = short(trial.evidence.case)
    return case if trial.fate is Fate.CAUGHT else f"{case} (by {trial.evidence.clause})"


def _cell(text: str) -> str:
    return harmless(text).replace("|", "\\|").replace("<", "&lt;")
