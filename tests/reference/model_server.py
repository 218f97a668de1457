"""A model endpoint for tests: answers what it is told to, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, Any]


class ModelServer:
    """`reply` gives the status and the body for a request; `asked` are the requests so far."""

    def __init__(self, url: str, reply: Callable[[str, Any], Reply]) -> None:
        self.url = url
        self.reply = reply
        self.asked: list[Any] = []


@contextmanager
def model_server(reply: Callable[[str, Any], Reply]) -> Iterator[ModelServer]:
    """A server on a free port, for as long as the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            model.asked.append({**request, "authorization": self.headers.get("authorization")})
            status, body = model.reply(self.path, request)
            sent = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        model = ModelServer(f"http://127.0.0.1:{server.server_port}/v1", reply)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()


def said(content: Any, **more: Any) -> dict[str, Any]:
    """A chat completion that says `content`."""
    return {
        "model": "stub-large",
        "choices": [{"message": {"role": "assistant", "content": content, **more}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 120, "completion_tokens": 7},
    }
