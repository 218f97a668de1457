"""memory_vector: embeddings that callers attach, and the list of them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nmemory_reference.capsules.faults import ProtocolFault, ShapeFault
from nmemory_reference.capsules.recall import vector
from nmemory_reference.capsules.sync import merge
from nmemory_reference.capsules.views import get
from reference.capsules.acts import ask, drop
from reference.capsules.inspection import audit, rows, standing
from reference.capsules.recalling import column, embed, ids, refused
from reference.capsules.stage import Stage

LARGEST = 3.4028234663852886e38


def listed(stage: Stage) -> list[dict[str, Any]]:
    """The whole list."""
    answer = stage.call(vector.TOOL)
    assert list(answer) == ["label", "vectors", "total"]
    assert answer["label"] == "ADVISORY_NOT_AUTHORITY"
    assert answer["total"] == len(answer["vectors"])
    found: list[dict[str, Any]] = answer["vectors"]
    return found


def test_vec01_a_first_put_is_answered_in_full(stage: Stage) -> None:
    stage.put("one")
    answer = stage.call(vector.TOOL, capsule_id="cap-1", embedding=[1, 0.5, 0], model_tag=" toy-3d ")
    assert list(answer) == ["label", "capsule_id", "dimension", "model_tag", "recorded", "replaced"]
    assert answer == {
        "label": "ADVISORY_NOT_AUTHORITY",
        "capsule_id": "cap-1",
        "dimension": 3,
        "model_tag": " toy-3d ",
        "recorded": True,
        "replaced": False,
    }
    assert listed(stage) == [{"capsule_id": "cap-1", "dimension": 3, "model_tag": "toy-3d"}]


def test_vec02_a_second_put_replaces(stage: Stage) -> None:
    embed(stage, stage.put("one"), 1, 0)
    answer = embed(stage, "cap-1", 1, 0, 1)
    assert (answer["recorded"], answer["replaced"], answer["dimension"]) == (True, True, 3)
    assert listed(stage) == [{"capsule_id": "cap-1", "dimension": 3, "model_tag": "toy"}]


def test_vec03_the_other_name_of_the_capsule_works_too(stage: Stage) -> None:
    stage.put("one")
    assert stage.call(vector.TOOL, id="cap-1", embedding=[1], model_tag="toy")["capsule_id"] == "cap-1"
    both = stage.call(vector.TOOL, id="cap-1", capsule_id="cap-1", embedding=[2], model_tag="toy")
    assert both["replaced"] is True


@pytest.mark.parametrize(
    ("sent", "named"),
    [
        ({"capsule_id": "cap-1", "id": "cap-2", "embedding": [1], "model_tag": "toy"}, "different capsules"),
        ({"capsule_id": "cap-1", "id": "cap-2"}, "different capsules"),
        ({"embedding": [1], "model_tag": "toy"}, "capsule_id"),
        ({"model_tag": "toy"}, "capsule_id"),
        ({"capsule_id": "cap-1", "model_tag": "toy"}, "embedding"),
        ({"capsule_id": "cap-1"}, "embedding"),
        ({"capsule_id": "cap-1", "embedding": [1]}, "model_tag"),
        ({"capsule_id": "cap-9", "embedding": [], "model_tag": " "}, "model_tag is blank"),
        ({"capsule_id": "cap-1", "embedding": [1], "model_tag": ""}, "model_tag is blank"),
        ({"capsule_id": "cap-9", "embedding": [], "model_tag": "toy"}, "empty"),
        ({"capsule_id": "cap-1", "embedding": [0, 0.0, -0.0], "model_tag": "toy"}, "zero"),
        ({"capsule_id": "cap-1", "embedding": [1, 1e39], "model_tag": "toy"}, r"embedding\[1\]"),
        ({"capsule_id": "cap-1", "embedding": [10**400], "model_tag": "toy"}, r"embedding\[0\]"),
        ({"capsule_id": "cap-1", "embedding": [float("nan")], "model_tag": "toy"}, r"embedding\[0\]"),
        ({"capsule_id": "cap-1", "embedding": [1e-50, -1e-50], "model_tag": "toy"}, "zero"),
    ],
)
def test_vec04_to_vec12_vec17_what_can_not_be_meant_is_refused_and_leaves_nothing(
    stage: Stage, sent: dict[str, Any], named: str
) -> None:
    stage.put("one")
    stage.put("two")
    with pytest.raises(ProtocolFault, match=named) as fault:
        stage.call(vector.TOOL, **sent)
    assert (fault.value.code, fault.value.data) == (-32602, None)
    assert listed(stage) == []
    assert audit(stage) == []


@pytest.mark.parametrize("unknown", ["cap-2", "cap-0", "CAP-1", "cap-01", " cap-1", "out-1", "", "cap-" + "9" * 40])
def test_vec13_a_capsule_that_is_not_stored_is_told_as_a_state(stage: Stage, unknown: str) -> None:
    stage.put("one")
    with pytest.raises(ProtocolFault) as fault:
        embed(stage, unknown, 1)
    assert (fault.value.code, fault.value.data) == (-32002, {"kind": "unknown_capsule", "id": unknown})


def test_vec14_vec15_vec16_vec17_the_first_tag_is_the_stores(stage: Stage) -> None:
    embed(stage, stage.put("one"), 1, tag=" model A ")
    stage.put("two")
    before = listed(stage), audit(stage)
    for capsule in ("cap-1", "cap-2"):
        with pytest.raises(ProtocolFault, match="model A") as fault:
            embed(stage, capsule, 1, tag="model B")
        assert fault.value.code == -32602
    assert (listed(stage), audit(stage)) == before
    assert embed(stage, "cap-2", 1, tag="model A")["recorded"] is True


def test_a_store_without_embeddings_elects_again(stage: Stage) -> None:
    embed(stage, stage.put("one"), 1, tag="a")
    drop(stage, "cap-1")
    assert embed(stage, stage.put("two"), 1, tag="b")["recorded"] is True


def test_vec18_a_fresh_store_lists_nothing(stage: Stage) -> None:
    assert listed(stage) == []
    assert stage.call(vector.TOOL, capsule_id=None, id=None, embedding=None, model_tag=None)["total"] == 0


def test_vec19_vec20_the_list_follows_the_capsules_and_shows_no_numbers(stage: Stage) -> None:
    for number in range(11):
        stage.put(f"number {number}")
    for number in (11, 2, 10, 1):
        embed(stage, f"cap-{number}", 1, number)
    assert [row["capsule_id"] for row in listed(stage)] == ["cap-1", "cap-2", "cap-10", "cap-11"]
    assert {tuple(row) for row in listed(stage)} == {("capsule_id", "dimension", "model_tag")}


@pytest.mark.parametrize("mode", ["purged", "redacted"])
def test_vec21_forgetting_destroys_the_embedding(stage: Stage, mode: str) -> None:
    for content in ("one", "two"):
        embed(stage, stage.put(content), 1)
    drop(stage, "cap-1", mode)
    assert [row["capsule_id"] for row in listed(stage)] == ["cap-2"]


def test_vec22_vec31_a_put_changes_nothing_of_the_capsule_but_its_last_mutation(stage: Stage) -> None:
    stage.put("one")
    before, stood = stage.call(get.TOOL, id="cap-1"), standing(stage, "cap-1")
    embed(stage, "cap-1", 1, 0)
    after = stage.call(get.TOOL, id="cap-1")
    assert after.pop("last_mutation") == {"actor": "kit", "at": "2031-05-01T08:00:00Z", "event": "memory_vector"}
    assert after == before
    assert standing(stage, "cap-1") == stood


def test_vec31_a_put_is_one_row_in_the_journal_and_a_list_is_none(stage: Stage) -> None:
    embed(stage, stage.put("one"), 1)
    embed(stage, "cap-1", 2)
    listed(stage)
    assert audit(stage) == [("memory_vector", "cap-1")] * 2


floats = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.floats(-LARGEST, LARGEST),
    st.sampled_from([LARGEST, -LARGEST, 1e-45, 0.1, -0.0, 16777217.0]),
)


def test_vec24_the_numbers_are_kept_to_the_bit_and_find_themselves(stage: Stage) -> None:
    stage.put("one")

    @settings(deadline=None)
    @given(st.lists(floats, min_size=1, max_size=5))
    def holds(numbers: list[float]) -> None:
        stored = struct.pack(f"<{len(numbers)}f", *numbers)
        if not any(struct.unpack(f"<{len(numbers)}f", stored)):
            return
        embed(stage, "cap-1", *numbers)
        assert rows(stage, "SELECT embedding, dimension FROM capsule_vector") == [(stored, len(numbers))]
        answer = ask(stage, "zzz", lane="vector", query_embedding=numbers)
        assert column(answer, "vector_similarity") == [1.0]

    holds()


def test_vec25_another_dimension_is_refused_naming_both(stage: Stage) -> None:
    embed(stage, stage.put("one"), *range(1, 8))
    message = refused(stage, "one", query_embedding=[1, 2, 3])
    assert "3 components" in message
    assert "has 7" in message


def test_vec35_a_put_on_a_forgotten_capsule_is_listed_and_finds_nothing(stage: Stage) -> None:
    stage.put("one")
    drop(stage, "cap-1")
    assert embed(stage, "cap-1", 1)["recorded"] is True
    assert len(listed(stage)) == 1
    assert ask(stage, "zzz", lane="vector", query_embedding=[1])["outcome"] == "abstain"


@pytest.mark.parametrize(
    "sent",
    [
        {"embedding": [1, "2"]},
        {"embedding": [None]},
        {"embedding": [True]},
        {"embedding": "1,2"},
        {"embedding": [[1]]},
        {"capsule_id": 1},
        {"model_tag": 1},
        {"made_up": 1},
    ],
)
def test_vec34_what_has_not_the_shape_is_refused_in_band(stage: Stage, sent: dict[str, Any]) -> None:
    stage.put("one")
    with pytest.raises(ShapeFault):
        stage.call(vector.TOOL, **({"capsule_id": "cap-1", "embedding": [1], "model_tag": "toy"} | sent))
    assert listed(stage) == []


def test_an_embedding_of_thousands_of_numbers_works(stage: Stage) -> None:
    embed(stage, stage.put("one"), *([0.25] * 4_096))
    assert ids(ask(stage, "zzz", query_embedding=[1] * 4_096)) == ["cap-1"]


def test_vec32_vec33_a_merge_brings_no_embedding_and_its_forgets_take_ours(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Stage.at(tmp_path / "other")
    for content in ("shared", "theirs"):
        embed(other, other.put(content), 1, 1)
    drop(other, "cap-1")
    other.store.database.close()
    embed(stage, stage.put("shared"), 1, 0)
    embed(stage, stage.put("ours"), 0, 1)
    answer = stage.call(merge.TOOL, **{"from": str(tmp_path / "other" / "memory.sqlite3")})
    assert (answer["capsules_added"], answer["tombstones_applied"]) == (1, 1)
    assert [row["capsule_id"] for row in listed(stage)] == ["cap-2"]
    assert ids(ask(stage, "zzz", lane="vector", query_embedding=[1, 1])) == ["cap-2"]
