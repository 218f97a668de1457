"""Lies about the lanes of a recall: who searches, what a row then carries, and how near is near enough."""

from __future__ import annotations

from collections.abc import Callable

from nmemory_reference.lies.answers import Body, Honest, Result, asking, body_of, is_error, with_body, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import VALUE, success
from nmemory_reference.lies.memory.recalled import (
    RETRIEVE,
    abstention,
    also,
    drop,
    found,
    is_fused,
    is_vector,
    show_or_leave,
    shuffled,
)
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("lanes")

VECTOR = "memory_vector"


def _lane(call: ToolCall) -> object:
    return call.arguments.get("lane", "auto")


def _embeds(call: ToolCall) -> bool:
    return bool(call.arguments.get("query_embedding"))


# Which lane runs


@area.asking(RETRIEVE, clause="nm1/retrieve/lane-closed-set")
def lanes_are_read_kindly(call: ToolCall) -> ToolCall:
    """A lane in capitals is taken."""
    lane = call.arguments.get("lane")
    return asking(call, lane=lane.lower()) if isinstance(lane, str) else call


@area.asking(RETRIEVE, clause="nm1/retrieve/lane-closed-set")
def an_empty_lane_is_auto(call: ToolCall) -> ToolCall:
    """An empty lane is taken for auto."""
    return without(call, "lane") if call.arguments.get("lane") == "" else call


@area.liar(RETRIEVE, VECTOR, clause="nm1/retrieve/lane-auto-term", also={"nm1/vector/dormant"})
class AutoAsksTheLastEmbedding(Interceptor):
    """Lane auto without an embedding searches by the one that was attached last."""

    def __init__(self) -> None:
        self._last: object = None

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == RETRIEVE and self._last and _lane(call) == "auto" and not _embeds(call):
            return await honest(asking(call, query_embedding=self._last))
        result = await honest(call)
        if call.name == VECTOR and not is_error(result) and "embedding" in call.arguments:
            self._last = call.arguments["embedding"]
        return result


@area.answer(RETRIEVE, clause="nm1/retrieve/lane-auto-term")
async def auto_demands_an_embedding(call: ToolCall, honest: Honest) -> Result:
    """Lane auto by its name is refused without an embedding."""
    if call.arguments.get("lane") == "auto" and not _embeds(call):
        raise RpcFault(VALUE, "lane auto needs query_embedding")
    return await honest(call)


@area.asking(RETRIEVE, clause="nm1/retrieve/lane-auto-fused")
def auto_prefers_vectors(call: ToolCall) -> ToolCall:
    """Without a lane an embedding replaces the words."""
    return asking(call, lane="vector") if "lane" not in call.arguments and _embeds(call) else call


@area.asking(RETRIEVE, clause="nm1/retrieve/lane-auto-fused")
def auto_by_name_is_words(call: ToolCall) -> ToolCall:
    """Lane auto by its name passes over the embedding."""
    return without(call, "query_embedding") if call.arguments.get("lane") == "auto" else call


@area.answer(RETRIEVE, clause="nm1/retrieve/lane-term")
async def words_that_fail_ask_vectors(call: ToolCall, honest: Honest) -> Result:
    """Where words find nothing lane term goes on to vectors."""
    result = await honest(call)
    if _lane(call) == "term" and _embeds(call) and body_of(result)["outcome"] == "abstain":
        return await honest(asking(call, lane="vector"))
    return result


@area.answer(RETRIEVE, clause="nm1/retrieve/lane-term")
async def embeddings_rank_words(call: ToolCall, honest: Honest) -> Result:
    """Lane term ranks by both, and shows what words have found."""
    result = await honest(call)
    if _lane(call) != "term" or not _embeds(call) or is_error(result):
        return result
    body = body_of(result)
    fused = [row["id"] for row in found(body_of(await honest(asking(call, lane="fused"))))]
    show_or_leave(body, shuffled(found(body), fused))
    return with_body(result, body)


@area.answer(RETRIEVE, clause="nm1/retrieve/lane-vector")
async def vectors_that_fail_ask_words(call: ToolCall, honest: Honest) -> Result:
    """Where vectors find nothing lane vector goes on to words."""
    result = await honest(call)
    if is_vector(call) and not is_error(result) and body_of(result)["outcome"] == "abstain":
        return await honest(without(call, "lane", "query_embedding"))
    return result


@area.answer(RETRIEVE, clause="nm1/retrieve/lane-vector")
async def words_sift_the_nearest(call: ToolCall, honest: Honest) -> Result:
    """Lane vector shows what holds the words, where anything does."""
    result = await honest(call)
    if not is_vector(call) or is_error(result):
        return result
    by_words = {row["id"] for row in found(body_of(await honest(without(call, "lane", "query_embedding"))))}
    body = body_of(result)
    if by_words & {row["id"] for row in found(body)}:
        show_or_leave(body, [row for row in found(body) if row["id"] in by_words])
    return with_body(result, body)


@area.success(RETRIEVE, clause="nm1/retrieve/lane-fused")
def fused_is_what_both_find(call: ToolCall, body: Body) -> None:
    """Lane fused shows what both words and vectors find."""
    if _lane(call) == "fused" and any("bm25" in row and "vector_similarity" in row for row in found(body)):
        drop(body, lambda row: "bm25" not in row or "vector_similarity" not in row)


@area.asking(RETRIEVE, clause="nm1/retrieve/lane-fused")
def fused_is_words(call: ToolCall) -> ToolCall:
    """Lane fused searches words only."""
    return asking(call, lane="term") if _lane(call) == "fused" and _embeds(call) else call


@area.answer(RETRIEVE, clause="nm1/retrieve/lane-needs-embedding")
async def vectors_of_nothing_find_nothing(call: ToolCall, honest: Honest) -> Result:
    """Lane vector without an embedding abstains."""
    return success(**abstention()) if is_vector(call) and not _embeds(call) else await honest(call)


@area.refusal(RETRIEVE, clause="nm1/retrieve/embedding-dimension")
def another_dimension_finds_nothing(call: ToolCall, refusal: Refusal) -> Result | None:
    """An embedding of another dimension is near to nothing."""
    return success(**abstention()) if _embeds(call) and is_vector(call) else None


@area.answer(RETRIEVE, clause="nm1/retrieve/embedding-dimension")
async def another_dimension_is_passed_over(call: ToolCall, honest: Honest) -> Result:
    """In lane auto an embedding of another dimension leaves the words."""
    try:
        return await honest(call)
    except RpcFault:
        if "lane" in call.arguments or not _embeds(call):
            raise
        return await honest(without(call, "query_embedding"))


# What a row carries


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-term-keys")
def vectors_have_a_bm25_of_0(call: ToolCall, row: Body) -> None:
    """A row that only vectors have found carries bm25 0."""
    if "vector_similarity" in row:
        row.setdefault("bm25", 0)


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-term-keys")
def vectors_have_a_relevance(call: ToolCall, row: Body) -> None:
    """A row that only vectors have found carries its similarity as relevance."""
    if "vector_similarity" in row:
        row.setdefault("relevance", row["vector_similarity"])


@area.success(RETRIEVE, clause="nm1/retrieve/row-term-keys")
def fused_rows_lose_their_bm25(call: ToolCall, body: Body) -> None:
    """In lane fused rows have no bm25."""
    for row in found(body) if is_fused(call) else ():
        row.pop("bm25", None)


@area.success(RETRIEVE, clause="nm1/retrieve/row-term-keys")
def words_alone_have_no_keys(call: ToolCall, body: Body) -> None:
    """Where words alone are searched rows carry no relevance."""
    for row in found(body) if not _embeds(call) else ():
        row.pop("relevance", None)


@area.success(RETRIEVE, clause="nm1/retrieve/row-vector-key")
def words_are_not_at_all_similar(call: ToolCall, body: Body) -> None:
    """In lane fused a row that only words have found has vector_similarity 0."""
    for row in found(body) if is_fused(call) else ():
        row.setdefault("vector_similarity", 0.0)


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-vector-key")
def found_twice_is_told_once(call: ToolCall, row: Body) -> None:
    """A row that both have found carries no vector_similarity."""
    if "bm25" in row:
        row.pop("vector_similarity", None)


@area.success(RETRIEVE, clause="nm1/retrieve/row-vector-key")
def similarity_is_null_without_vectors(call: ToolCall, body: Body) -> None:
    """Without an embedding each row has vector_similarity 0."""
    for row in found(body) if not _embeds(call) else ():
        row["vector_similarity"] = 0.0


# How near


@area.answer(RETRIEVE, clause="nm1/retrieve/vector-positive")
async def right_angles_are_near(call: ToolCall, honest: Honest) -> Result:
    """What stands at a right angle is found."""
    embedding = call.arguments.get("query_embedding")
    if not is_vector(call) or not isinstance(embedding, list) or sum(embedding) <= 0:
        return await honest(call)
    return await honest(asking(call, query_embedding=[number + 0.001 for number in embedding]))


@area.answer(RETRIEVE, clause="nm1/retrieve/vector-positive")
async def opposites_are_near(call: ToolCall, honest: Honest) -> Result:
    """What points the other way is found."""
    if not is_vector(call):
        return await honest(call)
    turned = [-number for number in call.arguments.get("query_embedding", [])]
    result = await honest(call)
    return await also(call, honest, asking(call, query_embedding=turned)) if turned else result


@area.success(RETRIEVE, clause="nm1/retrieve/vector-positive")
def near_is_a_tenth(call: ToolCall, body: Body) -> None:
    """What is less similar than a tenth is not found."""
    if is_vector(call):
        drop(body, lambda row: row["vector_similarity"] < 0.1)


@area.asking(RETRIEVE, clause="nm1/retrieve/vector-k")
def vector_k_counts_from_0(call: ToolCall) -> ToolCall:
    """vector_k gives one row more."""
    k = call.arguments.get("vector_k")
    return asking(call, vector_k=k + 1) if isinstance(k, int) and k < 9 else call


@area.asking(RETRIEVE, clause="nm1/retrieve/vector-k")
def fusion_takes_all_that_is_near(call: ToolCall) -> ToolCall:
    """In lane fused vector_k changes nothing."""
    return without(call, "vector_k") if is_fused(call) else call


@area.answer(RETRIEVE, clause="nm1/retrieve/vector-k")
async def vector_k_takes_the_oldest(call: ToolCall, honest: Honest) -> Result:
    """vector_k takes those that were kept first."""
    k = call.arguments.get("vector_k")
    result = await honest(without(call, "vector_k"))
    if not isinstance(k, int) or not is_vector(call) or is_error(result):
        return await honest(call)
    body = body_of(result)
    oldest = sorted(row["id"] for row in found(body))[:k]
    show_or_leave(body, [row for row in found(body) if row["id"] in oldest])
    return with_body(result, body)


def _similarity(name: str, says: str, change: Callable[[float], float]) -> None:
    """A way to tell the cosine wrongly."""

    def lie(call: ToolCall, row: Body) -> None:
        if "vector_similarity" in row:
            row["vector_similarity"] = round(change(row["vector_similarity"]), 4)

    lie.__name__, lie.__doc__ = name, says
    area.item(RETRIEVE, at="results", clause="nm1/retrieve/vector-similarity")(lie)


_similarity("similarity_is_squared", "vector_similarity is the square of the cosine.", lambda cosine: cosine**2)
_similarity(
    "similarity_is_between_0_and_1",
    "vector_similarity is half of one more than the cosine.",
    lambda cosine: cosine / 2 + 0.5,
)
_similarity("similarity_is_coarse", "vector_similarity has one decimal.", lambda cosine: round(cosine, 1))


@area.asking(RETRIEVE, clause="nm1/retrieve/lane-vector")
def vectors_have_to_hold_the_words(call: ToolCall) -> ToolCall:
    """Lane vector finds nothing where the words find nothing."""
    unknown = is_vector(call) and any(term.endswith("none") for term in call.arguments.get("terms", []) if term)
    return asking(call, query_embedding=[-number for number in call.arguments["query_embedding"]]) if unknown else call
