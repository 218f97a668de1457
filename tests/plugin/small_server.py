"""A server on stdio with just enough of MEMORY_VERBS for a few cases, so that the plugin's tests start it in no time.

It breaks one MUST (``wire-expensive-mark``), one SHOULD (``wire-annotations``), and cannot make pages, so that cases
that need one stay undecided. ``--foreign`` offers tools of no contract, ``--mute`` answers no call, ``--log FILE``
takes down each start and each call.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
from pathlib import Path
from typing import Any

VERBS = ("recall", "remember", "entity", "synthesize", "forget", "put_page")


class Refused(Exception):
    """An error of the protocol, by its code."""


class Memory:
    """Facts in a list."""

    def __init__(self) -> None:
        self.facts: list[dict[str, Any]] = []
        self.ids = itertools.count(1)

    def remember(self, fact: str = "", provenance: str | None = None, **more: Any) -> dict[str, Any]:
        if provenance is None:
            raise Refused("invalid_params")
        if not provenance.strip():
            raise Refused("provenance_required")
        number = next(self.ids)
        kept = {
            "id": number,
            "fact_id": str(number),
            "fact": fact,
            "kind": "fact",
            "entity_slug": more.get("entity"),
            "provenance": provenance,
            "created_at": "2026-01-31T12:00:00Z",
            "effective_confidence": 1.0,
        }
        self.facts.insert(0, kept)
        return {
            "id": kept["fact_id"],
            "status": "inserted",
            "status_text": "kept",
            "entity_slug": more.get("entity"),
            "valid_until": None,
            "degraded_dedup": True,
        }

    def recall(self, entity: str | None = None, grep: str = "", **_: Any) -> dict[str, Any]:
        found = [one for one in self.facts if entity in (None, one["entity_slug"]) and grep in one["fact"]]
        return {"total": len(found), "facts": found}

    def forget(self, id: str = "", **_: Any) -> dict[str, Any]:  # noqa: A002 the protocol's name
        self.facts = [one for one in self.facts if one["fact_id"] != id]
        return {"id": id, "expired": True, "reason": None}

    def put_page(self, **_: Any) -> dict[str, Any]:
        raise Refused("unavailable")

    def entity(self, **_: Any) -> dict[str, Any]:
        return {"found": False, "suggestions": [], "latency_ms": 1}

    def synthesize(self, **_: Any) -> dict[str, Any]:
        raise Refused("unavailable")


def call(memory: Memory, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if name not in VERBS:
        return {"content": [{"type": "text", "text": "no such tool"}], "isError": True}
    try:
        body, failed = getattr(memory, name)(**arguments), False
    except Refused as error:
        body = {"error": str(error), "message": "it was refused", "suggestion": "say it otherwise"}
        failed = True
    return {"content": [{"type": "text", "text": json.dumps({**body, "protocol_version": 1})}], "isError": failed}


def answer(memory: Memory, options: argparse.Namespace, method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        info = {"name": "small", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        names = ("paint", "draw") if options.foreign else VERBS
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}
    return call(memory, params["name"], params.get("arguments", {}))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--foreign", action="store_true")
    parser.add_argument("--mute", action="store_true")
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    memory = Memory()

    def note(text: str) -> None:
        if options.log:
            with options.log.open("a", encoding="utf-8") as log:
                log.write(text + "\n")

    note(f"start {os.getpid()}")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        method, params = message["method"], message.get("params", {})
        if method == "tools/call":
            note(json.dumps(params["arguments"]))
            if options.mute:
                continue
        result = answer(memory, options, method, params)
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()
