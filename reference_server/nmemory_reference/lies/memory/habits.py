"""Variants in habits: servers that find more, that suspect more, and that let the dead rest."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from nmemory_reference.lies.answers import Body, Honest, Result, ask, asking, body_of, dumped, is_error, with_body
from nmemory_reference.lies.memory.answers import state_fault
from nmemory_reference.lies.variant import Variant
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

Json = Any


async def _capsule(call: ToolCall, honest: Honest, named: Json) -> Body:
    """What memory_get answers; an empty object where nothing of that name is stored."""
    try:
        return await ask(honest, call, "memory_get", id=named)
    except RpcFault:
        return {}


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.lower()))


#: Arguments that name a capsule, in tools that need not take a forgotten one.
_NAMED = {
    "memory_classify": ("capsule_id", "id"),
    "memory_vector": ("capsule_id", "id"),
    "memory_outcome": ("capsule_id",),
    "memory_preference": ("preferred_id", "rejected_id"),
}


class LetsTheDeadRest(Interceptor):
    """The forgotten takes no label, embedding or evidence; hints pass over what is fenced; scores have four digits."""

    def __init__(self) -> None:
        self._projects: dict[str, str] = {}
        self._put: list[str] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        for name in _NAMED.get(call.name, ()):
            named = call.arguments.get(name)
            if isinstance(named, str) and (await _capsule(call, honest, named)).get("outcome") == "tombstoned":
                # Whatever else is wrong with the call comes first.
                await honest(call)
                return state_fault("tombstoned_capsule", named)
        before = await _capsule(call, honest, call.arguments.get("id")) if call.name == "memory_forget" else {}
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        match call.name:
            case "memory_forget":
                self._projects[body["id"]] = before["capsule"]["scope"]["project_id"]
            case "memory_retrieve":
                body = self._fenced(call, body)
            case "memory_ingest":
                await self._hints(call, honest, body)
            case "memory_vector" if "vectors" in body:
                body["vectors"].sort(key=lambda row: self._place(row["capsule_id"]))
            case "memory_vector":
                self._put += [] if body["replaced"] else [body["capsule_id"]]
            case _:
                pass
        return with_body(result, body)

    def _place(self, named: str) -> int:
        return self._put.index(named) if named in self._put else -1

    def _fenced(self, call: ToolCall, body: Body) -> Body:
        """The probe for forgotten ids keeps to the project fences."""
        probed = [self._projects[term] for term in call.arguments["terms"] if term in self._projects]
        exact, prefix = call.arguments.get("project_id"), call.arguments.get("project_prefix")
        beyond = sum(
            (exact is not None and project != exact)
            or (prefix is not None and project != prefix and not project.startswith(f"{prefix}/"))
            for project in probed
        )
        excluded = body.get("excluded", {})
        if not beyond or "tombstoned" not in excluded:
            return body
        excluded["tombstoned"] -= beyond
        body["excluded"] = {reason: count for reason, count in excluded.items() if count}
        if body["excluded"]:
            return body
        del body["excluded"]
        if body["outcome"] == "grounded":
            return body
        return {"outcome": "abstain", "reason": f"nothing within {exact!r} and {prefix!r}"}

    async def _hints(self, call: ToolCall, honest: Honest, body: Body) -> None:
        """Nothing of the same batch, and nothing fenced, comes near; scores are not rounded to two digits."""
        batch = {row["id"] for row in body["outcomes"] if row["status"] == "captured"}
        for row in body["outcomes"]:
            if row["status"] != "captured":
                continue
            own = await _capsule(call, honest, row["id"])
            if hint := row["dedup_hint"]:
                row["dedup_hint"] = await self._near(call, honest, own, hint, hint["similar_id"], batch)
            near = [await self._near(call, honest, own, one, one["id"], batch) for one in row.pop("siblings", ())]
            if found := [one for one in near if one is not None]:
                row["siblings"] = found

    async def _near(
        self, call: ToolCall, honest: Honest, own: Body, hint: Body, named: str, batch: set[str]
    ) -> Body | None:
        other = await _capsule(call, honest, named)
        falsified = any(edge["kind"] == "falsifies" and edge["to"] == named for edge in other["relations"])
        if named in batch or other.get("tier") != "active" or "expired" in other or falsified:
            return None
        one, two = _words(own["capsule"]["content"]), _words(other["capsule"]["content"])
        return {**hint, "score": min(0.99, round(len(one & two) / max(len(one), len(two)), 4))}


_UNSPACED = re.compile(r"[぀-ヿ㐀-鿿가-힯]+")


class FindsMore(Interceptor):
    """Words inside of unspaced runs are found, aliases are followed on, and every alias that fits is told."""

    def __init__(self) -> None:
        self._runs: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        terms = call.arguments.get("terms")
        if call.name == "memory_ingest":
            self._runs |= {run for run in re.findall(r"\w+", dumped(dict(call.arguments))) if _UNSPACED.search(run)}
        if call.name != "memory_retrieve" or not isinstance(terms, list) or not all(isinstance(t, str) for t in terms):
            return await honest(call)
        aliases: dict[str, list[str]] = {}
        for pair in (await ask(honest, call, "memory_alias"))["aliases"]:
            aliases.setdefault(pair["term"], []).append(pair["alias"])
        more: dict[str, str] = {}
        for term in terms:
            first = aliases.get(term.lower(), [])
            more |= {beyond: f"alias:{term}" for one in first for beyond in aliases.get(one, ()) if beyond not in first}
            more |= {run: term for run in self._runs if _UNSPACED.fullmatch(term) and term in run and term != run}
        more = {extra: told for extra, told in more.items() if extra not in terms}
        result = await honest(asking(call, terms=[*terms, *more]) if more else call)
        if is_error(result):
            return result
        body = body_of(result)
        for row in body.get("results", ()):
            found = [more.get(term, term) for term in row["matched_terms"]]
            held = _words((await _capsule(call, honest, row["id"]))["capsule"]["content"])
            found += [
                f"alias:{term}" for term in found if any(_words(one) <= held for one in aliases.get(term.lower(), ()))
            ]
            row["matched_terms"] = list(dict.fromkeys(found))
        return with_body(result, body)


_COMMAND = re.compile(
    r"(?m)^(?:run|use|rotate|restart|delete|send|call|open|never|always|please|do not)\b", re.IGNORECASE
)


class EagerScan(Interceptor):
    """Ordinary imperatives are flagged too, as the rules of the scan are the server's; missed terms are not told."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        sent = call.arguments
        if call.name == "memory_ingest":
            items = sent.get("items")
            meant = [_flagged(item) for item in items] if isinstance(items, list) else None
            call = replace(call, arguments={**sent, "items": meant} if meant is not None else _flagged(sent))
        if call.name == "memory_classify" and _commands(sent.get("content")):
            call = asking(call, taint_hint=True)
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == "memory_ingest":
            items = sent.get("items", [sent])
            for item, row in zip(items, body["outcomes"], strict=True):
                if row["status"] != "rejected" and _commands(item["content"]):
                    row["taint_findings"] = [*row.get("taint_findings", ()), "imperative: opener"]
        if call.name == "memory_digest":
            # Its absence means that there are none, or that they can't be read.
            body.pop("recent_failures", None)
        if call.name == "memory_extract":
            for candidate in body["candidates"]:
                candidate["content"] = candidate["content"].rstrip(".!")
        if call.name == "memory_get" and _commands(body.get("capsule", {}).get("content")):
            body["taint_findings"] = [*body.get("taint_findings", ()), "imperative: opener"]
        return with_body(result, body)


def _commands(content: Json) -> bool:
    return isinstance(content, str) and bool(_COMMAND.search(content))


def _flagged(item: Json) -> Json:
    if not isinstance(item, dict) or not _commands(item.get("content")):
        return item
    return {**item, "instruction_taint": True} if isinstance(item.get("instruction_taint", False), bool) else item


#: Every variant in habits.
HABITS = (
    Variant("lets-the-dead-rest", "The forgotten takes nothing, and hints pass over more.", LetsTheDeadRest),
    Variant("finds-more", "Recall finds more, and explains it by more.", FindsMore),
    Variant(
        "eager-scan",
        "Ordinary imperatives are flagged too, the server has a project of its own, and missed terms are not told.",
        EagerScan,
        config={"project": "house"},
        gaps="a server with a project of its own makes none of its client's name; missed terms need not be told",
    ),
)
