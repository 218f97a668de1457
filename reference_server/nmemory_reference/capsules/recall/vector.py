"""memory_vector: attaching embeddings that callers compute (seed: memory_vector; sheet B 5)."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.call import Call
from nmemory_reference.capsules.faults import ProtocolFault, state_fault, value_fault
from nmemory_reference.capsules.parameters import numbers, shape_of, text
from nmemory_reference.capsules.recall.embedding import single_precision, to_bytes
from nmemory_reference.capsules.store import capsules, journal, vectors
from nmemory_reference.capsules.store.ids import capsule_id, seq_of
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.vocabulary import LABEL
from nmemory_reference.tools.failure import shown

NAME: Final = "memory_vector"


class VectorArguments(NamedTuple):
    """An embedding, as it is sent; nothing at all lists those that there are."""

    capsule_id: str | None = text("The capsule that the embedding is of, cap-<n>.", optional=True)
    id: str | None = text("Another name for capsule_id.", optional=True)
    embedding: tuple[float, ...] | None = numbers("The numbers that your model gives for the content.")
    model_tag: str | None = text("The model that computed them; the first one is the store's for good.", optional=True)


def vector(call: Call, given: VectorArguments) -> dict[str, Any]:
    """Keep an embedding, over any that the capsule has; list them all if nothing is given.

    Raises -32602 for a put with parts missing, unusable numbers, and a model that is not the store's; -32002 for
    a capsule that is not stored.
    """
    if all(sent is None for sent in (given.capsule_id, given.id, given.embedding, given.model_tag)):
        with call.store.reading() as db:
            rows = vectors.rows(db)
            return {"label": LABEL, "vectors": rows, "total": len(rows)}
    if given.capsule_id is not None and given.id is not None and given.capsule_id != given.id:
        raise value_fault("capsule_id and id name different capsules: they are one field, send one of them.")
    target = given.id if given.capsule_id is None else given.capsule_id
    if target is None:
        raise _incomplete("capsule_id")
    if given.embedding is None:
        raise _incomplete("embedding")
    if given.model_tag is None:
        raise _incomplete("model_tag")
    tag = given.model_tag.strip()
    if not tag:
        raise value_fault("model_tag is blank: name the model that computed the embedding, so that a reader can tell.")
    embedding = single_precision(given.embedding, "embedding")
    with call.store.writing() as db:
        seq = seq_of(target)
        if seq is None or not capsules.stored(db, target):
            raise state_fault("unknown_capsule", target)
        resident = vectors.resident_tag(db)
        if resident not in {None, tag}:
            raise value_fault(
                f"model_tag {shown(tag)} is not the model of this store, which is {shown(resident)}: numbers of two "
                "models can't be compared, so a store holds those of one."
            )
        replaced = vectors.put(db, seq, tag, to_bytes(embedding))
        journal.append(db, call, NAME, capsule_id(seq), f"model_tag={tag} dimension={len(embedding)}")
        return {
            "label": LABEL,
            "capsule_id": target,
            "dimension": len(embedding),
            "model_tag": given.model_tag,
            "recorded": True,
            "replaced": replaced,
        }


def _incomplete(missing: str) -> ProtocolFault:
    return value_fault(
        f"{missing} is missing: to attach an embedding send capsule_id (or id), embedding and model_tag. Send nothing "
        "at all to list the embeddings."
    )


TOOL: Final = MemoryTool(
    name=NAME,
    title="Attach or list embeddings",
    description=(
        "Keeps an embedding that YOU computed beside a capsule; nothing is embedded here. Send capsule_id (or id), "
        "embedding and model_tag, the model that the numbers come from. One model a store: the first put elects it, "
        "and another tag is refused naming it. One embedding a capsule: a second put replaces the first, with "
        "replaced true. The numbers are kept as exact 32-bit floats; an empty, non-finite or all-zero list is "
        "refused. memory_retrieve compares them in its lanes vector and fused, under the same fences as words; its "
        "query_embedding needs the same dimension. Send nothing to list capsule_id, dimension and model_tag of all, "
        "in the order of the capsules. Send put and recall one after the other: answers may overtake each other. "
        "Embeddings are advisory; without them recall works by words alone."
    ),
    shape=shape_of(VectorArguments),
    handler=vector,
    writes=True,
    idempotent=True,
)
