"""forget: one fact ends, once, and nothing else does."""

from __future__ import annotations

import pytest
from reference.talk import LOCAL, Memory


def test_a_forgotten_fact_leaves_recall_and_stays_on_record(memory: Memory) -> None:
    kept, gone = memory.remember("kept", entity="people/a"), memory.remember("gone", entity="people/a")
    assert memory.call("forget", id=gone, reason="moved") == {
        "protocol_version": 1,
        "id": gone,
        "expired": True,
        "reason": "moved",
    }
    assert memory.texts(entity="people/a") == ["kept"]
    record = memory.call("recall", entity="people/a", include_expired=True)["facts"]
    assert [(fact["fact_id"], fact["expired_at"] is not None) for fact in record] == [(gone, True), (kept, False)]


def test_forgetting_again_is_no_error(memory: Memory) -> None:
    fact_id = memory.remember("gone")
    memory.call("forget", id=fact_id)
    again = memory.call("forget", id=fact_id)
    assert (again["expired"], again["reason"]) == (False, None)


def test_a_fact_whose_time_is_over_can_no_longer_be_ended(memory: Memory) -> None:
    fact_id = memory.remember("gone", ttl="1m")
    memory.clock.advance(minutes=2)
    assert memory.call("forget", id=fact_id)["expired"] is False


@pytest.mark.parametrize(
    "fact_id", ["999", "0", "-1", "01", "1e0", "1.0", " 1", "1 ", "١", "people/a", "9" * 40, "1;", "x" * 100_000]
)
def test_what_is_no_id_is_not_found_and_ends_nothing(memory: Memory, fact_id: str) -> None:
    assert memory.remember("stays", entity="people/a") == "1"
    assert memory.refusal("forget", id=fact_id)["error"] == "not_found"
    assert memory.texts(entity="people/a") == ["stays"]


@pytest.mark.parametrize("fact_id", [None, "", "  ", 1, ["1"], "1\0", "\ud800"])
def test_an_id_has_to_be_a_text(memory: Memory, fact_id: object) -> None:
    memory.remember("stays")
    assert memory.refusal("forget", id=fact_id)["error"] == "invalid_params"
    assert memory.texts() == ["stays"]


def test_a_private_fact_does_not_exist_for_a_remote_caller(memory: Memory) -> None:
    secret = memory.remember("secret", visibility="private")
    unknown = memory.refusal("forget", id="999")
    assert {**memory.refusal("forget", id=secret), "message": ""} == {**unknown, "message": ""}
    assert memory.texts(LOCAL) == ["secret"]
    assert memory.call("forget", LOCAL, id=secret)["expired"] is True
