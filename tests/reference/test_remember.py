"""remember: what is stored, what is refused, and what becomes of a fact that is known already."""

from __future__ import annotations

import pytest
from reference.talk import LOCAL, Memory

ODD_TEXTS = [
    "👩‍👩‍👧‍👦 flag 🏳️‍🌈",
    "e\u0301 is not \u00e9",
    "مرحبا بالعالم",
    "a | b < c {{d}} %s 'e' \"f\" \\g",
    "first\nsecond\r\n\tthird",
    "x" * 4000,
    "Robert'); DROP TABLE fact; --",
]


def test_a_fact_without_extras_is_answered_with_nulls(memory: Memory) -> None:
    body = memory.call("remember", fact="Alice prefers tea", provenance="chat")
    assert body["status"] == "inserted"
    assert body["status_text"]
    assert isinstance(body["id"], str)
    assert body["entity_slug"] is None
    assert body["valid_until"] is None
    assert body["degraded_dedup"] is True


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_fact_and_provenance_come_back_as_they_were(memory: Memory, text: str) -> None:
    memory.remember(text, entity="people/a", provenance=text[:500])
    (fact,) = memory.call("recall", entity="people/a")["facts"]
    assert (fact["fact"], fact["provenance"], fact["source"]) == (text, text[:500], text[:500])


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"provenance": "p"}, "invalid_params"),
        ({"fact": None, "provenance": "p"}, "invalid_params"),
        ({"fact": " \n", "provenance": "p"}, "invalid_params"),
        ({"fact": "f"}, "invalid_params"),
        ({"fact": "f", "provenance": "  "}, "provenance_required"),
        ({"fact": "f", "provenance": "p" * 501}, "invalid_params"),
        ({"fact": "f" * 65_537, "provenance": "p"}, "invalid_params"),
        ({"fact": "a\0b", "provenance": "p"}, "invalid_params"),
        ({"fact": "\ud83e", "provenance": "p"}, "invalid_params"),
        ({"fact": ["f"], "provenance": "p"}, "invalid_params"),
        ({"fact": "f", "provenance": "p", "kind": "opinion"}, "invalid_params"),
        ({"fact": "f", "provenance": "p", "visibility": "public"}, "invalid_params"),
        ({"fact": "f", "provenance": "p", "entity": "🦊"}, "invalid_params"),
        ({"fact": "f", "provenance": "p", "ttl": "P30D"}, "invalid_params"),
    ],
)
def test_a_bad_fact_is_refused_and_leaves_nothing(memory: Memory, arguments: dict[str, object], code: str) -> None:
    assert memory.refusal("remember", **arguments)["error"] == code
    assert memory.texts() == []


def test_provenance_is_counted_in_characters(memory: Memory) -> None:
    memory.remember("f", provenance="😀" * 500)
    assert memory.refusal("remember", fact="f", provenance="😀" * 501)["error"] == "invalid_params"


@pytest.mark.parametrize("kind", ["event", "preference", "commitment", "belief", "fact"])
def test_a_kind_is_kept(memory: Memory, kind: str) -> None:
    memory.remember("f", kind=kind)
    assert memory.call("recall")["facts"][0]["kind"] == kind


def test_an_argument_from_a_later_version_is_ignored(memory: Memory) -> None:
    memory.remember("f", mood="cheerful")


def test_a_null_argument_is_one_left_out(memory: Memory) -> None:
    memory.remember("f", ttl=None, entity=None, kind=None, visibility=None)
    assert memory.call("recall")["facts"][0]["kind"] == "fact"


@pytest.mark.parametrize("ttl", ["2026-06-13T08:30:00Z", "24h", "1d", "1440m", "2026-06-13T10:30:00+02:00"])
def test_a_ttl_is_a_duration_or_an_instant(memory: Memory, ttl: str) -> None:
    body = memory.call("remember", fact="f", provenance="p", ttl=ttl)
    assert body["valid_until"] == "2026-06-13T08:30:00.000000Z"


def test_a_fact_leaves_when_its_time_is_over(memory: Memory) -> None:
    memory.remember("stays", entity="people/a")
    memory.remember("goes", entity="people/a", ttl="45m")
    memory.clock.advance(minutes=44)
    assert memory.texts(entity="people/a") == ["goes", "stays"]
    memory.clock.advance(minutes=1)
    assert memory.texts(entity="people/a") == ["stays"]
    assert memory.texts(entity="people/a", include_expired=True) == ["goes", "stays"]


def test_without_embeddings_nothing_is_a_duplicate(memory: Memory) -> None:
    assert memory.remember("same", entity="people/a") != memory.remember("same", entity="people/a")


def test_the_same_text_is_a_duplicate(hashing: Memory) -> None:
    first = hashing.remember("Alice  prefers tea", entity="people/a")
    again = hashing.call("remember", fact="alice prefers TEA", provenance="p", entity="people/a")
    assert (again["status"], again["id"]) == ("duplicate", first)
    assert "degraded_dedup" not in again
    assert hashing.texts(entity="people/a") == ["Alice  prefers tea"]


@pytest.mark.parametrize("other", [{"entity": "people/b"}, {"kind": "belief"}, {"entity": None}])
def test_the_same_text_about_something_else_is_another_fact(hashing: Memory, other: dict[str, object]) -> None:
    hashing.remember("prefers tea", entity="people/a")
    arguments = {"fact": "prefers tea", "provenance": "p", "entity": "people/a", **other}
    assert hashing.call("remember", **arguments)["status"] == "inserted"


def test_nearly_the_same_text_supersedes(hashing: Memory) -> None:
    old = hashing.remember("Alice works at Acme in Berlin", entity="people/a")
    new = hashing.call("remember", fact="Alice works at Acme, in Berlin!", provenance="p", entity="people/a")
    assert new["status"] == "superseded"
    assert new["id"] != old
    assert hashing.texts(entity="people/a") == ["Alice works at Acme, in Berlin!"]
    pair = hashing.call("recall", entity="people/a", supersessions=True)["facts"]
    assert [fact["fact_id"] for fact in pair] == [new["id"], old]
    assert pair[1]["superseded_by"] == int(new["id"])
    assert pair[1]["expired_at"]


def test_a_forgotten_fact_can_be_remembered_again(hashing: Memory) -> None:
    first = hashing.remember("prefers tea", entity="people/a")
    hashing.call("forget", id=first)
    assert hashing.remember("prefers tea", entity="people/a") != first


def test_a_remote_caller_can_neither_find_out_nor_retire_a_private_fact(hashing: Memory) -> None:
    hashing.remember("The code is 4711, I think", LOCAL, entity="safe", visibility="private")
    for guess in ("The code is 4711, I think", "The code is 4711, I think."):
        body = hashing.call("remember", fact=guess, provenance="p", entity="safe", visibility="private")
        assert body["status"] == "inserted"
    assert "The code is 4711, I think" in hashing.texts(LOCAL, entity="safe")


def test_an_entity_may_be_named_as_one_likes(memory: Memory) -> None:
    memory.put("people/alice-example", title="Alice Example", aliases=["Al"])
    for name in ("people/alice-example", "Alice Example", "AL", "People/Alice Example"):
        body = memory.call("remember", fact=f"called {name}", provenance="p", entity=name)
        assert body["entity_slug"] == "people/alice-example"
    assert len(memory.texts(entity="al")) == 4


def test_facts_from_before_a_page_are_found_by_the_name_they_were_given(memory: Memory) -> None:
    memory.remember("early", entity="Bob B.")
    memory.put("people/bob", title="Bob B.")
    memory.remember("late", entity="Bob B.")
    assert memory.texts(entity="Bob B.") == ["late", "early"]
