"""The pages of memory_export and memory_visual, run as a host of MCP Apps would run them."""

from __future__ import annotations

import json
import subprocess

import pytest
from e2e.others import node
from nmemory_reference.capsules.views.sheets import RESOURCES

#: A window, a document and a host that are just enough for the page's script; prints what was sent and what is shown.
HOST = """
const { page, field } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const sent = [], shown = { textContent: "" }, host = { postMessage: (message) => sent.push(message) };
let hear;
globalThis.window = { parent: host, addEventListener: (_, listener) => { hear = listener; } };
globalThis.document = { getElementById: () => shown };
eval(page.match(/<script>([^]*)<\\/script>/)[1]);
const tell = (data, source = host) => hear({ data, source });
const result = (text) => ({ method: "ui/notifications/tool-result", params: { structuredContent: { [field]: text } } });
tell({ jsonrpc: "2.0", id: 1, result: {} });
tell(null);
tell(result(5));
tell(result("<b>stored</b> text"));
tell(result("from another window"), {});
console.log(JSON.stringify({ sent, shown: shown.textContent }));
"""


@pytest.mark.parametrize(("uri", "field"), [("ui://nmemory/document", "markdown"), ("ui://nmemory/visual", "mermaid")])
def test_a_page_introduces_itself_and_shows_what_its_host_sends_as_text(uri: str, field: str) -> None:
    given = json.dumps({"page": RESOURCES[uri].text, "field": field})
    done = subprocess.run([node(), "-e", HOST], input=given, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["shown"] == "<b>stored</b> text"
    assert [message["method"] for message in told["sent"]] == ["ui/initialize", "ui/notifications/initialized"]
