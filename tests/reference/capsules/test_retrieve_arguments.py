"""memory_retrieve: what it takes, and what it refuses in which way and order."""

from __future__ import annotations

from typing import Any

import pytest
from nmemory_reference.capsules.faults import ProtocolFault, ShapeFault
from nmemory_reference.capsules.recall import retrieve
from reference.capsules.acts import ask
from reference.capsules.inspection import rows
from reference.capsules.recalling import embed, ids, refused
from reference.capsules.stage import Stage

SCHEMA = retrieve.TOOL.shape.schema


def test_only_terms_are_required_and_everything_is_closed() -> None:
    assert SCHEMA["required"] == ["terms"]
    assert SCHEMA["additionalProperties"] is False
    assert SCHEMA["properties"]["terms"]["minItems"] == 1
    assert SCHEMA["properties"]["lane"]["enum"] == ["auto", "term", "vector", "fused"]
    assert SCHEMA["properties"]["token_budget"]["default"] == 1500
    assert SCHEMA["properties"]["vector_k"]["default"] == 10
    assert SCHEMA["properties"]["time_window"]["additionalProperties"] is False
    assert set(SCHEMA["properties"]["time_window"]["properties"]) == {"from", "to"}
    assert list(SCHEMA["properties"]) == [
        "terms",
        "lane",
        "project_id",
        "project_prefix",
        "session_id",
        "time_window",
        "limit",
        "token_budget",
        "query_embedding",
        "vector_k",
        "weight_blend",
    ]


@pytest.mark.parametrize(
    ("sent", "named"),
    [
        ({}, "terms"),
        ({"terms": "relay"}, "terms"),
        ({"terms": None}, "terms"),
        ({"terms": ["relay", 1]}, "terms"),
        ({"terms": ["\ud800"]}, "terms"),
        ({"terms": ["relay"], "lane": "Term"}, "lane"),
        ({"terms": ["relay"], "lane": "hybrid"}, "lane"),
        ({"terms": ["relay"], "limit": -1}, "limit"),
        ({"terms": ["relay"], "limit": 1.5}, "limit"),
        ({"terms": ["relay"], "limit": True}, "limit"),
        ({"terms": ["relay"], "limit": "3"}, "limit"),
        ({"terms": ["relay"], "token_budget": -1}, "token_budget"),
        ({"terms": ["relay"], "vector_k": -1}, "vector_k"),
        ({"terms": ["relay"], "vector_k": 2**64}, "vector_k"),
        ({"terms": ["relay"], "query_embedding": [1, "2"]}, "query_embedding"),
        ({"terms": ["relay"], "query_embedding": [1, None]}, "query_embedding"),
        ({"terms": ["relay"], "query_embedding": [True]}, "query_embedding"),
        ({"terms": ["relay"], "query_embedding": 1}, "query_embedding"),
        ({"terms": ["relay"], "weight_blend": "1"}, "weight_blend"),
        ({"terms": ["relay"], "time_window": "2031"}, "time_window"),
        ({"terms": ["relay"], "time_window": {"since": "2031-01-01T00:00:00Z"}}, "since"),
        ({"terms": ["relay"], "time_window": {"from": 3}}, "from"),
        ({"terms": ["relay"], "session_id": 1}, "session_id"),
        ({"terms": ["relay"], "project_id": ["lab"]}, "project_id"),
        ({"terms": ["relay"], "made_up_field": 1}, "made_up_field"),
    ],
)
def test_w3_w4_w5_what_has_not_the_shape_is_refused_in_band_and_leaves_nothing(
    stage: Stage, sent: dict[str, Any], named: str
) -> None:
    stage.put("the relay")
    with pytest.raises(ShapeFault, match=named):
        stage.call(retrieve.TOOL, **sent)
    assert not rows(stage, "SELECT * FROM receipt UNION ALL SELECT *, 1, 2, 3 FROM recall_miss")


@pytest.mark.parametrize("prefix", ["", " ", "\t", "lab/", "/"])
def test_a_prefix_that_can_match_nothing_is_refused(stage: Stage, prefix: str) -> None:
    assert "project_prefix" in refused(stage, "relay", project_prefix=prefix)


@pytest.mark.parametrize("label", ["", " ", "\t\n", "\u3000\u2003"])
def test_a2_a3_a_blank_session_is_refused(stage: Stage, label: str) -> None:
    assert "session_id" in refused(stage, "relay", session_id=label)


@pytest.mark.parametrize("blend", [-0.01, 1.01, -1, 2, 1e300])
def test_a2_a_blend_outside_of_its_range_is_refused(stage: Stage, blend: float) -> None:
    assert "weight_blend" in refused(stage, "relay", weight_blend=blend)


@pytest.mark.parametrize(
    ("window", "named"),
    [
        ({}, "no bound"),
        ({"from": None, "to": None}, "no bound"),
        ({"from": "yesterday"}, "time_window.from"),
        ({"to": "2031-05-01"}, "time_window.to"),
        ({"to": "2031-05-01T08:00:00"}, "time_window.to"),
        ({"from": "2031-05-01T08:00:00Z", "to": "soon"}, "time_window.to"),
        ({"from": "soon", "to": "sooner"}, "time_window.from"),
        ({"from": "2031-05-01T08:00:00Z", "to": "2031-05-01T07:59:59Z"}, "backwards"),
        ({"from": "2031-05-01T08:00:00Z", "to": "2031-05-01T08:30:00+01:00"}, "backwards"),
    ],
)
def test_a2_a4_a_window_that_says_nothing_is_refused(stage: Stage, window: dict[str, str | None], named: str) -> None:
    message = refused(stage, "relay", time_window=window)
    assert named in message
    if "no bound" not in named and named != "backwards":
        assert "RFC3339" in message


@pytest.mark.parametrize("lane", ["vector", "fused"])
def test_ret42_vec30_lanes_of_vectors_need_an_embedding(stage: Stage, lane: str) -> None:
    assert "query_embedding" in refused(stage, "relay", lane=lane)
    assert "query_embedding" in refused(stage, "relay", lane=lane, query_embedding=None)


@pytest.mark.parametrize(
    "numbers", [[], [0.0, 0.0], [1e39, 1], [-1e39], [10**400, 1], [1e-50, 0], [float("nan")], [float("inf")]]
)
@pytest.mark.parametrize("lane", ["auto", "term", "vector", "fused"])
def test_a5_an_embedding_that_is_none_is_refused_in_every_lane(stage: Stage, numbers: list[float], lane: str) -> None:
    assert "query_embedding" in refused(stage, "relay", lane=lane, query_embedding=numbers)


def test_ret52_another_dimension_is_refused_naming_both_and_the_first_capsule(stage: Stage) -> None:
    for content in ("one", "two", "three"):
        stage.put(content)
    embed(stage, "cap-3", 1, 0, 0, 1)
    embed(stage, "cap-2", 1, 0, 0)
    embed(stage, "cap-1", 1, 0)
    message = refused(stage, "one", query_embedding=[1, 0])
    for named in ("2 components", "cap-2", "3"):
        assert named in message
    assert "cap-1 " in refused(stage, "one", lane="vector", query_embedding=[1, 0, 0])


def test_ret52_only_embeddings_in_scope_and_of_live_capsules_have_to_fit(stage: Stage) -> None:
    embed(stage, stage.put("one", project_id="here"), 1, 0)
    embed(stage, stage.put("two", project_id="there"), 1, 0, 0)
    assert ids(ask(stage, "zzz", query_embedding=[1, 0], project_id="here")) == ["cap-1"]
    assert "cap-1" in refused(stage, "zzz", query_embedding=[1, 0, 0], project_prefix="here")


def test_a5_lane_term_compares_no_dimension(stage: Stage) -> None:
    embed(stage, stage.put("one"), 1, 0)
    assert ids(ask(stage, "one", lane="term", query_embedding=[1, 0, 0])) == ["cap-1"]


#: Each is wrong in one way; C 4.3 says that the first of them is told.
WRONGS: list[tuple[dict[str, Any], str]] = [
    ({"project_prefix": "lab/"}, "project_prefix"),
    ({"session_id": " "}, "session_id"),
    ({"weight_blend": 3}, "weight_blend"),
    ({"time_window": {"from": "x", "to": "y"}}, "time_window.from"),
    ({"time_window": {"to": "y"}}, "time_window.to"),
    ({"time_window": {}}, "no bound"),
    ({"time_window": {"from": "2031-05-01T08:00:00Z", "to": "2030-05-01T08:00:00Z"}}, "backwards"),
    ({"terms": ["!"]}, "no letter"),
    ({"lane": "vector"}, "lane vector"),
    ({"query_embedding": [0]}, "zero"),
    ({"query_embedding": [1]}, "cap-1"),
]


@pytest.mark.parametrize("first", range(len(WRONGS)))
def test_c43_of_several_faults_the_first_in_the_order_is_told(stage: Stage, first: int) -> None:
    embed(stage, stage.put("one"), 1, 0)
    sent: dict[str, Any] = {"terms": ["relay"]}
    for wrong, _ in reversed(WRONGS[first:]):
        sent |= wrong
    if "query_embedding" in sent and sent.get("lane") == "vector" and WRONGS[first][1] == "lane vector":
        del sent["query_embedding"]  # with one the lane would be fine
    with pytest.raises(ProtocolFault) as fault:
        stage.call(retrieve.TOOL, **sent)
    assert WRONGS[first][1] in fault.value.message


@pytest.mark.parametrize("name", [name for name in SCHEMA["properties"] if name != "terms"])
def test_null_is_the_same_as_leaving_it_out(stage: Stage, name: str) -> None:
    stage.put("the relay")
    plain, null = ask(stage, "relay"), ask(stage, "relay", **{name: None})
    assert {**plain, "receipt_id": ""} == {**null, "receipt_id": ""}
