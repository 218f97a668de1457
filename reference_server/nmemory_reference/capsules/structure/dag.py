"""What follows from edges alone: what is ready, blocked or done, and which missions have no parent."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

Pair = tuple[str, str]


class Cycle(NamedTuple):
    """One concrete cycle, in the direction of its edges from its smallest id (by text), and how many ids are stuck.

    Stuck are the members of all cycles and what waits behind them.
    """

    ids: tuple[str, ...]
    entangled: int


class BlocksDag(NamedTuple):
    """The blocks-dag: disjoint sets of live capsules, each sorted by text; empty under a cycle."""

    ready: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    #: The edges between live capsules.
    edges: tuple[Pair, ...] = ()
    cycle: Cycle | None = None


class Grounding(NamedTuple):
    """What the grounded_in edges between live capsules say."""

    #: Children that hang off a live parent.
    anchored: frozenset[str]
    #: How many live children each parent has.
    children: Mapping[str, int]
    cycle: Cycle | None


def project_blocks(blocks: Iterable[Pair], dead: AbstractSet[str], witnessed: AbstractSet[str]) -> BlocksDag:
    """What the blocks edges (blocker, blocked) say of their ends.

    `dead` (superseded or forgotten) ends vanish and block nothing; `witnessed` ones are done and block no more.
    Fails closed: if there is a cycle among what is neither, there is nothing but the cycle.
    """
    blocks = list(blocks)
    ends = {end for pair in blocks for end in pair} - dead
    edges = sorted({pair for pair in blocks if ends.issuperset(pair)})
    done = ends & witnessed
    open_edges = [(one, other) for one, other in edges if one not in done and other not in done]
    if (cycle := find_cycle(open_edges)) is not None:
        return BlocksDag(cycle=cycle)
    blocked = {other for _, other in open_edges}
    return BlocksDag(
        ready=tuple(sorted(ends - done - blocked)),
        blocked=tuple(sorted(blocked)),
        done=tuple(sorted(done)),
        edges=tuple(edges),
    )


def project_grounding(grounded: Iterable[Pair], dead: AbstractSet[str]) -> Grounding:
    """What the grounded_in edges (child, parent) say; an edge anchors its child only while the parent lives."""
    edges = [(child, parent) for child, parent in grounded if child not in dead and parent not in dead]
    return Grounding(
        anchored=frozenset(child for child, _ in edges),
        children=Counter(parent for _, parent in edges),
        cycle=find_cycle(edges),
    )


def find_cycle(edges: Iterable[Pair]) -> Cycle | None:
    """A cycle in a graph of (from, to) edges, or None if it has none.

    Always the same one: from the smallest stuck id (by text) back along the smallest stuck predecessor each
    time, until one comes again. Time is linear in the edges, but for sorting.
    """
    before: dict[str, set[str]] = defaultdict(set)
    after: dict[str, set[str]] = defaultdict(set)
    for one, other in edges:
        before[other].add(one)
        after[one].add(other)
    waiting = {end: len(before[end]) for end in before.keys() | after.keys()}
    free = [end for end, count in waiting.items() if not count]
    while free:
        for other in after.get(free.pop(), ()):
            waiting[other] -= 1
            if not waiting[other]:
                free.append(other)
    stuck = {end for end, count in waiting.items() if count}
    if not stuck:
        return None
    walked: dict[str, int] = {}
    here = min(stuck)
    while here not in walked:
        walked[here] = len(walked)
        here = min(before[here] & stuck)
    ring = list(walked)[walked[here] :][::-1]
    first = ring.index(min(ring))
    return Cycle((*ring[first:], *ring[:first]), len(stuck))
