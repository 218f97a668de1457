"""The reference server is certified by both packs.

What a fault of the kit's own would make of a conforming server shows here first: every case against the honest double.
The verbs are done whole on every transport and in both eras. Of nMEMORY every case is done in this process; over a
pipe and over HTTP, once in each era, those that share a store: a fresh store or a restart costs a process, and all of
them together would take minutes. ``make reports`` does the whole of both packs on all four.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from nmemory_kit.contract import Case, Pack, load_pack
from nmemory_kit.prove.doubles import casting
from nmemory_kit.prove.stage import options_for, target_of
from nmemory_kit.run.conduct import conduct
from nmemory_kit.run.options import Options
from nmemory_kit.run.result import Results, Verdict
from nmemory_kit.target import Command, HttpTarget, McpVersion, ServedTarget, StdioTarget, Target
from nmemory_kit.target.throwaway import in_memory

PACK = load_pack("memory-verbs")
MEMORY = load_pack("nmemory")
#: The cases of nMEMORY for which no store has to be made and none has to be alone.
SHARED = tuple(case for case in MEMORY.cases if case.store == "shared" and "restart" not in case.needs)
SERVER = (sys.executable, "-m", "nmemory_reference")
TOKENS = {None: "main-token-5f2c", "reader": "reader-token-9a1b", "other-tenant": "other-token-77de"}


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("tokens") / "tokens.yaml"
    file.write_text(
        f"- {{token: {TOKENS[None]}, name: main, tenant: one, scopes: [read, write]}}\n"
        f"- {{token: {TOKENS['reader']}, name: reader, tenant: one, scopes: [read]}}\n"
        f"- {{token: {TOKENS['other-tenant']}, name: other, tenant: two, scopes: [read, write]}}\n"
    )
    return file


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, tokens: Path) -> Iterator[str]:
    """The reference server on HTTP, with tokens."""
    db = tmp_path_factory.mktemp("http") / "memory.sqlite3"
    command = [*SERVER, "--db", db, "--http", "--port", "0", "--tokens", tokens, "--embeddings", "hash"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            yield next(found[0] for line in process.stderr if (found := re.search(r"http://\S+", line)))
        finally:
            process.terminate()


def certify(target: Target, **options: object) -> Results:
    """Judge a target by the verbs."""
    return judge(target, PACK, PACK.cases, Options(synthesize=True, **options))  # type: ignore[arg-type]


def judge(target: Target, pack: Pack, cases: Sequence[Case], options: Options) -> Results:
    async def run() -> Results:
        try:
            return await conduct(target, [pack], cases, options)
        finally:
            await target.close()

    return asyncio.run(run())


def troubles(results: Results) -> list[str]:
    return [
        f"{case.case}: {case.verdict} {case.reason} {[(each.clause, each.step, each.got) for each in case.findings]}"
        for case in results.cases
        if case.verdict not in (Verdict.PASS, Verdict.SKIP)
    ]


@pytest.mark.parametrize("version", ["legacy", "modern"])
@pytest.mark.parametrize("embeddings", ["none", "hash"])
def test_the_reference_server_is_conformant_on_stdio(version: McpVersion, embeddings: str) -> None:
    command = [*SERVER, "--db", "{store}", "--surface", "full", "--embeddings", embeddings]
    results = certify(StdioTarget(Command(command), version=version))
    assert not troubles(results)
    assert results.footer.verdict == "CONFORMANT"
    assert not results.footer.noise
    assert results.footer.books.balance


def test_the_frozen_verbs_alone_leave_open_what_needs_a_page() -> None:
    """The surface `verbs` has no way to make a page; everything else is proven on it, too."""
    results = certify(StdioTarget(Command([*SERVER, "--db", "{store}", "--surface", "verbs"])))
    assert not troubles(results)
    assert results.footer.verdict == "CONFORMANT WITH GAPS"
    pageless = {case.case for case in results.cases if "cannot make a page" in (case.reason or "")}
    need_pages = {clause for case in PACK.cases if case.path in pageless for clause in case.clauses}
    assert {clause.clause for clause in results.footer.clauses if clause.verdict == "unverified"} <= need_pages


@pytest.mark.parametrize("version", ["legacy", "modern"])
def test_the_reference_server_is_conformant_on_http_with_tokens(version: McpVersion, url: str) -> None:
    tokens = {name: token for name, token in TOKENS.items() if name is not None}
    results = certify(HttpTarget(url, token=TOKENS[None], tokens=tokens, version=version))
    assert not troubles(results)
    unverified = {clause.clause for clause in results.footer.clauses if clause.verdict == "unverified"}
    assert unverified == {"mv1/wire/survives-restart"}, "a URL cannot be restarted: the only gap"
    assert results.footer.verdict == "CONFORMANT WITH GAPS"


def test_a_server_on_http_that_the_kit_starts_itself_has_no_gap(tokens: Path) -> None:
    served = [*SERVER, "--http", "--port", "{port}", "--tokens", str(tokens)]
    command = [*served, "--db", "{store}", "--embeddings", "hash"]
    others = {name: token for name, token in TOKENS.items() if name is not None}
    results = certify(
        ServedTarget(
            Command(command),
            "http://127.0.0.1:{port}/mcp",
            lambda url: HttpTarget(url, token=TOKENS[None], tokens=others),
        )
    )
    assert not troubles(results)
    assert results.footer.verdict == "CONFORMANT"


def test_every_case_is_decided_on_some_transport(url: str) -> None:
    """No case is there that the reference server never gets to answer."""
    tokens = {name: token for name, token in TOKENS.items() if name is not None}
    over_http = certify(HttpTarget(url, token=TOKENS[None], tokens=tokens), claims=frozenset({"no-llm"}))
    command = [*SERVER, "--db", "{store}", "--surface", "verbs"]
    on_stdio = certify(StdioTarget(Command(command)), claims=frozenset({"verbs-surface"}))
    decided = {
        case.case
        for results in (over_http, on_stdio)
        for case in results.cases
        if case.verdict in (Verdict.PASS, Verdict.FAIL)
    }
    undecided = {case.path for case in PACK.cases} - decided
    needs_a_model = {case.path for case in PACK.cases if "observed:llm" in case.needs}
    assert undecided == needs_a_model


@pytest.mark.timeout(600)
def test_every_case_of_nmemory_is_decided_and_passes_in_this_process() -> None:
    (cast,) = casting([MEMORY]).casts
    honest = next(variant for variant in cast.variants if variant.id == "memory/honest")
    mishaps: list[str] = []
    with in_memory():
        target = target_of(honest, cast.config, mishaps)
        results = judge(target, MEMORY, MEMORY.cases, options_for(honest, call_timeout=30.0))
    assert not troubles(results)
    assert mishaps == []
    assert {case.case: case.reason for case in results.cases if case.verdict is not Verdict.PASS} == {}
    assert results.footer.verdict == "CONFORMANT"
    assert results.footer.books.balance


@pytest.mark.timeout(600)
@pytest.mark.parametrize("version", ["legacy", "modern"])
def test_the_memory_surface_passes_on_each_transport(version: McpVersion, url: str) -> None:
    """Over a pipe in the one era, over HTTP in the other: all four are in the committed reports."""
    if version == "legacy":
        command = [*SERVER, "--db", "{store}", "--anchor-root", "{folder}", "--surface", "memory"]
        target: Target = StdioTarget(Command(command), version=version)
    else:
        target = HttpTarget(url, token=TOKENS[None], version=version)
    results = judge(target, MEMORY, SHARED, Options())
    assert not troubles(results)
    passed = sum(case.verdict is Verdict.PASS for case in results.cases)
    assert passed >= 0.8 * len(SHARED), "the rest needs files that the server sees"
    assert not results.footer.noise
