"""What a profile declares of a target, held against what the packs ask for: a misspelt name would change nothing."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from ..contract.pack import Pack
from ..target.errors import ProfileError
from ..target.profile import Profile

#: What the kit finds out of any target by itself, and a profile may deny.
_FOUND_OUT = frozenset({"restart", "fresh-store", "http", "token-demanded", "synthesize"})


def check_declared(profile: Profile, packs: Iterable[Pack]) -> None:
    """Raise ``ProfileError`` for a claim, a capability or a kind of seed that means nothing to any pack."""
    packs = tuple(packs)
    needs = {need for pack in packs for case in pack.cases for need in case.needs}
    needs |= {need for pack in packs for clause in pack.clauses.values() for need in clause.where}
    seeds = {kind for pack in packs for kind in pack.seeds}
    claims = {need.removeprefix("claims:") for need in needs if need.startswith("claims:")}
    _check(profile, "claims", profile.claims, claims)
    _check(profile, "capabilities", profile.capabilities, _FOUND_OUT | needs | {f"seed-{kind}" for kind in seeds})
    _check(profile, "seeds", profile.seeds, seeds | {need[5:] for need in needs if need.startswith("seed-")})


def _check(profile: Profile, section: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known and not name.startswith("tool:"):
            near = get_close_matches(name, known, n=1) or sorted(known)
            what = f"nothing asks for {name!r} under `{section}`"
            line = profile.lines.get((section, name))
            raise ProfileError(profile.file, line, what, f"there is {' and '.join(near)}" if near else "take it out")
