"""Bearer tokens: who is let in, to what, and what is said about a bad file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from nmemory_reference.errors import ConfigError
from nmemory_reference.serve.endpoint import ToolCall
from nmemory_reference.serve.tokens import read_tokens
from reference.talk import Memory, request

TOKENS = """
- {token: writer-of-a, name: writer, tenant: a, scopes: [read, write]}
- token: reader-of-a
  name: reader
  tenant: a
  scopes: read
- {token: writer-of-b, name: other, tenant: b, scopes: [write, read], expires: 2026-06-12T09:00:00Z}
- {token: nobody-at-all, name: nobody, tenant: a, scopes: []}
"""


@pytest.fixture
def guarded(open_memory: Callable[..., Memory], tmp_path: Path) -> Memory:
    file = tmp_path / "tokens.yaml"
    file.write_text(TOKENS, "utf-8")
    return open_memory(tokens=file)


def call(memory: Memory, token: str, tool: str, **arguments: object) -> tuple[dict[str, object], bool]:
    handled = memory.handle(request("tools/call", {"name": tool, "arguments": arguments}), token)
    result = handled.body["result"]
    return json.loads(result["content"][0]["text"]), result["isError"]


@pytest.mark.parametrize("token", [None, "", "writer-of-", "writer-of-a ", "WRITER-OF-A", "\ud800"])
def test_without_a_known_token_there_is_nothing(guarded: Memory, token: str | None) -> None:
    for method in ("initialize", "tools/list", "tools/call", "ping", "nothing"):
        handled = guarded.handle(request(method), token)
        assert (handled.status, handled.body["error"]) == (401, "invalid_token")


def test_a_token_ends_when_it_expires(guarded: Memory) -> None:
    assert guarded.endpoint.authenticate("writer-of-b").name == "other"
    guarded.clock.advance(minutes=30)
    assert guarded.endpoint.authenticate("writer-of-b") is None


@pytest.mark.parametrize(
    ("tool", "arguments"), [("remember", {"fact": "f", "provenance": "p"}), ("forget", {"id": "1"})]
)
def test_a_reader_may_not_write(guarded: Memory, tool: str, arguments: dict[str, str]) -> None:
    body, failed = call(guarded, "reader-of-a", tool, **arguments)
    assert (failed, body["error"]) == (True, "scope_denied")
    assert call(guarded, "reader-of-a", "recall")[0]["total"] == 0
    assert call(guarded, "nobody-at-all", "recall")[0]["error"] == "scope_denied"


def test_tenants_share_nothing(guarded: Memory) -> None:
    page = "---\ntitle: Alice\naliases: [Al]\nlinks: [{to: people/bob, type: knows}]\n---\ncanary rockets"
    call(guarded, "writer-of-a", "put_page", slug="people/alice", content=page)
    body, _ = call(guarded, "writer-of-a", "remember", fact="canary", provenance="p", entity="people/alice")
    foreign = body["id"]
    call(guarded, "writer-of-b", "put_page", slug="people/bob", content="# Bob")
    for tool, arguments in (
        ("recall", {}),
        ("recall", {"entity": "people/alice", "include_expired": True}),
        ("recall", {"query": "canary rockets alice"}),
        ("recall", {"grep": "canary"}),
        ("entity", {"name": "Al"}),
        ("entity", {"name": "people/bob"}),
        ("entity", {"name": "alice cooper"}),
        ("context_pack", {"entities": "Al,people/bob"}),
        ("context_pack", {}),
        ("delta", {"since": "2026-01-01"}),
        ("get_page", {"slug": "people/alice"}),
        ("forget", {"id": foreign}),
    ):
        body, _ = call(guarded, "writer-of-b", tool, **arguments)
        assert not [word for word in ("canary", "Alice", "knows") if word in str(body)], (tool, arguments)
    assert body["error"] == "not_found"
    assert call(guarded, "writer-of-b", "entity", name="people/bob")[0]["card"]["backlink_count"] == 0
    assert call(guarded, "reader-of-a", "recall")[0]["total"] == 1


def test_a_session_has_its_place_in_each_tenant(guarded: Memory) -> None:
    call(guarded, "writer-of-a", "delta", session_id="s")
    call(guarded, "writer-of-b", "remember", fact="f", provenance="p")
    assert len(call(guarded, "writer-of-b", "delta", session_id="s")[0]["facts"]) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "line 1"),
        ("{}", "line 1"),
        ("[]", "line 1"),
        ("- a", "line 1"),
        ("- {token: secret-canary, tenant: a, scopes: [read]}", "line 1: name is missing"),
        ("- token: secret-canary\n  name: a\n  tenant: a\n  scopes: [raed]", "line 4: 'raed'"),
        ("- token: secret-canary\n  name: a\n  tenant: a\n  scope: [read]", "line 4: 'scope'"),
        ("- {token: abc, name: a, tenant: a, scopes: [read]}", "line 1: a token is"),
        ("- {token: secret canary, name: a, tenant: a, scopes: [read]}", "line 1: a token is"),
        ("- {token: secret-canary, name: a, tenant: a, scopes: [read], expires: soon}", "line 1: expires"),
        ("- {token: secret-canary, name: a, tenant: '', scopes: [read]}", "line 1: tenant"),
        (
            "- {token: secret-canary, name: a, tenant: a, scopes: [read]}\n" * 2,
            "line 2: its token is there before",
        ),
        ("- [", "line"),
    ],
)
def test_a_bad_file_is_refused_by_line_and_without_its_tokens(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "tokens.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as refused:
        read_tokens(file)
    assert reason in str(refused.value)
    assert "canary" not in str(refused.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name in ("missing", ".", "binary"):
        with pytest.raises(ConfigError):
            read_tokens(tmp_path / name)


def test_json_will_do_and_no_token_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    file.write_text(json.dumps([{"token": "secret-canary", "name": "a", "tenant": "t", "scopes": ["read"]}]), "utf-8")
    tokens = read_tokens(file)
    assert "canary" not in repr(tokens)


def test_without_a_file_everybody_may(memory: Memory) -> None:
    caller = memory.endpoint.authenticate(None)
    assert (caller.tenant, caller.scopes, caller.remote) == ("default", {"read", "write"}, True)
    assert memory.endpoint.authenticate("any") == caller


def test_local_callers_can_be_trusted(open_memory: Callable[..., Memory]) -> None:
    memory = open_memory(remote=False)
    caller = memory.endpoint.authenticate(None)
    call = ToolCall("remember", {"fact": "f", "provenance": "p", "visibility": "private"}, caller)
    assert memory._runner.run(memory.endpoint.call_tool(call))["isError"] is False
    assert memory.texts(caller) == ["f"]
