"""Lies about embeddings: how they are attached, listed and replaced."""

from __future__ import annotations

import math

from nmemory_reference.lies.answers import Body, Honest, Result, asking, body_of, is_error, with_body, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import success
from nmemory_reference.lies.memory.history import Unaudited
from nmemory_reference.lies.memory.recalled import RETRIEVE, abstention, became, missing
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("vector")

TOOL = "memory_vector"


def _kept(call: ToolCall) -> Result:
    return success(capsule_id=str(call.arguments.get("capsule_id")), dimension=3, model_tag="x", recorded=True)


@area.answer(TOOL, clause="nm1/vector/attach")
async def nothing_is_attached(call: ToolCall, honest: Honest) -> Result:
    """An attachment is answered and not kept."""
    return _kept(call) if len(call.arguments) > 2 and "kit_made_up" not in call.arguments else await honest(call)


@area.answer(TOOL, clause="nm1/vector/attach-by-id")
async def id_names_nothing(call: ToolCall, honest: Honest) -> Result:
    """The short name of the target is unknown."""
    if "id" in call.arguments:
        raise RpcFault(-32602, "capsule_id is missing")
    return await honest(call)


@area.success(TOOL, clause="nm1/vector/replaced")
def replacements_are_not_told(call: ToolCall, body: Body) -> None:
    """A replacement is answered like a first attachment."""
    body.pop("replaced", None)


@area.success(TOOL, clause="nm1/vector/replaced")
def everything_replaces(call: ToolCall, body: Body) -> None:
    """A first attachment is answered as a replacement."""
    if "recorded" in body:
        body["replaced"] = True


@area.asking(TOOL, clause="nm1/vector/bit-exact")
def embeddings_are_rounded(call: ToolCall) -> ToolCall:
    """An embedding is kept in one decimal."""
    numbers = call.arguments.get("embedding")
    if not isinstance(numbers, list) or not all(isinstance(number, int | float) for number in numbers):
        return call
    rounded = [round(number, 1) for number in numbers]
    return asking(call, embedding=rounded if any(rounded) else [1.0, 1.0, 1.0])


@area.asking(TOOL, RETRIEVE, clause="nm1/vector/bit-exact")
def embeddings_have_ten_bits(call: ToolCall) -> ToolCall:
    """An embedding is kept with the ten bits of a half, at any size."""
    numbers = call.arguments.get("embedding")
    if not isinstance(numbers, list) or not all(type(number) in (int, float) for number in numbers):
        return call
    return asking(call, embedding=[_halved(number) for number in numbers])


def _halved(number: float) -> float:
    """A number rounded to eleven significant bits."""
    mantissa, exponent = math.frexp(number)
    return math.ldexp(round(mantissa * 2**11) / 2**11, exponent)


@area.item(TOOL, at="vectors", clause="nm1/vector/dimension")
def all_have_three_dimensions(call: ToolCall, row: Body) -> None:
    """The list says 3, whatever the dimension."""
    row["dimension"] = 3


@area.asking(TOOL, clause="nm1/vector/tag-demanded")
def a_tag_is_made_up(call: ToolCall) -> ToolCall:
    """A missing tag is filled in."""
    untagged = "embedding" in call.arguments and "model_tag" not in call.arguments
    return asking(call, model_tag="nmemory-kit") if untagged else call


@area.asking(TOOL, clause="nm1/vector/tag-empty")
def an_empty_tag_is_filled_in(call: ToolCall) -> ToolCall:
    """An empty tag is filled in."""
    return asking(call, model_tag="nmemory-kit") if call.arguments.get("model_tag") == "" else call


@area.asking(TOOL, clause="nm1/vector/embedding-demanded")
def a_tag_alone_lists(call: ToolCall) -> ToolCall:
    """A call without an embedding lists."""
    return call if "embedding" in call.arguments else without(call, "capsule_id", "model_tag")


@area.answer(TOOL, clause="nm1/vector/target-demanded")
async def no_target_is_needed(call: ToolCall, honest: Honest) -> Result:
    """An embedding without a capsule is taken."""
    targeted = {"capsule_id", "id"} & call.arguments.keys() or "embedding" not in call.arguments
    return await honest(call) if targeted else _kept(call)


@area.answer(TOOL, clause="nm1/vector/embedding-empty")
async def an_empty_embedding_is_taken(call: ToolCall, honest: Honest) -> Result:
    """An empty embedding is taken."""
    return _kept(call) if call.arguments.get("embedding") == [] else await honest(call)


@area.answer(TOOL, clause="nm1/vector/embedding-zero")
async def zeros_are_taken(call: ToolCall, honest: Honest) -> Result:
    """An embedding of zeros is taken."""
    numbers = call.arguments.get("embedding")
    return _kept(call) if numbers and not any(numbers) else await honest(call)


@area.asking(TOOL, clause="nm1/vector/embedding-infinite")
def infinite_numbers_are_large(call: ToolCall) -> ToolCall:
    """A number beyond the floats is cut to the largest."""
    numbers = call.arguments.get("embedding")
    if not isinstance(numbers, list) or not all(isinstance(number, int | float) for number in numbers):
        return call
    return asking(call, embedding=[max(-3e38, min(3e38, number)) for number in numbers])


@area.answer(TOOL, clause="nm1/vector/embedding-numbers")
async def digits_are_numbers(call: ToolCall, honest: Honest) -> Result:
    """A text in an embedding is read as a number."""
    numbers = call.arguments.get("embedding")
    if isinstance(numbers, list) and any(isinstance(number, str) for number in numbers):
        return await honest(asking(call, embedding=[float(number or 0) for number in numbers]))
    return await honest(call)


@area.refusal(TOOL, clause="nm1/vector/unknown-capsule")
def an_unknown_capsule_is_a_bad_value(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """An unknown capsule is an invalid argument."""
    return Refusal(refusal.text, -32602) if refusal.data else None


@area.answer(TOOL, clause="nm1/vector/one-embedder")
async def tags_are_labels(call: ToolCall, honest: Honest) -> Result:
    """An embedding of another model is taken."""
    return _kept(call) if str(call.arguments.get("model_tag", "")).startswith("another") else await honest(call)


@area.answer(TOOL, clause="nm1/vector/one-embedder")
async def another_dimension_is_another_space(call: ToolCall, honest: Honest) -> Result:
    """An embedding of another model is taken where its dimension is another one."""
    numbers = call.arguments.get("embedding")
    strange = str(call.arguments.get("model_tag", "")).startswith("another")
    return _kept(call) if strange and isinstance(numbers, list) and len(numbers) != 3 else await honest(call)


@area.refusal(TOOL, clause="nm1/vector/one-embedder-named")
def the_resident_is_not_named(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """The refusal of another tag does not say which is the store's."""
    return Refusal("another embedder is resident", refusal.code, refusal.data) if not refusal.data else None


@area.success(TOOL, clause="nm1/vector/list-order")
def the_newest_first(call: ToolCall, body: Body) -> None:
    """The list begins with the newest capsule."""
    body.get("vectors", []).reverse()


@area.liar(TOOL, clause="nm1/vector/list-order")
class TheListIsSortedAsTexts(Interceptor):
    """The list stands in the order of the ids, as texts are sorted."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != TOOL or is_error(result):
            return result
        body = body_of(result)
        body.get("vectors", []).sort(key=lambda row: row["capsule_id"])
        return with_body(result, body)


@area.liar(TOOL, clause="nm1/vector/list-no-numbers")
class TheListShowsWhatWasSent(Interceptor):
    """The list shows the embeddings, as text, under a name of its own."""

    def __init__(self) -> None:
        self._sent: dict[str, object] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != TOOL or is_error(result):
            return result
        if named := _attached(call):
            self._sent[named] = call.arguments["embedding"]
            return result
        body = body_of(result)
        for row in body["vectors"]:
            row["preview"] = str(self._sent.get(row["capsule_id"]))
        return with_body(result, body)


@area.item(TOOL, at="vectors", clause="nm1/vector/list-no-numbers")
def the_list_shows_numbers(call: ToolCall, row: Body) -> None:
    """The list shows the embeddings."""
    row["embedding"] = [0.5]


@area.success(TOOL, clause="nm1/vector/list-whole")
def the_list_has_one_row(call: ToolCall, body: Body) -> None:
    """The list shows the last row only."""
    if "vectors" in body:
        body["vectors"] = body["vectors"][-1:]


@area.asking(TOOL, clause="nm1/vector/unknown-argument")
def unknown_arguments_are_passed_over(call: ToolCall) -> ToolCall:
    """An argument that the tool does not have is dropped."""
    return without(call, *(call.arguments.keys() - {"capsule_id", "id", "embedding", "model_tag"}))


def _attached(call: ToolCall) -> str | None:
    """The capsule to which a call attaches an embedding."""
    named = call.arguments.get("capsule_id", call.arguments.get("id"))
    return named if call.name == TOOL and isinstance(named, str) and "embedding" in call.arguments else None


@area.success(TOOL, clause="nm1/vector/recorded-is-state")
def recorded_is_replaced(call: ToolCall, body: Body) -> None:
    """recorded is false for a first attachment."""
    if "recorded" in body:
        body["recorded"] = body.get("replaced", False)


@area.liar(TOOL, clause="nm1/vector/one-a-capsule")
class TheFirstEmbeddingStays(Interceptor):
    """A second attachment to a capsule is answered, and not kept."""

    def __init__(self) -> None:
        self._attached: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if (named := _attached(call)) in self._attached:
            return success(**{**body_of(_kept(call)), "replaced": True})
        result = await honest(call)
        if named and not is_error(result):
            self._attached.add(named)
        return result


@area.liar(TOOL, clause="nm1/vector/one-a-capsule")
class EveryEmbeddingIsListed(Interceptor):
    """A capsule is listed once for each embedding that it ever had."""

    def __init__(self) -> None:
        self._attached: list[str] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != TOOL or is_error(result):
            return result
        if named := _attached(call):
            self._attached.append(named)
            return result
        body = body_of(result)
        body["vectors"] = [
            row for row in body["vectors"] for _ in range(max(1, self._attached.count(row["capsule_id"])))
        ]
        return with_body(result, body)


@area.item(TOOL, at="vectors", clause="nm1/vector/list-row")
def the_model_goes_without_saying(call: ToolCall, row: Body) -> None:
    """The list does not name the model of an embedding."""
    row.pop("model_tag")


@area.liar(TOOL, RETRIEVE, clause="nm1/vector/refused-keeps-nothing")
class RefusalsTakeAway(Interceptor):
    """A refused attachment takes away what the capsule had."""

    def __init__(self) -> None:
        self._gone: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        named = _attached(call)
        try:
            result = await honest(call)
        except RpcFault:
            self._gone |= {named} if named else set()
            raise
        if is_error(result) or call.name not in (TOOL, RETRIEVE):
            return result
        body = body_of(result)
        if any(row["id"] in self._gone for row in body.get("results", ())):
            return success(outcome="abstain", reason="No vector is near.")
        body["vectors"] = [row for row in body.get("vectors", ()) if row["capsule_id"] not in self._gone]
        return with_body(result, body) if call.name == TOOL and not named else result


@area.liar(TOOL, clause="nm1/vector/refused-keeps-nothing")
class RefusalsAreListed(Interceptor):
    """A capsule whose attachment was refused is listed."""

    def __init__(self) -> None:
        self._refused: list[str] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        named = _attached(call)
        try:
            result = await honest(call)
        except RpcFault:
            self._refused += [named] if named else []
            raise
        if call.name != TOOL or named or is_error(result):
            return result
        body = body_of(result)
        listed = {row["capsule_id"] for row in body["vectors"]}
        body["vectors"] += [
            {"capsule_id": refused, "dimension": 3, "model_tag": body["vectors"][0]["model_tag"]}
            for refused in self._refused
            if body["vectors"] and refused not in listed
        ]
        return with_body(result, body)


@area.liar(TOOL, "memory_get", clause="nm1/vector/capsule-untouched")
class EmbeddedCapsulesSaySo(Interceptor):
    """A capsule with an embedding has a new member."""

    def __init__(self) -> None:
        self._attached: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        if named := _attached(call):
            self._attached.add(named)
        body = body_of(result) if call.name == "memory_get" else {}
        if "capsule" in body and body["id"] in self._attached:
            body["capsule"]["confidence"] = round(body["capsule"]["confidence"] + 0.01, 2)
            return with_body(result, body)
        return result


class _OutlivesForgetting(Interceptor):
    """Goes on to list the embedding of a capsule that was forgotten in a mode."""

    mode: str

    def __init__(self) -> None:
        self._rows: dict[str, Body] = {}
        self._gone: list[Body] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        if call.name == "memory_forget" and call.arguments["mode"] == self.mode:
            self._gone += [self._rows[named] for named in [str(call.arguments["id"])] if named in self._rows]
        if call.name != TOOL or _attached(call):
            return result
        body = body_of(result)
        self._rows.update({row["capsule_id"]: row for row in body["vectors"]})
        body["vectors"] += self._gone
        return with_body(result, body)


@area.liar(TOOL, "memory_forget", clause="nm1/vector/forgotten")
class TheRedactedKeepsItsEmbedding(_OutlivesForgetting):
    """The embedding of a redacted capsule is still listed."""

    mode = "redacted"


@area.liar(TOOL, "memory_forget", clause="nm1/vector/forgotten")
class ThePurgedKeepsItsEmbedding(_OutlivesForgetting):
    """The embedding of a purged capsule is still listed."""

    mode = "purged"


@area.liar(RETRIEVE, "memory_forget", clause="nm1/vector/forgotten", also={"nm1/retrieve/tombstone-content"})
class TheForgottenIsStillNear(Interceptor):
    """What was near to the question before it was forgotten is counted as tombstoned by lane vector."""

    def __init__(self) -> None:
        self._near: dict[str, list[object]] = {}
        self._gone: list[object] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        if call.name == "memory_forget":
            self._gone += self._near.get(str(call.arguments["id"]), [])
        if call.name != RETRIEVE or call.arguments.get("lane") != "vector":
            return result
        body, asked = body_of(result), call.arguments["query_embedding"]
        for row in body.get("results", ()):
            self._near.setdefault(row["id"], []).append(asked)
        if body["outcome"] == "abstain" and asked in self._gone:
            became(body, missing({"tombstoned": 1}))
        return with_body(result, body)


@area.liar(TOOL, "memory_digest", clause="nm1/vector/audited")
class AttachmentsAreNoEvents(Unaudited):
    """An attachment is no event of the journal."""

    tool = TOOL

    def recorded(self, call: ToolCall, body: Body) -> bool:
        return _attached(call) is not None


@area.liar(TOOL, "memory_digest", clause="nm1/vector/audited")
class ReplacementsAreNoEvents(Unaudited):
    """The replacement of an embedding is no event of the journal."""

    tool = TOOL

    def recorded(self, call: ToolCall, body: Body) -> bool:
        return bool(body.get("replaced"))


@area.liar(TOOL, RETRIEVE, clause="nm1/vector/dormant")
class TheEmbeddedComeFirst(Interceptor):
    """Without an embedding in the question what has one stands first."""

    def __init__(self) -> None:
        self._attached: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        if named := _attached(call):
            self._attached.add(named)
        body = body_of(result) if call.name == RETRIEVE and "query_embedding" not in call.arguments else {}
        if "results" not in body:
            return result
        body["results"].sort(key=lambda row: row["id"] not in self._attached)
        return with_body(result, body)


@area.success(RETRIEVE, clause="nm1/vector/dormant")
def every_row_has_a_fusion_rank(call: ToolCall, body: Body) -> None:
    """Without an embedding in the question rows have a fusion_rank too."""
    for place, row in enumerate(body.get("results", ()), 1):
        row.setdefault("fusion_rank", place)


# What embeddings find and may not show


def _excludes_in_silence(lane: str | None, windowed: bool) -> None:
    """Add the lie that grounded answers of a lane do not count what is fenced beside."""

    def lie(call: ToolCall, body: Body) -> None:
        asked = "query_embedding" in call.arguments and call.arguments.get("lane") == lane
        if asked and windowed == ("time_window" in call.arguments) and body["outcome"] == "grounded":
            body.pop("excluded", None)

    name = ("windowed_" if windowed else "") + (lane or "auto")
    lie.__name__ = f"{name}_answers_exclude_in_silence"
    under = "Under a window a" if windowed else "A"
    lie.__doc__ = f"{under} grounded answer of lane {lane or 'auto'} does not count what is fenced beside."
    clause = "window-vector-lane" if windowed else "fences-vector-lane"
    area.success(RETRIEVE, clause=f"nm1/retrieve/{clause}", also={"nm1/retrieve/grounded-excluded"})(lie)


for _lane in ("vector", "fused", None):
    _excludes_in_silence(_lane, windowed=False)
for _lane in ("vector", "fused"):
    _excludes_in_silence(_lane, windowed=True)


@area.success(RETRIEVE, clause="nm1/retrieve/fences-vector-lane", also={"nm1/retrieve/missing-evidence"})
def what_vectors_find_is_not_missed(call: ToolCall, body: Body) -> None:
    """Where all that lane vector finds is fenced it has found nothing."""
    if call.arguments.get("lane") == "vector" and body["outcome"] == "missing_evidence":
        became(body, abstention("The vector lane found nothing."))
