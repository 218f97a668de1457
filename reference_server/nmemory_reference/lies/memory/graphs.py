"""Lies about the two graphs of a digest: what blocks what, and what is grounded in what."""

from __future__ import annotations

from abc import ABC, abstractmethod

from nmemory_reference.lies.answers import Body, Honest, Result, ask, asking, body_of, is_error, with_body
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("graphs")

TOOL = "memory_digest"
LISTS = ("ready", "blocked", "done")
NO_LISTS: Body = {**{name: [] for name in LISTS}, **{f"{name}_total": 0 for name in LISTS}}


def put(dag: Body, name: str, ids: list[str]) -> None:
    """Put ids into a list of the dag that are not there, and count them."""
    more = [named for named in ids if named not in dag[name]]
    dag[name] = [*dag[name], *more]
    dag[f"{name}_total"] += len(more)


def take(dag: Body, name: str, ids: list[str]) -> None:
    """Take ids out of a list of the dag, and out of its count."""
    kept = [named for named in dag[name] if named not in ids]
    dag[f"{name}_total"] -= len(dag[name]) - len(kept)
    dag[name] = kept


class _Dag(History, ABC):
    """Changes the dag of a digest where it is no cycle."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and body["dag"]["status"] == "ok":
            self.draw(body["dag"])

    @abstractmethod
    def draw(self, dag: Body) -> None:
        """Changes a dag in place."""

    def blockers(self, named: str) -> list[str]:
        """What blocks a capsule, dead or alive."""
        return [begin for kind, begin, end in self.edges if kind == "blocks" and end == named]

    def dead(self) -> set[str]:
        """What was superseded or forgotten."""
        return {*self.ends("supersedes"), *self.forgotten}


@area.answer(TOOL, clause="nm1/digest/dag-participants")
async def lone_tasks_are_ready(call: ToolCall, honest: Honest) -> Result:
    """A task that no blocks edge touches is ready."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    dag = body["dag"]
    if dag["status"] == "ok":
        known = [*dag["ready"], *dag["blocked"], *dag["done"]]
        rows = (await ask(honest, call, "memory_list", kind="task"))["entries"]
        put(dag, "ready", [row["id"] for row in rows if row["id"] not in known and not row.get("superseded")])
    return with_body(result, body)


@area.liar(TOOL, clause="nm1/digest/dag-done")
class TheBlockedIsNotDone(_Dag):
    """What a live capsule still blocks is blocked, witnessed or not."""

    def draw(self, dag: Body) -> None:
        waits = {*dag["ready"], *dag["blocked"]}
        stuck = [named for named in dag["done"] if waits & set(self.blockers(named))]
        freed = [named for named in dag["ready"] if set(stuck) & set(self.blockers(named))]
        take(dag, "done", stuck)
        take(dag, "ready", freed)
        put(dag, "blocked", [*stuck, *freed])


@area.liar(TOOL, clause="nm1/digest/dag-ready")
class TheBlockedBlockNothing(_Dag):
    """What only blocked capsules block is ready."""

    def draw(self, dag: Body) -> None:
        free = [named for named in dag["blocked"] if set(self.blockers(named)) <= set(dag["blocked"])]
        take(dag, "blocked", free)
        put(dag, "ready", free)


@area.liar(TOOL, clause="nm1/digest/dag-ready", also={"nm1/digest/dag-done"})
class OneBlockerDecides(_Dag):
    """What has a blocker that is out of the way is ready."""

    def draw(self, dag: Body) -> None:
        away = {*self.dead(), *dag["done"]}
        free = [named for named in dag["blocked"] if away & set(self.blockers(named))]
        take(dag, "blocked", free)
        put(dag, "ready", free)


@area.liar(TOOL, clause="nm1/digest/dag-done")
class TheDoneStillBlock(_Dag):
    """What is done goes on blocking."""

    def draw(self, dag: Body) -> None:
        held = [named for named in dag["ready"] if set(self.blockers(named)) & set(dag["done"])]
        take(dag, "ready", held)
        put(dag, "blocked", held)


@area.liar(TOOL, clause="nm1/digest/dag-done")
class TheDoneIsGone(_Dag):
    """What is done is in no list."""

    def draw(self, dag: Body) -> None:
        take(dag, "done", list(dag["done"]))


@area.liar(TOOL, clause="nm1/digest/dag-done")
class TheDoneIsNotRecalled(History):
    """What was witnessed is not recalled."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == "memory_retrieve" and body["outcome"] == "grounded":
            body["results"] = [row for row in body["results"] if row["id"] not in self.ends("witnesses")]


@area.liar(TOOL, clause="nm1/digest/dag-dead")
class TheSupersededBlock(_Dag):
    """A superseded capsule goes on blocking."""

    def draw(self, dag: Body) -> None:
        held = [named for named in dag["ready"] if set(self.blockers(named)) & set(self.ends("supersedes"))]
        take(dag, "ready", held)
        put(dag, "blocked", held)


@area.liar(TOOL, clause="nm1/digest/dag-dead")
class TheForgottenIsReady(_Dag):
    """A forgotten participant is ready."""

    def draw(self, dag: Body) -> None:
        touched = {end for kind, *ends in self.edges if kind == "blocks" for end in ends}
        put(dag, "ready", [named for named in self.forgotten if named in touched])


@area.liar(TOOL, clause="nm1/digest/dag-dead")
class TheSupersededIsDone(_Dag):
    """A superseded participant is done."""

    def draw(self, dag: Body) -> None:
        touched = {end for kind, *ends in self.edges if kind == "blocks" for end in ends}
        put(dag, "done", [named for named in self.ends("supersedes") if named in touched])


@area.success(TOOL, clause="nm1/digest/dag-totals")
def ready_counts_what_is_shown(call: ToolCall, body: Body) -> None:
    """ready_total is the length of the list after its cap."""
    if body["dag"]["status"] == "ok":
        body["dag"]["ready_total"] = len(body["dag"]["ready"])


@area.answer(TOOL, clause="nm1/digest/dag-totals")
async def the_dag_is_not_capped(call: ToolCall, honest: Honest) -> Result:
    """headlines cuts no list of the dag."""
    result = await honest(call)
    if is_error(result):
        return result
    whole = body_of(await honest(asking(call, headlines=1000)))
    return with_body(result, {**body_of(result), "dag": whole["dag"]})


def _counts_what_is_shown(name: str) -> None:
    """Add the lie that the total of a list of the dag is the length of what is shown of it."""

    def lie(call: ToolCall, body: Body) -> None:
        if body["dag"]["status"] == "ok" and body["dag"][name]:
            body["dag"][f"{name}_total"] = len(body["dag"][name])

    lie.__name__ = f"{name}_counts_what_is_shown"
    lie.__doc__ = f"{name}_total is the length of the list after its cap, where anything is shown of it."
    area.success(TOOL, clause="nm1/digest/dag-totals")(lie)


for _list in ("blocked", "done"):
    _counts_what_is_shown(_list)


@area.answer(TOOL, clause="nm1/digest/dag-totals")
async def the_done_is_not_capped(call: ToolCall, honest: Honest) -> Result:
    """headlines does not cut what is done."""
    result = await honest(call)
    if is_error(result):
        return result
    body, whole = body_of(result), body_of(await honest(asking(call, headlines=1000)))["dag"]
    if whole["status"] == "ok" and call.arguments.get("headlines"):
        body["dag"]["done"] = whole["done"]
    return with_body(result, body)


@area.liar(TOOL, clause="nm1/digest/dag-cycle")
class AllIsEntangled(History):
    """entangled_total counts every end of a blocks edge."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and body["dag"]["status"] == "cycle":
            body["dag"]["entangled_total"] = len({*self.begins("blocks"), *self.ends("blocks")})


@area.success(TOOL, clause="nm1/digest/dag-cycle")
def a_cycle_has_lists(call: ToolCall, body: Body) -> None:
    """A cycle is told beside lists that are empty."""
    if body["dag"]["status"] == "cycle":
        body["dag"] |= NO_LISTS


@area.liar(TOOL, clause="nm1/digest/dag-cycle")
class ACycleIsAllThatWaits(History):
    """The cycle names what waits for it, too."""

    def change(self, call: ToolCall, body: Body) -> None:
        dag = body.get("dag", {})
        if call.name == TOOL and dag["status"] == "cycle":
            members = set(dag["cycle"])
            dag["cycle"] += [end for kind, begin, end in self.edges if kind == "blocks" and begin in members - {end}]


@area.liar(TOOL, clause="nm1/digest/dag-cycle-repair")
class SupersedingMendsNoCycle(History):
    """A superseded member does not end a cycle."""

    def __init__(self) -> None:
        super().__init__()
        self._told: Body = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and body["dag"]["status"] == "cycle":
            self._told = body["dag"]
        elif call.name == TOOL and set(self._told.get("cycle", ())) & set(self.ends("supersedes")):
            body["dag"] = self._told


@area.liar(TOOL, clause="nm1/digest/dag-cycle-next")
class OneCycleIsEnough(Interceptor):
    """After the first cycle is repaired no other one is found."""

    def __init__(self) -> None:
        self._told: list[str] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if is_error(result) or call.name != TOOL:
            return result
        body = body_of(result)
        if body["dag"]["status"] == "cycle":
            self._told = self._told or body["dag"]["cycle"]
            if not set(self._told) & set(body["dag"]["cycle"]):
                body["dag"] = {"status": "ok", **NO_LISTS}
        return with_body(result, body)


class _Mission(History, ABC):
    """Changes the mission of a digest where it is no cycle."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and body.get("mission", {}).get("status") == "ok":
            self.draw(call, body["mission"])

    @abstractmethod
    def draw(self, call: ToolCall, mission: Body) -> None:
        """Changes a mission in place."""


@area.success(TOOL, clause="nm1/digest/mission-roots")
def the_oldest_mission_leads(call: ToolCall, body: Body) -> None:
    """Roots stand oldest first."""
    body.get("mission", {}).get("roots", []).reverse()


@area.answer(TOOL, clause="nm1/digest/mission-roots")
async def every_epic_is_a_root(call: ToolCall, honest: Honest) -> Result:
    """An epic that another one grounds is a root too."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    if roots := body.get("mission", {}).get("roots"):
        fence = {name: call.arguments[name] for name in ("project_prefix",) if name in call.arguments}
        rows = (await ask(honest, call, "memory_list", kind="epic", **fence))["entries"]
        shown = [root["id"] for root in roots]
        roots += [{**roots[0], **row} for row in rows if row["id"] not in shown and not row.get("superseded")]
    return with_body(result, body)


@area.answer(TOOL, clause="nm1/digest/mission-roots")
async def roots_are_not_capped(call: ToolCall, honest: Honest) -> Result:
    """headlines cuts no root."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    if "mission" in body:
        body["mission"] = body_of(await honest(asking(call, headlines=1000)))["mission"]
    return with_body(result, body)


@area.liar(TOOL, clause="nm1/digest/mission-dead-parent")
class DeadParentsGround(_Mission):
    """A child whose parents are all dead is no root."""

    def draw(self, call: ToolCall, mission: Body) -> None:
        children = self.begins("grounded_in")
        mission["roots"] = [root for root in mission["roots"] if root["id"] not in children]


@area.liar(TOOL, clause="nm1/digest/mission-children")
class GrandchildrenCount(_Mission):
    """children counts the children of children too."""

    def draw(self, call: ToolCall, mission: Body) -> None:
        grounded = [(begin, end) for kind, begin, end in self.edges if kind == "grounded_in"]
        for root in mission["roots"]:
            children = {begin for begin, end in grounded if end == root["id"]}
            root["children"] += sum(end in children for _, end in grounded)


@area.answer(TOOL, clause="nm1/digest/fence-missions")
async def parents_are_fenced(call: ToolCall, honest: Honest) -> Result:
    """An epic whose parent stands outside of the fence is a root."""
    result = await honest(call)
    prefix = call.arguments.get("project_prefix")
    if is_error(result) or not isinstance(prefix, str):
        return result
    body = body_of(result)
    if roots := body.get("mission", {}).get("roots"):
        shown = {root["id"] for root in roots}
        for row in (await ask(honest, call, "memory_list", kind="epic", project_prefix=prefix))["entries"]:
            edges = (await ask(honest, call, "memory_get", id=row["id"]))["relations"]
            above = [edge["to"] for edge in edges if edge["kind"] == "grounded_in" and edge["from"] == row["id"]]
            homes = [(await ask(honest, call, "memory_get", id=named)).get("capsule") for named in above]
            away = [home for home in homes if home and not home["scope"]["project_id"].startswith(prefix)]
            if row["id"] not in shown and above and len(away) == len(above):
                roots.insert(0, {**row, "children": 0})
    return with_body(result, body)


@area.liar(TOOL, clause="nm1/digest/mission-children")
class DeadChildrenCount(_Mission):
    """children counts every edge that ends at a root."""

    def draw(self, call: ToolCall, mission: Body) -> None:
        for root in mission["roots"]:
            root["children"] = self.ends("grounded_in").count(root["id"])


@area.liar(TOOL, clause="nm1/digest/mission-children")
class ChildrenStayAtHome(_Mission):
    """children counts the children of the root's own project."""

    def draw(self, call: ToolCall, mission: Body) -> None:
        for root in mission["roots"]:
            away = [
                begin
                for kind, begin, end in self.edges
                if kind == "grounded_in"
                and end == root["id"]
                and self.captured.get(begin, {}).get("project_id") != root["project_id"]
            ]
            root["children"] = max(0, root["children"] - len(away))


@area.success(TOOL, clause="nm1/digest/mission-cycle")
def a_cycle_stays_outside(call: ToolCall, body: Body) -> None:
    """A digest of a subtree says nothing of a cycle outside of it."""
    if body.get("mission", {}).get("status") == "cycle" and "project_prefix" in call.arguments:
        body["mission"] = {"status": "ok", "roots": []}


@area.liar(TOOL, clause="nm1/digest/mission-cycle")
class ForgettingMendsNoMission(History):
    """A forgotten member does not end a cycle."""

    def __init__(self) -> None:
        super().__init__()
        self._told: Body = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and body.get("mission", {}).get("status") == "cycle":
            self._told = body["mission"]
        elif call.name == TOOL and set(self._told.get("cycle", ())) & set(self.forgotten):
            body["mission"] = self._told


@area.success(TOOL, clause="nm1/digest/mission-cycle")
def a_cycle_spoils_the_dag(call: ToolCall, body: Body) -> None:
    """A grounded_in cycle is told of the dag as well."""
    if body.get("mission", {}).get("status") == "cycle":
        body["dag"] = body["mission"]


@area.success(TOOL, clause="nm1/digest/mission-absent")
def no_mission_is_a_section(call: ToolCall, body: Body) -> None:
    """Without a root there is an empty mission."""
    body.setdefault("mission", {"status": "ok", "roots": []})


class _Unanchored(History, ABC):
    """Counts the unanchored otherwise."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            prefix = call.arguments.get("project_prefix", "")
            inside = {named for named, item in self.captured.items() if item.get("project_id", "").startswith(prefix)}
            body["unanchored"] = body.get("unanchored", 0) + self.more(body, inside - set(self.forgotten))
            if body["unanchored"] <= 0:
                body.pop("unanchored")

    @abstractmethod
    def more(self, body: Body, inside: set[str]) -> int:
        """How many more to count of the capsules in scope."""

    def tasks(self, inside: set[str]) -> set[str]:
        """The tasks in scope."""
        return {named for named in inside if self.captured[named].get("kind") == "task"}


@area.liar(TOOL, clause="nm1/digest/unanchored")
class DeadParentsAnchor(_Unanchored):
    """A task with a dead parent is anchored."""

    def more(self, body: Body, inside: set[str]) -> int:
        parents = {
            begin: [end for kind, start, end in self.edges if kind == "grounded_in" and start == begin]
            for begin in self.tasks(inside) - set(self.ends("supersedes"))
        }
        dead = {*self.forgotten, *self.ends("supersedes")}
        return -sum(bool(ends) and set(ends) <= dead for ends in parents.values())


@area.liar(TOOL, clause="nm1/digest/unanchored")
class TaskAndThreadAreTwo(_Unanchored):
    """A thread that is a task counts twice."""

    def more(self, body: Body, inside: set[str]) -> int:
        threads = {named for named in self.tasks(inside) if self.captured[named]["content"].startswith("ACTIVE(")}
        return len(threads - set(self.begins("grounded_in")))


@area.liar(TOOL, clause="nm1/digest/fence-missions")
class AnchorsAreFenced(_Unanchored):
    """A task whose parent stands outside of the fence is unanchored."""

    def more(self, body: Body, inside: set[str]) -> int:
        away = {begin for kind, begin, end in self.edges if kind == "grounded_in" and end not in inside}
        return len(self.tasks(inside) & away - set(self.ends("supersedes")))


@area.liar(TOOL, clause="nm1/digest/unanchored")
class SupersededTasksDrift(_Unanchored):
    """A superseded task counts as unanchored."""

    def more(self, body: Body, inside: set[str]) -> int:
        return len(self.tasks(inside) & set(self.ends("supersedes")))


@area.liar(TOOL, clause="nm1/digest/unanchored")
class ThreadsAreAnchored(_Unanchored):
    """A thread is never unanchored."""

    def more(self, body: Body, inside: set[str]) -> int:
        threads = {named for named in inside if self.captured[named]["content"].startswith("ACTIVE(")}
        return -len(threads - set(self.begins("grounded_in")))


@area.success(TOOL, clause="nm1/digest/unanchored-no-epics", also={"nm1/digest/unanchored"})
def roots_are_unanchored(call: ToolCall, body: Body) -> None:
    """A root counts as unanchored."""
    if roots := body.get("mission", {}).get("roots"):
        body["unanchored"] = body.get("unanchored", 0) + len(roots)


@area.success(TOOL, clause="nm1/digest/unanchored", also={"nm1/digest/shape"})
def nothing_unanchored_is_counted(call: ToolCall, body: Body) -> None:
    """Where nothing is unanchored the count is 0."""
    body.setdefault("unanchored", 0)
