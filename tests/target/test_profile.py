"""A profile says how to reach a target; each mistake in one is pointed at, and no secret stands in one."""

from __future__ import annotations

from pathlib import Path

import pytest
from nmemory_kit.target import Limits, ProfileError, load_profile

WHOLE = """\
target: https://memory.example/mcp
name: Example Memory
token_env: EXAMPLE_TOKEN
headers: {X-Tenant: 7}
headers_env:
  X-Api-Key: EXAMPLE_KEY
mcp_version: modern
tokens:
  reader: {env: READER_TOKEN}
  other: {file: other.token}
seeds:
  page:
    tool: put_page
    with: {slug: "{{slug}}", content: "# {{title}}"}
capabilities: {restart: false, llm: true}
claims: [memory-verbs/v1]
limits: {start: 120, call: 2.5}
auth: {required: true}
"""


@pytest.fixture
def written(tmp_path):
    def write(text: str | bytes) -> Path:
        path = tmp_path / "profile.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_a_profile_is_read_with_its_secrets_fetched(written, tmp_path, monkeypatch):
    monkeypatch.setenv("EXAMPLE_TOKEN", "tok-1\n")
    monkeypatch.setenv("EXAMPLE_KEY", "key-1")
    monkeypatch.setenv("READER_TOKEN", "tok-2")
    (tmp_path / "other.token").write_text("tok-3\n")
    profile = load_profile(written(WHOLE))
    assert (profile.target, profile.command, profile.name) == ("https://memory.example/mcp", None, "Example Memory")
    assert (profile.token, profile.tokens) == ("tok-1", {"reader": "tok-2", "other": "tok-3"})
    assert profile.headers == {"X-Tenant": "7", "X-Api-Key": "key-1"}
    assert profile.mcp_version == "modern"
    assert profile.seeds == {"page": {"tool": "put_page", "with": {"slug": "{{slug}}", "content": "# {{title}}"}}}
    assert profile.capabilities == {"restart": False, "llm": True}
    assert profile.claims == ("memory-verbs/v1",)
    assert profile.auth_required is True
    assert profile.limits() == Limits(start=120, call=2.5)
    assert profile.limits(call=9, run=60) == Limits(start=120, call=9, run=60)


def test_a_command_may_be_a_list_or_a_text_and_its_folder_is_relative_to_the_file(written, tmp_path):
    (tmp_path / "server").mkdir()
    text = "command: [node, 'my server.js', '']\ncwd: server\nenv: {PORT: 0, DEBUG: yes, HOME: /tmp}\ninherit: none\n"
    profile = load_profile(written(text))
    assert profile.command == ("node", "my server.js", "")
    assert profile.cwd == tmp_path / "server"
    assert profile.env == {"PORT": "0", "DEBUG": "yes", "HOME": "/tmp"}
    assert profile.inherit == "none"
    assert load_profile(written("command: node 'my server.js'")).command == ("node", "my server.js")


MISTAKES = [
    ("target: a\ntokn_env: X\n", 2, "unknown key 'tokn_env' (did you mean 'token_env'?)"),
    ("limits:\n  cal: 3\n", 2, "unknown key 'cal' (did you mean 'call'?)"),
    ("# c\n\ntoken: s3cr3t\n", 3, "`token` may not stand in the file"),
    ("tokens:\n  reader: s3cr3t\n", 2, "the token 'reader' stands in the file"),
    ("tokens:\n  nobody: {env: X}\n", 2, "the credential 'nobody' is the kit's own"),
    ("tokens:\n  reader: {}\n", 2, "the token 'reader' has 0 sources"),
    ("headers:\n  Authorization: Bearer s3cr3t\n", 2, "the header Authorization holds a secret"),
    ("token_env: NOT_SET_ANYWHERE\n", 1, "the environment variable NOT_SET_ANYWHERE is not set"),
    ("token_file: none.txt\n", 1, "the file 'none.txt' cannot be read: No such file or directory"),
    ("token_env: A\ntoken_file: b\n", 2, "both `token_env` and `token_file` are given"),
    ("target: a\ncommand: [b]\n", 2, "both `target` and `command` are given"),
    ("target: 5\n", 1, "`target` must be a text"),
    ("command: []\n", 1, "the command is empty"),
    ('command: "node \'x"\n', 1, "the command cannot be split"),
    ("cwd: nowhere\n", 1, "the folder 'nowhere' does not exist"),
    ("inherit: some\n", 1, "`inherit` cannot be 'some'"),
    ("mcp_version: 3\n", 1, "`mcp_version` cannot be '3'"),
    ("limits: {call: 0}\n", 1, "`call` must be a number of seconds"),
    ("limits: {call: .inf}\n", 1, "`call` must be a number of seconds"),
    ("limits: {call: true}\n", 1, "`call` must be a number of seconds"),
    ("capabilities:\n  restart: maybe\n", 2, "`restart` must be yes or no"),
    ("claims: memory-verbs\n", 1, "`claims` must be a list"),
    ("seeds:\n  page: {with: {}}\n", 2, "the seed 'page' names no tool"),
    ("env: [A]\n", 1, "`env` must be a mapping"),
    ("env: {A: }\n", 1, "`A` must be a text"),
    ("name: a\nname: b\n", 2, "the key 'name' comes twice"),
    ("- a\n", 1, "a profile is a mapping"),
    ("", None, "a profile is a mapping"),
    ("a: [1\nb: 2\n", 2, "the file is not YAML"),
    ("a: !!python/object:os.system x\n", 1, "the file is not YAML"),
    ("? [a]\n: b\n", 1, "the file is not YAML"),
    (b"name: \xff\n", None, "the file is not UTF-8 text (byte 6)"),
    (b"#" * 2_000_000, None, "the file is larger than 1 MiB"),
]


@pytest.mark.parametrize(("text", "line", "what"), MISTAKES, ids=[row[2] for row in MISTAKES])
def test_a_mistake_is_pointed_at_with_what_to_do_and_without_the_secret(written, text, line, what):
    path = written(text)
    with pytest.raises(ProfileError) as caught:
        load_profile(path)
    error = caught.value
    assert (error.file, error.line) == (str(path), line)
    assert what in error.what
    assert error.remedy
    assert str(error).startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert "s3cr3t" not in str(error)


def test_a_profile_that_is_not_there_says_so(tmp_path):
    with pytest.raises(ProfileError, match="cannot be read: No such file or directory"):
        load_profile(tmp_path / "none.yaml")
