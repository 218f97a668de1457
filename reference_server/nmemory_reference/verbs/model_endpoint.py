"""One OpenAI-compatible HTTP endpoint: a bounded, asynchronous POST, and one error for all that fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


class ModelUnavailable(Exception):
    """A model could not be asked, or did not answer; the text names the reason and holds no secret."""


@dataclass(frozen=True, slots=True)
class ModelEndpoint:
    """Where a model is reached; `url` ends before `/embeddings` or `/chat/completions`."""

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    timeout_seconds: float = 60.0

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The endpoint's JSON answer. Raises ModelUnavailable for every other outcome."""
        import httpx  # it costs a tenth of a second, and most servers have no model

        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        try:
            async with httpx.AsyncClient(timeout=self.timeout_seconds) as client:
                response = await client.post(f"{self.url.rstrip('/')}/{path}", json=body, headers=headers)
        except httpx.TimeoutException as error:
            raise ModelUnavailable(f"the model endpoint took over {self.timeout_seconds:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeEncodeError) as error:
            raise ModelUnavailable("the model endpoint can't be reached") from error
        if response.is_error:
            raise ModelUnavailable(f"the model endpoint answered HTTP {response.status_code}")
        try:
            answer = response.json()
        except ValueError as error:
            raise ModelUnavailable("the model endpoint sent no JSON") from error
        if not isinstance(answer, dict):
            raise ModelUnavailable("the model endpoint sent no JSON object")
        return answer
