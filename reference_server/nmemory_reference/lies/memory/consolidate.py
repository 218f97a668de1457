"""Lies about consolidate: the plan, its moves and its proposals, and what applying it does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from nmemory_reference.lies.answers import Body, Honest, Result, ask, asking, body_of, is_error, with_body, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("consolidate")

TOOL = "memory_consolidate"
RETRIEVE = "memory_retrieve"
ALIAS = "memory_alias"


@area.success(TOOL, clause="nm1/consolidate/shape")
def no_duplicates_are_no_list(call: ToolCall, body: Body) -> None:
    """Without exact duplicates their list is left out."""
    if not body["plan"]["exact_dupes"]:
        body["plan"].pop("exact_dupes")


@area.success(TOOL, clause="nm1/consolidate/armour")
def a_plan_is_an_order(call: ToolCall, body: Body) -> None:
    """A plan with a merge in it is framed as an instruction."""
    if body["plan"]["merge_proposals"]:
        body["framing"] = "INSTRUCTION"


@area.asking(TOOL, clause="nm1/consolidate/dry-run")
def planning_is_doing(call: ToolCall) -> ToolCall:
    """Without apply_tiers the tiers are applied."""
    return call if "apply_tiers" in call.arguments else asking(call, apply_tiers=True)


@area.asking(TOOL, clause="nm1/consolidate/dry-run")
def an_argument_is_a_yes(call: ToolCall) -> ToolCall:
    """apply_tiers false applies them."""
    return asking(call, apply_tiers=True) if call.arguments.get("apply_tiers") is False else call


@area.answer(TOOL, clause="nm1/consolidate/dry-run")
async def planning_teaches(call: ToolCall, honest: Honest) -> Result:
    """A plan that is not applied teaches the aliases that it proposes."""
    result = await honest(call)
    if not is_error(result) and call.arguments.get("apply_tiers") is not True:
        await _teach(call, honest, result)
    return result


@area.liar(TOOL, clause="nm1/consolidate/deterministic")
class EveryOtherPlanIsReversed(Interceptor):
    """The moves of every second plan stand in reverse."""

    def __init__(self) -> None:
        self._plans = 0

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != TOOL or is_error(result):
            return result
        body = body_of(result)
        self._plans += 1
        if self._plans % 2 == 0:
            body["plan"]["tier_moves"].reverse()
        return with_body(result, body)


@area.success(TOOL, clause="nm1/consolidate/exact-dupes")
def near_is_exact(call: ToolCall, body: Body) -> None:
    """Near-duplicates stand among the exact ones."""
    body["plan"]["exact_dupes"] = body["plan"]["merge_proposals"]


@area.item(TOOL, at="plan/merge_proposals", clause="nm1/consolidate/clusters")
def clusters_are_pairs(call: ToolCall, cluster: Body) -> None:
    """A cluster names two ids."""
    cluster["ids"] = cluster["ids"][:2]


@area.success(TOOL, clause="nm1/consolidate/clusters")
def nothing_is_merged(call: ToolCall, body: Body) -> None:
    """No merge is proposed."""
    body["plan"]["merge_proposals"] = []


class _Clusters(History, ABC):
    """Proposes a merge of a cluster's first capsule with others."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            proposals = body["plan"]["merge_proposals"]
            for cluster in proposals[:1]:
                more = [named for named in self.others() if named not in cluster["ids"]]
                proposals += [{**cluster, "ids": [cluster["ids"][0], *more]}] if more else []

    @abstractmethod
    def others(self) -> list[str]:
        """What else to merge."""


@area.liar(TOOL, clause="nm1/consolidate/clusters-apart")
class ProjectsAreClusters(_Clusters):
    """A merge with whatever was captured last is proposed."""

    def others(self) -> list[str]:
        return list(self.captured)[-1:]


@area.liar(TOOL, clause="nm1/consolidate/clusters-taint")
class TaintIsNoMatter(_Clusters):
    """A merge with a tainted near-duplicate is proposed."""

    def others(self) -> list[str]:
        return [named for named, item in self.captured.items() if item.get("instruction_taint")]


@area.liar(TOOL, clause="nm1/consolidate/clusters")
class TheForgottenIsAlikeStill(History):
    """What was forgotten stays in its cluster."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            gone = {named: set(self.captured[named]["content"].split()) for named in self.forgotten}
            for cluster in body["plan"]["merge_proposals"]:
                words = set(self.captured[cluster["ids"][0]]["content"].split())
                cluster["ids"] += [named for named, others in gone.items() if len(words & others) > 4]


@area.liar(TOOL, clause="nm1/consolidate/clusters-apart")
class TheLastHasCompany(History):
    """A merge of a cluster's last capsule with whatever was captured last is proposed."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            proposals = body["plan"]["merge_proposals"]
            last = next(reversed(self.captured), None)
            proposals += [
                {**cluster, "ids": [cluster["ids"][-1], last]}
                for cluster in proposals[:1]
                if last and last not in cluster["ids"]
            ]


@area.liar(TOOL, clause="nm1/consolidate/clusters-taint")
class ForeignersAreAlike(_Clusters):
    """A merge with a near-duplicate that was imported from elsewhere is proposed."""

    def others(self) -> list[str]:
        return [named for named, item in self.captured.items() if item.get("authority_class") == "externally-imported"]


@area.success(TOOL, clause="nm1/consolidate/quarantine")
def nothing_is_quarantined(call: ToolCall, body: Body) -> None:
    """Nothing is to be quarantined."""
    body["plan"]["tier_moves"] = [move for move in body["plan"]["tier_moves"] if move["to"] != "quarantined"]


@area.success(TOOL, clause="nm1/consolidate/archive")
def nothing_is_archived(call: ToolCall, body: Body) -> None:
    """Nothing is to be archived."""
    body["plan"]["tier_moves"] = [move for move in body["plan"]["tier_moves"] if move["to"] != "archived"]


class _Moves(History, ABC):
    """Plans further moves."""

    to: str

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and (moves := body["plan"]["tier_moves"]):
            moved = {move["id"] for move in moves}
            moves += [{**moves[0], "id": named, "to": self.to} for named in self.others() if named not in moved]

    @abstractmethod
    def others(self) -> Iterator[str]:
        """What else to move."""


@area.liar(TOOL, clause="nm1/consolidate/quarantine-live-evidence")
class ForeignersAreQuarantined(_Moves):
    """Whatever was imported from elsewhere is to be quarantined."""

    to = "quarantined"

    def others(self) -> Iterator[str]:
        return (named for named, item in self.captured.items() if item.get("authority_class") == "externally-imported")


@area.liar(TOOL, clause="nm1/consolidate/quarantine-live-evidence")
class TheFlaggedIsQuarantined(_Moves):
    """What was flagged as tainted is to be quarantined."""

    to = "quarantined"

    def others(self) -> Iterator[str]:
        return (named for named, item in self.captured.items() if item.get("instruction_taint"))


@area.liar(TOOL, clause="nm1/consolidate/quarantine-live-evidence")
class OwnWordsAreQuarantined(_Moves):
    """An agent's own capsule with live taint is to be quarantined."""

    to = "quarantined"

    def others(self) -> Iterator[str]:
        return (named for named, item in self.captured.items() if "ignore all previous" in item["content"])


@area.liar(TOOL, clause="nm1/consolidate/archive-both")
class TheExpiredIsArchived(_Moves):
    """What has only expired is to be archived."""

    to = "archived"

    def others(self) -> Iterator[str]:
        return (named for named, item in self.captured.items() if item.get("valid_to", "3") < "2025")


@area.liar(TOOL, clause="nm1/consolidate/archive-both")
class TheSupersededIsArchived(_Moves):
    """What was only superseded is to be archived."""

    to = "archived"

    def others(self) -> Iterator[str]:
        return iter(dict.fromkeys(self.ends("supersedes")))


@area.liar(TOOL, clause="nm1/consolidate/archive-both")
class AnEndIsTheEnd(_Moves):
    """What was superseded and will expire one day is to be archived."""

    to = "archived"

    def others(self) -> Iterator[str]:
        ends = set(self.ends("supersedes"))
        return (named for named, item in self.captured.items() if named in ends and "valid_to" in item)


@area.liar(TOOL, clause="nm1/consolidate/never-active")
class SuccessorsAreActivated(_Moves):
    """What superseded another capsule is to be active."""

    to = "active"

    def others(self) -> Iterator[str]:
        return iter(dict.fromkeys(self.begins("supersedes")))


@area.answer(TOOL, clause="nm1/consolidate/applies-moves")
async def moves_are_acknowledged(call: ToolCall, honest: Honest) -> Result:
    """The moves are acknowledged, and not made."""
    if call.arguments.get("apply_tiers") is not True:
        return await honest(call)
    result = await honest(asking(call, apply_tiers=False))
    body = body_of(result)
    return with_body(result, {**body, "applied": True, "applied_tier_moves": len(body["plan"]["tier_moves"])})


@area.success("memory_list", clause="nm1/consolidate/applied-seen")
def lists_know_no_archive(call: ToolCall, body: Body) -> None:
    """A list of what is archived is empty."""
    if call.arguments.get("tier") == "archived":
        body["entries"], body["returned"] = [], 0


@area.success("memory_list", clause="nm1/consolidate/applied-seen")
def lists_know_no_quarantine(call: ToolCall, body: Body) -> None:
    """A list of what is in quarantine is empty."""
    if call.arguments.get("tier") == "quarantined":
        body["entries"], body["returned"] = [], 0


@area.item("memory_list", at="entries", clause="nm1/consolidate/applied-seen", also={"nm1/list/tier-shown"})
def rows_of_all_tiers_look_alike(call: ToolCall, row: Body) -> None:
    """A list of all tiers marks none."""
    if "tier" not in call.arguments:
        row.pop("tier", None)


@area.answer("memory_list", clause="nm1/consolidate/applied-seen", also={"nm1/list/tier-filter"})
async def the_archived_is_active(call: ToolCall, honest: Honest) -> Result:
    """A list of what is active has what is archived, too."""
    if call.arguments.get("tier") != "active":
        return await honest(call)
    result = await honest(without(call, "tier"))
    body = body_of(result)
    rows = [row for row in body["entries"] if row.get("tier") != "quarantined"]
    return with_body(result, {**body, "entries": rows, "returned": len(rows)})


@area.success("memory_digest", clause="nm1/consolidate/applied-seen", also={"nm1/digest/tiers"})
def the_archived_counts_as_active_too(call: ToolCall, body: Body) -> None:
    """A digest counts what is archived among the active, too."""
    body["tiers"]["active"] += body["tiers"]["archived"]


@area.success("memory_digest", clause="nm1/consolidate/applied-seen", also={"nm1/digest/tiers"})
def a_digest_has_one_tier(call: ToolCall, body: Body) -> None:
    """A digest counts every capsule as active."""
    body["tiers"] = {"active": sum(body["tiers"].values()), "archived": 0, "quarantined": 0}


@area.success(RETRIEVE, clause="nm1/consolidate/tier-dominates")
def the_superseded_is_no_archive(call: ToolCall, body: Body) -> None:
    """An archived match counts as superseded."""
    excluded = body.get("excluded", {})
    if "archived" in excluded:
        excluded["superseded"] = excluded.pop("archived")


@area.success(RETRIEVE, clause="nm1/consolidate/tier-dominates")
def a_match_counts_twice(call: ToolCall, body: Body) -> None:
    """A quarantined match counts as superseded, too."""
    excluded = body.get("excluded", {})
    if "quarantined" in excluded:
        excluded["superseded"] = excluded["quarantined"]


@area.liar(TOOL, "memory_get", clause="nm1/consolidate/applies-audited")
class MovesLeaveNoTrace(Interceptor):
    """The last mutation of what was archived is the one before."""

    def __init__(self) -> None:
        self._seen: dict[str, Body] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "memory_get" or is_error(result):
            return result
        body = body_of(result)
        if body.get("tier") == "active":
            self._seen[body["id"]] = body["last_mutation"]
        else:
            body["last_mutation"] = self._seen.get(body["id"], body["last_mutation"])
        return with_body(result, body)


@area.liar(TOOL, "memory_get", clause="nm1/consolidate/applies-audited")
class QuarantineLeavesNoTrace(Interceptor):
    """The last mutation of what was put into quarantine is that of its capture."""

    def __init__(self) -> None:
        self._event = ""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "memory_get" or is_error(result) or "tier" not in (body := body_of(result)):
            return result
        if body["tier"] == "active":
            self._event = body["last_mutation"]["event"]
        elif body["tier"] == "quarantined" and self._event:
            body["last_mutation"]["event"] = self._event
        return with_body(result, body)


@area.answer(TOOL, clause="nm1/consolidate/applies-no-merge")
async def clusters_are_merged(call: ToolCall, honest: Honest) -> Result:
    """Applying supersedes all of a cluster but its first capsule."""
    result = await honest(call)
    if not is_error(result) and call.arguments.get("apply_tiers") is True:
        for first, *others in [cluster["ids"] for cluster in body_of(result)["plan"]["merge_proposals"]]:
            for other in others:
                await ask(honest, call, "memory_relate", **{"kind": "supersedes", "from": first, "to": other})
    return result


@area.answer(TOOL, clause="nm1/consolidate/applies-no-alias")
async def proposals_are_taught(call: ToolCall, honest: Honest) -> Result:
    """Applying teaches the aliases that it proposes."""
    result = await honest(call)
    if not is_error(result) and call.arguments.get("apply_tiers") is True:
        await _teach(call, honest, result)
    return result


async def _teach(call: ToolCall, honest: Honest, plan: Result) -> None:
    """Teach the aliases that a plan proposes."""
    for proposal in body_of(plan)["plan"]["alias_proposals"]:
        if proposal["candidate"]:
            await ask(honest, call, ALIAS, term=proposal["term"], alias=proposal["candidate"])


@area.success(TOOL, clause="nm1/consolidate/alias-proposals")
def a_term_has_one_candidate(call: ToolCall, body: Body) -> None:
    """A missed term is proposed with one word."""
    firsts = {proposal["term"]: proposal for proposal in reversed(body["plan"]["alias_proposals"])}
    body["plan"]["alias_proposals"] = [
        proposal for proposal in body["plan"]["alias_proposals"] if firsts[proposal["term"]] is proposal
    ]


@area.item(TOOL, at="plan/alias_proposals", clause="nm1/consolidate/alias-proposals")
def every_miss_is_the_first(call: ToolCall, proposal: Body) -> None:
    """A term was missed once, however often it was."""
    proposal["miss_count"] = 1


class _Queries(History, ABC):
    """Remembers the terms that were asked for, by the outcome."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[str, list[str]] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE:
            self.asked.setdefault(body["outcome"], []).extend(call.arguments["terms"])
        if call.name == TOOL:
            body["plan"]["alias_proposals"] = self.proposals(body["plan"]["alias_proposals"])

    @abstractmethod
    def proposals(self, shown: list[Body]) -> list[Body]:
        """What to propose instead."""

    def words(self) -> list[str]:
        """Every word that was captured."""
        return [word for item in self.captured.values() for word in item["content"].split()]


@area.liar(TOOL, clause="nm1/consolidate/alias-proposals")
class WhatIsFencedIsNoMiss(_Queries):
    """A term whose only match is fenced is not proposed."""

    def proposals(self, shown: list[Body]) -> list[Body]:
        return [proposal for proposal in shown if proposal["term"] not in self.asked.get("missing_evidence", ())]


@area.liar(TOOL, clause="nm1/consolidate/alias-grounded")
class WhatWasFoundIsProposed(_Queries):
    """A term that was found is proposed, too."""

    def proposals(self, shown: list[Body]) -> list[Body]:
        found = [{"term": term, "candidate": None, "miss_count": 1} for term in self.asked.get("grounded", ())]
        return [*shown, *found]


@area.liar(TOOL, clause="nm1/consolidate/alias-no-fuzzy")
class ThreeLettersAreEnough(_Queries):
    """A word that begins with the same three characters is a candidate."""

    def proposals(self, shown: list[Body]) -> list[Body]:
        for proposal in shown:
            alike = [word for word in self.words() if word[:3] == proposal["term"][:3]]
            proposal["candidate"] = proposal["candidate"] or next(iter(alike), None)
        return shown


@area.liar(TOOL, clause="nm1/consolidate/alias-no-fuzzy")
class EndsAreAlike(_Queries):
    """A word of which a part stands in the term is a candidate."""

    def proposals(self, shown: list[Body]) -> list[Body]:
        for proposal in shown:
            alike = [word for word in self.words() if len(word) > 6 and word[:7] in proposal["term"][1:]]
            proposal["candidate"] = proposal["candidate"] or next(iter(alike), None)
        return shown


@area.liar(TOOL, clause="nm1/consolidate/alias-proposals")
class FourLettersAreTooFew(_Queries):
    """A candidate begins with the same five characters at least."""

    def proposals(self, shown: list[Body]) -> list[Body]:
        for proposal in shown:
            if proposal["candidate"] and proposal["candidate"][:5] != proposal["term"][:5]:
                proposal["candidate"] = None
        return shown


@area.success(TOOL, clause="nm1/consolidate/alias-null")
def no_candidate_is_no_proposal(call: ToolCall, body: Body) -> None:
    """A term without a candidate is left out."""
    proposals = body["plan"]["alias_proposals"]
    body["plan"]["alias_proposals"] = [proposal for proposal in proposals if proposal["candidate"]]


@area.item(TOOL, at="plan/alias_proposals", clause="nm1/consolidate/alias-null")
def no_candidate_is_left_out(call: ToolCall, proposal: Body) -> None:
    """A term without a candidate says nothing of one."""
    if proposal["candidate"] is None:
        proposal.pop("candidate")


@area.success(TOOL, clause="nm1/consolidate/alias-order")
def proposals_stand_by_term(call: ToolCall, body: Body) -> None:
    """Proposals stand by term, however often it was missed."""
    body["plan"]["alias_proposals"].sort(key=lambda proposal: (proposal["term"], proposal["candidate"] or ""))


@area.success(TOOL, clause="nm1/consolidate/alias-order")
def equals_stand_in_reverse(call: ToolCall, body: Body) -> None:
    """Terms that were missed as often stand in reverse."""
    body["plan"]["alias_proposals"].reverse()
    body["plan"]["alias_proposals"].sort(key=lambda proposal: -proposal["miss_count"])


@area.liar(TOOL, clause="nm1/consolidate/alias-order")
class CandidatesStandAsTheyWereWritten(_Queries):
    """The candidates of a term stand in the order in which they were captured."""

    def proposals(self, shown: list[Body]) -> list[Body]:
        places = {word: place for place, word in enumerate(self.words())}
        return sorted(
            shown, key=lambda row: (-row["miss_count"], row["term"], places.get(row["candidate"], len(places)))
        )


@area.success(TOOL, clause="nm1/consolidate/alias-cap")
def ten_proposals_are_enough(call: ToolCall, body: Body) -> None:
    """There are ten proposals at most."""
    body["plan"]["alias_proposals"] = body["plan"]["alias_proposals"][:10]


@area.liar(TOOL, clause="nm1/consolidate/alias-cap")
class ProposalsAreNotCapped(_Queries):
    """Every missed term is proposed."""

    def proposals(self, shown: list[Body]) -> list[Body]:
        terms = {proposal["term"] for proposal in shown}
        rest = sorted({term for term in self.asked.get("abstain", ()) if term.lower() not in terms})
        more = [{"term": term, "candidate": None, "miss_count": 1} for term in rest]
        return [*shown, *more] if len(shown) == 20 else shown


@area.liar(TOOL, clause="nm1/consolidate/alias-taught")
class TheTaughtIsProposed(_Queries):
    """A term that was missed before it was taught is proposed still."""

    def __init__(self) -> None:
        super().__init__()
        self._told: dict[str, Body] = {}

    def proposals(self, shown: list[Body]) -> list[Body]:
        self._told |= {proposal["term"]: proposal for proposal in shown}
        return list(self._told.values())


@area.liar(TOOL, clause="nm1/consolidate/alias-folded")
class CandidatesAreAsWritten(_Queries):
    """A word with an accent is no candidate for a term without."""

    def proposals(self, shown: list[Body]) -> list[Body]:
        written = [word.lower() for word in self.words()]
        for proposal in shown:
            if proposal["candidate"] not in written:
                proposal["candidate"] = None
        return shown


@area.liar(TOOL, RETRIEVE, clause="nm1/consolidate/alias-folded")
class SpellingsCountApart(_Queries):
    """A term that was missed in two spellings was missed in each of them."""

    def proposals(self, shown: list[Body]) -> list[Body]:
        for proposal in shown:
            missed = [term for terms in self.asked.values() for term in terms]
            proposal["miss_count"] = missed.count(proposal["term"]) or proposal["miss_count"]
        return shown


@area.liar(ALIAS, TOOL, clause="nm1/consolidate/alias-taught")
class WhatItStandsForIsTaught(History):
    """A term that is another one's alias is left out."""

    def __init__(self) -> None:
        super().__init__()
        self._aliases: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == ALIAS and "alias" in call.arguments:
            self._aliases.add(call.arguments["alias"])
        if call.name == TOOL:
            proposals = body["plan"]["alias_proposals"]
            body["plan"]["alias_proposals"] = [row for row in proposals if row["term"] not in self._aliases]


@area.liar(ALIAS, RETRIEVE, clause="nm1/consolidate/loop")
class TeachingComesTooLate(Interceptor):
    """A term that was missed before it was taught goes on being missed."""

    def __init__(self) -> None:
        self._missed: dict[str, Result] = {}

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != RETRIEVE or is_error(result) or len(call.arguments["terms"]) != 1:
            return result
        term = call.arguments["terms"][0]
        if body_of(result)["outcome"] == "abstain":
            self._missed[term] = result
        return self._missed.get(term, result)


@area.asking(TOOL, clause="nm1/consolidate/apply-type")
def one_is_true(call: ToolCall) -> ToolCall:
    """apply_tiers 1 is true."""
    one = call.arguments.get("apply_tiers")
    return asking(call, apply_tiers=True) if one == 1 and not isinstance(one, bool) else call


@area.asking(TOOL, clause="nm1/consolidate/apply-type")
def any_word_is_true(call: ToolCall) -> ToolCall:
    """apply_tiers may be a word."""
    return asking(call, apply_tiers=True) if isinstance(call.arguments.get("apply_tiers"), str) else call
