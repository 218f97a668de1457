"""Whatever a user gets wrong ends in one line with cause and remedy, the right exit code, and no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

MISUSE = [
    (("protocl",), "Did you mean 'protocol'"),
    (("protocol", "--json", "conformance"), "behind"),
    (("protocol", "conformance", "--tokn", "x"), "no such option: --tokn"),
    (("protocol", "conformance", "--jobs", "0"), "--jobs"),
    (("protocol", "conformance", "--timeout", "soon"), "--timeout"),
    (("protocol", "conformance", "--timeout", "nan"), "--timeout"),
    (("protocol", "conformance", "--timeout", "inf"), "--timeout"),
    (("protocol", "conformance", "--run-timeout", "-3"), "--run-timeout"),
    (("protocol", "conformance", "--target", "ftp://host/mcp"), "ftp:// is not HTTP"),
    (("protocol", "conformance", "--target", r"C:\Programs\serve.exe"), "backslash"),
    (("protocol", "conformance", "--mcp-version", "old"), "'auto', 'legacy', 'modern'"),
    (("protocol", "conformance", "--protocol", "nothing"), "memory-verbs/v1"),
    (("protocol", "conformance", "--case", "remember-provenance-blan"), "remember-provenance-blank"),
    (("protocol", "conformance", "--clause", "mv1/recall/totl"), "mv1/recall/total"),
    (("protocol", "conformance", "--case", "recall-total", "--clause", "mv1/forget/*"), "both --case and --clause"),
    (("protocol", "conformance", "--target", "x", "--", "y"), "given twice"),
    (("protocol", "conformance", "http://localhost:1/mcp"), "--target http://localhost:1/mcp"),
    (("protocol", "conformance", "--target", ""), "empty"),
    (("protocol", "conformance", "--target", "run 'it"), "quotes"),
    (("protocol", "conformance", "--target", "http://"), "URL"),
    (("protocol", "conformance", "--profile", "/no/such.yaml"), "/no/such.yaml"),
    (("protocol", "conformance", "--xfail", "/no/such.yaml"), "/no/such.yaml"),
    (("protocol", "conformance", "--target", "http://h/", "--token-env", "NO_SUCH_VAR"), "NO_SUCH_VAR"),
    (("protocol", "conformance", "--target", "http://h/", "--token-file", "/no/such"), "/no/such"),
    (("protocol", "conformance", "--target", "http://h/", "--token", "a", "--token-env", "B"), "--token-file"),
    (("protocol", "conformance", "--target", "cat", "--token", "abcdefgh"), "stdio"),
    (("protocol", "conformance", "--junit", "/"), "folder"),
    (("protocol", "cleanup"), "no target"),
    (("protocol", "export", "csv"), "brainbench"),
    (("serve", "--surface", "some"), "'verbs'"),
    (("serve", "--port", "99999"), "--port"),
    (("serve", "--embeddings", "magic"), "hash"),
    (("serve", "--tokens", "/no/such"), "--http"),
    (("remember", "a fact"), "--provenance"),
    (("remember", "a fact", "--provenance", "p", "--kind", "rumour"), "'belief'"),
]


@pytest.mark.parametrize(("arguments", "told"), MISUSE, ids=[" ".join(arguments) for arguments, _ in MISUSE])
def test_misuse_is_one_line_and_exit_code_2(arguments, told, nmemory):
    ran = nmemory(*arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("nmemory: ")
    assert told in ran.err


UNREACHABLE = [
    (("--target", "no-such-program-anywhere --x"), "no such command"),
    (("--target", "http://127.0.0.1:9/mcp"), "nothing listens"),
    (("--target", "http://no-such-host.invalid/mcp"), "unknown"),
    (("--", "false"), "exit code 1"),
]


@pytest.mark.parametrize(("arguments", "told"), UNREACHABLE, ids=[" ".join(arguments) for arguments, _ in UNREACHABLE])
def test_a_target_that_is_not_there_is_inconclusive_with_the_reason_first(arguments, told, nmemory):
    ran = nmemory("protocol", "conformance", *arguments)
    assert (ran.code, ran.err) == (3, "")
    verdict, reason = ran.out.splitlines()[:2]
    assert verdict.startswith("INCONCLUSIVE")
    assert told in reason
    assert ran.out.count(told) == 1, "one cause is told once"


@pytest.mark.parametrize("arguments", [("recall",), ("serve",), ("remember", "x", "--provenance", "p")], ids=" ".join)
def test_a_foreign_database_file_is_refused_and_left_as_it_was(arguments, nmemory, tmp_path: Path):
    foreign = tmp_path / "notes.txt"
    foreign.write_text("not a database, but dear to somebody")
    ran = nmemory(*arguments, "--db", foreign)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert str(foreign) in ran.err
    assert foreign.read_text() == "not a database, but dear to somebody"


def test_a_broken_profile_is_told_with_its_line_and_the_nearest_key(nmemory, tmp_path: Path):
    profile = tmp_path / "profile.yaml"
    profile.write_text("name: mine\ntarge: http://localhost/mcp\n")
    ran = nmemory("protocol", "conformance", "--profile", profile)
    assert ran.code == 2
    assert "profile.yaml:2" in ran.err
    assert "target" in ran.err


def test_an_excuse_that_names_no_case_is_refused(nmemory, tmp_path: Path):
    excuses = tmp_path / "excuses.yaml"
    excuses.write_text("- {case: no-such-case, reason: none}\n")
    ran = nmemory("protocol", "conformance", "--xfail", excuses)
    assert ran.code == 2
    assert "no-such-case" in ran.err


def test_a_report_that_cannot_be_written_is_told_before_the_run(nmemory, tmp_path: Path):
    (tmp_path / "file").write_text("")
    ran = nmemory("protocol", "conformance", "--report", tmp_path / "file" / "below")
    assert (ran.code, ran.out) == (2, "")
    assert "below" in ran.err


SECRET = "correct-horse-battery-staple"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--target", "http://127.0.0.1:9/mcp", "--token", SECRET),
        ("--target", "http://127.0.0.1:9/mcp", "--header", f"X-Key: {SECRET}"),
        ("--target", f"http://user:{SECRET}@127.0.0.1:9/mcp"),
        ("--target", f"http://127.0.0.1:9/mcp?token={SECRET}"),
        ("--target", "http://127.0.0.1:9/mcp", "--header", SECRET),
        ("--target", "http://127.0.0.1:9/mcp", "--header", f"bad name: {SECRET}"),
        ("--target", "http://127.0.0.1:9/mcp", "--token", f"{SECRET}\n"),
        ("--target", "cat", "--token", SECRET),
        ("--target", f"no-such-program --api-key {SECRET}"),
        ("--", "no-such-program", f"--password={SECRET}"),
        ("--target", f"env ACCESS_TOKEN={SECRET} no-such-program"),
    ],
    ids=[
        "token",
        "header",
        "user info",
        "query",
        "no header",
        "bad header",
        "bad token",
        "needless token",
        "option",
        "option with =",
        "variable",
    ],
)
def test_no_secret_is_ever_printed_or_kept(arguments, nmemory, tmp_path: Path):
    ran = nmemory("protocol", "conformance", "--report", tmp_path / "report", *arguments)
    kept = "".join(file.read_text() for file in tmp_path.rglob("*") if file.is_file())
    assert ran.code in (2, 3)
    assert SECRET not in ran.out + ran.err + kept


def test_a_fault_of_the_kits_own_says_so_without_a_traceback(nmemory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("nmemory_kit.cli.protocol.as_text", lambda pack: 1 / 0)
    ran = nmemory("protocol")
    assert ran.code == 3
    assert ran.err.count("\n") == 1
    assert "report it" in ran.err


def test_the_traceback_of_such_a_fault_is_there_for_who_asks(nmemory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("nmemory_kit.cli.protocol.as_text", lambda pack: 1 / 0)
    monkeypatch.setenv("NMEMORY_DEBUG", "1")
    assert "ZeroDivisionError" in nmemory("protocol").err
