"""Changing what memory_retrieve answers: what lies about recall share."""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from nmemory_reference.lies.answers import Body, Honest, Result, ask, asking, body_of, is_error, with_body, without
from nmemory_reference.lies.memory.answers import ARMOUR, success
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

RETRIEVE = "memory_retrieve"
GET = "memory_get"
LIST = "memory_list"

#: Enough for every row that a case can have.
PLENTY = 100_000


class Recalls(Interceptor, ABC):
    """Sees each call that succeeded with its body, and changes the body."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        self.change(call, body)
        return with_body(result, body)

    @abstractmethod
    def change(self, call: ToolCall, body: Body) -> None:
        """Change a body in place."""


def found(body: Body) -> list[Body]:
    """The rows of an answer; none where it is not grounded."""
    rows = body.get("results", [])
    assert isinstance(rows, list)
    return rows


def terms_of(call: ToolCall) -> list[str]:
    """The terms that are texts."""
    sent = call.arguments.get("terms")
    return [term for term in sent if isinstance(term, str)] if isinstance(sent, list) else []


def with_terms(call: ToolCall, change: Callable[[str], str]) -> ToolCall:
    """The same call with other terms, where it has good ones."""
    terms = terms_of(call)
    return asking(call, terms=[change(term) for term in terms]) if terms == call.arguments.get("terms") else call


def number(named: str) -> int:
    """The number in an id, by which capsules stand in the order of their capture."""
    return int(named.rpartition("-")[2])


def folded(text: str) -> str:
    """A text in small letters without diacritics."""
    split = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in split if not unicodedata.combining(letter)).casefold()


def words(text: str) -> list[str]:
    """The words of a text, folded."""
    return "".join(letter if letter.isalnum() else " " for letter in folded(text)).split()


def abstention(reason: str = "Nothing matches.") -> Body:
    """The body of an answer that found nothing."""
    return {"outcome": "abstain", "reason": reason}


def missing(excluded: Body) -> Body:
    """The body of an answer whose evidence is all fenced."""
    return {"outcome": "missing_evidence", "excluded": excluded, "reason": "All that matches is fenced."}


def became(body: Body, other: Body) -> None:
    """Make one body another in place."""
    body.clear()
    body.update(other)


def show(body: Body, rows: Sequence[Body]) -> None:
    """Make these the rows of a grounded answer; where there are none nothing was found."""
    if not rows:
        became(body, missing(body["excluded"]) if body.get("excluded") else abstention())
        return
    body.update({"results": list(rows), "matched": len(rows), "returned": len(rows)})


def drop(body: Body, out: Callable[[Body], bool]) -> None:
    """Leave rows out of an answer as if they had not matched."""
    if any(out(row) for row in found(body)):
        show(body, [row for row in found(body) if not out(row)])


def recount(body: Body, reason: str, told: str | None) -> None:
    """Count under another reason what an answer excludes; under none where `told` is None."""
    excluded = body.get("excluded", {})
    if (count := excluded.pop(reason, 0)) and told is not None:
        excluded[told] = excluded.get(told, 0) + count
    if body.get("outcome") == "missing_evidence" and not excluded:
        became(body, abstention())


def within_ties(rows: list[Body], key: Callable[[Body], Any]) -> list[Body]:
    """Rows sorted anew among those that match as many terms as well."""
    return sorted(rows, key=lambda row: (-len(row["matched_terms"]), row.get("bm25", 0), key(row)))


def weight(row: Body) -> float:
    """Confidence halved every 90 days, unrounded."""
    return float(row["confidence"] * 0.5 ** (age(row) / 90))


def age(row: Body) -> float:
    """The days since a row has been valid."""
    return (datetime.now(UTC) - instant(row["freshness"]["valid_from"])).total_seconds() / 86_400


def instant(text: str) -> datetime:
    """An instant that the reference wrote."""
    return datetime.fromisoformat(text)


async def entries(call: ToolCall, honest: Honest) -> list[Body]:
    """The list of what a recall may look at, tiers and all."""
    fences = {name: call.arguments[name] for name in ("project_id", "project_prefix") if name in call.arguments}
    listed = await ask(honest, call, LIST, limit=1000, **fences)
    rows = listed["entries"]
    assert isinstance(rows, list)
    return rows


async def touched(call: ToolCall, honest: Honest) -> list[Body]:
    """What is listed and holds all the words of one of the terms in its headline."""
    asked = [set(words(term)) for term in terms_of(call)]
    return [row for row in await entries(call, honest) if any(term <= set(words(row["headline"])) for term in asked)]


async def capsule(call: ToolCall, honest: Honest, named: str) -> Body:
    """What memory_get shows of a capsule."""
    return await ask(honest, call, GET, id=named)


async def made_up(call: ToolCall, honest: Honest, named: str) -> Body:
    """A row for a capsule that recall left out."""
    shown = await capsule(call, honest, named)
    kept = shown["capsule"]
    return {
        **ARMOUR,
        "id": named,
        "headline": kept["content"].partition("\n")[0][:120],
        "instruction_taint": kept["instruction_taint"],
        "authority_class": kept["authority_class"],
        "confidence": kept["confidence"],
        "decayed_weight": kept["confidence"],
        "provenance": kept["provenance"],
        "anchor_live": "unknown",
        "anchor_drift": "unknown",
        "freshness": kept["freshness"],
        "matched_terms": terms_of(call)[:1],
        "relevance": 0.5,
        "bm25": -1e-06,
    }


def grounded(rows: Sequence[Body]) -> Body:
    """The body of an answer with rows, made up."""
    body: Body = {"outcome": "grounded", "results": list(rows), "matched": len(rows), "returned": len(rows)}
    return {**body, "trimmed": 0, "trimmed_by_limit": 0, "trimmed_by_budget": 0, "token_budget": PLENTY}


async def asked(call: ToolCall, honest: Honest, change: Callable[[Body], None]) -> Result:
    """The answer to a call with its body changed, where it is no error."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    change(body)
    return with_body(result, body)


async def sifted(call: ToolCall, honest: Honest, keeps: Callable[[Body], Awaitable[bool]], *ignored: str) -> Result:
    """The answer to the same call without some arguments, of which the rows are shown that it `keeps`."""
    result = await honest(without(call, *ignored))
    if is_error(result):
        return result
    body = body_of(result)
    show_or_leave(body, [row for row in found(body) if await keeps(row)])
    return with_body(result, body)


def show_or_leave(body: Body, rows: Sequence[Body]) -> None:
    """Show these rows of a grounded answer; leave another."""
    if body["outcome"] == "grounded":
        show(body, rows)


async def also(call: ToolCall, honest: Honest, other: ToolCall) -> Result:
    """The answer to a call with the rows of another one behind its own."""
    first, second = body_of(await honest(call)), body_of(await honest(other))
    known = {row["id"] for row in found(first)}
    more = [row for row in found(second) if row["id"] not in known]
    return success(**grounded([*found(first), *more])) if more else await honest(call)


def is_vector(call: ToolCall) -> bool:
    """Whether a call searches vectors only."""
    return call.arguments.get("lane") == "vector"


def is_fused(call: ToolCall) -> bool:
    """Whether a call searches both words and vectors."""
    return call.arguments.get("lane", "auto") in ("auto", "fused") and "query_embedding" in call.arguments


def shuffled(rows: Iterable[Body], ids: Iterable[str]) -> list[Body]:
    """Rows in the order of these ids."""
    by_id = {row["id"]: row for row in rows}
    return [by_id[named] for named in ids if named in by_id]
