"""A server of MCP over HTTP in a few lines, which starts at once: ``small_http.py PORT STORE [how]``.

``who`` answers with the process, the file of the store and how often that was used; ``die`` ends the process in the
middle of the call. The third argument: ``ends`` before it listens, is ``deaf`` and never listens, finds its port
``taken`` the first time, or ``breaks-off`` what comes at first.
"""

import json
import os
import socket
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PORT, STORE, HOW = int(sys.argv[1]), Path(sys.argv[2]), "".join(sys.argv[3:])


def answered(method: str, params: dict) -> dict:
    if method == "initialize":
        info = {"name": "small", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [{"name": "who", "inputSchema": {"type": "object"}}]}
    if params["name"] == "die":
        print("I was told to", file=sys.stderr, flush=True)
        os._exit(7)
    uses = int(STORE.read_text()) + 1 if STORE.exists() else 1
    STORE.write_text(str(uses))
    body = {"pid": os.getpid(), "store": str(STORE), "uses": uses, "port": PORT}
    return {"content": [{"type": "text", "text": json.dumps(body)}]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in message:
            self.reply(202, b"")
            return
        result = answered(message["method"], message.get("params") or {})
        self.reply(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode())

    def reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is said of requests."""


FIRST = STORE.with_suffix(".first")
if HOW == "ends":
    print("no license key", file=sys.stderr)
    sys.exit(3)
if HOW and not FIRST.exists():
    FIRST.touch()
    if HOW == "taken":
        sys.exit("Address already in use")
    if HOW == "breaks-off":
        with socket.create_server(("127.0.0.1", PORT)) as listener:
            for _ in range(2):
                listener.accept()[0].close()
print("a banner that means nothing")
if HOW == "deaf":
    time.sleep(3600)
ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
