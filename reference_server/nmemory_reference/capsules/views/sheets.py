"""The `ui://` resources: pages in which a client can show what memory_export and memory_visual answer.

A page stands alone: it loads nothing, and shows text as text, so that nothing stored becomes markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Template
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.views.export import DOCUMENT_RESOURCE
from nmemory_reference.capsules.views.visual import VISUAL_RESOURCE

MIME_TYPE: Final = "text/html;profile=mcp-app"

#: Speaks with its host as MCP Apps lays down: it introduces itself, then takes the result of the tool.
_PAGE: Final = Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>$title</title>
<style>
body { margin: 0; font: 14px/1.5 system-ui, sans-serif; color-scheme: light dark; }
pre { margin: 0; padding: 1rem; overflow: auto; font: 13px/1.5 ui-monospace, monospace; white-space: $wrap; }
</style>
</head>
<body>
<pre id="shown">Nothing to show yet: call $tool.</pre>
<script>
"use strict";
const shown = document.getElementById("shown");
const send = (message) => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
window.addEventListener("message", (event) => {
  if (event.source !== window.parent) return;
  const message = event.data;
  if (message?.id === 1 && message.result) {
    send({ method: "ui/notifications/initialized", params: {} });
  } else if (message?.method === "ui/notifications/tool-result") {
    const text = message.params?.structuredContent?.$field;
    if (typeof text === "string") shown.textContent = text;
  }
});
send({
  id: 1,
  method: "ui/initialize",
  params: { protocolVersion: "2026-01-26", appInfo: { name: "$name", version: "1" }, appCapabilities: {} },
});
</script>
</body>
</html>
""")


class Resource(NamedTuple):
    """One page, as `resources/list` shows it and `resources/read` gives it."""

    uri: str
    name: str
    title: str
    description: str
    text: str

    def listed(self) -> dict[str, Any]:
        """An entry of `resources/list`; `size` is in bytes of UTF-8."""
        return {
            "uri": self.uri,
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "mimeType": MIME_TYPE,
            "size": len(self.text.encode()),
        }

    def read(self) -> dict[str, Any]:
        """The one entry of `contents`."""
        return {"uri": self.uri, "mimeType": MIME_TYPE, "text": self.text}


def _sheet(uri: str, name: str, title: str, description: str, *, tool: str, field: str, wrap: str) -> Resource:
    text = _PAGE.substitute(title=title, name=name, tool=tool, field=field, wrap=wrap)
    return Resource(uri, name, title, description, text)


#: By uri, in the order of `resources/list`.
RESOURCES: Final[Mapping[str, Resource]] = MappingProxyType(
    {
        sheet.uri: sheet
        for sheet in (
            _sheet(
                DOCUMENT_RESOURCE,
                "nmemory_document",
                "nMEMORY document",
                "Shows the Markdown of memory_export as the text it is.",
                tool="memory_export",
                field="markdown",
                wrap="pre-wrap",
            ),
            _sheet(
                VISUAL_RESOURCE,
                "nmemory_visual",
                "nMEMORY visual",
                "Shows the Mermaid source of memory_visual; drawing it is the client's.",
                tool="memory_visual",
                field="mermaid",
                wrap="pre",
            ),
        )
    }
)
