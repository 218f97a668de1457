"""Lies about synthesize: what is answered without a model, and what is made up with one."""

from __future__ import annotations

from nmemory_reference.lies.answers import Body, Honest, Result, ask, is_error, text_argument
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.verbs.answers import failure, success
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("synthesize")


class Answering(Interceptor):
    """The reference as if it had a language model: it answers with what a search finds."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        question = text_argument(call, "question")
        if call.name != "synthesize" or not question or not question.strip():
            return await honest(call)
        found = (await ask(honest, call, "recall", query=question, limit=5)).get("results", [])
        body = {
            "answer": " ".join(result["chunk"] or result["title"] for result in found) or "Nothing is known.",
            "sources": [result["slug"] for result in found],
            "gaps": [] if found else ["There is no page about it."],
            "synthesis_status": "ok",
            "warnings": ["The model was not asked twice."],
            "cost": {"model": "made-up-1", "input_tokens": 128, "output_tokens": 32, "usd_estimate": 0.0004},
        }
        return success(**await self.answered(call, honest, body))

    async def answered(self, call: ToolCall, honest: Honest, body: Body) -> Body:
        """The answer, for lies to change."""
        return body


@area.answer("synthesize", clause="mv1/synthesize/answer-or-unavailable")
async def without_a_model_it_is_internal(call: ToolCall, honest: Honest) -> Result:
    """Without a language model the error is internal."""
    return await _instead_of_unavailable(call, honest, failure("internal", "no model"))


@area.answer("synthesize", clause="mv1/synthesize/answer-or-unavailable")
async def without_a_model_it_is_not_found(call: ToolCall, honest: Honest) -> Result:
    """Without a language model the error is not_found."""
    return await _instead_of_unavailable(call, honest, failure("not_found", "no model"))


@area.answer("synthesize", clause="mv1/synthesize/answer-or-unavailable")
async def without_a_model_the_answer_is_null(call: ToolCall, honest: Honest) -> Result:
    """Without a language model there is an answer, which is null."""
    return await _instead_of_unavailable(call, honest, success(answer=None, sources=[], cost=None))


@area.answer("synthesize", clause="mv1/synthesize/answer-or-unavailable", also={"mv1/error/suggestion"})
async def without_a_model_nothing_is_explained(call: ToolCall, honest: Honest) -> Result:
    """Without a language model the suggestion is empty."""
    return await _instead_of_unavailable(call, honest, failure("unavailable", "no model", ""))


@area.answer("synthesize", clause="mv1/synthesize/answer-or-unavailable")
async def without_a_model_it_is_left_open(call: ToolCall, honest: Honest) -> Result:
    """Without a language model the answer has no sources and no cost."""
    return await _instead_of_unavailable(call, honest, success(answer="I do not know."))


async def _instead_of_unavailable(call: ToolCall, honest: Honest, other: Result) -> Result:
    result = await honest(call)
    return other if is_error(result) and (text_argument(call, "question") or "").strip() else result


@area.answer("synthesize", clause="mv1/synthesize/question-blank")
async def blank_question_is_unavailable(call: ToolCall, honest: Honest) -> Result:
    """A blank question is refused with unavailable: whether there is a model is asked first."""
    if not (text_argument(call, "question") or "").strip():
        return failure("unavailable", "no model")
    return await honest(call)


@area.answer("synthesize", clause="mv1/synthesize/question-blank")
async def white_space_is_a_question(call: ToolCall, honest: Honest) -> Result:
    """A question of white space is refused with unavailable."""
    question = text_argument(call, "question")
    if question and not question.strip():
        return failure("unavailable", "no model")
    return await honest(call)


@area.liar("synthesize", clause="mv1/synthesize/cost-four-keys", claims=())
class UnknownCostsAreLeftOut(Answering):
    """What is not known of the cost is left out."""

    async def answered(self, call: ToolCall, honest: Honest, body: Body) -> Body:
        del body["cost"]["usd_estimate"]
        return body


@area.liar("synthesize", clause="mv1/synthesize/sources-exist", claims=())
class ASourceIsMadeUp(Answering):
    """One source more is cited, of a page that is not there."""

    async def answered(self, call: ToolCall, honest: Honest, body: Body) -> Body:
        return {**body, "sources": [*body["sources"], "people/nobody-of-that-name"]}


@area.liar("synthesize", clause="mv1/synthesize/sources-exist", claims=())
class SourcesAreTitles(Answering):
    """Sources are cited by something else than their slugs."""

    async def answered(self, call: ToolCall, honest: Honest, body: Body) -> Body:
        return {**body, "sources": [f"[1] {slug}" for slug in body["sources"]]}


@area.answer("synthesize", clause="mv1/synthesize/no-write")
async def question_is_kept_as_a_fact(call: ToolCall, honest: Honest) -> Result:
    """The question is kept as a fact."""
    question = text_argument(call, "question")
    if question and question.strip():
        await ask(honest, call, "remember", fact=question, provenance="synthesize")
    return await honest(call)


@area.answer("synthesize", clause="mv1/synthesize/no-write")
async def question_becomes_a_page(call: ToolCall, honest: Honest) -> Result:
    """The question is kept as a page."""
    question = text_argument(call, "question")
    if question and question.strip():
        content = f"---\ntitle: Question\n---\n\n{question}\n"
        await ask(honest, call, "put_page", slug=f"questions/{abs(hash(question)) % 10**8}", content=content)
    return await honest(call)


@area.liar("synthesize", clause="mv1/synthesize/no-write", claims=())
class AnswersAreKept(Answering):
    """Each answer is kept as a fact."""

    async def answered(self, call: ToolCall, honest: Honest, body: Body) -> Body:
        question = str(call.arguments["question"])
        await ask(honest, call, "remember", fact=f"Asked: {question}", provenance="synthesize")
        return body
