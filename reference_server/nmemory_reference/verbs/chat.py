"""Asking a chat model one question."""

from __future__ import annotations

from typing import NamedTuple

from nmemory_reference.verbs.model_endpoint import ModelEndpoint, ModelUnavailable


class Reply(NamedTuple):
    """What the model said, and what it says that took."""

    text: str
    model: str
    input_tokens: int | None
    output_tokens: int | None


class Chat(NamedTuple):
    """The `/chat/completions` of an OpenAI-compatible server."""

    endpoint: ModelEndpoint

    async def ask(self, system: str, question: str) -> Reply:
        """The model's reply. Raises ModelUnavailable, also when the model refuses."""
        answer = await self.endpoint.post(
            "chat/completions",
            {
                "model": self.endpoint.model,
                "messages": [{"role": "system", "content": system}, {"role": "user", "content": question}],
            },
        )
        try:
            choice = answer["choices"][0]
            message = choice["message"]
            text, refusal = message.get("content"), message.get("refusal")
            reason = choice.get("finish_reason")
        except (LookupError, TypeError, AttributeError) as error:
            raise ModelUnavailable("the model endpoint sent no reply") from error
        if refusal or reason == "content_filter":
            raise ModelUnavailable("the model refused to answer")
        if not isinstance(text, str) or not text.strip():
            raise ModelUnavailable("the model's reply is empty")
        model = answer.get("model")
        return Reply(
            text,
            model if isinstance(model, str) and model else self.endpoint.model,
            _count(answer.get("usage"), "prompt_tokens"),
            _count(answer.get("usage"), "completion_tokens"),
        )


def _count(usage: object, key: str) -> int | None:
    count = usage.get(key) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) else None
