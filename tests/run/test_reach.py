from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from nmemory_kit.run.reach import Address, reach
from nmemory_kit.target.errors import TargetError

URL = "http://localhost:3131/mcp"


def address(
    target=None, command=None, profile=None, token=(None, None, None), headers=None, version=None, timeout=None
):
    return Address.of(target, command, profile, token, headers, version, timeout)


def test_a_command_given_as_a_list_is_said_again_as_one_text():
    words = address(command=["my server", "--db", "{store}"]).words()
    assert words == ["--target", "'my server' --db {store}"]
    assert shlex.split(words[1]) == ["my server", "--db", "{store}"]


def test_what_starts_the_server_behind_a_url_is_said_again():
    url = "http://127.0.0.1:{port}/mcp"
    address = Address.of(url, None, None, (None, None, None), None, None, None, start="serve {store} {port}")
    assert address.words() == ["--target", url, "--start", "serve {store} {port}"]


def test_what_is_said_again_has_no_secret_but_everything_else():
    words = address(URL, token=("tttttt", None, None), headers=["X-Key: kkkkkk"], version="modern", timeout=2.5).words()
    assert words == [
        *("--target", URL),
        *("--token-env", "NMEMORY_TOKEN"),
        *("--header", "X-Key: [redacted]"),
        *("--mcp-version", "modern"),
        *("--timeout", "2.5"),
    ]


def test_a_token_comes_from_a_variable_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_TOKEN", "from-a-variable\n")
    (tmp_path / "token").write_text("from-a-file\n")
    for token, secret in (
        ((None, "MY_TOKEN", None), "from-a-variable"),
        ((None, None, tmp_path / "token"), "from-a-file"),
    ):
        reached = reach(address(URL, token=token))
        assert reached.target.redactor.text(f"Bearer {secret}") == "Bearer [redacted]"


@pytest.mark.parametrize("content", [None, "", "\n"], ids=["missing", "empty", "blank"])
def test_a_token_file_without_a_token_is_refused(content, tmp_path: Path):
    file = tmp_path / "token"
    if content is not None:
        file.write_text(content)
    with pytest.raises(TargetError, match="token file"):
        reach(address(URL, token=(None, None, file)))


def test_flags_go_before_the_profile_and_the_profile_before_the_defaults(tmp_path: Path):
    profile = tmp_path / "p.yaml"
    profile.write_text(f"target: {URL}\nlimits: {{call: 7, run: 70}}\nclaims: [verbs-surface]\n")
    said = reach(address(profile=profile)).options()
    assert (said.call_timeout, said.run_timeout, said.claims) == (7, 70, {"verbs-surface"})
    flagged = reach(address(profile=profile, timeout=3)).options(run_timeout=30)
    assert (flagged.call_timeout, flagged.run_timeout) == (3, 30)


def test_a_throw_away_store_needs_no_ledger_and_any_other_does():
    assert reach(address("server --db {store}")).options().ledger is None
    assert reach(address("server")).options().ledger is not None


def test_ledgers_of_two_targets_are_never_in_one_folder():
    folders = {reach(address(target)).options().ledger.parent for target in ("server", "server --x", URL)}
    assert len(folders) == 3
