"""memory_retrieve: what an envelope tells of a capsule, and what it does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nmemory_reference.capsules.capture import classify
from nmemory_reference.capsules.views import get
from reference.capsules.acts import ask, capture
from reference.capsules.recalling import embed
from reference.capsules.stage import Stage

ALWAYS = [
    "label",
    "framing",
    "id",
    "headline",
    "instruction_taint",
    "authority_class",
    "confidence",
    "decayed_weight",
    "provenance",
    "anchor_live",
    "anchor_drift",
    "freshness",
    "matched_terms",
]


def test_ret16_a_row_of_the_term_lane_in_full(stage: Stage) -> None:
    capture(
        stage,
        "relay keeps one writer\nand more",
        source="review",
        anchor="doc-1",
        confidence=0.75,
        authority_class="user-stated",
        valid_from="2031-05-01T10:00:00+02:00",
        valid_to="2032-01-01T00:00:00Z",
    )
    (row,) = ask(stage, "relay")["results"]
    stored = stage.call(get.TOOL, id="cap-1")["capsule"]
    assert list(row) == [*ALWAYS, "relevance", "bm25"]
    assert row == {
        "label": "ADVISORY_NOT_AUTHORITY",
        "framing": "DATA",
        "id": "cap-1",
        "headline": "relay keeps one writer…",
        "instruction_taint": False,
        "authority_class": "user-stated",
        "confidence": 0.75,
        "decayed_weight": 0.75,
        "provenance": {
            "source": "review",
            "anchor": "doc-1",
            "source_hash": stored["provenance"]["source_hash"],
        },
        "anchor_live": "unknown",
        "anchor_drift": "unknown",
        "freshness": {"valid_from": "2031-05-01T10:00:00+02:00", "valid_to": "2032-01-01T00:00:00Z"},
        "matched_terms": ["relay"],
        "relevance": 1.0,
        "bm25": row["bm25"],
    }


def test_ret16_the_keys_of_every_lane_in_order(stage: Stage) -> None:
    capture(stage, "the relay", evidence_state="observed", proof_hint="make test", stale_if="the port moves")
    embed(stage, "cap-1", 1, 0)
    (row,) = ask(stage, "relay", query_embedding=[1, 0], weight_blend=1)["results"]
    assert list(row) == [
        *ALWAYS[:-2],
        "evidence_state",
        "proof_hint",
        "stale_if",
        *ALWAYS[-2:],
        "relevance",
        "bm25",
        "vector_similarity",
        "fusion_rank",
        "feedback_weight",
    ]
    assert row["freshness"]["valid_to"] is None
    (row,) = ask(stage, "relay", query_embedding=[1, 0], lane="vector")["results"]
    assert list(row)[-3:] == ["matched_terms", "vector_similarity", "fusion_rank"]


@pytest.mark.parametrize(
    "annotated",
    [
        {},
        {"evidence_state": "inferred"},
        {"proof_hint": ""},
        {"stale_if": "$(rm -rf /)", "evidence_state": "unverified"},
    ],
)
def test_only_what_was_annotated_is_shown_and_verbatim(stage: Stage, annotated: dict[str, str]) -> None:
    capture(stage, "the relay", **annotated)
    (row,) = ask(stage, "relay")["results"]
    shown = {name: row[name] for name in ("evidence_state", "proof_hint", "stale_if") if name in row}
    assert shown == annotated


def test_a_later_annotation_shows_too(stage: Stage) -> None:
    stage.put("the relay")
    stage.call(classify.TOOL, content="the relay", kind="fact", capsule_id="cap-1", proof_hint="see run 7")
    (row,) = ask(stage, "relay")["results"]
    assert row["proof_hint"] == "see run 7"


def test_ret17_content_behind_the_headline_stays_where_it_is(stage: Stage) -> None:
    stage.put("the relay\nhidden-below")
    stage.put("the relay " + "x" * 140 + "hidden-behind")
    answer = json.dumps(ask(stage, "relay", "hidden-below"))
    assert "hidden-be" not in answer.replace('["relay", "hidden-below"]', "")


def test_ret67_an_anchor_is_looked_up_below_the_root(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x")
    (tmp_path / "link.py").symlink_to(tmp_path / "src" / "a.py")
    (tmp_path / "way").symlink_to(tmp_path / "src")
    expected = {
        "src/a.py:1": True,
        "src/a.py:99999": True,
        "src/b.py:1": False,
        "link.py:1": False,
        "way/a.py:1": False,
        str(tmp_path / "src" / "a.py:1"): "unknown",
        "src/../src/a.py:1": "unknown",
        "src/a.py": "unknown",
        "src/a.py:x": "unknown",
        "issue 7": "unknown",
    }
    for number, anchor in enumerate(expected):
        stage.put(f"relay {number}", anchor=anchor)
    rows = ask(stage, "relay", token_budget=10**6)["results"]
    assert {row["provenance"]["anchor"]: row["anchor_live"] for row in rows} == expected


def test_ret68_without_a_root_nothing_is_claimed(tmp_path: Path) -> None:
    stage = Stage.at(tmp_path, anchor_root=tmp_path / "nowhere")
    stage.put("relay", anchor="a.py:1")
    (row,) = ask(stage, "relay")["results"]
    stage.store.database.close()
    assert (row["anchor_live"], row["anchor_drift"]) == ("unknown", "unknown")


def test_ret69_drift_is_told_by_the_bytes(stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"one\n")
    capture(stage, "the relay", anchor="a.py:1")
    capture(stage, "a relay", anchor="b.py:1")

    def seen() -> list[tuple[object, str]]:
        rows = sorted(ask(stage, "relay")["results"], key=lambda row: str(row["id"]))
        return [(row["anchor_live"], row["anchor_drift"]) for row in rows]

    assert seen() == [(True, "unchanged"), (False, "unknown")]
    file.write_bytes(b"two\n")
    (tmp_path / "b.py").write_bytes(b"born later\n")
    assert seen() == [(True, "drifted"), (True, "unknown")]
    file.write_bytes(b"one\n")
    assert seen()[0] == (True, "unchanged")
    file.unlink()
    assert seen()[0] == (False, "unknown")
