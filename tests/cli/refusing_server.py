"""A server on stdio that lists the five verbs and refuses every call in the contract's own words."""

import json
import sys

VERBS = ("recall", "remember", "entity", "synthesize", "forget")
REFUSAL = {"error": "unavailable", "message": "not now", "suggestion": "try later", "protocol_version": 1}
ANSWERS = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "refusing", "version": "1"},
    },
    "tools/list": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in VERBS]},
    "tools/call": {"isError": True, "content": [{"type": "text", "text": json.dumps(REFUSAL)}]},
}

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] in ANSWERS:
        answer["result"] = ANSWERS[message["method"]]
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    print(json.dumps(answer), flush=True)
