"""What memory_retrieve is sent, and the query that it makes; whatever can't be meant is refused here, in one order."""

from __future__ import annotations

from array import array
from typing import Final, Literal, NamedTuple

from nmemory_reference.capsules import project
from nmemory_reference.capsules.faults import value_fault
from nmemory_reference.capsules.instants import Instant, parse
from nmemory_reference.capsules.parameters import choice, count, number, numbers, record, text, texts
from nmemory_reference.capsules.recall.embedding import single_precision
from nmemory_reference.capsules.recall.fences import Scope, Window
from nmemory_reference.capsules.store import words
from nmemory_reference.capsules.vocabulary import DEFAULT_TOKEN_BUDGET, LANES
from nmemory_reference.tools.failure import shown

Lane = Literal["term", "vector", "fused"]

AUTO: Final = "auto"
TERM: Final = "term"
VECTOR: Final = "vector"
FUSED: Final = "fused"
DEFAULT_VECTOR_K: Final = 10


class WindowArguments(NamedTuple):
    """A range of fact time, as it is sent."""

    from_: str | None = text("The first instant, RFC 3339; without it, from the beginning.", optional=True)
    to: str | None = text("The last instant, RFC 3339; without it, to the end.", optional=True)


class RetrieveArguments(NamedTuple):
    """A question, as it is sent."""

    terms: tuple[str, ...] = texts(
        "Words and phrases, each with your own synonyms and inflected forms as further terms.", at_least=1
    )
    lane: str = choice(
        LANES, "By words, by embedding, or both; auto takes fused with a query_embedding, else term.", default=AUTO
    )
    project_id: str | None = text("Only this project, exactly.", optional=True)
    project_prefix: str | None = text("Only this project and those below it: lab covers lab and lab/x.", optional=True)
    session_id: str | None = text("Only capsules with this session label, exactly as stored.", optional=True)
    time_window: WindowArguments | None = record(
        WindowArguments, "Only what is declared to have happened within; at least one bound."
    )
    limit: int | None = count("At most this many results.")
    token_budget: int = count("At most about this many tokens of results.", default=DEFAULT_TOKEN_BUDGET)
    query_embedding: tuple[float, ...] | None = numbers("The question's embedding, of the store's model.")
    vector_k: int = count("How many neighbours the vector lane may bring.", default=DEFAULT_VECTOR_K)
    weight_blend: float | None = number("How much scored outcomes may move ranks, 0.0 to 1.0; 0 reads none.")


class Query(NamedTuple):
    """A question that can be answered."""

    #: Trimmed, each once, in the order they were sent; every one has a word.
    terms: tuple[str, ...]
    lane: Lane
    #: Whether the caller asked for another lane than auto would have taken.
    overridden: bool
    scope: Scope
    window: Window | None
    limit: int | None
    token_budget: int
    #: The numbers to compare with; None in the term lane.
    embedding: array[float] | None
    vector_k: int
    weight_blend: float

    @property
    def asks_words(self) -> bool:
        """Whether the term lane runs."""
        return self.lane != VECTOR


def read(given: RetrieveArguments) -> Query:
    """The query of these arguments. Raises -32602 for the first that can't be meant."""
    project.check_prefix(given.project_prefix)
    if given.session_id is not None and not given.session_id.strip():
        raise value_fault("session_id is blank, and no capsule carries a blank label. Leave it out to search them all.")
    blend = given.weight_blend or 0.0
    if not 0 <= blend <= 1:
        raise value_fault(f"weight_blend has to lie between 0.0 and 1.0; {blend} does not.")
    window = None if given.time_window is None else _window(given.time_window)
    terms = _terms(given.terms)
    auto: Lane = TERM if given.query_embedding is None else FUSED
    lane = _lane(given.lane, auto)
    if lane != TERM and given.query_embedding is None:
        raise value_fault(f"lane {lane} compares embeddings and so needs query_embedding; lane term looks for words.")
    embedding = None if given.query_embedding is None else single_precision(given.query_embedding, "query_embedding")
    return Query(
        terms=terms,
        lane=lane,
        overridden=lane != auto,
        scope=Scope(given.project_id, given.project_prefix, given.session_id),
        window=window,
        limit=given.limit,
        token_budget=given.token_budget,
        embedding=None if lane == TERM else embedding,
        vector_k=given.vector_k,
        weight_blend=blend,
    )


def _lane(sent: str, auto: Lane) -> Lane:
    lanes: dict[str, Lane] = {AUTO: auto, TERM: TERM, VECTOR: VECTOR, FUSED: FUSED}
    return lanes[sent]


def _terms(sent: tuple[str, ...]) -> tuple[str, ...]:
    if not sent:
        raise value_fault("terms is empty: send at least one word or phrase to look for.")
    trimmed = tuple(dict.fromkeys(term.strip() for term in sent))
    for term in trimmed:
        if words.all_of(term) is None:
            raise value_fault(
                f"The term {shown(term)!r} has no letter and no digit, so nothing can match it. Every term needs one; "
                "leave such terms out."
            )
    return trimmed


def _window(sent: WindowArguments) -> Window:
    start, end = _bound("from", sent.from_), _bound("to", sent.to)
    if start is None and end is None:
        raise value_fault("time_window has no bound: send from, to or both, or leave time_window out.")
    if start is not None and end is not None and end.us < start.us:
        raise value_fault("time_window runs backwards: its `to` lies before its `from`.")
    return Window(start, end)


def _bound(name: str, sent: str | None) -> Instant | None:
    if sent is None:
        return None
    try:
        return parse(sent)
    except ValueError:
        raise value_fault(
            f"time_window.{name} is no RFC3339 date-time: {shown(sent)!r}. Write it like 2031-05-01T08:00:00Z."
        ) from None
