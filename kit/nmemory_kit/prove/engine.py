"""Doing all trials, in several processes: what a double does is work for the processor, not waiting."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from ..contract.clause import Level
from ..contract.pack import Pack
from ..target.throwaway import in_memory
from .doubles import Doubles, Sources, gather
from .proof import LieTrial, NullTrial, Proof, Trial, VariantTrial
from .trial import try_kin, try_null, try_variant, waits
from .vacuity import stale
from .workers import deaf_children, hear

if TYPE_CHECKING:
    from nmemory_reference.lies import Lie

#: Lies of one batch, and variants or null doubles of one.
_LIES_A_BATCH = 24
_WHOLES_A_BATCH = 8
#: Doubles of a batch that overlap, so that none waits alone for a fact to expire; more would make each case slower.
_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Batch:
    """Doubles of one cast that one process tries together, by their ids."""

    pack: str
    lies: tuple[str, ...] = ()
    #: Lies that wait to be caught.
    waiting: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    nulls: tuple[str, ...] = ()


def prove(
    sources: Sources,
    *,
    only: Sequence[str] = (),
    jobs: int | None = None,
    on_start: Callable[[int], None] = lambda count: None,
    on_trial: Callable[[Trial], None] = lambda trial: None,
) -> Proof:
    """Try every double, or those whose id or clause matches a glob of ``only``.

    ``jobs`` processes share the work (default: one more than there are processors, since some doubles are waited for;
    1 does it all in this one). ``on_start`` gets the number of doubles, ``on_trial`` each trial as it ends. Raises
    ``ProveError`` and ``PackError``.
    """
    began = time.perf_counter()
    everything = gather(sources)
    doubles = everything.only(*only) if only else everything
    on_start(len(doubles))
    lies: dict[str, LieTrial] = {}
    variants: dict[str, VariantTrial] = {}
    nulls: dict[str, NullTrial] = {}
    for trial in _trials(sources, doubles, jobs or (os.cpu_count() or 1) + 1):
        match trial:
            case LieTrial():
                lies[trial.lie] = trial
            case VariantTrial():
                variants[trial.variant] = trial
            case NullTrial():
                nulls[trial.null] = trial
        on_trial(trial)
    return Proof(
        lies=tuple(lies[lie.id] for lie in doubles.lies),
        variants=tuple(variants[variant.id] for variant in doubles.variants),
        nulls=tuple(nulls[null.id] for null in doubles.nulls),
        untried=untried(everything) if not only else (),
        stale=tuple(stale(nulls.values(), [cast.pack.path for cast in doubles.casts])) if not only else (),
        took=round(time.perf_counter() - began, 3),
    )


def untried(doubles: Doubles) -> tuple[str, ...]:
    """The MUST clauses that a case decides and no lie breaks that somebody wrote."""
    broken = {clause for lie in doubles.lies if not lie.made for clause in (lie.clause, *lie.also)}
    return tuple(
        clause.id
        for cast in doubles.casts
        for clause in cast.pack.clauses.values()
        if clause.level is Level.MUST and clause.id in _decided(cast.pack) and clause.id not in broken
    )


def _decided(pack: Pack) -> frozenset[str]:
    return frozenset(clause for case in pack.cases for clause in case.clauses)


def _trials(sources: Sources, doubles: Doubles, jobs: int) -> Iterator[Trial]:
    batches = list(_batches(doubles))
    if jobs == 1 or len(batches) == 1:
        for batch in batches:
            with in_memory():
                trials = asyncio.run(_try(batch, doubles))
            yield from trials
        return
    # A fresh process knows nothing of this one, which may have threads: it gathers the doubles itself, once.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(sources,)) as pool:
        with deaf_children():
            futures = [pool.submit(_work, batch) for batch in batches]
        try:
            for future in as_completed(futures):
                yield from future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _batches(doubles: Doubles) -> Iterator[Batch]:
    """The long ones first, so that no process is left alone with one.

    The lies that wait to be caught go with the first variants: there is something to do meanwhile.
    """
    waiting = {cast.pack.path: [lie.id for lie in cast.lies if waits(lie, cast)] for cast in doubles.casts}
    for cast in doubles.casts:
        first, *more = [*_split([variant.id for variant in cast.variants], _WHOLES_A_BATCH)] or [()]
        if first or waiting[cast.pack.path]:
            yield Batch(cast.pack.path, waiting=tuple(waiting[cast.pack.path]), variants=first)
        for ids in more:
            yield Batch(cast.pack.path, variants=ids)
    for cast in doubles.casts:
        for ids in _split([null.id for null in cast.nulls], _WHOLES_A_BATCH):
            yield Batch(cast.pack.path, nulls=ids)
    for cast in doubles.casts:
        kept = frozenset(waiting[cast.pack.path])
        for ids in _split([lie.id for lie in cast.lies if lie.id not in kept], _LIES_A_BATCH):
            yield Batch(cast.pack.path, lies=ids)


def _split(ids: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    for start in range(0, len(ids), size):
        yield tuple(ids[start : start + size])


async def _try(batch: Batch, doubles: Doubles) -> list[Trial]:
    gate = asyncio.Semaphore(_AT_ONCE)

    async def gated(work: Awaitable[Sequence[Trial]]) -> Sequence[Trial]:
        async with gate:
            return await work

    cast = doubles.of(batch.pack)
    trials = await asyncio.gather(
        *(try_kin([lie], cast) for lie in cast.lies if lie.id in batch.waiting),
        *(gated(try_kin(kin, cast)) for kin in _kin(lie for lie in cast.lies if lie.id in batch.lies)),
        *(gated(_alone(try_variant(one, cast))) for one in cast.variants if one.id in batch.variants),
        *(gated(_alone(try_null(one, cast))) for one in cast.nulls if one.id in batch.nulls),
    )
    return [trial for some in trials for trial in some]


async def _alone(trial: Awaitable[Trial]) -> Sequence[Trial]:
    return [await trial]


def _kin(lies: Iterable[Lie]) -> Iterator[list[Lie]]:
    """Lies that are alike: those made from the schemas of one clause. Any other lie is like no other."""
    return (list(kin) for _, kin in groupby(lies, key=lambda lie: lie.clause if lie.made else lie.id))


#: What a worker has gathered.
_gathered: list[Doubles] = []


def _begin(sources: Sources) -> None:
    hear()
    _gathered[:] = [gather(sources)]


def _work(batch: Batch) -> list[Trial]:
    with in_memory():
        return asyncio.run(_try(batch, _gathered[0]))
