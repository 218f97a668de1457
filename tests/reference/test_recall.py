"""recall: which facts, in which order, which pages, and within which budget."""

from __future__ import annotations

import pytest
from reference.talk import LOCAL, Memory


@pytest.fixture
def five(memory: Memory) -> Memory:
    """Five facts of one entity, a minute apart, and one of another."""
    memory.remember("other", entity="people/b")
    for number in range(1, 6):
        memory.clock.advance(minutes=1)
        memory.remember(f"number {number}", entity="people/a")
    return memory


def test_the_newest_fact_comes_first_even_within_one_instant(memory: Memory) -> None:
    for number in range(3):
        memory.remember(str(number), entity="people/a")
    assert memory.texts(entity="people/a") == ["2", "1", "0"]


def test_an_unknown_entity_has_no_facts(five: Memory) -> None:
    body = five.call("recall", entity="people/nobody")
    assert (body["facts"], body["total"]) == ([], 0)
    assert "results" not in body


def test_a_fact_carries_the_older_keys(five: Memory) -> None:
    fact = five.call("recall", entity="people/a")["facts"][0]
    older = """id fact kind entity_slug visibility notability valid_from valid_until expired_at superseded_by
        consolidated_at consolidated_into source source_session confidence created_at"""
    assert set(older.split()) | {"fact_id", "provenance"} == set(fact)
    assert fact["fact_id"] == str(fact["id"])


def test_a_limit_takes_the_newest(five: Memory) -> None:
    assert five.texts(entity="people/a", limit=2) == ["number 5", "number 4"]
    assert len(five.texts(limit=1000)) == 6


@pytest.mark.parametrize(("since", "count"), [("2026-06-12T08:33:00Z", 3), ("2026-06-13", 0), ("2026-06-12", 5)])
def test_since_leaves_out_what_is_older(five: Memory, since: str, count: int) -> None:
    assert len(five.texts(entity="people/a", since=since)) == count


def test_grep_ignores_case_in_any_script(memory: Memory) -> None:
    memory.remember("Straße nach ÖSTERREICH")
    memory.remember("100% of_it")
    assert memory.texts(grep="österreich") == ["Straße nach ÖSTERREICH"]
    assert memory.texts(grep="STRASSE") == ["Straße nach ÖSTERREICH"]
    assert memory.texts(grep="%") == ["100% of_it"]
    assert memory.texts(grep="_") == ["100% of_it"]
    assert len(memory.texts(grep="")) == 2


def test_a_session_can_be_asked_for(memory: Memory) -> None:
    memory.remember("mine", session_id="s1")
    memory.remember("yours", session_id="s2")
    assert memory.texts(session_id="s1") == ["mine"]


def test_a_query_without_an_entity_selects_among_the_facts(memory: Memory) -> None:
    memory.remember("Alice drinks tea")
    memory.remember("Bob builds boats")
    memory.remember("今天讨论了部署方案")
    assert memory.texts(query="who drinks?") == ["Alice drinks tea"]
    assert memory.texts(query="部署") == ["今天讨论了部署方案"]
    assert memory.texts(query="讨") == ["今天讨论了部署方案"]
    assert memory.texts(query="nothing like it") == []


def test_a_query_with_an_entity_leaves_its_facts_alone(memory: Memory) -> None:
    memory.put("people/a", "Alice builds rockets.", title="Alice")
    memory.remember("prefers tea", entity="people/a")
    body = memory.call("recall", entity="people/a", query="rockets")
    assert [fact["fact"] for fact in body["facts"]] == ["prefers tea"]
    assert [result["slug"] for result in body["results"]] == ["people/a"]


@pytest.mark.parametrize(
    ("query", "evidence", "create_safety"),
    [
        ("Al", "alias_hit", "exists"),
        ("alice example", "exact_title_match", "exists"),
        ("people/alice-example", "exact_title_match", "exists"),
        ("rockets Alice", "keyword_exact", "probable"),
        ("rockets and balloons", "weak_semantic", "unknown"),
    ],
)
def test_a_result_says_why_it_is_there(memory: Memory, query: str, evidence: str, create_safety: str) -> None:
    memory.put("people/alice-example", "First.\n\nAlice builds rockets.", title="Alice Example", aliases=["Al"])
    body = memory.call("recall", query=query)
    (result,) = body["results"]
    assert (result["evidence"], result["create_safety"]) == (evidence, create_safety)
    assert (result["slug"], result["provenance"]) == ("people/alice-example",) * 2
    assert body["search_degraded"]


def test_a_chunk_is_the_paragraph_that_matches(memory: Memory) -> None:
    memory.put("a", "First.\n\nThe second is about rockets.\n\nThird.", title="A")
    assert memory.call("recall", query="rockets")["results"][0]["chunk"] == "The second is about rockets."


def test_text_without_spaces_is_found_in_pages(memory: Memory) -> None:
    memory.put("notes/zh", "今天讨论了部署方案", title="会议")
    for query in ("部署", "讨论了部署", "会议"):
        assert [result["slug"] for result in memory.call("recall", query=query)["results"]] == ["notes/zh"]


def test_with_embeddings_the_search_is_not_degraded(hashing: Memory) -> None:
    hashing.put("a", "Alice builds rockets", title="Rockets")
    body = hashing.call("recall", query="builds rockets alice rockets")
    assert "search_degraded" not in body
    assert body["results"][0]["evidence"] == "high_vector_match"


def test_a_limit_caps_each_arm(five: Memory) -> None:
    for number in range(4):
        five.put(f"pages/{number}", title=f"Number {number}")
    body = five.call("recall", entity="people/a", query="number", limit=3)
    assert (len(body["facts"]), len(body["results"])) == (3, 3)


def test_since_does_not_touch_the_pages(five: Memory) -> None:
    five.put("a", title="Number")
    body = five.call("recall", entity="people/a", query="number", since="2027-01-01")
    assert (len(body["facts"]), len(body["results"])) == (0, 1)


def test_a_budget_is_a_ceiling_and_the_books_balance(five: Memory) -> None:
    for number in range(3):
        five.put(f"pages/{number}", "Text.", title=f"Number {number}")
    whole = five.call("recall", entity="people/a", query="number")
    assert {"budget_tokens", "budget_used", "dropped_count"}.isdisjoint(whole)
    items = len(whole["facts"]) + len(whole["results"])
    kept_before = 0
    for budget in range(30):
        body = five.call("recall", entity="people/a", query="number", budget_tokens=budget)
        kept = len(body["facts"]) + len(body["results"])
        assert body["budget_tokens"] == budget
        assert 0 <= body["budget_used"] <= budget
        assert kept + body["dropped_count"] == items
        assert body["facts"] == whole["facts"][: body["total"]]
        assert not body["results"] or body["total"] == whole["total"]
        assert kept >= kept_before
        kept_before = kept
    assert kept_before == items


@pytest.mark.parametrize(
    "arguments",
    [
        {"limit": 0},
        {"limit": -1},
        {"limit": "2"},
        {"limit": True},
        {"limit": 2.5},
        {"budget_tokens": -1},
        {"budget_tokens": "many"},
        {"since": "yesterday"},
        {"entity": " "},
        {"entity": ["people/a"]},
        {"query": {"text": "a"}},
        {"grep": 7},
        {"include_expired": "yes"},
    ],
)
def test_an_argument_of_the_wrong_kind_is_refused(five: Memory, arguments: dict[str, object]) -> None:
    assert five.refusal("recall", **arguments)["error"] == "invalid_params"


def test_an_integral_number_is_an_integer(five: Memory) -> None:
    assert len(five.texts(entity="people/a", limit=2.0)) == 2


def test_a_private_fact_is_for_local_callers(memory: Memory) -> None:
    memory.remember("open", entity="people/a")
    memory.remember("the canary sings", entity="people/a", visibility="private")
    for arguments in (
        {"entity": "people/a"},
        {"entity": "people/a", "include_expired": True},
        {"grep": "canary"},
        {"query": "canary"},
        {"supersessions": True},
        {},
    ):
        assert "canary" not in str(memory.call("recall", **arguments)), arguments
    assert memory.texts(LOCAL, entity="people/a") == ["the canary sings", "open"]
