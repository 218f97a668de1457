"""The exported seeds hold on an honest server: done in order on one store, as BrainBench's runner does them."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from nmemory_kit.contract import load_pack
from nmemory_kit.contract.brainbench import export
from nmemory_reference.serve.config import Config
from nmemory_reference.serve.endpoint import Endpoint

Json = Any
TYPES: dict[str, Any] = {
    "string": str,
    "array": list,
    "object": dict,
    "number": (int, float),
    "boolean": bool,
}
NOWHERE = object()
PAGE = "---\ntitle: Conformance page\ntype: person\n---\nA page that the runner made.\n"


class Runner:
    """A runner of the format: fills references, calls, saves, judges."""

    def __init__(self, endpoint: Endpoint, marker: str) -> None:
        self._endpoint, self._marker = endpoint, marker
        self._saved: dict[str, Json] = {}

    async def call(self, verb: str, params: Json) -> tuple[bool, Json]:
        """Call a verb; whether it failed, and the object it answers."""
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": verb, "arguments": params}}
        handled = await self._endpoint.handle(message)
        result = handled.body["result"]
        return result["isError"], json.loads(result["content"][0]["text"])

    async def seed(self) -> None:
        """Make the page that entries with ``requiresSeededEntity`` are about."""
        failed, body = await self.call("put_page", {"slug": f"people/conformance-{self._marker}", "content": PAGE})
        assert not failed, body

    async def entry(self, entry: dict[str, Json]) -> list[str]:
        """Do an entry; what is wrong with the answer."""
        params = json.loads(self._fill(json.dumps(entry["params"])))
        failed, body = await self.call(entry["verb"], params)
        if entry.get("requiresSynthesizeFlag") and failed and body["error"] == "unavailable":
            return []
        if "expectErrorCode" in entry:
            wrong = [] if failed and body["error"] == entry["expectErrorCode"] else [f"answers {body}"]
            if entry["expectSuggestion"] and not body.get("suggestion"):
                wrong.append("no suggestion")
            return wrong
        if failed:
            return [f"fails: {body}"]
        if "saveAs" in entry:
            self._saved[entry["saveAs"]["key"]] = at(body, entry["saveAs"]["path"])
        return [f"{item}: {at(body, item['path'])!r}" for item in entry.get("expect", ()) if not holds(body, item)]

    def _fill(self, text: str) -> str:
        text = text.replace("{{marker}}", self._marker)
        return re.sub(r"\{\{id:(.*?)\}\}", lambda found: str(self._saved[found[1]]), text)


def at(body: Json, path: str) -> Json:
    """The value at a path with dots, or ``NOWHERE``."""
    for step in path.split("."):
        if isinstance(body, list) and step.isdigit() and int(step) < len(body):
            body = body[int(step)]
        elif isinstance(body, dict) and step in body:
            body = body[step]
        else:
            return NOWHERE
    return body


def holds(body: Json, item: Json) -> bool:
    """Whether an answer meets an item."""
    value = at(body, item["path"])
    match item:
        case {"absentOrNotContains": text}:
            return value is NOWHERE or text not in json.dumps(value)
        case {"equals": wanted}:
            return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)
        case {"type": kind}:
            return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
        case {"oneOf": values}:
            return value in values
        case {"gte": bound}:
            return value is not NOWHERE and value >= bound
        case {"lte": bound}:
            return value is not NOWHERE and value <= bound
    return False


@pytest.mark.parametrize("embeddings", ["none", "hash"])
def test_every_exported_seed_holds_on_the_reference_server(tmp_path: Path, embeddings: str) -> None:
    entries = export(load_pack("memory-verbs/v1")).entries
    endpoint = Endpoint.open(Config(db=tmp_path / "memory.db", embeddings=embeddings))

    async def run() -> list[str]:
        runner = Runner(endpoint, "bbmarker")
        await runner.seed()
        return [f"{entry['name']}: {fault}" for entry in entries for fault in await runner.entry(entry)]

    try:
        assert asyncio.run(run()) == []
    finally:
        endpoint.close()
