"""Hostile servers on stdio: each does one thing that no server should.

    hostile_stdio.py NAME      plays one; without a name, lists them

Only the standard library, so that one starts in a few hundredths of a second. Where nothing else is said a double is a
polite server of the legacy era with one tool, ``echo``.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Message = dict[str, Any]
DOUBLES: dict[str, Callable[[], None]] = {}

TOOL = {"name": "echo", "inputSchema": {"type": "object"}}
FOREVER = 3600


def double(play: Callable[[], None]) -> Callable[[], None]:
    DOUBLES[play.__name__] = play
    return play


def requests() -> Iterator[Message]:
    """The messages on stdin, until it is closed."""
    for line in sys.stdin.buffer:
        yield json.loads(line)


def write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def send(message: Any) -> None:
    write(json.dumps(message).encode() + b"\n")


def answer(request: Message, result: Any) -> None:
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


def refuse(request: Message, code: int, message: str, data: Any = None) -> None:
    send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message, "data": data}})


def said(text: str) -> Message:
    return {"content": [{"type": "text", "text": text}]}


def be_polite(request: Message) -> None:
    """What a well-behaved server answers."""
    match request.get("method"):
        case "initialize":
            server = {"name": "double", "version": "1"}
            answer(request, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server})
        case "tools/list":
            answer(request, {"tools": [TOOL]})
        case "tools/call":
            answer(request, said("hello"))
        case "ping":
            answer(request, {})
        case _ if "id" in request:
            refuse(request, -32601, "Method not found")


def on(method: str, act: Callable[[Message], None]) -> None:
    """Serve: ``act`` on one method, politeness on the rest."""
    for request in requests():
        if request.get("method") == method:
            act(request)
        else:
            be_polite(request)


def on_call(act: Callable[[Message], None]) -> None:
    on("tools/call", act)


def linger() -> None:
    time.sleep(FOREVER)


def grandchild() -> None:
    """A process of its own making, which holds its pipes and outlives its parent; its id is told on stderr."""
    child = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({FOREVER})"])
    print(f"grandchild {child.pid}", file=sys.stderr, flush=True)


# At the start


@double
def exits_at_once() -> None:
    print("config.toml: no such file", file=sys.stderr)
    sys.exit(3)


@double
def never_answers_initialize() -> None:
    linger()


@double
def starts_slowly() -> None:
    time.sleep(1.2)
    on_call(be_polite)


@double
def greets_on_stdout() -> None:
    write(b"Welcome to MemoryServer 3000!\nlistening\n")
    on_call(be_polite)


@double
def speaks_a_version_of_its_own() -> None:
    on("initialize", lambda request: answer(request, {"protocolVersion": "1999-01-01", "capabilities": {}}))


@double
def refuses_to_begin() -> None:
    on("initialize", lambda request: refuse(request, -32001, "license expired"))


@double
def speaks_only_modern() -> None:
    for request in requests():
        meta = request.get("params", {}).get("_meta", {})
        version = meta.get("io.modelcontextprotocol/protocolVersion")
        if version != "2026-07-28":
            data = {"supported": ["2026-07-28"], "requested": version}
            refuse(request, -32022, "Unsupported protocol version", data)
        elif request["method"] == "server/discover":
            answer(request, {"supportedVersions": ["2026-07-28"], "capabilities": {}, "resultType": "complete"})
        elif request["method"] == "tools/call":
            answer(request, said(json.dumps(meta)))
        else:
            be_polite(request)


@double
def speaks_only_legacy() -> None:
    on("server/discover", lambda request: refuse(request, -32601, "Method not found"))


# In the place of an answer


@double
def hangs() -> None:
    on_call(lambda _: None)


@double
def hangs_once() -> None:
    """Never answers the first call; answers the second one with all that it was told between."""
    told: list[Message] = []

    for request in requests():
        told.append(request)
        if request["method"] != "tools/call":
            be_polite(request)
        elif sum(message["method"] == "tools/call" for message in told) > 1:
            answer(request, said(json.dumps(told)))


@double
def hangs_without_reading() -> None:
    on_call(lambda _: linger())


@double
def dies_in_mid_call() -> None:
    def die(_: Message) -> None:
        print("out of memory", file=sys.stderr, flush=True)
        os._exit(7)

    on_call(die)


@double
def is_killed_in_mid_call() -> None:
    on_call(lambda _: os.kill(os.getpid(), signal.SIGSEGV))


@double
def writes_half_an_answer_and_exits() -> None:
    def half(request: Message) -> None:
        write(b'{"jsonrpc":"2.0","id":%d,"resu' % request["id"])
        os._exit(0)

    on_call(half)


@double
def answers_without_a_newline_and_exits() -> None:
    def cut(request: Message) -> None:
        write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": said("last")}).encode())
        os._exit(0)

    on_call(cut)


@double
def closes_stdout_and_stays() -> None:
    def close(_: Message) -> None:
        os.close(1)
        linger()

    on_call(close)


@double
def answers_garbage() -> None:
    on_call(lambda _: write(b"Traceback (most recent call last):\n"))


@double
def answers_broken_json() -> None:
    on_call(lambda request: write(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[}}\n' % request["id"]))


@double
def answers_invalid_utf8() -> None:
    text = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"\xff\xfe"}]}}\n'
    on_call(lambda request: write(text % request["id"]))


@double
def answers_nan() -> None:
    on_call(lambda request: write(b'{"jsonrpc":"2.0","id":%d,"result":{"score":NaN}}\n' % request["id"]))


@double
def answers_infinity_in_digits() -> None:
    on_call(lambda request: write(b'{"jsonrpc":"2.0","id":%d,"result":{"score":1e999}}\n' % request["id"]))


@double
def answers_nested_too_deep() -> None:
    nested = b"[" * 200_000 + b"]" * 200_000
    on_call(lambda request: write(b'{"jsonrpc":"2.0","id":%d,"result":{"deep":%s}}\n' % (request["id"], nested)))


@double
def answers_with_a_wrong_id() -> None:
    on_call(lambda request: answer({"id": 4711}, said("hello")))


@double
def answers_with_the_id_as_text() -> None:
    on_call(lambda request: answer({"id": str(request["id"])}, said("hello")))


@double
def answers_with_the_id_null() -> None:
    on_call(lambda _: send({"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": "oops"}}))


@double
def answers_in_a_batch() -> None:
    on_call(lambda request: send([{"jsonrpc": "2.0", "id": request["id"], "result": said("hello")}]))


@double
def answers_both_result_and_error() -> None:
    both = {"jsonrpc": "2.0", "result": said("hello"), "error": {"code": 1, "message": "no"}}
    on_call(lambda request: send({**both, "id": request["id"]}))


@double
def answers_without_jsonrpc() -> None:
    on_call(lambda request: send({"id": request["id"], "result": said("hello")}))


@double
def answers_a_list() -> None:
    on_call(lambda request: answer(request, [1]))


@double
def answers_an_error_of_texts() -> None:
    on_call(lambda request: send({"jsonrpc": "2.0", "id": request["id"], "error": "not found"}))


@double
def answers_an_error_code_of_letters() -> None:
    error = {"code": "E_NOT_FOUND", "message": "not found"}
    on_call(lambda request: send({"jsonrpc": "2.0", "id": request["id"], "error": error}))


@double
def answers_50_megabytes() -> None:
    on_call(lambda request: answer(request, said("x" * 50 * 1024 * 1024)))


# Beside the answer


@double
def answers_twice() -> None:
    def twice(request: Message) -> None:
        answer(request, said("first"))
        answer(request, said("second"))

    on_call(twice)


@double
def answers_late() -> None:
    """The first call gets its answer only when the second one comes."""
    waiting: list[Message] = []

    def late(request: Message) -> None:
        waiting.append(request)
        if len(waiting) > 1:
            answer(waiting[0], said("late"))
            answer(request, said("in time"))

    on_call(late)


@double
def answers_in_reverse_order() -> None:
    waiting: list[Message] = []

    def gather(request: Message) -> None:
        waiting.append(request)
        if len(waiting) == 3:
            for pending in reversed(waiting):
                answer(pending, said(pending["params"]["arguments"]["said"]))

    on_call(gather)


@double
def answers_notifications() -> None:
    on("notifications/initialized", lambda _: send({"jsonrpc": "2.0", "id": None, "result": {}}))


@double
def logs_json_on_stdout() -> None:
    def log(request: Message) -> None:
        send({"level": "info", "id": request["id"], "message": "tools/call"})
        answer(request, said("hello"))

    on_call(log)


@double
def asks_back() -> None:
    """Wants a ping and the roots of the client first, and answers with what it was told."""

    def ask(request: Message) -> None:
        send({"jsonrpc": "2.0", "id": "p", "method": "ping"})
        send({"jsonrpc": "2.0", "id": "r", "method": "roots/list"})
        told = [json.loads(sys.stdin.buffer.readline()) for _ in range(2)]
        answer(request, said(json.dumps(told)))

    on_call(ask)


@double
def floods_with_notifications() -> None:
    line = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x" * 200}}) + "\n"

    def flood(_: Message) -> None:
        while True:
            write(line.encode() * 100)

    on_call(flood)


@double
def floods_with_banners() -> None:
    def flood(request: Message) -> None:
        write(b"debug: still here\n" * 5000)
        answer(request, said("hello"))

    on_call(flood)


@double
def dribbles() -> None:
    def dribble(request: Message) -> None:
        for byte in json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": said("drop by drop")}).encode():
            os.write(1, bytes([byte]))
        os.write(1, b"\r\n")

    on_call(dribble)


@double
def tells_its_secret() -> None:
    """Prints its token on stderr and dies of it."""

    def tell(_: Message) -> None:
        print(f"401 from upstream with {os.environ['UPSTREAM_TOKEN']}", file=sys.stderr, flush=True)
        os._exit(1)

    on_call(tell)


@double
def shows_its_environment() -> None:
    on_call(
        lambda request: answer(request, said(json.dumps({**os.environ, "cwd": str(Path.cwd()), "argv": sys.argv[2:]})))
    )


# tools/list


@double
def lists_tools_for_ever() -> None:
    def page(request: Message) -> None:
        cursor = request.get("params", {}).get("cursor", "0")
        answer(request, {"tools": [TOOL], "nextCursor": str(int(cursor) + 1)})

    on("tools/list", page)


@double
def lists_tools_in_a_circle() -> None:
    on("tools/list", lambda request: answer(request, {"tools": [TOOL], "nextCursor": "again"}))


@double
def refuses_to_list_tools() -> None:
    on("tools/list", lambda request: refuse(request, -32000, "closed on Sundays"))


@double
def lists_no_array_of_tools() -> None:
    on("tools/list", lambda request: answer(request, {"tools": {"echo": TOOL}}))


@double
def lists_tools_on_three_pages() -> None:
    """The second page has the empty text for a cursor, the last one null."""
    pages: dict[Any, tuple[str, str | None]] = {None: ("a", ""), "": ("b", "3"), "3": ("c", None)}

    def page(request: Message) -> None:
        name, cursor = pages[request.get("params", {}).get("cursor")]
        answer(request, {"tools": [{**TOOL, "name": name}], "nextCursor": cursor})

    on("tools/list", page)


# At the end


@double
def stays_after_eof() -> None:
    on_call(be_polite)
    linger()


@double
def spins_after_eof() -> None:
    on_call(be_polite)
    while True:
        pass


@double
def ignores_sigterm_and_leaves_a_grandchild() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    grandchild()
    on_call(be_polite)
    linger()


@double
def leaves_a_grandchild() -> None:
    grandchild()
    on_call(be_polite)


@double
def dies_and_leaves_a_grandchild() -> None:
    grandchild()
    on_call(lambda _: os._exit(9))


def main() -> None:
    if len(sys.argv) < 2:
        print("\n".join(DOUBLES))
    else:
        DOUBLES[sys.argv[1]]()


if __name__ == "__main__":
    main()
