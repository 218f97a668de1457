"""Vectors of texts from an OpenAI-compatible endpoint."""

from __future__ import annotations

from array import array

from nmemory_reference.verbs.embedding import MAX_CHARACTERS, unit
from nmemory_reference.verbs.model_endpoint import ModelEndpoint, ModelUnavailable


class EndpointEmbedder:
    """The `/embeddings` of an OpenAI-compatible server."""

    semantic = True

    def __init__(self, endpoint: ModelEndpoint) -> None:
        self._endpoint = endpoint
        self.model = endpoint.model

    async def embed(self, text: str) -> array[float]:
        """The vector of the first MAX_CHARACTERS characters of `text`."""
        body = {"model": self.model, "input": text[:MAX_CHARACTERS]}
        answer = await self._endpoint.post("embeddings", body)
        try:
            vector = array("f", answer["data"][0]["embedding"])
        except (LookupError, TypeError, OverflowError) as error:
            raise ModelUnavailable("the embeddings endpoint sent no vector") from error
        return unit(vector)
