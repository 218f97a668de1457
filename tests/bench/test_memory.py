"""What nMEMORY costs on a store of 10,000 and of 100,000 capsules: each call in process, with its JSON written."""

from __future__ import annotations

import importlib.util
import itertools
import random
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from bench.capsule_corpus import LARGE, NOW, PROJECTS, SMALL, Language, Size, fill, word
from bench.figures import say, spread, timed
from nmemory_reference.capsules import wire
from nmemory_reference.capsules.call import CapsuleStore, Settings
from nmemory_reference.capsules.capture import ingest
from nmemory_reference.capsules.lifecycle import consolidate, forget
from nmemory_reference.capsules.recall import retrieve
from nmemory_reference.capsules.structure import relate
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.views import bootstrap, digest, export, get
from nmemory_reference.capsules.views import list as listing
from nmemory_reference.store.database import Database
from reference.capsules.stage import Stage

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1_800)]

#: What people ask for is none of the hundred words that stand in nearly every text.
TELLING = 100
#: ...but a word like that may slip in.
USUAL = 20


@dataclass
class Memory:
    """A filled store, and calls of its tools."""

    size: Size
    stage: Stage
    language: Language
    #: The medians of processor time on the small store, by what was measured.
    medians: dict[str, float]

    def call(self, tool: MemoryTool[Any], **arguments: Any) -> dict[str, Any]:
        """One call, as far as the text that goes out."""
        body = self.stage.call(tool, **arguments)
        wire.dumps(body)
        return body

    def measure(self, what: str, tool: MemoryTool[Any], make: Callable[[], dict[str, Any]], times: int) -> None:
        """Print the spread of some calls after a few that warm up."""
        for _ in range(3):
            self.call(tool, **make())
        seconds, busy = [], []
        for _ in range(times):
            arguments = make()
            began, idle = time.perf_counter(), time.thread_time()
            self.call(tool, **arguments)
            seconds.append(time.perf_counter() - began)
            busy.append(time.thread_time() - idle)
        spread(what, seconds)
        spread("    of that on the processor", busy)  # a busy machine changes that less
        median = statistics.median(busy)
        if self.size is SMALL:
            self.medians[what] = median
        elif what in self.medians:
            say(
                f"    {LARGE.capsules // SMALL.capsules} times the capsules take",
                f"{median / self.medians[what]:.1f} times",
            )


@pytest.fixture(scope="module")
def medians() -> dict[str, float]:
    """What the small store leaves for the large one to be compared with."""
    return {}


@pytest.fixture(scope="module", params=[SMALL, LARGE], ids=["small", "large"])
def memory(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, medians: dict[str, float]
) -> Iterator[Memory]:
    size: Size = request.param
    path: Path = tmp_path_factory.mktemp("bench") / "memory.sqlite3"
    with timed() as taken:
        fill(path, size)
    print(f"\n{size.capsules:,} capsules, {size.relations:,} relations, each capsule with an embedding")
    say("filled in", f"{taken[0]:.1f} s")
    say("size of the file", f"{path.stat().st_size / 1e6:.0f} MB")
    database = Database.open(path)
    settings = Settings(hmac_key="bench", anchor_root=path.parent)
    stage = Stage(CapsuleStore(database), settings, now=NOW, client="bench")
    yield Memory(size, stage, Language(7), medians)
    database.close()
    path.unlink()


def test_retrieve_by_words(memory: Memory) -> None:
    language = memory.language

    def asking(count: int, most_common: int, **more: Any) -> Callable[[], dict[str, Any]]:
        return lambda: {"terms": [language.word(most_common) for _ in range(count)], **more}

    memory.measure("retrieve: one term", retrieve.TOOL, asking(1, TELLING), 500)
    memory.measure("retrieve: five terms", retrieve.TOOL, asking(5, TELLING), 500)
    memory.measure("retrieve: five terms, common ones among them", retrieve.TOOL, asking(5, USUAL), 200)
    memory.measure(
        "retrieve: five terms in one project", retrieve.TOOL, asking(5, TELLING, project_id="org3/project3"), 200
    )
    window = {"from": "2030-06-01T00:00:00Z", "to": "2030-08-01T00:00:00Z"}
    memory.measure("retrieve: five terms in a window", retrieve.TOOL, asking(5, TELLING, time_window=window), 200)
    memory.measure("retrieve: five terms, weights blended", retrieve.TOOL, asking(5, TELLING, weight_blend=1), 200)
    memory.measure("retrieve: a word that nobody used", retrieve.TOOL, lambda: {"terms": ["zzz"]}, 200)
    memory.measure("retrieve: the commonest word of all", retrieve.TOOL, lambda: {"terms": [word(1)]}, 10)


@pytest.mark.skipif(importlib.util.find_spec("numpy") is None, reason="numpy is not installed")
def test_retrieve_by_vectors(memory: Memory) -> None:
    language = memory.language

    def asking(count: int, **more: Any) -> Callable[[], dict[str, Any]]:
        return lambda: {
            "terms": [language.word(TELLING) for _ in range(count)],
            "query_embedding": list(language.embedding()),
            **more,
        }

    with timed() as first:
        memory.call(retrieve.TOOL, **asking(1)())
    say("the first look at the embeddings", f"{first[0]:.2f} s")
    memory.measure("retrieve: vectors alone", retrieve.TOOL, asking(1, lane="vector"), 200)
    memory.measure("retrieve: fused, one term", retrieve.TOOL, asking(1), 200)
    memory.measure("retrieve: fused, five terms", retrieve.TOOL, asking(5), 200)
    memory.measure(
        "retrieve: fused, five terms in one project", retrieve.TOOL, asking(5, project_id="org3/project3"), 200
    )


def test_views(memory: Memory) -> None:
    chance = random.Random(9)
    memory.measure("get", get.TOOL, lambda: {"id": f"cap-{chance.randint(1, memory.size.capsules)}"}, 500)
    memory.measure("list, 100 newest", listing.TOOL, lambda: {"limit": 100}, 100)
    memory.measure("list by kind and project", listing.TOOL, _filters(chance), 100)
    with timed() as first:
        memory.call(digest.TOOL)
    say("the first digest, with the whole journal verified", f"{first[0]:.2f} s")
    memory.measure("digest", digest.TOOL, dict, 50)
    memory.measure("digest of a subtree", digest.TOOL, lambda: {"project_prefix": "org3"}, 50)
    memory.measure("bootstrap", bootstrap.TOOL, dict, 50)
    project = {"project_id": "org3/project3", "terms": [word(200), word(300)]}
    memory.measure("bootstrap of a project, with terms", bootstrap.TOOL, lambda: project, 50)
    edges = itertools.count(1)

    def related() -> dict[str, Any]:
        return {"kind": "blocks", "from": f"cap-{next(edges)}", "to": f"cap-{memory.size.capsules}"}

    changed = []
    for _ in range(10):
        memory.call(relate.TOOL, **related())
        began = time.perf_counter()
        memory.call(digest.TOOL)
        changed.append(time.perf_counter() - began)
    spread("digest right after an edge", changed)
    memory.measure("export", export.TOOL, dict, 3)


def test_capture(memory: Memory) -> None:
    language, numbers = memory.language, itertools.count(1)

    def item() -> dict[str, Any]:
        return {"content": f"{language.sentence()} fresh{next(numbers)}", "source": "bench", "anchor": "bench"}

    memory.measure("ingest", ingest.TOOL, item, 300)
    for _ in range(3):
        batch = [item() for _ in range(1_000)]
        with timed() as taken:
            memory.call(ingest.TOOL, items=batch)
        say("ingest, 1,000 in a batch", f"{taken[0]:.2f} s")
    superseding = []
    for number in range(1, 21):
        memory.call(ingest.TOOL, **item(), supersedes=f"cap-{number * 7}")
        began = time.perf_counter()
        memory.call(retrieve.TOOL, terms=[language.word(TELLING)])
        superseding.append(time.perf_counter() - began)
    spread("retrieve right after a supersession", superseding)


def test_upkeep(memory: Memory) -> None:
    with timed() as planned:
        memory.call(consolidate.TOOL)
    say("consolidate, a dry run", f"{planned[0]:.1f} s")
    with timed() as forgot:
        memory.call(forget.TOOL, id="cap-5", mode="purged", reason="bench")
    say("forget", f"{forgot[0]:.2f} s")
    say("most memory that the process has held", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")


def _filters(chance: random.Random) -> Callable[[], dict[str, Any]]:
    def filters() -> dict[str, Any]:
        number = chance.randrange(PROJECTS)
        return {"kind": chance.choice(["decision", "task"]), "project_id": f"org{number % 6}/project{number}"}

    return filters
