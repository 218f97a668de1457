"""A stage for tests of the run: a pack of a few tools in memory, and doubles that are a function each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from nmemory_kit.contract.case import Case
from nmemory_kit.contract.clause import Clause, Level
from nmemory_kit.contract.pack import Observation, Pack, Recipe, Standing, Tool
from nmemory_kit.contract.reading import parse_case, parse_refusal
from nmemory_kit.run.conduct import conduct
from nmemory_kit.run.options import Options
from nmemory_kit.run.result import CaseResult, Results
from nmemory_kit.target import InProcessTarget, Limits

ANY = {"type": "object"}
ERROR = {"type": "object", "required": ["error"]}


def make_pack(*cases: dict[str, Any], observe: dict[str, Observation] | None = None) -> Pack:
    """A pack ``toy/v1``: ``put`` keeps a text, ``get`` shows all, ``drop`` ends one."""
    clauses = [
        Clause("toy/put/keeps", Level.MUST, "What is put is kept.", "toy"),
        Clause("toy/get/shows", Level.MUST, "What is kept is shown.", "toy"),
        Clause("toy/get/polite", Level.SHOULD, "An answer is polite.", "toy"),
        Clause("toy/wire/version", Level.MUST, "Every answer has version 1.", "toy"),
        Clause("toy/drop/ends", Level.MUST, "What is dropped is gone.", "toy"),
        Clause("toy/extra/only", Level.MUST, "The extra tool works.", "toy", where=("tool:extra",)),
    ]
    return Pack(
        protocol="toy",
        version="v1",
        name="TOY",
        protocol_version=1,
        title="A toy",
        policy="none",
        tools={
            name: Tool(name, "A tool of the toy protocol", name != "extra", ANY, ANY, {})
            for name in ("put", "get", "drop", "extra")
        },
        error_schema=ERROR,
        error_code="/error",
        advertises="toy/wire/version",
        standing=(
            Standing("version", "toy/wire/version", "success", None, {"properties": {"version": {"const": 1}}}, None),
        ),
        seeds={"page": Recipe("make_page", {"text": "{{title}} {{tone}}"}, {}, {"tone": "plain"})},
        cleanup={"put": (Recipe("drop", {"id": "{{id}}"}, {"id": "/id"}),)},
        refusals={"gone": GONE},
        observe=observe or {},
        clauses={clause.id: clause for clause in clauses},
        cases=tuple(parse_case({"title": "A case of the toy", **case}, "toy/v1") for case in cases),
        root=files("nmemory_cases"),
    )


@dataclass(frozen=True)
class Handled:
    """What a double answers."""

    body: dict[str, Any] | None
    status: int = 200


#: The toy pack's one refusal that has a name.
GONE = parse_refusal(
    {
        "rpc": -32002,
        "body": {"required": ["id"], "properties": {"id": {"const": "{{id}}"}}},
    }
)

Act = Callable[["Toy", str, dict[str, Any]], Awaitable[Any]]


@dataclass
class Toy:
    """A server of the toy protocol; ``act`` may take a call over by answering anything but None."""

    path: Path
    act: Act | None = None
    tools: tuple[str, ...] = ("put", "get", "drop")
    #: Every call of every life, in order.
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    #: Who made the last call.
    client: str | None = None

    async def handle(
        self, message: dict[str, Any], token: str | None, conversation: dict[str, Any] | None = None
    ) -> Handled:
        del token
        conversation = {} if conversation is None else conversation
        match message["method"]:
            case "initialize":
                conversation["client"] = message["params"]["clientInfo"]["name"]
                result: Any = {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "toy", "version": "1"},
                }
            case "tools/list":
                result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in self.tools]}
            case "tools/call":
                name, arguments = message["params"]["name"], message["params"]["arguments"]
                self.calls.append((name, arguments))
                self.client = conversation.get("client")
                result = await self.act(self, name, arguments) if self.act else None
                if result is None:
                    result = success(self.do(name, arguments))
            case _:
                return Handled(None, 202)
        if isinstance(result, dict) and "rpc" in result:
            error = {"code": result["rpc"], "message": result.get("message", "no")}
            error |= {"data": result["data"]} if "data" in result else {}
            return Handled({"jsonrpc": "2.0", "id": message["id"], "error": error})
        return Handled({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def do(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The honest deed."""
        kept = json.loads(self.path.read_text()) if self.path.exists() else {}
        match name:
            case "put":
                identity = str(len(kept) + 1)
                kept[identity] = arguments["text"]
            case "drop":
                identity = arguments["id"]
                kept[identity] = None
            case _:
                wanted = arguments.get("like", "")
                return {"version": 1, "texts": [text for text in kept.values() if text and wanted in text]}
        self.path.write_text(json.dumps(kept))
        return {"version": 1, "id": identity}

    def close(self) -> None:
        """Nothing to let go of."""


def success(body: Any) -> dict[str, Any]:
    """A success with a body."""
    return {"content": [{"type": "text", "text": json.dumps(body)}], "isError": False}


def failure(code: str) -> dict[str, Any]:
    """An error with an envelope."""
    return {"content": [{"type": "text", "text": json.dumps({"error": code})}], "isError": True}


def play(
    *cases: dict[str, Any],
    act: Act | None = None,
    tools: tuple[str, ...] = ("put", "get", "drop"),
    target: Any = None,
    pack: Pack | None = None,
    call_timeout: float = 5.0,
    **options: Any,
) -> Results:
    """Conduct a run of some cases against a toy."""
    pack = pack or make_pack(*cases)
    calls: list[tuple[str, dict[str, Any]]] = []
    target = target or InProcessTarget(
        lambda path: Toy(path, act, tools, calls),
        name="toy",
        limits=Limits(start=5, call=call_timeout),
        conversation=dict,
    )

    async def run() -> Results:
        try:
            return await conduct(target, [pack], pack.cases, Options(call_timeout=call_timeout, **options))
        finally:
            await target.close()

    return asyncio.run(run())


def only(results: Results) -> CaseResult:
    """The one result of a run of one case."""
    (case,) = results.cases
    return case


def clause(results: Results, name: str) -> str:
    """The verdict of a clause."""
    return next(one.verdict for one in results.footer.clauses if one.clause == name)


def put(text: str, **more: Any) -> dict[str, Any]:
    """A step that puts a text."""
    return {"call": "put", "with": {"text": text}, **more}


def get(**more: Any) -> dict[str, Any]:
    """A step that gets what has the case's marker."""
    return {"call": "get", "with": {"like": "{{marker}}"}, **more}


def parse(document: dict[str, Any]) -> Case:
    """A case of the toy pack."""
    return parse_case(document, "toy/v1")
