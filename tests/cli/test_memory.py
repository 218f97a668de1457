"""``nmemory memory``: one call of a memory tool from the command line."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from nmemory_reference.serve.config import Config
from nmemory_reference.serve.oneshot import memory_one_shot


class Store:
    """A store, and short words for what is done with it past the command line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.option = ("--db", path)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return json.loads(memory_one_shot(Config(db=self.path, surface="memory"), tool, arguments))

    def capture(self, *contents: str) -> None:
        for content in contents:
            self.call("memory_ingest", content=content, source="notes", anchor="notes.md:4", project_id="lab")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "memory.sqlite3")


def test_recall_prints_what_the_tool_answers_on_one_line(nmemory, store: Store):
    store.capture("the relay keeps one writer", "deploys stop on friday")
    ran = nmemory("memory", "recall", "--terms", "relay, writer", "--terms", "no such thing", *store.option)
    assert (ran.code, ran.err, ran.out.count("\n")) == (0, "", 1)
    answer = json.loads(ran.out)
    assert ran.out == json.dumps(answer, ensure_ascii=False, separators=(",", ":")) + "\n"
    assert (answer["outcome"], [row["id"] for row in answer["results"]]) == ("grounded", ["cap-1"])
    assert answer["results"][0]["matched_terms"] == ["relay", "writer"]


@pytest.mark.parametrize(
    ("terms", "matched"),
    [
        (["--terms", "a b,c"], ["a b", "c"]),
        (["--terms", " ,a b, ,,c "], ["a b", "c"]),
        (["--terms", "a b", "--terms", "c"], ["a b", "c"]),
    ],
)
def test_terms_are_split_at_commas_and_keep_their_spaces(nmemory, store: Store, terms: list[str], matched: list[str]):
    store.capture("a and b and c")
    answer = json.loads(nmemory("memory", "recall", *terms, *store.option).out)
    assert answer["results"][0]["matched_terms"] == matched


def test_srv53_a_recall_from_the_command_line_counts_and_srv54_writes_no_audit_row(nmemory, store: Store):
    store.capture("the relay keeps one writer")
    nmemory("memory", "recall", "--terms", "relay", *store.option)
    nmemory("memory", "recall", "--terms", "unheard", *store.option)
    told = json.loads(nmemory("memory", "digest", *store.option).out)
    assert (told["most_recalled"][0]["recall_count"], told["recall_misses"], told["audit_events"]) == (1, 1, 1)


def test_srv50_limit_and_budget_narrow_a_recall(nmemory, store: Store):
    store.capture("relay one", "relay two")
    for option, trimmed in (("--limit", "trimmed_by_limit"), ("--budget", "trimmed_by_budget")):
        answer = json.loads(nmemory("memory", "recall", "--terms", "relay", option, "0", *store.option).out)
        assert (answer["results"], answer[trimmed]) == ([], 2)
    none = nmemory("memory", "recall", "--terms", "relay", "--project-prefix", "elsewhere", *store.option)
    assert json.loads(none.out)["outcome"] == "abstain"


def test_digest_takes_a_cap_and_a_prefix(nmemory, store: Store):
    store.capture("a", "b")
    told = json.loads(nmemory("memory", "digest", "--headlines", "1", "--project-prefix", "lab", *store.option).out)
    assert (len(told["newest"]), told["newest_total"]) == (1, 2)


def test_get_prints_one_capsule_whole(nmemory, store: Store):
    store.capture("one\ntwo é")
    assert json.loads(nmemory("memory", "get", "cap-1", *store.option).out)["capsule"]["content"] == "one\ntwo é"


def test_export_prints_the_document_byte_for_byte(process, store: Store):
    store.capture("é\u2028\x85 \x1b[31m red")
    ran = process("memory", "export", "--no-stamp", *store.option, env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == store.call("memory_export", stamp=False)["markdown"]
    digest_line, _, body = ran.out.partition("> store digest: ")[2].partition("\n")
    assert hashlib.sha256(body.encode()).hexdigest() == digest_line[-64:]
    assert "generated_at" in process("memory", "export", *store.option).out


def test_merge_takes_in_another_store_and_is_audited(nmemory, store: Store, tmp_path: Path):
    laptop = Store(tmp_path / "laptop.sqlite3")
    store.capture("shared")
    laptop.capture("shared", "only on the laptop")
    answer = json.loads(nmemory("memory", "merge", laptop.path, *store.option).out)
    assert (answer["capsules_added"], answer["capsules_collapsed"]) == (1, 1)
    assert json.loads(nmemory("memory", "get", "cap-2", *store.option).out)["last_mutation"]["actor"] == "cli"


REFUSALS = [
    (("get", "cap-9"), "memory_get: cap-9"),
    (("recall", "--terms", "..."), "memory_retrieve: "),
    (("digest", "--project-prefix", "lab/"), "memory_digest: project_prefix"),
    (("merge", "/no/such/store"), "memory_merge: "),
]


@pytest.mark.parametrize(("arguments", "told"), REFUSALS, ids=[" ".join(arguments) for arguments, _ in REFUSALS])
def test_srv52_a_refusal_is_one_line_and_exit_code_1(nmemory, store: Store, arguments: tuple[str, ...], told: str):
    ran = nmemory("memory", *arguments, *store.option)
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert ran.err.startswith(f"nmemory: {told}")


MISUSE = [
    ((), ""),
    (("recall",), "--terms"),
    (("recall", "--terms", ""), "--terms"),
    (("recall", "--terms", " , "), "--terms"),
    (("recall", "--terms", "a", "--limit", "three"), "--limit"),
    (("recall", "--terms", "a", "--budget", "-1"), "--budget"),
    (("digest", "--headlines", "-1"), "--headlines"),
    (("get",), "ID"),
    (("merge",), "FILE"),
    (("recall", "--terms", "a", "--project", "lab"), "--project"),
    (("update",), "update"),
]


@pytest.mark.parametrize(("arguments", "told"), MISUSE, ids=[" ".join(arguments) for arguments, _ in MISUSE])
def test_srv49_srv51_misuse_is_told_and_opens_no_store(nmemory, store: Store, arguments: tuple[str, ...], told: str):
    ran = nmemory("memory", *arguments, *(store.option if arguments else ()))
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert not store.path.exists()


def test_a_file_that_is_no_store_of_ours_is_left_as_it_was(nmemory, store: Store):
    with sqlite3.connect(store.path) as other:
        other.execute("CREATE TABLE t (x)")
    before = store.path.read_bytes()
    ran = nmemory("memory", "digest", *store.option)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "another program" in ran.err
    assert store.path.read_bytes() == before


def test_the_store_is_the_one_that_the_environment_names(nmemory, store: Store, monkeypatch: pytest.MonkeyPatch):
    store.capture("x")
    monkeypatch.setenv("NMEMORY_DB", str(store.path))
    assert json.loads(nmemory("memory", "digest").out)["total"] == 1
