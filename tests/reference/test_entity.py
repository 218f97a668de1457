"""entity: which page a name means, and what its card shows to whom."""

from __future__ import annotations

import pytest
from reference.talk import LOCAL, Memory


def found(memory: Memory, name: str) -> tuple[str | None, list[str]]:
    body = memory.call("entity", name=name)
    slug = body["card"]["entity"]["slug"] if body["found"] else None
    return slug, [suggestion["slug"] for suggestion in body["suggestions"]]


@pytest.mark.parametrize(
    "name",
    ["people/alice-example", "Alice Example", "  ALICE   example ", "Al", "alice-example", "Alice-Example", "アリス"],
)
def test_a_page_has_many_names(memory: Memory, name: str) -> None:
    memory.put("people/alice-example", title="Alice Example", aliases=["al", "アリス"])
    assert found(memory, name) == ("people/alice-example", [])


def test_an_alias_beats_a_title_and_a_title_a_suffix(memory: Memory) -> None:
    memory.put("a/by-alias", title="Someone", aliases=["Mercury"])
    memory.put("a/by-title", title="Mercury")
    memory.put("a/mercury", title="Planet")
    assert found(memory, "mercury") == ("a/by-alias", ["a/by-title", "a/mercury"])


def test_of_two_equals_the_one_touched_last_wins(memory: Memory) -> None:
    memory.put("people/first", title="Sam")
    memory.put("people/second", title="Sam")
    assert found(memory, "Sam") == ("people/second", ["people/first"])
    memory.put("people/first", title="Sam")
    body = memory.call("entity", name="sam")
    assert body["card"]["entity"]["slug"] == "people/first"
    assert body["suggestions"] == [{"slug": "people/second", "title": "Sam", "create_safety": "exists"}]


def test_a_suffix_ends_at_a_segment(memory: Memory) -> None:
    memory.put("teams/x/alice", title="One")
    assert found(memory, "x/alice")[0] == "teams/x/alice"
    assert found(memory, "lice")[0] is None


def test_a_miss_is_no_error_and_suggests_what_is_near(memory: Memory) -> None:
    memory.put("people/alice-example", title="Alice Maria Example")
    body = memory.call("entity", name="Alice Mary Example")
    assert body["found"] is False
    assert "card" not in body
    assert body["suggestions"] == [
        {"slug": "people/alice-example", "title": "Alice Maria Example", "create_safety": "probable"}
    ]
    assert found(memory, "Nobody") == (None, [])
    assert found(memory, "x" * 1_000_000) == (None, [])


@pytest.mark.parametrize("name", [None, "", " \n", 7])
def test_a_name_is_needed(memory: Memory, name: object) -> None:
    assert memory.refusal("entity", name=name)["error"] == "invalid_params"


def test_a_card_shows_what_is_known(memory: Memory) -> None:
    memory.put("people/bob", title="Bob", links=[{"to": "people/alice", "type": "knows", "context": "school"}])
    memory.put(
        "people/alice",
        "# Alice\n\nBuilds [[projects/apollo|the Apollo]] with [[people/bob]].\n\nMore.\n\n"
        "## Timeline\n- 2026-06-01: joined\n- 2026-01-01: long ago\n- 2026-13-01: never\n",
        title="Alice",
        type="person",
        aliases=["Al", "Ally"],
        links=["companies/acme", {"to": "people/bob", "type": "works_with", "context": "since 2024"}],
    )
    memory.remember("will ship", entity="people/alice", kind="commitment")
    memory.remember("prefers tea", entity="people/alice")
    body = memory.call("entity", name="Alice")
    assert isinstance(body["latency_ms"], int)
    assert body["card"] == {
        "entity": {"slug": "people/alice", "title": "Alice", "type": "person"},
        "aka": ["Al", "Ally"],
        "summary": "Builds the Apollo with people/bob.",
        "last_touched": {
            "updated_at": "2026-06-12T08:30:00.000001Z",
            "last_retrieved_at": None,
            "last_timeline_date": "2026-06-01",
        },
        "open_threads": [
            {"kind": "commitment", "text": "will ship", "date": "2026-06-12T08:30:00.000002Z"},
            {"kind": "recent_event", "text": "joined", "date": "2026-06-01"},
        ],
        "edges": [
            {"type": "related", "direction": "out", "slug": "companies/acme", "context": None},
            {"type": "works_with", "direction": "out", "slug": "people/bob", "context": "since 2024"},
            {"type": "knows", "direction": "in", "slug": "people/bob", "context": "school"},
        ],
        "backlink_count": 1,
        "active_fact_count": 2,
    }


def test_a_second_look_differs_in_when_it_was_retrieved_alone(memory: Memory) -> None:
    memory.put("people/a", title="A")
    first, second = memory.call("entity", name="A")["card"], memory.call("entity", name="A")["card"]
    assert second["last_touched"].pop("last_retrieved_at") == "2026-06-12T08:30:00.000000Z"
    assert first["last_touched"].pop("last_retrieved_at") is None
    assert first == second


def test_a_retrieval_outlives_the_server(open_memory) -> None:
    memory = open_memory()
    memory.put("people/a", title="A")
    memory.call("entity", name="A")
    memory.endpoint.close()
    card = open_memory().call("entity", name="A")["card"]
    assert card["last_touched"]["last_retrieved_at"] == "2026-06-12T08:30:00.000000Z"


def test_a_card_is_short(memory: Memory) -> None:
    for number in range(15):
        memory.put(f"people/{number}", links=[{"to": "hub", "type": "knows"}], title=f"P {number}")
    memory.put("hub", links=[f"companies/{number}" for number in range(6)], title="Hub")
    for number in range(5):
        memory.remember(f"promise {number}", entity="hub", kind="commitment")
    card = memory.call("entity", name="hub")["card"]
    assert [edge["direction"] for edge in card["edges"]] == ["out"] * 6 + ["in"] * 4
    assert [thread["text"] for thread in card["open_threads"]] == ["promise 4", "promise 3", "promise 2"]
    assert card["backlink_count"] == 15


def test_a_link_that_is_gone_no_longer_counts(memory: Memory) -> None:
    memory.put("a", links=["hub"], title="A")
    memory.put("hub", title="Hub")
    memory.put("a", "see [[hub]]", title="A")
    card = memory.call("entity", name="hub")["card"]
    assert (card["backlink_count"], card["edges"]) == (0, [])


def test_a_remote_card_shows_nothing_private(memory: Memory) -> None:
    memory.put(
        "people/a",
        "<!-- private -->canary one\n\n[[canary/two]]<!-- /private -->Open.\n\n## Timeline\n"
        "<!-- private -->\n- 2026-06-02: canary three\n<!-- /private -->\n- 2026-06-01: public\n<!-- private -->canary",
        title="A",
    )
    memory.remember("canary promise", entity="people/a", kind="commitment", visibility="private")
    memory.remember("public", entity="people/a")
    body = memory.call("entity", name="A")
    assert "canary" not in str(body)
    assert body["card"]["summary"] == "Open."
    assert body["card"]["active_fact_count"] == 1
    assert memory.call("entity", LOCAL, name="A")["card"]["active_fact_count"] == 2


def test_fact_count_moves_with_the_facts(memory: Memory) -> None:
    memory.put("people/a", title="A")
    fact = memory.remember("f", entity="people/a", ttl="1h")
    memory.remember("g", entity="people/a", ttl="1h")
    counts = [memory.call("entity", name="A")["card"]["active_fact_count"]]
    memory.call("forget", id=fact)
    counts.append(memory.call("entity", name="A")["card"]["active_fact_count"])
    memory.clock.advance(hours=2)
    counts.append(memory.call("entity", name="A")["card"]["active_fact_count"])
    assert counts == [2, 1, 0]


def test_of_one_day_the_entry_written_last_comes_first(memory: Memory) -> None:
    memory.put("a", "## Timeline\n- 2026-06-01: morning\n- 2026-06-01: evening\n- 2026-06-02: later\n", title="A")
    threads = memory.call("entity", name="a")["card"]["open_threads"]
    assert [thread["text"] for thread in threads] == ["later", "evening", "morning"]
