"""Variants of a build that is newer than the contract, and of one that measures otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any

from nmemory_reference.lies.answers import Body, Honest, Result, ask, asking, body_of, dumped, is_error, with_body
from nmemory_reference.lies.memory.answers import rows
from nmemory_reference.lies.variant import Lists, Variant
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

Json = Any

_REVIEW = {"state": "accepted", "history": []}


def _later_tools(tools: list[Body]) -> list[Body]:
    """Tools, arguments and members of closed sets that the contract does not know."""
    for tool in tools:
        members = tool["inputSchema"]["properties"]
        match tool["name"]:
            case "memory_ingest":
                members["staged"] = {"type": "boolean"}
            case "memory_retrieve":
                members |= {name: {"type": "string"} for name in ("effort_id", "topic_id")}
                members |= {"include_staged": {"type": "boolean"}, "corroboration_blend": {"type": "number"}}
            case "memory_relate":
                members["kind"]["enum"].append("about")
            case "memory_import":
                members["source"]["enum"].append("notion-export-dir")
            case "memory_list":
                members["review_state"] = {"enum": ["proposed", "accepted", "rejected"]}
    return [*tools, {"name": "memory_effort", "inputSchema": {"type": "object"}}]


class LaterBuild(Lists):
    """Shows what known servers have added since: reviews, efforts, corroboration, and siblings that say more."""

    def __init__(self) -> None:
        super().__init__(_later_tools)

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        match call.name:
            case "memory_ingest":
                self._captures(call, body)
            case "memory_get" if "capsule" in body:
                body["review_state"] = _REVIEW
            case "memory_list":
                for row in body["entries"]:
                    row["review_state"] = "accepted"
            case "memory_retrieve":
                for row in body.get("results", ()):
                    row |= {"review_state": "accepted", "corroboration": 2, "corroboration_weight": 0.5}
                body |= {"effort": {"id": "cap-1", "role": None}}
                if "excluded" in body:
                    body["excluded"] = {"proposed": 0, **body["excluded"]}
            case "memory_digest":
                efforts = await self._efforts(call, honest)
                body |= {"staged": 0, "open_efforts": efforts, "open_efforts_total": len(efforts)}
            case "memory_bootstrap":
                await self._pack(call, honest, body)
            case "memory_export":
                body["markdown"] = body["markdown"].replace(" relations=", " staged=0 relations=", 1)
            case _:
                pass
        return with_body(result, body)

    def _captures(self, call: ToolCall, body: Body) -> None:
        items = call.arguments.get("items", [call.arguments])
        for item, row in zip(items, body["outcomes"], strict=True):
            if row["status"] != "rejected" and item.get("kind") in ("epic", "task"):
                row["unanchored"] = True
            if siblings := row.pop("siblings", None):
                row |= {"review": {"state": "accepted"}, "siblings": [{"why": "words", **one} for one in siblings]}

    async def _efforts(self, call: ToolCall, honest: Honest) -> list[Body]:
        """The live epics in scope, as rows."""
        fences = {name: call.arguments[name] for name in ("project_id", "project_prefix") if name in call.arguments}
        listed = await ask(honest, call, "memory_list", kind="epic", **fences)
        return [row for row in listed["entries"] if "superseded" not in row and "expired" not in row]

    async def _pack(self, call: ToolCall, honest: Honest, body: Body) -> None:
        """Efforts stand behind what is ready, cost what they cost, and have their handles."""
        efforts = await self._efforts(call, honest)
        body["open_efforts_total"] = len(efforts)
        cost = sum(ceil(len(dumped(row)) / 4) + ceil(len(row["id"]) / 4) for row in efforts)
        budget = body["budget"]
        if not efforts or budget["trimmed_by_budget"] or budget["used_tokens"] + cost > budget["token_budget"]:
            return
        budget["used_tokens"] += cost
        body["open_efforts"] = efforts
        ready = body["ready"]
        leading = [*body.get("constraints", ()), *filter(None, [ready.get("next_action")]), *ready["ready"], *efforts]
        trailing = [*body.get("decisions", ()), *body.get("traps", ())]
        body["handles"] = list(dict.fromkeys(row["id"] for row in (*leading, *trailing)))


# Other measures

#: Where no budget was sent; the contract names that of a pack only.
_DEFAULTS = {"memory_retrieve": 900, "memory_bootstrap": 1500}


def _scaled(budget: Json) -> Json:
    """Three quarters of a budget: a token is reckoned at three characters instead of four."""
    return max(1, budget * 3 // 4) if isinstance(budget, int) and budget > 0 else budget


def _short(headline: str) -> str:
    """A headline of 128 characters at most, and the ellipsis where it was cut."""
    if len(headline) <= 128:
        return headline
    return f"{headline[:128]}…"


class OtherMeasures(Interceptor):
    """Tokens are dearer, headlines shorter, and scores have other scales and digits."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        asked = call
        budget = call.arguments.get("token_budget")
        if call.name in ("memory_retrieve", "memory_bootstrap"):
            budget = _DEFAULTS[call.name] if budget is None else budget
            asked = asking(call, token_budget=_scaled(budget))
        if call.name == "memory_retrieve" and call.arguments.get("vector_k") is None:
            asked = asking(asked, vector_k=6)
        result = await honest(asked)
        if is_error(result):
            return result
        body = body_of(result)
        for row in self._headlined(call, body):
            row["headline"] = _short(row["headline"])
        match call.name:
            case "memory_retrieve" if "token_budget" in body:
                body["token_budget"] = budget
                for row in body["results"]:
                    _rescored(row)
            case "memory_bootstrap":
                body["budget"]["token_budget"] = budget
                body["budget"]["used_tokens"] = ceil(body["budget"]["used_tokens"] * 4 / 3)
            case "memory_consolidate":
                near = [one for one in body["plan"]["merge_proposals"] if one["containment_score"] >= 0.6]
                body["plan"]["merge_proposals"] = [
                    {**one, "containment_score": one["containment_score"] ** 2} for one in near
                ]
            case _:
                pass
        return with_body(result, body)

    def _headlined(self, call: ToolCall, body: Body) -> Iterator[Body]:
        yield from (row for row in rows(call.name, body) if "headline" in row)
        if call.name == "memory_digest":
            yield from body.get("mission", {}).get("roots", ())
        if call.name == "memory_bootstrap" and "next_action" in body["ready"]:
            yield body["ready"]["next_action"]


def _rescored(row: Body) -> None:
    if "bm25" in row:
        row |= {"bm25": row["bm25"] * 3 - 1, "relevance": row["relevance"] / 2}
    if "vector_similarity" in row:
        row["vector_similarity"] = round(row["vector_similarity"], 3)


#: Every variant of other builds and other measures.
BUILDS = (
    Variant("later-build", "What known servers have added since is shown.", LaterBuild),
    Variant("other-measures", "Tokens, headlines and scores are reckoned otherwise.", OtherMeasures),
)
