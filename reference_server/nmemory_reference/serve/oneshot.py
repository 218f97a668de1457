"""One call from the command line, as the local user."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from nmemory_reference.serve.config import Config
from nmemory_reference.serve.endpoint import Endpoint
from nmemory_reference.serve.interceptor import ToolCall
from nmemory_reference.tools.caller import Caller


def one_shot(config: Config, tool: str, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Call `tool` on the memory of `config` as a trusted local caller, who sees what is private.

    Gives the body, and whether it is an error envelope. Raises ConfigError and StoreError.
    """
    endpoint = Endpoint.open(config)
    try:
        call = ToolCall(tool, arguments, Caller(remote=False))
        result = asyncio.run(endpoint.call_tool(call))
    finally:
        endpoint.close()
    body: dict[str, Any] = json.loads(result["content"][0]["text"])
    return body, bool(result["isError"])
