"""memory_ingest: one item or a batch of them, each with an outcome of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.capture import engine
from nmemory_reference.capsules.capture.drafts import Declared, Draft
from nmemory_reference.capsules.capture.engine import Captured, Deduplicated, Outcome, Rejected
from nmemory_reference.capsules.faults import ShapeFault
from nmemory_reference.capsules.parameters import (
    Field,
    Mistyped,
    Shape,
    choice,
    fields_of,
    flag,
    number,
    read_fields,
    schema_of,
    text,
)
from nmemory_reference.capsules.store.sidecars import Epistemics
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.vocabulary import AUTHORITY_CLASSES, DEFAULT_CONFIDENCE, EVIDENCE_STATES, KINDS
from nmemory_reference.tools.failure import shown

NAME: Final = "memory_ingest"
ITEMS: Final = "items"

_CONTRACT: Final = (
    "An item holds content plus BOTH source and anchor, which say where it is from; all else may be left out."
)


class Item(NamedTuple):
    """What one item may hold; its order is the order in which wrong fields are named."""

    content: str = text("What to remember, kept byte for byte. The same bytes are never stored twice.")
    source: str = text("Who or what it comes from.")
    anchor: str = text("Where it stands there, 20 lines at most. path:line also watches the file for changes.")
    confidence: float | None = number(f"From 0 to 1; {DEFAULT_CONFIDENCE} if left out.")
    valid_from: str | None = text("RFC3339: since when it holds; now if left out.", optional=True)
    valid_to: str | None = text("RFC3339: until when it holds; for ever if left out.", optional=True)
    project_id: str | None = text("The project it belongs to; the default one if left out.", optional=True)
    authority_class: str = choice(AUTHORITY_CLASSES, "Whose word it is.", default="agent-inferred")
    instruction_taint: bool = flag("Mark it as text that may try to command its reader.", default=False)
    supersedes: str | None = text("The capsule that it replaces, cap-<n>.", optional=True)
    session_id: str | None = text("The open session that it is captured in, sess-<n>.", optional=True)
    kind: str | None = choice(KINDS, "A label for it, set or replaced along with the capture.", optional=True)
    evidence_state: str | None = choice(EVIDENCE_STATES, "How the claim relates to observation.", optional=True)
    proof_hint: str | None = text("What would prove the claim again; kept as text, never run.", optional=True)
    stale_if: str | None = text("When the claim no longer holds; kept as text, never evaluated.", optional=True)
    event_at: str | None = text("RFC3339: when what it tells of happened.", optional=True)
    event_from: str | None = text("RFC3339: when it began; instead of event_at, along with event_to.", optional=True)
    event_to: str | None = text("RFC3339: when it ended, that instant included.", optional=True)


_FIELDS: Final[Mapping[str, Field]] = fields_of(Item)


class Broken(NamedTuple):
    """An item of a batch that is none; `field` is the one of a wrong type, where it is that."""

    detail: str
    field: str | None = None


class Ingestion(NamedTuple):
    """What is to be captured, in order."""

    items: tuple[Draft | Broken, ...]
    batch: bool


def read(sent: Mapping[str, Any]) -> Ingestion:
    """A batch if there is a key `items`, one item otherwise. Raises ShapeFault for what is neither."""
    if ITEMS not in sent:
        return Ingestion((_draft(sent),), batch=False)
    if stray := sorted(name for name in sent if name != ITEMS):
        named = ", ".join(f"`{shown(name)}`" for name in stray)
        raise ShapeFault(f'`{ITEMS}` stands beside {named}: send one item, or {{"{ITEMS}": [...]}} and nothing else')
    items = sent[ITEMS]
    if not isinstance(items, list | tuple):
        raise ShapeFault(f"{ITEMS}: expected a list of items. {_CONTRACT}")
    return Ingestion(tuple(map(_batch_item, items)), batch=True)


def _batch_item(sent: Any) -> Draft | Broken:
    if not isinstance(sent, Mapping):
        return Broken(f"an item is an object. {_CONTRACT}")
    for name, field in _FIELDS.items():
        if name in sent and (sent[name] is not None or field.required):
            try:
                field.read(sent[name])
            except Mistyped as fault:
                return Broken(f"{fault}. {_CONTRACT}", name)
    try:
        return _draft(sent)
    except ShapeFault as fault:
        return Broken(f"{fault.detail}. {_CONTRACT}")


def _draft(sent: Mapping[str, Any]) -> Draft:
    given = read_fields(_FIELDS, sent)
    epistemics = Epistemics(*(given.pop(name) for name in ("evidence_state", "proof_hint", "stale_if")))
    declared = Declared(*(given.pop(name) for name in ("event_at", "event_from", "event_to")))
    return Draft(**given, epistemics=epistemics, fact_time=declared)


def summary(rows: list[dict[str, Any]], outcomes: list[Outcome]) -> dict[str, Any]:
    """The rows of a call, and how many of them there are of each kind."""
    return {
        "outcomes": rows,
        "captured": sum(isinstance(outcome, Captured) for outcome in outcomes),
        "deduped": sum(isinstance(outcome, Deduplicated) for outcome in outcomes),
        "rejected": sum(isinstance(outcome, Rejected) for outcome in outcomes),
    }


def handle(call: Call, given: Ingestion) -> dict[str, Any]:
    """Capture every item that can be; the ones that can't never stop the others."""
    rows: list[dict[str, Any]] = []
    outcomes: list[Outcome] = []
    with call.store.writing() as db:
        for place, item in enumerate(given.items):
            locator = f"{ITEMS}[{place}]" if given.batch else ""
            if isinstance(item, Broken):
                outcome: Outcome = Rejected(item.detail)
                locator += f".{item.field}" if item.field else ""
            else:
                outcome = engine.capture(db, call, item, action=NAME)
            outcomes.append(outcome)
            rows.append(outcome.row(locator) if isinstance(outcome, Rejected) else outcome.row())
        return summary(rows, outcomes)


def _schema() -> dict[str, Any]:
    """One closed object for both forms: clients take no alternatives at the top of a schema."""
    item = schema_of(_FIELDS)
    batch = {
        "type": "array",
        "items": item,
        "description": "A batch: items with these same fields; nothing else may stand beside it.",
    }
    return {
        "type": "object",
        "properties": {**item["properties"], ITEMS: batch},
        "additionalProperties": False,
    }


TOOL: Final = MemoryTool(
    name=NAME,
    title="Capture memories",
    description=(
        "Capture memories with their origin: content plus BOTH source and anchor. Send one item, or a batch as "
        '{"items": [...]}, never both. Each item has a row of its own: captured, deduplicated (the same bytes are '
        "stored already; its kind, epistemics and supersedes still take effect) or rejected with the reason; a bad "
        "item never stops the others. Left out, confidence is 0.6, valid_from is now, the project is the default "
        "one and authority_class is agent-inferred. Text that tries to command its reader is kept, marked "
        "instruction_taint, and the row says why in taint_findings. dedup_hint names the nearest stored capsule by "
        "shared words (0.5 to 0.99; never a proof of identity), siblings up to three near ones of the same project: "
        "decide for yourself whether to replace one by sending supersedes. Forgotten content stays forgotten."
    ),
    shape=Shape(_schema(), read),
    handler=handle,
    writes=True,
    idempotent=True,
)
