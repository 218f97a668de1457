"""A session: one open target, what it can do, and cases done against it."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..check import Answer, Judges, Outcome
from ..check.vocabulary import compile_schema, judge_schema
from ..contract.case import Case
from ..contract.pack import Observation, Pack, Recipe
from ..contract.template import render
from ..target import NOBODY, Connection, Listing, Reply, Target, Unreachable, list_tools
from ..target.throwaway import ThrowAwayStores
from .folders import Folders
from .lack import lacking
from .ledger import Ledger
from .options import Options
from .perform import Means, perform
from .place import Place, Places
from .result import CaseResult, TargetIdentity, Verdict

Json = Any

#: HTTP statuses that mean: not without a token.
REFUSING = (401, 403)


class NotATarget(Exception):
    """Something answers, but it gives no list of tools; the message says why."""


class Session:
    """One open target that cases can be done against. Use ``open`` and ``close`` from one task."""

    def __init__(self, target: Target, packs: Sequence[Pack], options: Options) -> None:
        self.packs = tuple(packs)
        self.options = options
        self._target = target
        self._place = Place(target)
        #: None where all that is made is thrown away.
        self._ledger = None if target.disposable else Ledger(options.ledger)
        self._judges: dict[str, tuple[Pack, Judges]] = {}
        self._markers = itertools.count()
        #: Cases that share the place take it together; those that need it alone take all of it.
        self._alone = asyncio.Condition()
        self._sharing = 0
        self._taken = False
        #: Stores of the kit's own that are open and in nobody's use: each case that needs one alone hands it on.
        self._spare: list[Place] = []
        self._closed_noise: list[str] = []
        self._files = ThrowAwayStores()
        self.identity: TargetIdentity
        self.capabilities: frozenset[str] = frozenset()
        self.tools: tuple[dict[str, Any], ...] = ()

    @classmethod
    async def open(cls, target: Target, packs: Sequence[Pack], options: Options) -> Session:
        """Connect, list the tools and find out what the target can do.

        Raises ``Unreachable`` where there is no connection, ``NotATarget`` where it gives no list of tools.
        """
        session = cls(target, packs, options)
        try:
            await session._meet()
        except BaseException:
            await session._place.close()
            raise
        return session

    @property
    def gives_stores(self) -> bool:
        """Whether a case can have a store of its own."""
        return "fresh-store" in self.capabilities

    @property
    def losses(self) -> int:
        """How many connections the target has broken."""
        return self._place.losses

    def noise(self) -> tuple[str, ...]:
        """What the target has sent that belongs to no request, in words, each once."""
        found = [f"{noise.kind}: {noise.received}" for noise in self._place.noise()]
        return tuple(dict.fromkeys(map(self.options.redact, (*self._closed_noise, *found))))

    def waves(self, cases: Sequence[Case]) -> tuple[list[Case], list[Case]]:
        """The cases that may overlap, those that wait first; then those that run alone on the one store there is.

        Where there are stores to give, all may overlap. Those that get one take long, so they are spread among the
        others: neither a server's start nor the one server of all others is waited for alone.
        """
        alone = [] if self.gives_stores else [case for case in cases if case.alone]
        own = sorted(filter(self._has_its_own, cases), key=lambda case: not case.apart)
        shared = [case for case in cases if not (case.alone or self._has_its_own(case))]
        spread = [(place / len(kind), case) for kind in (own, shared) for place, case in enumerate(kind)]
        return [case for _, case in sorted(spread, key=lambda one: (not one[1].waits, one[0]))], alone

    async def do(self, case: Case) -> CaseResult:
        """Do a case; never raises for the target's doing.

        A case that lost the connection while others were under way is done again, alone: only what breaks it alone is
        to blame for it.
        """
        if reason := self.lacking(case):
            return skipped(case, reason)
        if absent := self._unlisted(case, required=True):
            return not_run(case, f"the target does not list {', '.join(absent)}")
        if case.store == "fresh" and not self.gives_stores:
            return skipped(case, "the target cannot give it an empty store of its own: put {store} into its command")
        if self._has_its_own(case):
            if self._spare and case.store != "fresh":
                result = await self._elsewhere(case, self._spare.pop(), hand_on=True)
                if result.verdict is not Verdict.NOT_RUN:
                    return result
                # What others have left there may have kept it from being decided.
            place = Place(self._target, self._target.fresh_store())
            return await self._elsewhere(case, place, hand_on=case.store != "fresh")
        result, lost = await self._here(case, alone=case.alone)
        if lost and not case.alone:
            result, _ = await self._here(case, alone=True)
            result = replace(result, again=True)
        return result

    def lacking(self, case: Case) -> str | None:
        """Why a case does not apply to this target, or None."""
        if lack := lacking(case.needs, self.capabilities):
            return lack
        if optional := self._unlisted(case, required=False):
            return f"the target does not offer {', '.join(optional)}, which is optional"
        return None

    async def call(self, tool: str, arguments: Mapping[str, Json], *, credential: str | None = None) -> Reply:
        """A call of one's own, outside any case. Raises ``Unreachable``."""
        connection = await self._place.connection(credential)
        params = {"name": tool, "arguments": dict(arguments)}
        return await connection.request("tools/call", params, timeout=self.options.call_timeout)

    async def close(self) -> tuple[str, ...]:
        """Take back what was made, end every connection; answers what stays behind."""
        left: tuple[str, ...] = ()
        try:
            if self._ledger is not None:
                await take_back(self._ledger, self.call)
        finally:
            if self._ledger is not None:
                left = tuple(f"{made.case}: {made.what}" for made in self._ledger.there())
                self._ledger.close()
            await asyncio.gather(*map(self._leave, self._spare), self._place.close())
            self._files.remove()
        return left

    def _has_its_own(self, case: Case) -> bool:
        """Whether a case is done in a store of its own."""
        return self.gives_stores and (case.store == "fresh" or case.alone)

    # --- opening ------------------------------------------------------------------------------------------------

    async def _meet(self) -> None:
        connection = await self._place.connection()
        listing = await list_tools(connection, timeout=self.options.call_timeout)
        if listing.stopped is not None:
            raise NotATarget(_no_list(listing))
        self.tools = tuple(tool for tool in listing.tools if isinstance(tool, dict))
        names = tuple(name for tool in self.tools if isinstance(name := tool.get("name"), str))
        self.identity = TargetIdentity(
            kind=self._target.kind,
            display=self._target.display,
            name=connection.server.name,
            version=connection.server.version,
            mcp_version=connection.server.mcp_version,
            tools=names,
            capabilities=(),
        )
        self.capabilities = frozenset(await self._find_out(names, connection))
        self.identity = replace(self.identity, capabilities=tuple(sorted(self.capabilities)))

    async def _find_out(self, names: Sequence[str], connection: Connection) -> set[str]:
        target, options = self._target, self.options
        found = {f"tool:{name}" for name in names}
        found |= {f"claims:{claim}" for claim in options.claims}
        found |= {f"seed-{kind}" for kind, recipe in self._seeds().items() if recipe.tool in names}
        found |= {f"credential:{name}" for name in target.credentials}
        found |= {"http"} if target.kind == "http" else set()
        found |= {"restart"} if target.can_restart else set()
        found |= {"fresh-store"} if target.fresh_store() is not None else set()
        found |= {"synthesize"} if options.synthesize else set()
        found |= {"client-name"} if connection.tells_client else set()
        found |= {"shared-filesystem"} if target.shares_files else set()
        found |= {"shared-root"} if target.root is not None else set()
        if target.shares_files and target.store_file(None) is not None:
            found |= {"store-file", *(["second-store"] if "fresh-store" in found else [])}
        if await self._demands_token():
            found.add("token-demanded")
        found |= {name for name, there in options.declared.items() if there}
        found -= {name for name, there in options.declared.items() if not there}
        return found | await self._observe(frozenset(found))

    async def _demands_token(self) -> bool:
        if self.options.auth_required:
            return True
        if self._target.kind == "stdio":
            return False
        try:
            connection = await self._place.connection(NOBODY)
        except Unreachable:
            return False
        listing = await list_tools(connection, timeout=self.options.call_timeout)
        return listing.stopped is not None and listing.stopped.status in REFUSING

    async def _observe(self, known: frozenset[str]) -> set[str]:
        asked = [
            (pack, name, observation)
            for pack in self.packs
            for name, observation in pack.observe.items()
            if all(need in known for need in (f"tool:{observation.tool}", *observation.needs))
        ]
        answers = await asyncio.gather(*(self._ask(pack, observation) for pack, _, observation in asked))
        return {
            f"observed:{name}" if met else f"observed:no-{name}"
            for (_, name, _), met in zip(asked, answers, strict=True)
            if met is not None
        }

    async def _ask(self, pack: Pack, observation: Observation) -> bool | None:
        """Whether the target has a trait; None where it gives no answer."""
        values = {"marker": self._marker()}
        for tool, arguments in (*observation.first, (observation.tool, observation.arguments)):
            reply = await self.call(tool, render(arguments, values, datetime.now(UTC)))
            if reply.result is None:
                return None
            answer = Answer.of_result(reply.result)
            if answer.outcome is not Outcome.SUCCESS:
                return False
            if self._ledger is not None:
                for recipe in pack.cleanup.get(tool, ()):
                    self._ledger.answered(f"{pack.path}/observe", tool, recipe, answer)
        return not any(True for _ in compile_schema(observation.schema).iter_errors(answer.body))

    # --- doing --------------------------------------------------------------------------------------------------

    async def _here(self, case: Case, *, alone: bool) -> tuple[CaseResult, bool]:
        await self._take(alone=alone)
        try:
            return await self._perform(case, self._place)
        finally:
            await self._give(alone=alone)

    async def _elsewhere(self, case: Case, place: Place, *, hand_on: bool) -> CaseResult:
        """Do a case in a store that it has to itself, and that the next one gets where this one leaves it whole."""
        whole = False
        try:
            result, _ = await self._perform(case, place)
            whole = hand_on and result.verdict is Verdict.PASS
        finally:
            if whole:
                self._spare.append(place)
            else:
                await self._leave(place)
        return result

    async def _leave(self, place: Place) -> None:
        self._closed_noise += [f"{noise.kind}: {noise.received}" for noise in place.noise()]
        await place.close()

    async def _perform(self, case: Case, place: Place) -> tuple[CaseResult, bool]:
        pack, judges = self._pack_of(case)
        marker, places = self._marker(), Places(self._target, place)
        by_name, folders = self._by_name(case, places), None
        if {"shared-filesystem", "store-file", "second-store"}.intersection(case.needs):
            stores = [Path(store["folder"]) for store in by_name.get("stores", {}).values()]
            root = self._target.root if "shared-root" in case.needs else None
            folders = Folders(marker, self._files.files(), root, stores)
            by_name |= folders.values()
        means = Means(
            pack=pack,
            judges=judges,
            places=places,
            ledger=self._ledger,
            seeds={**pack.seeds, **self.options.seeds},
            tools=frozenset(self.identity.tools),
            marker=marker,
            call_timeout=self.options.call_timeout,
            redact=self._redact,
            folders=folders,
            places_by_name=by_name,
        )
        try:
            return await perform(case, means, timeout=max(60.0, 5 * self.options.call_timeout))
        finally:
            await places.close()
            self._closed_noise += [f"{noise.kind}: {noise.received}" for noise in places.noise()]
            if folders is not None:
                folders.remove()

    def _by_name(self, case: Case, places: Places) -> dict[str, Json]:
        """What a case may say of its stores, where it needs their files."""
        if not {"store-file", "second-store"}.intersection(case.needs):
            return {}
        files = {name: places.place(name).file for name in case.stores}
        return {
            "stores": {
                name: {"file": str(file), "folder": str(file.parent)}
                for name, file in files.items()
                if file is not None
            }
        }

    async def _take(self, *, alone: bool) -> None:
        async with self._alone:
            await self._alone.wait_for(lambda: not self._taken and not (alone and self._sharing))
            if alone:
                self._taken = True
            else:
                self._sharing += 1

    async def _give(self, *, alone: bool) -> None:
        async with self._alone:
            if alone:
                self._taken = False
            else:
                self._sharing -= 1
            self._alone.notify_all()

    def _pack_of(self, case: Case) -> tuple[Pack, Judges]:
        name = case.path.rpartition("/")[0]
        if name not in self._judges:
            pack = next(pack for pack in self.packs if pack.path == name)
            self._judges[name] = (pack, Judges(pack, self.identity.mcp_version))
        return self._judges[name]

    def _unlisted(self, case: Case, *, required: bool) -> list[str]:
        """The tools that a case calls and the target does not list."""
        known = self._pack_of(case)[0].tools
        listed = self.identity.tools
        return sorted(
            name for name in case.tools() if name in known and known[name].required is required and name not in listed
        )

    def _seeds(self) -> dict[str, Recipe]:
        return {
            **{kind: recipe for pack in self.packs for kind, recipe in pack.seeds.items()},
            **self.options.seeds,
        }

    def _marker(self) -> str:
        return f"{self.options.run}{_letters(next(self._markers))}"

    def _redact(self, value: Json) -> Json:
        """A JSON value without secrets."""
        return redact_json(value, self.options.redact)


def skipped(case: Case, reason: str) -> CaseResult:
    """The result of a case that does not apply."""
    return CaseResult(case.path, case.title, Verdict.SKIP, case.clauses, reason=reason)


def not_run(case: Case, reason: str) -> CaseResult:
    """The result of a case that should have been decided and was not."""
    return CaseResult(case.path, case.title, Verdict.NOT_RUN, case.clauses, reason=reason)


async def take_back(ledger: Ledger, call: Callable[..., Any]) -> None:
    """Undo everything in a ledger that can be undone; what the target refuses stays in it."""
    for made in ledger.there():
        if made.tool is None:
            continue
        try:
            reply = await call(made.tool, made.arguments, credential=made.credential)
        except Unreachable:
            return
        if reply.fault is not None:
            return  # to wait in vain for each of the rest would take as long as the calls may take, times the rest
        taken = reply.result is not None and Answer.of_result(reply.result).outcome is Outcome.SUCCESS
        gone = reply.error is not None and not judge_schema(compile_schema(made.gone), reply.error.get("data"))
        if taken or gone:
            ledger.undone(made)


def redact_json(value: Json, redact: Callable[[str], str]) -> Json:
    """A JSON value with every text in it passed through ``redact``."""
    match value:
        case str():
            return redact(value)
        case list():
            return [redact_json(item, redact) for item in value]
        case dict():
            return {redact(key): redact_json(item, redact) for key, item in value.items()}
        case _:
            return value


def fit(packs: Iterable[Pack], tools: Iterable[str]) -> tuple[Pack, ...]:
    """The packs of whose required tools a target offers at least one."""
    offered = frozenset(tools)
    return tuple(pack for pack in packs if offered & frozenset(pack.required_tools))


def _letters(number: int) -> str:
    """A number as three letters: of one width, so that no marker is the beginning of another of the same run."""
    return "".join(chr(97 + number // 26**place % 26) for place in (2, 1, 0))


def _no_list(listing: Listing) -> str:
    reply = listing.stopped
    if reply is None:
        return "it gives no list of tools"
    if reply.fault is not None:
        return reply.fault.message
    return f"tools/list answers an error: {json.dumps(reply.error)}"
