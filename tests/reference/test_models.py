"""Models: synthesize asks one, embeddings may come from one, and all goes on when it is away."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from nmemory_reference.serve.endpoint import Caller, ToolCall
from nmemory_reference.verbs.embedding import hash_vector
from reference.model_server import ModelServer, model_server, said
from reference.talk import Memory


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server(lambda path, request: (200, said("Nothing."))) as server:
        yield server


@pytest.fixture
def thinking(open_memory: Callable[..., Memory], model: ModelServer) -> Memory:
    """A memory with a language model, a page and facts."""
    memory = open_memory(llm=model.url, llm_model="stub", llm_key="sk-canary")
    memory.put("people/alice", "Alice builds rockets. <!-- private -->hidden<!-- /private -->", title="Alice")
    memory.put("people/bob", "Bob sails.", title="Bob")
    memory.remember("prefers tea", entity="people/alice")
    memory.remember("hidden fact", entity="people/alice", visibility="private")
    return memory


def test_an_answer_comes_with_sources_gaps_and_cost(thinking: Memory, model: ModelServer) -> None:
    reply = {"answer": "Rockets.", "sources": ["people/alice", "people/invented"], "gaps": ["since when"]}
    model.reply = lambda path, request: (200, said(f"```json\n{json.dumps(reply)}\n```"))
    body = thinking.call("synthesize", question="What does Alice build?")
    assert (body["answer"], body["sources"], body["gaps"]) == ("Rockets.", ["people/alice"], ["since when"])
    assert body["cost"] == {"model": "stub-large", "input_tokens": 120, "output_tokens": 7, "usd_estimate": None}
    (asked,) = model.asked
    assert asked["authorization"] == "Bearer sk-canary"
    assert "prefers tea" in str(asked)
    assert "hidden" not in str(asked)


def test_a_reply_in_prose_is_an_answer(thinking: Memory, model: ModelServer) -> None:
    model.reply = lambda path, request: (200, {"choices": [{"message": {"content": " She builds rockets. "}}]})
    body = thinking.call("synthesize", question="What does Alice build?")
    assert (body["answer"], body["sources"]) == ("She builds rockets.", ["people/alice"])
    assert body["cost"] == {"model": "stub", "input_tokens": None, "output_tokens": None, "usd_estimate": None}


@pytest.mark.parametrize(
    "reply",
    [
        (500, {"error": "sk-canary"}),
        (401, {}),
        (200, b"<html>"),
        (200, []),
        (200, {"choices": []}),
        (200, said("")),
        (200, said(None)),
        (200, said("I won't", refusal="no")),
        (200, {"choices": [{"message": {"content": "cut"}, "finish_reason": "content_filter"}]}),
    ],
)
def test_a_model_that_gives_no_answer_is_unavailable(thinking: Memory, model: ModelServer, reply: Any) -> None:
    model.reply = lambda path, request: reply
    envelope = thinking.refusal("synthesize", question="What does Alice build?")
    assert envelope["error"] == "unavailable"
    assert envelope["detail"]
    assert "canary" not in str(envelope)


def test_a_model_that_is_not_there_is_unavailable(open_memory: Callable[..., Memory]) -> None:
    memory = open_memory(llm="http://127.0.0.1:9/v1", llm_model="stub", llm_key="ключ")
    assert memory.refusal("synthesize", question="What?")["error"] == "unavailable"


def test_without_a_model_there_is_no_answer(memory: Memory) -> None:
    assert memory.refusal("synthesize", question="What?")["error"] == "unavailable"


@pytest.mark.parametrize("arguments", [{}, {"question": " "}, {"question": 5}, {"question": "a", "since": "soon"}])
def test_a_bad_question_is_not_passed_on(thinking: Memory, model: ModelServer, arguments: dict[str, Any]) -> None:
    assert thinking.refusal("synthesize", **arguments)["error"] == "invalid_params"
    assert model.asked == []


def test_evidence_may_be_limited_in_time(thinking: Memory, model: ModelServer) -> None:
    assert thinking.call("synthesize", question="Alice?", until="2026-01-01")["pages_gathered"] == 0
    assert thinking.call("synthesize", question="Alice?", since="2026-01-01")["pages_gathered"] == 1


def test_synthesizing_leaves_nothing_behind(thinking: Memory) -> None:
    before = thinking.call("delta", since="2026-01-01")
    thinking.call("synthesize", question="What does Alice build?")
    assert thinking.call("delta", since="2026-01-01") == before


def test_a_slow_model_holds_nobody_up(thinking: Memory, model: ModelServer) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def slowly(path: str, request: Any) -> tuple[int, Any]:
        asked.set()
        go_on.wait(20)
        return 200, said("At last.")

    model.reply = slowly

    async def both() -> tuple[Any, Any]:
        slow = asyncio.ensure_future(
            thinking.endpoint.call_tool(ToolCall("synthesize", {"question": "Alice?"}, Caller()))
        )
        while not asked.is_set():
            await asyncio.sleep(0)
        quick = await thinking.endpoint.call_tool(ToolCall("recall", {}, Caller()))
        assert not slow.done()
        go_on.set()
        return quick, await slow

    quick, slow = asyncio.run(both())
    assert (quick["isError"], slow["isError"]) == (False, False)


def embed(path: str, request: Any) -> tuple[int, Any]:
    """The vector of a text, to which a car is an automobile."""
    return 200, {"data": [{"embedding": list(hash_vector(request["input"].lower().replace("automobile", "car")))}]}


def test_embeddings_may_come_from_an_endpoint(open_memory: Callable[..., Memory], model: ModelServer) -> None:
    model.reply = embed
    memory = open_memory(embeddings=model.url, embeddings_model="stub")
    memory.remember("Alice works at Acme", entity="a")
    body = memory.call("remember", fact="Alice works at Acme.", provenance="p", entity="a")
    assert body["status"] == "superseded"
    assert "search_degraded" not in memory.call("recall", query="Acme")


def test_a_page_is_found_by_what_it_means(open_memory: Callable[..., Memory], model: ModelServer) -> None:
    model.reply = embed
    memory = open_memory(embeddings=model.url, embeddings_model="stub")
    memory.put("things/car", "Car car", title="Car")
    memory.put("things/boat", "A boat sails", title="Boat")
    (result,) = memory.call("recall", query="automobile automobile")["results"]
    assert (result["slug"], result["evidence"]) == ("things/car", "high_vector_match")


@pytest.mark.parametrize("reply", [(503, {}), (200, {}), (200, {"data": [{"embedding": ["x"]}]})])
def test_without_its_embeddings_a_memory_goes_on_and_says_so(
    open_memory: Callable[..., Memory], model: ModelServer, reply: Any
) -> None:
    model.reply = lambda path, request: reply
    memory = open_memory(embeddings=model.url, embeddings_model="stub")
    memory.put("people/a", "Alice works at Acme", title="A")
    body = memory.call("remember", fact="Alice works at Acme", provenance="p", entity="people/a")
    assert (body["status"], body["degraded_dedup"]) == ("inserted", True)
    found = memory.call("recall", query="Acme")
    assert [result["slug"] for result in found["results"]] == ["people/a"]
    assert found["search_degraded"]


def test_vectors_of_another_model_are_not_compared(open_memory: Callable[..., Memory], model: ModelServer) -> None:
    memory = open_memory(embeddings="hash")
    memory.remember("Alice works at Acme", entity="a")
    memory.endpoint.close()
    model.reply = embed
    other = open_memory(embeddings=model.url, embeddings_model="stub")
    assert other.call("remember", fact="Alice works at Acme.", provenance="p", entity="a")["status"] == "inserted"
    again = other.call("remember", fact="Alice works at Acme", provenance="p", entity="a")
    assert again["status"] == "duplicate"
