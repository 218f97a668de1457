"""A target behind a URL: its token from a variable, the verdict, and what a user sees who has not got in."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from cli.commands import command

TOKEN = "an-invented-token-of-a-tenant"
CASE = ("protocol", "conformance", "--case", "remember-provenance-blank")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The reference server on HTTP, which demands a token."""
    folder = tmp_path_factory.mktemp("server")
    tokens = folder / "tokens.json"
    tokens.write_text(json.dumps([{"token": TOKEN, "name": "a", "tenant": "a", "scopes": ["read", "write"]}]))
    started = subprocess.Popen(
        command("serve", "--http", "--port", "0", "--db", folder / "m.sqlite3", "--tokens", tokens),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield started.stderr.readline().split()[-1]
    finally:
        started.terminate()
        started.communicate(timeout=30)


def test_a_token_from_a_variable_opens_the_target_and_is_shown_nowhere(
    url: str, nmemory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("GB_TOKEN", TOKEN)
    ran = nmemory(*CASE, "--target", url, "--token-env", "GB_TOKEN", "--report", tmp_path / "report")
    assert (ran.code, ran.err) == (0, "")
    assert "planned 1 = 1 pass" in ran.out
    kept = "".join(file.read_text() for file in (tmp_path / "report").iterdir())
    assert TOKEN not in ran.out + kept


def test_without_a_token_or_with_a_wrong_one_the_remedy_is_told(url: str, nmemory):
    for token in ((), ("--token", "another-token-altogether")):
        ran = nmemory(*CASE, "--target", url, *token)
        assert ran.code == 3
        assert "401" in ran.out.splitlines()[1]
        assert "--token-env" in ran.out.splitlines()[1]


def test_what_a_run_left_behind_on_a_store_that_is_not_the_kits_is_listed(
    url: str, nmemory, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GB_TOKEN", TOKEN)
    ran = nmemory(*CASE, "--target", url, "--token-env", "GB_TOKEN")
    assert "left      nothing stays behind in the target" in ran.out


@pytest.fixture
def website() -> Iterator[str]:
    """An HTTP server that is no MCP endpoint."""

    class Page(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = b"<html>hello</html>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_connection_that_breaks_at_once_may_want_tls(nmemory):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            with contextlib.suppress(OSError):
                while True:
                    server.accept()[0].close()

        Thread(target=hang_up, daemon=True).start()
        ran = nmemory(*CASE, "--target", f"http://127.0.0.1:{server.getsockname()[1]}/mcp")
    assert ran.code == 3
    assert "write https:// in the URL" in ran.out.splitlines()[1]


@pytest.mark.parametrize(("scheme", "told"), [("http", "text/html"), ("https", "TLS")])
def test_a_url_that_is_no_mcp_endpoint_is_inconclusive(scheme: str, told: str, website: str, nmemory):
    ran = nmemory(*CASE, "--target", f"{scheme}://{website}/mcp")
    assert (ran.code, ran.err) == (3, "")
    assert told in ran.out.splitlines()[1]
