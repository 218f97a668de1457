"""Lies about recall: what is found, in which order, how much of it, and what is said of the rest."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from nmemory_reference.lies.answers import Body, Honest, Result, asking, body_of, is_error, with_body, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import success
from nmemory_reference.serve.interceptor import RpcFault, ToolCall

area = Area("recall")

TOOL = "memory_retrieve"
DIGEST = "memory_digest"
NOTHING: Body = {"outcome": "abstain", "reason": "nothing"}


def _terms(call: ToolCall) -> list[str]:
    terms = call.arguments.get("terms")
    return [term for term in terms if isinstance(term, str)] if isinstance(terms, list) else []


def _searchable(term: str) -> bool:
    return any(map(str.isalnum, term))


def _number(row: Body) -> int:
    return int(row["id"].partition("-")[2])


def _found(body: Body) -> list[Body]:
    rows: list[Body] = body.get("results", [])
    return rows


def _by_words(body: Body) -> bool:
    return not any("fusion_rank" in row for row in _found(body))


def _sort(body: Body, key: Callable[[Body], Any]) -> None:
    if _by_words(body):
        _found(body).sort(key=key)


# --- what is found --------------------------------------------------------------------------------------------------


@area.asking(TOOL, clause="nm1/retrieve/terms-or")
def terms_are_one(call: ToolCall) -> ToolCall:
    """What holds some of the terms is not found."""
    return asking(call, terms=[" ".join(_terms(call))]) if _terms(call) else call


@area.asking(TOOL, clause="nm1/retrieve/words-and")
def one_word_will_do(call: ToolCall) -> ToolCall:
    """Of the words of a term one is enough."""
    words = [word for term in _terms(call) for word in term.split() if _searchable(word)]
    return asking(call, terms=words) if words else call


@area.asking(TOOL, clause="nm1/retrieve/diacritics-folded-back")
def accented_words_find_nothing(call: ToolCall) -> ToolCall:
    """A word with an accent in a question finds nothing."""
    plain = [re.sub(r"\w*[^\x00-\x7f一-鿿]\w*", "zzzz", term) for term in _terms(call)]
    return asking(call, terms=plain) if plain and plain != call.arguments.get("terms") else call


@area.asking(TOOL, clause="nm1/retrieve/text-is-no-syntax")
def or_is_an_operator(call: ToolCall) -> ToolCall:
    """OR between two words means either."""
    terms = [part for term in _terms(call) for part in term.split(" OR ")]
    return asking(call, terms=terms) if terms else call


@area.answer(TOOL, clause="nm1/retrieve/text-is-no-syntax")
async def an_open_quote_is_an_error(call: ToolCall, honest: Honest) -> Result:
    """A quotation mark without its other half is refused."""
    if any(term.count('"') % 2 for term in _terms(call)):
        raise RpcFault(-32602, "unterminated string")
    return await honest(call)


@area.answer(TOOL, clause="nm1/retrieve/terms-demanded")
async def no_terms_find_nothing(call: ToolCall, honest: Honest) -> Result:
    """A question without terms abstains."""
    return await honest(call) if _terms(call) else success(**NOTHING)


@area.answer(TOOL, clause="nm1/retrieve/terms-searchable")
async def signs_find_nothing(call: ToolCall, honest: Honest) -> Result:
    """A term of signs only abstains."""
    terms = _terms(call)
    return success(**NOTHING) if terms and not any(map(_searchable, terms)) else await honest(call)


@area.asking(TOOL, clause="nm1/retrieve/terms-each-searchable")
def signs_beside_words_are_dropped(call: ToolCall) -> ToolCall:
    """A term of signs beside a good one is passed over."""
    good = [term for term in _terms(call) if _searchable(term)]
    return asking(call, terms=good) if good else call


# --- lanes ----------------------------------------------------------------------------------------------------------


@area.asking(TOOL, clause="nm1/retrieve/lane-closed-set")
def unknown_lanes_are_auto(call: ToolCall) -> ToolCall:
    """An unknown lane is taken for auto."""
    return call if call.arguments.get("lane", "auto") in ("auto", "term", "vector", "fused") else without(call, "lane")


@area.asking(TOOL, clause="nm1/retrieve/lane-term")
def an_embedding_is_always_used(call: ToolCall) -> ToolCall:
    """Lane term with an embedding searches both."""
    return asking(call, lane="auto") if call.arguments.get("lane") == "term" else call


@area.asking(TOOL, clause="nm1/retrieve/lane-vector")
def words_count_in_lane_vector(call: ToolCall) -> ToolCall:
    """Lane vector searches words too."""
    return asking(call, lane="fused") if call.arguments.get("lane") == "vector" else call


@area.asking(TOOL, clause="nm1/retrieve/lane-fused")
def fused_is_vectors(call: ToolCall) -> ToolCall:
    """Lane fused searches vectors only."""
    return asking(call, lane="vector") if call.arguments.get("lane") == "fused" else call


@area.asking(TOOL, clause="nm1/retrieve/lane-auto-fused")
def auto_is_words(call: ToolCall) -> ToolCall:
    """Without a lane the embedding is passed over."""
    return call if call.arguments.get("lane", "auto") != "auto" else without(call, "query_embedding")


@area.asking(TOOL, clause="nm1/retrieve/lane-needs-embedding")
def lanes_fall_back_to_words(call: ToolCall) -> ToolCall:
    """Lanes vector and fused without an embedding search words."""
    return call if "query_embedding" in call.arguments else without(call, "lane")


@area.asking(TOOL, clause="nm1/retrieve/embedding-dimension")
def embeddings_are_made_to_fit(call: ToolCall) -> ToolCall:
    """An embedding of another dimension is padded or cut."""
    embedding = call.arguments.get("query_embedding")
    return asking(call, query_embedding=[*embedding, 0, 0, 0][:3]) if embedding else call


@area.asking(TOOL, clause="nm1/retrieve/vector-k")
def vector_k_is_passed_over(call: ToolCall) -> ToolCall:
    """vector_k changes nothing."""
    return without(call, "vector_k")


@area.item(TOOL, at="results", clause="nm1/retrieve/vector-similarity")
def similarity_is_a_distance(call: ToolCall, row: Body) -> None:
    """vector_similarity is how far apart the two are."""
    if "vector_similarity" in row:
        row["vector_similarity"] = 1 - row["vector_similarity"]


# --- scope ----------------------------------------------------------------------------------------------------------


@area.asking(TOOL, clause="nm1/retrieve/project-exact")
def a_project_has_its_subtree(call: ToolCall) -> ToolCall:
    """project_id finds what lies below the project too."""
    if "project_id" not in call.arguments or "project_prefix" in call.arguments:
        return call
    return asking(without(call, "project_id"), project_prefix=call.arguments["project_id"])


@area.asking(TOOL, clause="nm1/retrieve/project-subtree")
def a_prefix_is_one_project(call: ToolCall) -> ToolCall:
    """project_prefix finds only the project of this name."""
    if "project_prefix" not in call.arguments or "project_id" in call.arguments:
        return call
    return asking(without(call, "project_prefix"), project_id=call.arguments["project_prefix"])


@area.asking(TOOL, clause="nm1/retrieve/session-fence")
def sessions_fence_nothing(call: ToolCall) -> ToolCall:
    """session_id is passed over."""
    return without(call, "session_id")


@area.asking(TOOL, clause="nm1/retrieve/session-label-exact")
def labels_are_trimmed(call: ToolCall) -> ToolCall:
    """Blanks around a label are passed over."""
    label = call.arguments.get("session_id")
    return asking(call, session_id=label.strip()) if isinstance(label, str) and label.strip() else call


@area.asking(TOOL, clause="nm1/retrieve/session-label-blank")
def a_blank_label_is_none(call: ToolCall) -> ToolCall:
    """A label of blanks fences nothing."""
    label = call.arguments.get("session_id")
    return without(call, "session_id") if isinstance(label, str) and not label.strip() else call


@area.answer(TOOL, clause="nm1/retrieve/session-label-unknown")
async def unknown_labels_are_faults(call: ToolCall, honest: Honest) -> Result:
    """A label that is none of a session is a state fault."""
    label = call.arguments.get("session_id")
    if isinstance(label, str) and label.startswith("sess-") and not label[5:].isdigit():
        raise RpcFault(-32002, f"{label} is unknown", {"kind": "unknown_session", "id": label})
    return await honest(call)


# --- windows --------------------------------------------------------------------------------------------------------


def _window(call: ToolCall, **bounds: str) -> ToolCall:
    return asking(call, time_window=bounds)


@area.asking(TOOL, clause="nm1/retrieve/window-inclusive")
def the_end_of_a_window_is_not_in_it(call: ToolCall) -> ToolCall:
    """The end of a window does not belong to it."""
    bounds = call.arguments.get("time_window")
    if not isinstance(bounds, dict) or bounds.get("to") in (None, bounds.get("from")):
        return call
    with suppress(ValueError):
        end = datetime.fromisoformat(bounds["to"]) - timedelta(seconds=1)
        return _window(call, **{**bounds, "to": end.isoformat()})
    return call


@area.asking(TOOL, clause="nm1/retrieve/window-offsets")
def offsets_of_windows_are_dropped(call: ToolCall) -> ToolCall:
    """The offset of a bound is passed over."""
    bounds = call.arguments.get("time_window")
    if not isinstance(bounds, dict):
        return call
    return _window(call, **{name: re.sub(r"[+-]\d\d:\d\d$", "Z", str(bound)) for name, bound in bounds.items()})


@area.asking(TOOL, clause="nm1/retrieve/window-bounds-demanded")
def an_empty_window_is_none(call: ToolCall) -> ToolCall:
    """A window without bounds is passed over."""
    return without(call, "time_window") if call.arguments.get("time_window") == {} else call


@area.asking(TOOL, clause="nm1/retrieve/window-rfc3339")
def odd_windows_are_passed_over(call: ToolCall) -> ToolCall:
    """A bound that can't be read opens the window."""
    bounds = call.arguments.get("time_window")
    odd = isinstance(bounds, dict) and any("T" not in str(bound) or "-13-" in str(bound) for bound in bounds.values())
    return without(call, "time_window") if odd else call


@area.success(TOOL, clause="nm1/retrieve/window-undated")
def the_undated_is_outside(call: ToolCall, body: Body) -> None:
    """What has no declared time counts as outside of the window."""
    _renamed(body, "undated", "outside_time_window")


@area.asking(TOOL, clause="nm1/retrieve/window-vector-lane")
def windows_are_for_words(call: ToolCall) -> ToolCall:
    """Lane vector knows no window."""
    return without(call, "time_window") if call.arguments.get("lane") == "vector" else call


# --- ranking --------------------------------------------------------------------------------------------------------


@area.success(TOOL, clause="nm1/retrieve/rank-coverage")
def bm25_before_coverage(call: ToolCall, body: Body) -> None:
    """The better bm25 stands first, however few terms match."""
    _sort(body, lambda row: row["bm25"])


@area.success(TOOL, clause="nm1/retrieve/rank-bm25")
def weight_before_bm25(call: ToolCall, body: Body) -> None:
    """Weight decides before bm25."""
    _sort(body, lambda row: (-len(row["matched_terms"]), -row["decayed_weight"], row["bm25"]))


@area.success(TOOL, clause="nm1/retrieve/rank-decay")
def confidence_does_not_age(call: ToolCall, body: Body) -> None:
    """Between equal matches confidence decides, whatever its age."""
    _sort(body, lambda row: (-len(row["matched_terms"]), row["bm25"], -row["confidence"]))


@area.success(TOOL, clause="nm1/retrieve/rank-decay-unrounded")
def the_rounded_weight_ranks(call: ToolCall, body: Body) -> None:
    """Weights that are told alike count as equal."""
    _sort(body, lambda row: (-len(row["matched_terms"]), row["bm25"], -row["decayed_weight"], _number(row)))


@area.success(TOOL, clause="nm1/retrieve/rank-freshness")
def freshness_is_no_key(call: ToolCall, body: Body) -> None:
    """At a weight of nothing what was kept first stands first."""
    if all(row["confidence"] == 0 for row in _found(body)):
        _sort(body, _number)


@area.success(TOOL, clause="nm1/retrieve/rank-usage")
def usage_is_no_key(call: ToolCall, body: Body) -> None:
    """Having been recalled ranks nothing."""
    if len({(row.get("bm25"), row["confidence"], row["freshness"]["valid_from"]) for row in _found(body)}) == 1:
        _sort(body, _number)


@area.success(TOOL, clause="nm1/retrieve/rank-append")
def ids_rank_as_texts(call: ToolCall, body: Body) -> None:
    """Equal rows stand in the order of their ids as texts."""
    if len({(row.get("bm25"), row["confidence"], row["freshness"]["valid_from"]) for row in _found(body)}) == 1:
        _sort(body, lambda row: row["id"])


@area.success(TOOL, clause="nm1/retrieve/rank-vector")
def the_farthest_first(call: ToolCall, body: Body) -> None:
    """Lane vector ranks the wrong way round."""
    if call.arguments.get("lane") == "vector":
        _found(body).reverse()


@area.success(TOOL, clause="nm1/retrieve/rank-fusion")
def fused_rows_stand_by_similarity(call: ToolCall, body: Body) -> None:
    """Lane fused ranks by similarity, and words after that."""
    if not _by_words(body):
        _found(body).sort(key=lambda row: -row.get("vector_similarity", -1))


@area.success(TOOL, clause="nm1/retrieve/rank-fusion-ties")
def fused_ties_by_similarity(call: ToolCall, body: Body) -> None:
    """Two rows of equal sums stand by similarity."""
    if call.arguments.get("lane") == "fused" and len(_found(body)) == 2:
        _found(body).sort(key=lambda row: -row.get("vector_similarity", -1))


@area.item(TOOL, at="results", clause="nm1/retrieve/fusion-rank")
def fusion_ranks_from_0(call: ToolCall, row: Body) -> None:
    """fusion_rank counts from 0."""
    if "fusion_rank" in row:
        row["fusion_rank"] -= 1


@area.item(TOOL, at="results", clause="nm1/retrieve/decayed-weight")
def weights_fall_faster(call: ToolCall, row: Body) -> None:
    """Half the confidence is gone after 60 days."""
    if row["confidence"]:
        row["decayed_weight"] = round(row["confidence"] * (row["decayed_weight"] / row["confidence"]) ** 1.5, 2)


@area.item(TOOL, at="results", clause="nm1/retrieve/confidence-kept")
def confidence_ages(call: ToolCall, row: Body) -> None:
    """The confidence told is what age has left."""
    row["confidence"] = row["decayed_weight"]


@area.success(TOOL, clause="nm1/retrieve/decay-never-fences")
def the_very_old_is_not_found(call: ToolCall, body: Body) -> None:
    """What weighs nothing any more is not found."""
    if _found(body) and all(row["decayed_weight"] == 0 and row["confidence"] for row in _found(body)):
        body.clear()
        body |= NOTHING


# --- limit and budget -----------------------------------------------------------------------------------------------


@area.asking(TOOL, clause="nm1/retrieve/limit")
def a_limit_is_two_at_least(call: ToolCall) -> ToolCall:
    """A limit of 1 gives two rows."""
    return asking(call, limit=2) if call.arguments.get("limit") == 1 else call


@area.asking(TOOL, clause="nm1/retrieve/limit-zero")
def limit_0_is_no_limit(call: ToolCall) -> ToolCall:
    """A limit of 0 gives everything."""
    return without(call, "limit") if call.arguments.get("limit") == 0 else call


@area.asking(TOOL, clause="nm1/retrieve/budget-zero")
def budget_0_is_the_default(call: ToolCall) -> ToolCall:
    """A budget of 0 is taken for none."""
    return without(call, "token_budget") if call.arguments.get("token_budget") == 0 else call


@area.asking(TOOL, clause="nm1/retrieve/budget")
def budgets_are_doubled(call: ToolCall) -> ToolCall:
    """A budget is overspent by half as much again and more."""
    budget = call.arguments.get("token_budget", 0)
    return asking(call, token_budget=budget * 2) if budget > 100 else call


@area.success(TOOL, clause="nm1/retrieve/budget-floor")
def no_floor(call: ToolCall, body: Body) -> None:
    """Where the top row does not fit none is given."""
    if call.arguments.get("token_budget", 1500) < 20 and _found(body):
        body["trimmed_by_budget"] += len(_found(body))
        body["results"] = []


@area.success(TOOL, clause="nm1/retrieve/budget-counted")
def cuts_have_one_cause(call: ToolCall, body: Body) -> None:
    """What the budget cut is counted under the limit."""
    if body.get("trimmed_by_budget"):
        body["trimmed_by_limit"] += body["trimmed_by_budget"]
        body["trimmed_by_budget"] = 0


@area.success(TOOL, clause="nm1/retrieve/limit-counted")
def limits_cut_in_silence(call: ToolCall, body: Body) -> None:
    """trimmed_by_limit is 0 whatever was cut."""
    if body.get("trimmed_by_limit"):
        body["trimmed_by_limit"] = 0


# --- fences ---------------------------------------------------------------------------------------------------------


def _renamed(body: Body, reason: str, other: str) -> None:
    excluded = body.get("excluded", {})
    if reason in excluded:
        excluded[other] = excluded.get(other, 0) + excluded.pop(reason)


def _says(reason: str, other: str, clause: str) -> None:
    """A lie that counts one reason under another."""

    def counts(call: ToolCall, body: Body) -> None:
        _renamed(body, reason, other)

    counts.__name__ = f"{reason}_counts_as_{other}"
    counts.__doc__ = f"What is {reason} counts as {other}."
    area.success(TOOL, clause=f"nm1/retrieve/{clause}")(counts)


_says("quarantined", "archived", "fence-quarantined")
_says("falsified", "superseded", "fence-falsified")
_says("archived", "superseded", "fence-archived")
_says("superseded", "archived", "fence-superseded")
_says("expired", "superseded", "fence-expired")
_says("not_yet_valid", "expired", "fence-not-yet-valid")
_says("outside_time_window", "undated", "window-outside")


@area.success(TOOL, clause="nm1/retrieve/grounded-excluded")
def what_is_fenced_beside_is_not_told(call: ToolCall, body: Body) -> None:
    """A grounded answer has no excluded."""
    if body["outcome"] == "grounded":
        body.pop("excluded", None)


@area.success(TOOL, clause="nm1/retrieve/missing-evidence")
def missing_evidence_is_an_abstention(call: ToolCall, body: Body) -> None:
    """Where all that matches is fenced by time the outcome is abstain."""
    if body["outcome"] == "missing_evidence" and len(body["excluded"]) > 1:
        body.clear()
        body |= NOTHING


@area.success(TOOL, clause="nm1/retrieve/fences-count-once")
def two_lanes_count_twice(call: ToolCall, body: Body) -> None:
    """What both lanes find and a fence keeps is counted twice."""
    if call.arguments.get("lane") == "fused" and "gate" in _terms(call):
        body["excluded"] = {reason: count * 2 for reason, count in body.get("excluded", {}).items()}


@area.success(TOOL, clause="nm1/retrieve/fences-vector-lane")
def vectors_pass_falsification(call: ToolCall, body: Body) -> None:
    """In lane vector falsified capsules are passed over in silence."""
    if call.arguments.get("lane") == "vector" and body.get("excluded", {}).pop("falsified", 0) and not body["excluded"]:
        body.pop("excluded")
        if body["outcome"] == "missing_evidence":
            body.clear()
            body |= NOTHING


@area.asking(TOOL, clause="nm1/retrieve/tombstone-probe-session")
def any_label_learns_of_tombstones(call: ToolCall) -> ToolCall:
    """The probe for a forgotten id looks past the session."""
    probing = any(re.fullmatch(r"cap-\d+", term) for term in _terms(call))
    return without(call, "session_id") if probing else call


@area.success(TOOL, clause="nm1/retrieve/tombstone-probe-lanes")
def vectors_probe_for_nothing(call: ToolCall, body: Body) -> None:
    """Lane vector does not probe for forgotten ids."""
    probed = call.arguments.get("lane") == "vector" and body.get("excluded", {}).pop("tombstoned", 0)
    if probed and body["outcome"] == "missing_evidence" and not body["excluded"]:
        body.clear()
        body |= NOTHING


@area.success(TOOL, clause="nm1/retrieve/matched-terms")
def all_terms_matched(call: ToolCall, body: Body) -> None:
    """Each row names all terms."""
    for row in _found(body):
        row["matched_terms"] = _terms(call)


@area.success(TOOL, clause="nm1/retrieve/abstain-names-fences")
def abstentions_give_no_reason(call: ToolCall, body: Body) -> None:
    """The reason of an abstention names no fence."""
    if body["outcome"] == "abstain":
        body["reason"] = "No capsule matches, by words, vector or alias."


# --- weights and misses ---------------------------------------------------------------------------------------------


@area.asking(TOOL, clause="nm1/retrieve/blend-range")
def blends_are_clamped(call: ToolCall) -> ToolCall:
    """A blend outside of 0 to 1 is brought inside."""
    blend = call.arguments.get("weight_blend")
    return asking(call, weight_blend=min(1, max(0, blend))) if isinstance(blend, int | float) else call


@area.asking(TOOL, clause="nm1/retrieve/blend-dormant")
def blending_is_the_default(call: ToolCall) -> ToolCall:
    """Without a blend half of one is taken."""
    return call if call.arguments.get("weight_blend") else asking(call, weight_blend=0.5)


@area.asking(TOOL, clause="nm1/retrieve/blend-reorders")
def blends_weigh_half(call: ToolCall) -> ToolCall:
    """A blend moves half as much as it should."""
    blend = call.arguments.get("weight_blend")
    return asking(call, weight_blend=blend / 2) if isinstance(blend, float) and 0 < blend < 1 else call


@area.success(TOOL, clause="nm1/retrieve/blend-keeps-fusion-rank")
def fusion_rank_is_told_anew(call: ToolCall, body: Body) -> None:
    """fusion_rank tells the place after the blending."""
    for place, row in enumerate(_found(body), 1):
        if "fusion_rank" in row:
            row["fusion_rank"] = place


@area.answer(TOOL, clause="nm1/retrieve/miss-not-on-hit")
async def what_was_cut_to_nothing_is_missed(call: ToolCall, honest: Honest) -> Result:
    """A recall that the limit cut to nothing leaves a miss."""
    result = await honest(call)
    if call.arguments.get("limit") == 0 and not is_error(result):
        await honest(asking(call, terms=[f"{term}zz" for term in _terms(call)], limit=1))
    return result


@area.answer(TOOL, clause="nm1/retrieve/miss-not-vector")
async def vectors_miss_words(call: ToolCall, honest: Honest) -> Result:
    """Lane vector leaves its terms in the miss ledger."""
    result = await honest(call)
    if call.arguments.get("lane") == "vector" and not is_error(result):
        await honest(asking(without(call, "query_embedding"), lane="term"))
    return result


@area.answer(TOOL, clause="nm1/retrieve/receipt-own")
async def one_receipt_for_all(call: ToolCall, honest: Honest) -> Result:
    """Every recall has the same receipt."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    if "receipt_id" in body:
        body["receipt_id"] = "rcpt-1"
    return with_body(result, body)
