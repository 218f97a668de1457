"""Cosines: measured exactly, looked over quickly, and in the same order with numpy and without it."""

from __future__ import annotations

import importlib.util
import random
from array import array
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nmemory_reference.capsules.recall import cosine, vector_lane
from nmemory_reference.capsules.recall.cosine import GrowingRows, Measure, NumpyRows, PlainRows, Rows
from nmemory_reference.capsules.recall.embedding import from_bytes, to_bytes
from nmemory_reference.capsules.recall.fences import Fences, Scope
from nmemory_reference.capsules.recall.membership import Inside, Membership
from nmemory_reference.capsules.recall.vector_index import VectorIndex
from reference.capsules.acts import drop
from reference.capsules.recalling import embed, fenced
from reference.capsules.stage import Stage

needs_numpy = pytest.mark.skipif(importlib.util.find_spec("numpy") is None, reason="numpy is not installed")


def plain(_: int) -> Rows:
    return PlainRows()


def with_numpy(dimension: int) -> Rows:
    import numpy as np

    return NumpyRows(dimension, np)


def growing(dimension: int) -> Rows:
    return GrowingRows(dimension, few=2)


KINDS = [
    pytest.param(plain, id="plain"),
    pytest.param(with_numpy, id="numpy", marks=needs_numpy),
    pytest.param(growing, id="growing", marks=needs_numpy),
]


def vector(*numbers: float) -> array[float]:
    return array("f", numbers)


def exact_order(query: array[float], stored: dict[int, array[float]]) -> list[int]:
    """Those with a cosine above 0, by the squared cosine as a fraction, then by number."""

    def dot(one: array[float], other: array[float]) -> Fraction:
        return sum((Fraction(a) * Fraction(b) for a, b in zip(one, other, strict=True)), Fraction(0))

    near = {seq: dot(query, one) ** 2 / dot(one, one) for seq, one in stored.items() if dot(query, one) > 0}
    return sorted(near, key=lambda seq: (-near[seq], seq))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((1, 0), (1, 0), 1.0),
        ((3, 4), (4, 3), 0.96),
        ((1, 0), (0, 1), 0.0),
        ((1, 2, 3), (-1, -2, -3), -1.0),
        ((1e-38, 0), (1e38, 0), 1.0),
    ],
)
def test_a_measured_cosine_is_right(one: tuple[float, ...], other: tuple[float, ...], expected: float) -> None:
    assert Measure(vector(*one)).cosine(to_bytes(vector(*other))) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_a_quick_look_is_right_within_its_margin(kind: Callable[[int], Rows]) -> None:
    chance = random.Random(3)
    for dimension in (1, 3, 384):
        stored = [
            vector(*(chance.uniform(-1, 1) * 10 ** chance.randint(-20, 18) for _ in range(dimension)))
            for _ in range(40)
        ]
        rows = kind(dimension)
        rows.extend([to_bytes(one) for one in stored])
        for query in stored[:10]:
            measure = Measure(query)
            scores = rows.scores(query, array("q", range(40)), None)
            for one, score in zip(stored, scores, strict=True):
                assert abs(score - measure.cosine(to_bytes(one))) <= cosine.margin(dimension)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shown", [0, 1, 2, 9])
def test_a_group_that_is_not_shown_is_out_of_sight(kind: Callable[[int], Rows], shown: int) -> None:
    rows = kind(2)
    rows.extend([to_bytes(vector(1, number)) for number in range(10)])
    capsules = array("q", range(1, 11))
    projects, labels = array("i", [0, *range(1, 11)]), array("i", [0, *(number % 2 for number in range(1, 11))])
    shows = bytes([0, *(number <= shown for number in range(1, 11))])
    scores = rows.scores(vector(1, 0), capsules, Inside(projects, shows, labels, None))
    assert [score == cosine.OUT_OF_SIGHT for score in scores] == [number > shown for number in capsules]
    scores = rows.scores(vector(1, 0), capsules, Inside(projects, shows, labels, 1))
    assert [score == cosine.OUT_OF_SIGHT for score in scores] == [
        number > shown or number % 2 == 0 for number in capsules
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_grow_and_a_dropped_one_is_replaced_by_the_last(kind: Callable[[int], Rows]) -> None:
    rows = kind(2)
    for start in range(0, 900, 300):
        rows.extend([to_bytes(vector(1, number)) for number in range(start, start + 300)])
    rows.drop(10)
    rows.drop(898)
    assert len(rows) == 898
    scores = rows.scores(vector(1, 0), array("q", range(898)), None)
    expected = list(range(898))
    expected[10] = 899
    for place in (0, 9, 10, 11, 897):
        assert scores[place] == pytest.approx((1 + expected[place] ** 2) ** -0.5, abs=1e-6)


components = st.sampled_from([-2.0, -1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 0.1, 0.3, 1e-3, 1e20])
vectors = st.lists(components, min_size=3, max_size=3).filter(any)


@pytest.mark.parametrize("kind", KINDS)
def test_the_lane_gives_the_exact_order_with_its_ties(kind: Callable[[int], Rows], stage: Stage) -> None:
    """Few directions and many lengths make ties; the order is that of fractions, with numpy and without."""

    @settings(deadline=None, max_examples=60)
    @given(st.lists(vectors, min_size=1, max_size=40), vectors, st.integers(1, 45))
    def holds(made: list[list[float]], asked: list[float], most: int) -> None:
        stored = {seq: vector(*numbers) for seq, numbers in enumerate(made, 1)}
        with stage.store.writing() as db:
            db.execute("DELETE FROM capsule_vector")
            db.executemany(
                "INSERT INTO capsule_vector VALUES (?, 'toy', 3, ?, ?)",
                [(seq, to_bytes(one), seq) for seq, one in stored.items()],
            )
        index, query = VectorIndex(kind), vector(*asked)
        with stage.store.reading() as db:
            index.refresh(db)
            fences = Fences(db, stage.store, None, stage.context().now)
            found = vector_lane.find(db, index, query, fences, most, None)
        assert list(found.cosines) == exact_order(query, stored)[:most]

    for number in range(40):
        stage.put(f"number {number}")
    holds()


@needs_numpy
def test_numpy_changes_no_answer(stage: Stage) -> None:
    """Hundreds of embeddings, some alike, some fenced, some forgotten, in two projects: the same neighbours."""
    chance = random.Random(5)
    for number in range(400):
        capsule = stage.put(f"number {number}", project_id=f"p{number % 2}")
        numbers = [chance.gauss(0, 1) for _ in range(16)] if number % 5 else [1.0] * 16
        embed(stage, capsule, *numbers)
    for number in range(6):
        embed(stage, fenced(stage, f"old {number}", "superseded"), *([1.0] * 15), 1.0 + number)
    drop(stage, "cap-11")
    membership = Membership()
    with stage.store.reading() as db:
        membership.refresh(db)
        fences = Fences(db, stage.store, None, stage.context().now)
        indexes = [VectorIndex(kind) for kind in (plain, with_numpy)]
        for index in indexes:
            index.refresh(db)
        for inside in (None, membership.inside(Scope(project_id="p1"))):
            for most in (1, 10, 100, 1_000):
                query = vector(*(chance.gauss(0.3, 1) for _ in range(16)))
                one, other = (vector_lane.find(db, index, query, fences, most, inside) for index in indexes)
                assert list(one.cosines.items()) == list(other.cosines.items())
                assert one.fenced == other.fenced
                assert _respected(inside, one.cosines)


def _respected(inside: Inside | None, found: dict[int, float]) -> bool:
    return bool(found) and (inside is None or inside.keep(found) == found.keys())


def test_what_is_stored_is_little_endian_single_precision() -> None:
    assert to_bytes(vector(1.0, -2.0)) == bytes.fromhex("0000803f000000c0")
    assert from_bytes(bytes.fromhex("0000803f000000c0")) == vector(1.0, -2.0)
