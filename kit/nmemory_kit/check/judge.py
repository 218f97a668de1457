"""Judging an answer: the checks of a step, and the standing checks of the pack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..contract.case import Check, Refusal
from ..contract.pack import Pack, Standing
from ..contract.template import NoSuchPlace, resolve
from .answer import MISSING, Answer, Outcome
from .broken import Broken
from .laws import laws
from .vocabulary import Schema, compile_schema, judge_schema, show

Json = Any


@dataclass(frozen=True, slots=True)
class Judgement:
    """A broken expectation with the clause that it breaks."""

    clause: str
    broken: Broken
    #: Whether a standing check found it, not the case's own expectation.
    standing: bool = False


class Judges:
    """A pack's judges, with its schemas compiled once."""

    def __init__(self, pack: Pack, mcp_version: str | None = None) -> None:
        """``mcp_version`` is the one that the target speaks."""
        self._pack = pack
        self._renumbered = pack.renumbered.get(mcp_version or "", {})
        standing = [(one, compile_schema(one.schema) if one.schema is not None else None) for one in pack.standing]
        #: The standing checks by the tools whose answers they judge, with their schemas.
        self._standing = {
            tool: [(one, schema) for one, schema in standing if one.tools is None or tool in one.tools]
            for tool in pack.tools
        }

    def standing(self, tool: str, answer: Answer, unjudged: tuple[str, ...] = ()) -> Iterator[Judgement]:
        """What the standing checks find in an answer of one of the pack's tools."""
        for check, schema in self._judging(tool, answer, unjudged):
            for broken in self._stand(check, schema, answer):
                yield Judgement(check.clause, broken, standing=True)

    def stand(self, tool: str, answer: Answer, unjudged: tuple[str, ...] = ()) -> frozenset[str]:
        """The clauses whose standing checks judge an answer."""
        return frozenset(check.clause for check, _ in self._judging(tool, answer, unjudged))

    def _judging(
        self, tool: str, answer: Answer, unjudged: tuple[str, ...]
    ) -> Iterator[tuple[Standing, Schema | None]]:
        """The standing checks that judge an answer."""
        if "*" not in unjudged:
            for check, schema in self._standing.get(tool, ()):
                if check.name not in unjudged and _applies(check, answer):
                    yield check, schema

    def refusal(self, refusal: Refusal, answer: Answer) -> Broken | None:
        """Whether an answer is one of the errors that a step asks for: what is broken, or None."""
        match answer.outcome:
            case Outcome.SUCCESS:
                return Broken("", f"an error: {describe(refusal)}", f"a success: {show(answer.body)}")
            case Outcome.ERROR:
                return self._refused_in_band(refusal, answer)
            case Outcome.RPC:
                code = answer.raw.get("code")
                if code not in refusal.rpc and code not in map(self._renumbered.get, refusal.rpc):
                    return Broken("/error/code", describe(refusal), f"JSON-RPC error {code}: {show(answer.text)}")
                worded = _first(refusal.message, answer.text, "/error/message")
                return worded or _first(refusal.body, answer.body, "/error/data")
            case Outcome.REFUSED:
                if answer.status not in refusal.status:
                    return Broken("", describe(refusal), f"HTTP status {answer.status}")
                return None

    def _refused_in_band(self, refusal: Refusal, answer: Answer) -> Broken | None:
        code = self.error_code(answer)
        if refusal.codes and code in refusal.codes:
            return _first(refusal.body, answer.body, "")
        if refusal.in_band is not None:
            return _first(refusal.in_band, answer.text, "/content/0/text")
        got = f"the error {show(code)}" if code is not None else f"an error without a code: {show(answer.text)}"
        return Broken(self._pack.error_code or "", describe(refusal), got)

    def error_code(self, answer: Answer) -> Json:
        """The code of an error envelope, or None where there is none."""
        if self._pack.error_code is None or answer.body is MISSING:
            return None
        try:
            return resolve(answer.body, self._pack.error_code)
        except NoSuchPlace:
            return None

    @staticmethod
    def _stand(check: Standing, schema: Schema | None, answer: Answer) -> Iterable[Broken]:
        if check.law is not None:
            return laws()[check.law](answer, check.args)
        if schema is None or answer.body is MISSING:
            # That there is no body is a law's to report, once, not every schema's.
            return ()
        return judge_schema(schema, answer.body)


def judge_check(check: Check, answer: Answer) -> Iterator[Broken]:
    """What one expectation of a step (placeholders filled) finds in an answer."""
    if check.schema is not None:
        yield from judge_schema(compile_schema(check.schema), answer.body)
    if check.law is not None:
        yield from laws()[check.law](answer, check.args or {})
    for text in check.nowhere:
        if answer.mentions(text):
            yield Broken("", f"the text {show(text)} nowhere in the answer", _around(answer, text))
    for text in check.shows:
        if not answer.mentions(text):
            yield Broken("", f"the text {show(text)} in the answer", show(answer.body if answer.text else answer.raw))


def describe(refusal: Refusal) -> str:
    """The errors that a step accepts, in words."""
    parts = [f"the error {' or '.join(refusal.codes)}"] if refusal.codes else []
    parts += [f"JSON-RPC error {code}" for code in refusal.rpc]
    parts += [f"HTTP status {status}" for status in refusal.status]
    parts += ["an error result"] if refusal.in_band is not None else []
    return " or ".join(parts)


def _applies(check: Standing, answer: Answer) -> bool:
    match check.on:
        case "success":
            return answer.outcome is Outcome.SUCCESS
        case "error":
            return answer.outcome is Outcome.ERROR
        case "any":
            return answer.outcome in (Outcome.SUCCESS, Outcome.ERROR)


def _first(schema: Json | None, value: Json, place: str) -> Broken | None:
    if schema is None:
        return None
    if value is MISSING:
        return Broken(place, "something", "nothing")
    for broken in judge_schema(compile_schema(schema), value):
        return Broken(place + broken.pointer, broken.expected, broken.got)
    return None


def _around(answer: Answer, text: str) -> str:
    """The surroundings of a text that should not be there."""
    where = next(string for string in answer.strings if text in string)
    start = where.index(text)
    return show(where[max(0, start - 60) : start + len(text) + 60])
