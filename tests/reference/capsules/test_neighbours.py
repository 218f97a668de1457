"""The search for near duplicates finds what comparing with every capsule would find (sheet A 3.4)."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from nmemory_reference.capsules import similarity
from nmemory_reference.capsules.capture import neighbours
from nmemory_reference.capsules.capture.neighbours import Near, Neighbours
from nmemory_reference.capsules.store.words import Frequencies
from reference.capsules.stage import Stage

VOCABULARY = [f"{start}{middle}{end}" for start in "klmnprst" for middle in "aeiou" for end in ("do", "v", "", "lix")]


def contents(rng: random.Random, count: int, vocabulary: list[str]) -> Iterator[str]:
    """Texts of words of very different frequencies, some of them a variation of an earlier one."""
    made: list[str] = []
    for _ in range(count):
        if made and rng.random() < 0.5:
            words = [word for word in rng.choice(made).split() if rng.random() < 0.8]
            words += rng.choices(vocabulary, k=rng.randint(0, 4))
        else:
            words = [vocabulary[int(len(vocabulary) * rng.random() ** 3)] for _ in range(rng.randint(1, 25))]
        rng.shuffle(words)
        made.append(" ".join(words))
        yield made[-1]


def by_comparing_all(stored: dict[int, tuple[str, str]], content: str, project: str, without: int | None) -> Neighbours:
    """What the contract says, with no index."""
    ours = similarity.words_of(content)
    near = []
    for seq, (text, _) in stored.items():
        raw = similarity.score(ours, similarity.words_of(text))
        if raw is not None and seq != without:
            near.append(Near(seq, raw))
    near.sort(key=lambda each: each.rank)
    siblings = [each for each in near if stored[each.seq][1] == project]
    return Neighbours(near[0] if near else None, tuple(siblings[:3]))


@pytest.mark.parametrize("seed", range(3))
def test_ing57_ing60_the_index_finds_what_comparing_with_every_capsule_finds(stage: Stage, seed: int) -> None:
    rng = random.Random(seed)
    stored: dict[int, tuple[str, str]] = {}
    frequencies = Frequencies()
    for text in dict.fromkeys(contents(rng, 150, VOCABULARY[: 40 * (seed + 1)])):
        replaced = rng.choice([None, *stored])
        with stage.store.reading() as db:
            found = neighbours.near(db, text, "lab", without=replaced, known=frequencies)
        assert found == by_comparing_all(stored, text, "lab", replaced)
        if text:
            project = rng.choice(["lab", "den"])
            stored[int(stage.put(text, project_id=project).removeprefix("cap-"))] = (text, project)


@pytest.mark.parametrize("most", [12, 40, 100])
def test_with_fewer_answers_of_the_index_the_nearest_are_still_found(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(neighbours, "MAX_READ", most)
    rng = random.Random(most)
    stored: dict[int, tuple[str, str]] = {}
    frequencies = Frequencies()
    decided = 0
    for text in dict.fromkeys(contents(rng, 150, VOCABULARY[:60])):
        size = len(similarity.words_of(text))
        with stage.store.reading() as db:
            found = neighbours.near(db, text, "lab", without=None, known=frequencies)
            asked = len(neighbours._readable(frequencies.of(db, text.split()), size))
        hint = by_comparing_all(stored, text, "lab", None).hint
        if hint is not None:
            shared = len(similarity.words_of(text) & similarity.words_of(stored[hint.seq][0]))
            if shared > size - asked + 1:
                decided += 1
                assert found.hint == hint
        if text:
            stored[int(stage.put(text).removeprefix("cap-"))] = (text, "lab")
    assert decided > 10


def test_of_common_words_alone_the_latest_near_capsules_are_found(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours, "MAX_READ", 5)
    for number in range(30):
        stage.put(f"this that these those number {number}")
    stage.put("this that these those others")
    with stage.store.reading() as db:
        found = neighbours.near(db, "this that these those others now", "lab", without=None, known=Frequencies())
        common = neighbours.near(db, "this that these those", "lab", without=None, known=Frequencies())
    assert found.hint == Near(31, 5 / 6)
    assert common.hint is not None
    assert common.hint.raw == 4 / 5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Decisão: usar índice único já", "decisão única: usar índice já"),
        ("ΟΔΟΣ ένα δύο τρία τέσσερα", "ένα δύο τρία τέσσερα πέντε"),
        ("das Straßenfest beginnt morgen früh", "morgen früh beginnt das straßenfest"),
        (
            "cafe\u0301 configurac\u0327a\u0303o decisa\u0303o a\u0300s vezes",
            "vezes cafe\u0301 configurac\u0327a\u0303o decisa\u0303o",
        ),
        ("हिन्दी भाषा में लिखी गई टिप्पणी", "हिन्दी भाषा में लिखी गई पुरानी टिप्पणी"),
        ("cafe\u0301 decisão configuração semana", "café decisa\u0303o configuração semana"),
        ("snake_case_name is_also here twice", "here twice snake case name is also"),
    ],
    ids=["accents", "greek", "sharp s", "combining marks", "vowel signs", "two spellings", "underscores"],
)
def test_words_of_other_languages_find_each_other(stage: Stage, one: str, other: str) -> None:
    seq = int(stage.put(one).removeprefix("cap-"))
    raw = similarity.score(similarity.words_of(one), similarity.words_of(other))
    assert raw is not None
    with stage.store.reading() as db:
        assert neighbours.near(db, other, "lab", without=None, known=Frequencies()).hint == Near(seq, raw)


def test_accents_tell_words_apart_for_the_score_though_not_for_the_index(stage: Stage) -> None:
    stage.put("avó gosta deste café amargo")
    with stage.store.reading() as db:
        hint = neighbours.near(db, "avô gosta deste cafe amargo", "lab", without=None, known=Frequencies()).hint
    assert hint is not None
    assert hint.score == 0.6


def test_when_all_is_alike_the_earliest_is_named(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "MAX_CANDIDATES", 5)
    for number in range(9):
        stage.put(f"deploy number {number} finished without error")
    with stage.store.reading() as db:
        found = neighbours.near(db, "deploy number x finished without error", "lab", without=None, known=Frequencies())
    assert found.hint == Near(1, 5 / 6)
    assert [near.seq for near in found.siblings] == [1, 2, 3]


def test_a_near_duplicate_of_a_long_text_is_found_by_its_longest_words(stage: Stage) -> None:
    rng = random.Random(7)
    words = ["".join(rng.choices("abcdefghij", k=rng.randint(3, 9))) for _ in range(3_000)]
    stage.put("nothing of the kind here")
    stage.put(" ".join(words))
    with stage.store.reading() as db:
        found = neighbours.near(db, " ".join([*words[300:], "newer"]), "lab", without=None, known=Frequencies())
    assert found.hint is not None
    assert (found.hint.seq, found.hint.score) == (2, 0.9)
