"""context_pack and delta: bundles for a prompt, and the changes since a place that can be followed."""

from __future__ import annotations

from typing import Any

import pytest
from reference.talk import LOCAL, Memory


def follow(memory: Memory, **arguments: Any) -> tuple[list[str], list[str]]:
    """The slugs and the facts of a delta and of all that its cursor leads to."""
    slugs: list[str] = []
    texts: list[str] = []
    for _ in range(1000):
        body = memory.call("delta", **arguments)
        slugs += [page["slug"] for page in body["pages"]]
        texts += [fact["fact"] for fact in body["facts"]]
        if not body["has_more"]:
            return slugs, texts
        cursor = body["next_cursor"]
        arguments = {**arguments, "since": cursor["since"], "since_slug": cursor["slug"]}
    raise AssertionError("the cursor never ends")


def test_following_the_cursor_misses_nothing_even_within_one_instant(memory: Memory) -> None:
    for number in range(130):
        memory.put(f"pages/{number}", title=f"Page {number}")
        memory.remember(f"fact {number}")
    slugs, texts = follow(memory, since="2026-01-01")
    assert sorted(slugs) == sorted(f"pages/{number}" for number in range(130))
    assert texts == [f"fact {number}" for number in range(130)]


@pytest.mark.parametrize("budget", [0, 1, 3, 7, 50])
def test_a_budget_cuts_the_changes_and_the_cursor_goes_on(memory: Memory, budget: int) -> None:
    for number in range(12):
        memory.put(f"pages/{number}", title="P")
    memory.remember("x" * 100)
    slugs, texts = follow(memory, since="2026-01-01", budget_tokens=budget)
    assert len(slugs) == (12 if budget else 0)
    assert texts == (["x" * 100] if budget >= 25 else [])
    body = memory.call("delta", since="2026-01-01", budget_tokens=budget)
    assert body["budget_used"] <= budget


def test_a_session_is_told_each_change_once(memory: Memory) -> None:
    memory.remember("one")
    assert [fact["fact"] for fact in memory.call("delta", session_id="s")["facts"]] == ["one"]
    assert memory.call("delta", session_id="s")["facts"] == []
    memory.remember("two")
    memory.put("pages/a", title="A")
    body = memory.call("delta", session_id="s")
    assert ([fact["fact"] for fact in body["facts"]], [page["slug"] for page in body["pages"]]) == (
        ["two"],
        ["pages/a"],
    )
    assert len(memory.call("delta", session_id="another")["facts"]) == 2


def test_a_page_changed_again_is_told_again(memory: Memory) -> None:
    memory.put("a", title="A")
    cursor = memory.call("delta", since="2026-01-01")["next_cursor"]
    memory.put("a", title="A2")
    body = memory.call("delta", since=cursor["since"], since_slug=cursor["slug"])
    assert [page["title"] for page in body["pages"]] == ["A2"]


def test_a_clock_that_goes_back_hides_no_change(memory: Memory) -> None:
    memory.remember("one")
    cursor = memory.call("delta", since="2026-01-01")["next_cursor"]
    memory.clock.advance(hours=-5)
    memory.remember("two")
    body = memory.call("delta", since=cursor["since"], since_slug=cursor["slug"])
    assert [fact["fact"] for fact in body["facts"]] == ["two"]


def test_a_delta_needs_a_place_to_start_from(memory: Memory) -> None:
    for arguments in ({}, {"since": None}, {"since": "lately"}, {"since": 5}):
        assert memory.refusal("delta", **arguments)["error"] == "invalid_params"


def test_a_delta_can_be_about_a_few_entities(memory: Memory) -> None:
    for name in ("a", "b"):
        memory.put(f"people/{name}", title=name.upper())
        memory.remember(f"about {name}", entity=f"people/{name}", kind="commitment")
    body = memory.call("delta", since="2026-01-01", entities="A, nobody")
    assert [page["slug"] for page in body["pages"]] == ["people/a"]
    assert [fact["fact"] for fact in body["facts"]] == ["about a"]
    assert [thread["text"] for thread in body["threads"]] == ["about a"]
    assert "about a" in body["text"]


def test_a_pack_bundles_what_is_known(memory: Memory) -> None:
    memory.put("people/a", "Builds rockets.", title="A")
    memory.remember("will ship", entity="people/a", kind="commitment")
    memory.remember("about b", entity="b")
    body = memory.call("context_pack", entities="a, b,nobody")
    assert body["entities"] == ["people/a", "b", "nobody"]
    assert [card["entity"]["slug"] for card in body["cards"]] == ["people/a"]
    assert [thread["text"] for thread in body["open_threads"]] == ["will ship"]
    assert [fact["fact"] for fact in body["facts"]] == ["will ship", "about b"]
    assert "Builds rockets." in body["text"]


def test_a_pack_of_strangers_is_empty(memory: Memory) -> None:
    body = memory.call("context_pack", entities="nobody")
    assert [body[key] for key in ("cards", "open_threads", "facts", "text")] == [[], [], [], ""]


def test_a_pack_has_at_most_eight_entities(memory: Memory) -> None:
    assert len(memory.call("context_pack", entities=",".join("abcdefghi"))["entities"]) == 8
    for name in "abcdefghi":
        memory.put(name, title=name)
    assert memory.call("context_pack")["entities"] == list("ihgfedcb")


def test_a_pack_keeps_cards_before_facts(memory: Memory) -> None:
    memory.put("people/a", title="A")
    memory.remember("tiny", entity="people/a")
    whole = memory.call("context_pack", entities="a", budget_tokens=10_000)
    assert (len(whole["cards"]), len(whole["facts"]), whole["dropped_count"]) == (1, 1, 0)
    assert 0 < whole["budget_used"] <= 10_000
    cut = memory.call("context_pack", entities="a", budget_tokens=5)
    assert (cut["cards"], cut["facts"], cut["budget_used"], cut["dropped_count"]) == ([], [], 0, 2)


@pytest.mark.parametrize("tool", ["context_pack", "delta"])
def test_private_facts_have_to_be_asked_for_by_a_local_caller(memory: Memory, tool: str) -> None:
    memory.put("people/a", title="A")
    memory.remember("canary", entity="people/a", kind="commitment", visibility="private")
    arguments = {"entities": "a", **({"since": "2026-01-01"} if tool == "delta" else {})}
    assert "canary" not in str(memory.call(tool, **arguments, include_private=True))
    assert "canary" not in str(memory.call(tool, LOCAL, **arguments))
    assert "canary" in str(memory.call(tool, LOCAL, **arguments, include_private=True))
