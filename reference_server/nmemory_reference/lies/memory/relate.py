"""Lies about relate: which edges there are, and what they do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from nmemory_reference.lies.answers import Body, Honest, Result, ask, asking, body_of, is_error, with_body
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import success, value_fault
from nmemory_reference.lies.memory.history import History, Unaudited
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("relate")

TOOL = "memory_relate"
GET = "memory_get"
LIST = "memory_list"
DIGEST = "memory_digest"
RETRIEVE = "memory_retrieve"


def recorded(call: ToolCall) -> Result:
    """The answer that an edge is there."""
    return success(**call.arguments, recorded=True, already_recorded=False)


def kind_of(call: ToolCall) -> Any:
    """The kind of the edge that is asked for."""
    return call.arguments.get("kind")


def _pretends(kind: str) -> None:
    """Add the lie that edges of a kind are acknowledged, and not made."""

    async def lie(call: ToolCall, honest: Honest) -> Result:
        apart = call.arguments.get("from") != call.arguments.get("to")
        return recorded(call) if kind_of(call) == kind and apart else await honest(call)

    lie.__name__ = f"{kind}_is_not_kept"
    lie.__doc__ = f"A {kind} edge is acknowledged, and not made."
    area.answer(TOOL, clause="nm1/relate/shown-on-both", also={"nm1/relate/kinds"})(lie)


for _kind in ("derived_from", "proposes", "grounded_in"):
    _pretends(_kind)


@area.success(TOOL, clause="nm1/relate/shape")
def a_replay_is_not_recorded(call: ToolCall, body: Body) -> None:
    """recorded tells whether the call made the edge, and not whether there is one."""
    body["recorded"] = not body["already_recorded"]


@area.answer(TOOL, clause="nm1/relate/kinds")
async def grounded_in_is_unknown(call: ToolCall, honest: Honest) -> Result:
    """grounded_in is refused."""
    return await honest(asking(call, kind="anchored_in") if kind_of(call) == "grounded_in" else call)


@area.answer(TOOL, clause="nm1/relate/kind-closed")
async def kinds_are_read_kindly(call: ToolCall, honest: Honest) -> Result:
    """A kind in capitals is taken."""
    kind = kind_of(call)
    return await honest(asking(call, kind=kind.lower()) if isinstance(kind, str) else call)


@area.success(TOOL, clause="nm1/relate/fresh-edge")
def every_edge_is_known(call: ToolCall, body: Body) -> None:
    """A new edge is answered as recorded already."""
    body["already_recorded"] = True


@area.success(TOOL, clause="nm1/relate/replay-is-no-op")
def every_edge_is_new(call: ToolCall, body: Body) -> None:
    """The same edge again is answered as new."""
    body["already_recorded"] = False


@area.liar(TOOL, GET, clause="nm1/relate/replay-is-no-op")
class AReplayIsLater(History):
    """An edge that was recorded again has a later time."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == GET:
            for edge in body["relations"]:
                if self.edges.count((edge["kind"], edge["from"], edge["to"])) > 1:
                    edge["at"] = "2199-01-01T00:00:00Z"


@area.liar(TOOL, GET, clause="nm1/relate/replay-is-no-op")
class AReplacementIsDatedAnew(History):
    """A supersedes edge that was recorded again has a later time; those of other kinds keep theirs."""

    def change(self, call: ToolCall, body: Body) -> None:
        for edge in body["relations"] if call.name == GET else ():
            if edge["kind"] == "supersedes" and self.edges.count(("supersedes", edge["from"], edge["to"])) > 1:
                edge["at"] = "2199-01-01T00:00:00Z"


@area.liar(TOOL, clause="nm1/relate/replay-is-no-op")
class ARestartForgetsEdges(History):
    """An edge that was recorded before a restart is answered as new."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and self.edges.count(self.edges[-1]) == 1:
            body["already_recorded"] = False


@area.liar(TOOL, GET, clause="nm1/relate/replay-is-no-op")
class AReplayIsAnotherEdge(History):
    """An edge that was recorded twice is shown twice."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == GET:
            body["relations"] = [
                edge
                for edge in body["relations"]
                for _ in range(max(1, self.edges.count((edge["kind"], edge["from"], edge["to"]))))
            ]


@area.liar(TOOL, clause="nm1/relate/directed")
class EitherWayIsTheSame(History):
    """The same two ends the other way round are the same edge."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            kind, begins, ends = self.edges[-1]
            body["already_recorded"] |= (kind, ends, begins) in self.edges


@area.answer(TOOL, clause="nm1/relate/no-self-relation")
async def a_capsule_may_witness_itself(call: ToolCall, honest: Honest) -> Result:
    """An edge from a capsule to itself is acknowledged if it witnesses."""
    itself = call.arguments.get("from") == call.arguments.get("to") and kind_of(call) == "witnesses"
    return recorded(call) if itself else await honest(call)


@area.answer(TOOL, clause="nm1/relate/ends-stored")
async def an_unknown_end_is_taken(call: ToolCall, honest: Honest) -> Result:
    """An edge to an unknown capsule is acknowledged."""
    try:
        return await honest(call)
    except RpcFault as fault:
        if str(call.arguments.get("to")).startswith("cap-9999"):
            return recorded(call)
        raise fault


@area.answer(TOOL, clause="nm1/relate/ends-stored")
async def an_unknown_beginning_is_taken(call: ToolCall, honest: Honest) -> Result:
    """An edge from an unknown capsule is acknowledged."""
    try:
        return await honest(call)
    except RpcFault as fault:
        if str(call.arguments.get("from")).startswith("cap-9999"):
            return recorded(call)
        raise fault


@area.answer(TOOL, clause="nm1/relate/ends-stored")
async def a_plan_needs_no_capsule(call: ToolCall, honest: Honest) -> Result:
    """grounded_in may lead to what is not stored."""
    try:
        return await honest(call)
    except RpcFault as fault:
        if kind_of(call) == "grounded_in" and fault.data:
            return recorded(call)
        raise


@area.answer(TOOL, clause="nm1/relate/forgotten-ends-count")
async def the_forgotten_has_no_edges(call: ToolCall, honest: Honest) -> Result:
    """A forgotten capsule is no legal end."""
    for name in ("from", "to"):
        if str(call.arguments.get(name)).startswith("cap-") and not str(call.arguments[name]).startswith("cap-99"):
            stored = await ask(honest, call, GET, id=call.arguments[name])
            if stored.get("outcome") == "tombstoned":
                value_fault(f"{call.arguments[name]} is forgotten")
    return await honest(call)


@area.answer(TOOL, clause="nm1/relate/forgotten-ends-count")
async def the_forgotten_proposes_nothing(call: ToolCall, honest: Honest) -> Result:
    """A forgotten capsule is no legal beginning of proposes."""
    if kind_of(call) == "proposes" and not str(call.arguments.get("from")).startswith("cap-99"):
        stored = await ask(honest, call, GET, id=call.arguments.get("from"))
        if stored.get("outcome") == "tombstoned":
            value_fault("what is forgotten proposes nothing")
    return await honest(call)


@area.answer(TOOL, clause="nm1/relate/outcome-falsifies")
async def outcomes_falsify_nothing(call: ToolCall, honest: Honest) -> Result:
    """An outcome is no legal beginning of falsifies."""
    if kind_of(call) == "falsifies" and str(call.arguments.get("from")).startswith("out-"):
        value_fault("from has to be a capsule")
    return await honest(call)


@area.answer(TOOL, clause="nm1/relate/unknown-outcome-refused")
async def any_outcome_falsifies(call: ToolCall, honest: Honest) -> Result:
    """An outcome that is not stored is taken."""
    unknown = str(call.arguments.get("from")).startswith("out-9999")
    return recorded(call) if unknown and kind_of(call) == "falsifies" else await honest(call)


@area.answer(TOOL, clause="nm1/relate/outcome-only-falsifies")
async def outcomes_witness(call: ToolCall, honest: Honest) -> Result:
    """An outcome may witness as well."""
    begins = str(call.arguments.get("from")).startswith("out-")
    return recorded(call) if begins and kind_of(call) == "witnesses" else await honest(call)


@area.answer(TOOL, clause="nm1/relate/outcome-never-the-end")
async def outcomes_are_falsified(call: ToolCall, honest: Honest) -> Result:
    """An outcome may be falsified."""
    ends = str(call.arguments.get("to")).startswith("out-")
    return recorded(call) if ends and kind_of(call) == "falsifies" else await honest(call)


@area.answer(TOOL, clause="nm1/relate/outcome-never-the-end")
async def outcomes_are_grounds(call: ToolCall, honest: Honest) -> Result:
    """grounded_in may lead to an outcome."""
    ends = str(call.arguments.get("to")).startswith("out-")
    return recorded(call) if ends and kind_of(call) == "grounded_in" else await honest(call)


@area.answer(TOOL, clause="nm1/relate/outcome-never-the-end")
async def outcomes_falsify_outcomes(call: ToolCall, honest: Honest) -> Result:
    """An outcome may falsify another one."""
    both = all(str(call.arguments.get(name)).startswith("out-") for name in ("from", "to"))
    return recorded(call) if both and kind_of(call) == "falsifies" else await honest(call)


@area.success(GET, clause="nm1/relate/shown-on-both")
def edges_are_shown_where_they_begin(call: ToolCall, body: Body) -> None:
    """memory_get shows the edges that begin at a capsule."""
    body["relations"] = [edge for edge in body["relations"] if edge["from"] == body["id"]]


@area.success(GET, clause="nm1/relate/shown-on-both")
def two_ends_have_one_edge(call: ToolCall, body: Body) -> None:
    """Of the edges between the same two ends the latest is shown."""
    body["relations"] = list({(edge["from"], edge["to"]): edge for edge in body["relations"]}.values())


@area.success(GET, clause="nm1/relate/manual-unmarked")
def blocks_come_from_an_import(call: ToolCall, body: Body) -> None:
    """A blocks edge has origin import."""
    for edge in body["relations"]:
        if edge["kind"] == "blocks":
            edge["origin"] = "import"


class _StillRecalled(Interceptor):
    """Recalls what an edge of a kind has fenced."""

    kind: str

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == TOOL and kind_of(call) == self.kind:
            await honest(asking(call, kind="derived_from"))
            return recorded(call)
        return await honest(call)


@area.liar(TOOL, RETRIEVE, clause="nm1/relate/supersedes-fences")
class TheReplacedGroundsRecall(_StillRecalled):
    """What an edge has superseded is recalled."""

    kind = "supersedes"


@area.liar(TOOL, RETRIEVE, clause="nm1/relate/falsifies-fences")
class TheFalsifiedGroundsRecall(_StillRecalled):
    """What an edge has falsified is recalled."""

    kind = "falsifies"


def _recount(body: Body, reason: str, told: str) -> None:
    excluded = body.get("excluded", {})
    if reason in excluded:
        excluded[told] = excluded.get(told, 0) + excluded.pop(reason)


@area.success(RETRIEVE, clause="nm1/relate/falsifies-fences")
def the_falsified_is_called_archived(call: ToolCall, body: Body) -> None:
    """A falsified match counts as archived."""
    _recount(body, "falsified", "archived")


@area.success(RETRIEVE, clause="nm1/relate/supersedes-fences")
def the_superseded_is_called_expired(call: ToolCall, body: Body) -> None:
    """A superseded match counts as expired."""
    _recount(body, "superseded", "expired")


@area.liar(TOOL, RETRIEVE, "memory_forget", clause="nm1/relate/falsifies-fences")
class TheForgottenFalsifiesNothing(Interceptor):
    """What a capsule has falsified is recalled once that capsule is forgotten."""

    def __init__(self) -> None:
        self._falsified: dict[Any, Any] = {}
        self._freed: set[Any] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result):
            return result
        if call.name == TOOL and kind_of(call) == "falsifies":
            self._falsified[call.arguments["from"]] = call.arguments["to"]
        elif call.name == "memory_forget" and (named := body_of(result)["id"]) in self._falsified:
            self._freed.add(self._falsified[named])
        elif call.name == RETRIEVE and self._freed and "falsified" in (body := body_of(result)).get("excluded", {}):
            _recount(body, "falsified", "superseded")
            return with_body(result, body)
        return result


@area.liar(TOOL, LIST, clause="nm1/relate/falsified-still-read")
class TheFalsifiedIsNotListed(History):
    """A falsified capsule leaves the list."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == LIST:
            body["entries"] = [row for row in body["entries"] if row["id"] not in self.ends("falsifies")]
            body["returned"] = len(body["entries"])


class _Fences(Interceptor):
    """Takes an edge of a kind for one that fences."""

    kind: str

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == TOOL and kind_of(call) == self.kind:
            result = await honest(call)
            await honest(asking(call, kind="falsifies"))
            return result
        return await honest(call)


@area.liar(TOOL, clause="nm1/relate/witnessed-still-recalled")
class WitnessesFence(_Fences):
    """A witnessed capsule is out of recall."""

    kind = "witnesses"


@area.liar(TOOL, clause="nm1/relate/proposes-is-navigation")
class ProposesFences(_Fences):
    """A capsule that another one would replace is out of recall."""

    kind = "proposes"


class _FencesItsBeginning(Interceptor):
    """Leaves the beginning of an edge of a kind out of recall."""

    kind: str

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name == TOOL and kind_of(call) == self.kind and not is_error(result):
            begins, ends = call.arguments["from"], call.arguments["to"]
            await honest(asking(call, **{"kind": "falsifies", "from": ends, "to": begins}))
        return result


@area.liar(TOOL, clause="nm1/relate/proposes-is-navigation")
class AProposalIsStaged(_FencesItsBeginning):
    """A capsule that would replace another one is out of recall until it does."""

    kind = "proposes"


@area.liar(TOOL, clause="nm1/relate/other-kinds-no-fence")
class PartsAreInTheWhole(_FencesItsBeginning):
    """A capsule that is part of another one is out of recall."""

    kind = "part_of"


@area.liar(TOOL, RETRIEVE, clause="nm1/relate/other-kinds-no-fence")
class TheGroundedComesFirst(History):
    """What hangs off another capsule stands before it in recall."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE and "results" in body:
            body["results"].sort(key=lambda row: row["id"] not in self.begins("grounded_in"))


@area.liar(TOOL, LIST, clause="nm1/relate/proposes-is-navigation")
class ProposesSupersedesInLists(History):
    """A capsule that another one would replace is listed as superseded."""

    def change(self, call: ToolCall, body: Body) -> None:
        for row in body["entries"] if call.name == LIST else ():
            if row["id"] in self.ends("proposes"):
                row["superseded"] = True


@area.liar(TOOL, clause="nm1/relate/other-kinds-no-fence")
class DerivedFromFences(_Fences):
    """A capsule that another one was made of is out of recall."""

    kind = "derived_from"


@area.answer(TOOL, clause="nm1/relate/part-of-needs-container")
async def anything_has_parts(call: ToolCall, honest: Honest) -> Result:
    """part_of into a fact is acknowledged."""
    try:
        return await honest(call)
    except RpcFault as fault:
        if kind_of(call) == "part_of" and call.arguments["from"] != call.arguments["to"] and fault.code == -32602:
            stored = await ask(honest, call, GET, id=call.arguments["to"])
            if stored.get("classification", {}).get("kind") == "fact":
                return recorded(call)
        raise


@area.answer(TOOL, clause="nm1/relate/part-of-needs-container")
async def a_doc_has_parts(call: ToolCall, honest: Honest) -> Result:
    """part_of into a doc is acknowledged."""
    if kind_of(call) == "part_of" and str(call.arguments.get("to")).startswith("cap-"):
        stored = await ask(honest, call, GET, id=call.arguments["to"])
        if stored.get("classification", {}).get("kind") == "doc":
            return recorded(call)
    return await honest(call)


@area.liar(TOOL, "memory_ingest", clause="nm1/relate/part-of-needs-container")
class OnceAContainerAlwaysOne(Interceptor):
    """part_of into what was captured as a task is acknowledged, whatever it was labelled since."""

    def __init__(self) -> None:
        self._tasks: set[Any] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        try:
            result = await honest(call)
        except RpcFault:
            part = call.name == TOOL and kind_of(call) == "part_of" and call.arguments["from"] != call.arguments["to"]
            if part and call.arguments["to"] in self._tasks:
                return recorded(call)
            raise
        if call.name == "memory_ingest" and not is_error(result):
            sent = call.arguments.get("items") or [call.arguments]
            rows = zip(body_of(result)["outcomes"], sent, strict=True)
            self._tasks |= {row["id"] for row, item in rows if "id" in row and item.get("kind") == "task"}
        return result


@area.answer(TOOL, clause="nm1/relate/part-of-container")
async def tasks_have_no_parts(call: ToolCall, honest: Honest) -> Result:
    """part_of into a task is refused."""
    if kind_of(call) == "part_of":
        stored = await ask(honest, call, GET, id=call.arguments["to"])
        if stored.get("classification", {}).get("kind") == "task":
            value_fault("to has to be an epic")
    return await honest(call)


@area.success(DIGEST, clause="nm1/relate/blocks-make-ready")
def blocked_is_ready(call: ToolCall, body: Body) -> None:
    """What is blocked is ready too."""
    dag = body["dag"]
    if dag["status"] == "ok":
        dag["ready"] += dag["blocked"]
        dag["ready_total"] += dag["blocked_total"]


@area.success(DIGEST, clause="nm1/relate/blocks-cycle-told")
def a_cycle_is_empty(call: ToolCall, body: Body) -> None:
    """Where there is a cycle nothing is ready, and that is all that is said."""
    if body["dag"]["status"] == "cycle":
        empty: Body = {name: [] for name in ("ready", "blocked", "done")}
        body["dag"] = {"status": "ok", **empty, **{f"{name}_total": 0 for name in empty}}


@area.success(DIGEST, clause="nm1/relate/blocks-cycle-told")
def two_are_no_cycle(call: ToolCall, body: Body) -> None:
    """Two capsules that block each other are both blocked, and no cycle."""
    dag = body["dag"]
    if dag["status"] == "cycle" and len(dag["cycle"]) == 2:
        told = {"ready": [], "blocked": sorted(dag["cycle"]), "done": []}
        body["dag"] = {"status": "ok", **told, **{f"{name}_total": len(ids) for name, ids in told.items()}}


class _StaysACycle(Interceptor, ABC):
    """Goes on telling a cycle that was repaired."""

    def __init__(self) -> None:
        self._dag: Body | None = None
        self._mended = False

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        self._mended |= self.mends(call)
        result = await honest(call)
        if call.name != DIGEST or is_error(result):
            return result
        body = body_of(result)
        if body["dag"]["status"] == "cycle":
            self._dag = body["dag"]
        elif self._dag and self._mended:
            body["dag"] = self._dag
        return with_body(result, body)

    @abstractmethod
    def mends(self, call: ToolCall) -> bool:
        """Whether this call repairs the cycle, and is not heard."""


@area.liar(TOOL, DIGEST, clause="nm1/relate/cycle-repaired")
class WitnessesMendNoCycle(_StaysACycle):
    """A witnessed member does not end a cycle."""

    def mends(self, call: ToolCall) -> bool:
        return call.name == TOOL and kind_of(call) == "witnesses"


@area.liar(TOOL, DIGEST, clause="nm1/relate/cycle-repaired")
class ForgettingMendsNoCycle(_StaysACycle):
    """A forgotten member does not end a cycle."""

    def mends(self, call: ToolCall) -> bool:
        return call.name == "memory_forget"


@area.success(DIGEST, clause="nm1/relate/witnessed-is-done")
def done_is_still_ready(call: ToolCall, body: Body) -> None:
    """What is done is ready as well."""
    dag = body["dag"]
    if dag["status"] == "ok":
        dag["ready"] = [*dag["done"], *dag["ready"]]
        dag["ready_total"] += dag["done_total"]


@area.liar(TOOL, DIGEST, clause="nm1/relate/witnessed-is-done")
class WhateverIsWitnessedIsDone(History):
    """What is witnessed is done, even if it blocks nothing and nothing blocks it."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == DIGEST and body["dag"]["status"] == "ok":
            ends = {*self.ends("blocks"), *self.begins("blocks")}
            body["dag"]["done"] += sorted({*self.ends("witnesses")} - ends)


class _JoinsTheDag(History):
    """Shows the ends of a kind as ready."""

    kind: str

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == DIGEST and body["dag"]["status"] == "ok":
            body["dag"]["ready"] += self.ends(self.kind)
            body["dag"]["ready_total"] += len(self.ends(self.kind))


@area.liar(TOOL, DIGEST, clause="nm1/relate/falsifies-no-dag")
class FalsifiesJoinsTheDag(_JoinsTheDag):
    """The end of a falsifies edge is ready."""

    kind = "falsifies"


@area.liar(TOOL, DIGEST, clause="nm1/relate/part-of-no-dag")
class PartOfJoinsTheDag(_JoinsTheDag):
    """The end of a part_of edge is ready."""

    kind = "part_of"


@area.liar(TOOL, DIGEST, clause="nm1/relate/grounded-in-no-dag")
class GroundedInJoinsTheDag(_JoinsTheDag):
    """The end of a grounded_in edge is ready."""

    kind = "grounded_in"


@area.liar(TOOL, DIGEST, clause="nm1/relate/proposes-no-dag")
class ProposesJoinsTheDag(_JoinsTheDag):
    """The end of a proposes edge is ready."""

    kind = "proposes"


class _LeavesTheDag(History):
    """Leaves what is ready out once an edge of a kind touches it."""

    kind: str

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == DIGEST and body["dag"]["status"] == "ok":
            touched = {*self.ends(self.kind), *self.begins(self.kind)}
            body["dag"]["ready"] = [named for named in body["dag"]["ready"] if named not in touched]


@area.liar(TOOL, DIGEST, clause="nm1/relate/falsifies-no-dag")
class TheFalsifiedLeavesTheDag(_LeavesTheDag):
    """What is falsified is ready no more."""

    kind = "falsifies"


@area.liar(TOOL, DIGEST, clause="nm1/relate/part-of-no-dag")
class PartsLeaveTheDag(_LeavesTheDag):
    """What is part of another capsule is ready no more."""

    kind = "part_of"


@area.liar(TOOL, DIGEST, clause="nm1/relate/proposes-no-dag")
class TheProposedForLeavesTheDag(_LeavesTheDag):
    """What another capsule would replace is ready no more."""

    kind = "proposes"


@area.liar(TOOL, DIGEST, clause="nm1/relate/grounded-in-no-dag")
class TheGroundedLeavesTheDag(_LeavesTheDag):
    """What hangs off another capsule is ready no more."""

    kind = "grounded_in"


@area.success(GET, clause="nm1/relate/edge-survives-forgetting")
def markers_have_no_edges(call: ToolCall, body: Body) -> None:
    """The marker of a forgotten capsule shows no edges."""
    if body.get("outcome") == "tombstoned":
        body["relations"] = []


@area.liar(TOOL, GET, "memory_forget", clause="nm1/relate/edge-survives-forgetting")
class EdgesLeadToNothingForgotten(Interceptor):
    """An edge that was there before its end was forgotten is no longer shown where it begins."""

    def __init__(self) -> None:
        self._lost: list[Body] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if call.name == "memory_forget":
            stored = await ask(honest, call, GET, id=call.arguments.get("id"))
            self._lost += [edge for edge in stored.get("relations", []) if edge["to"] == stored["id"]]
        result = await honest(call)
        if call.name != GET or is_error(result):
            return result
        body = body_of(result)
        body["relations"] = [edge for edge in body["relations"] if edge["from"] != body["id"] or edge not in self._lost]
        return with_body(result, body)


@area.liar(TOOL, DIGEST, clause="nm1/relate/audited")
class EdgesAreNotAudited(Unaudited):
    """The digest's number of audit events does not count edges."""

    tool = TOOL
