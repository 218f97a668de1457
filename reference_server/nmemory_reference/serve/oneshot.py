"""One call from the command line, as the local user."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final

from nmemory_reference.serve.config import Config
from nmemory_reference.serve.endpoint import Endpoint
from nmemory_reference.serve.interceptor import Result, RpcFault, ToolCall
from nmemory_reference.tools.caller import Caller

#: Who the journal names for a call from the command line.
COMMAND_LINE: Final = "cli"


class Refused(Exception):
    """A memory tool refused; the message says why, and what to do."""


def one_shot(config: Config, tool: str, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Call a verb on the memory of `config` as a trusted local caller, who sees what is private.

    Gives the body, and whether it is an error envelope. Raises ConfigError and StoreError.
    """
    result = _call(config, tool, arguments)
    body: dict[str, Any] = json.loads(_text(result))
    return body, bool(result["isError"])


def memory_one_shot(config: Config, tool: str, arguments: Mapping[str, Any]) -> str:
    """Call a memory tool on the memory of `config`; gives the text that a client would be answered.

    Raises Refused, ConfigError and StoreError.
    """
    try:
        result = _call(config, tool, arguments)
    except RpcFault as fault:
        raise Refused(fault.message.rstrip(".")) from fault
    if result["isError"]:
        raise Refused(_text(result))
    return _text(result)


def _call(config: Config, tool: str, arguments: Mapping[str, Any]) -> Result:
    endpoint = Endpoint.open(config)
    try:
        call = ToolCall(tool, arguments, Caller(remote=False, client=COMMAND_LINE))
        return asyncio.run(endpoint.call_tool(call))
    finally:
        endpoint.close()


def _text(result: Result) -> str:
    text: str = result["content"][0]["text"]
    return text
