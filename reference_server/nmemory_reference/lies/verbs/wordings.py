"""Variants in what the verbs say of themselves, and in what they say to people."""

from __future__ import annotations

from nmemory_reference.lies.answers import Body, Honest, Result, body_of, with_body
from nmemory_reference.lies.variant import Lists, Variant
from nmemory_reference.serve.interceptor import ToolCall


def _bare_tools(tools: list[Body]) -> list[Body]:
    """Nothing but what is demanded; the enums are gone, which is no more than a warning."""
    for tool in tools:
        schema = tool["inputSchema"]
        for one in schema["properties"].values():
            for keyword in ("enum", "maxLength", "minimum", "default", "description"):
                one.pop(keyword, None)
        tool.pop("title", None)
        tool.pop("annotations", None)
    return tools


def _strict_schemas(tools: list[Body]) -> list[Body]:
    for tool in tools:
        tool["inputSchema"] |= {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "additionalProperties": False,
            "$defs": {"unused": {"type": "null"}},
        }
        tool["outputSchema"] = {"type": "object"}
    return tools


def _reworded_tools(tools: list[Body]) -> list[Body]:
    for tool in tools:
        mark = "[EXPENSIVE] " if tool["name"] == "synthesize" else ""
        tool |= {"title": "Ein Werkzeug", "description": f"{mark}Ein Werkzeug für das Gedächtnis."}
    return tools


class OtherWords(Lists):
    """Every text for people is another one."""

    def __init__(self) -> None:
        super().__init__(_reworded_tools)

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        body = body_of(result)
        shorthand = "45m, 12h, 30d" if "ttl" in call.arguments else "."
        words = {
            "message": "",
            "suggestion": f"Bitte anders versuchen: {shorthand}",
            "status_text": "✓",
            "search_degraded": "nur Wörter",
            "detail": "…",
        }
        return with_body(result, {key: words.get(key, value) for key, value in body.items()})


#: Every variant in words.
WORDINGS = (
    Variant("bare-tools", "Tools are listed without titles, annotations and enums.", lambda: Lists(_bare_tools)),
    Variant("strict-schemas", "Input schemas allow no unknown members.", lambda: Lists(_strict_schemas)),
    Variant("other-words", "Every text for people is another one.", OtherWords),
)
