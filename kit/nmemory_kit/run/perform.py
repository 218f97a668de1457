"""Doing one case: its steps in order, each answer judged, until the end or the first broken expectation of its own."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..check import Answer, Broken, Judges, Outcome
from ..check.answer import MISSING
from ..check.judge import judge_check
from ..check.vocabulary import show
from ..contract.case import (
    DEFAULT_CALLER,
    MAIN,
    Call,
    Caller,
    Case,
    Check,
    File,
    Follow,
    Halt,
    Judge,
    ListTools,
    Look,
    Parallel,
    Raw,
    Refusal,
    Restart,
    Seed,
    Sqlite,
    Step,
    WaitUntil,
)
from ..contract.clause import Level
from ..contract.pack import Pack, Recipe
from ..contract.template import NoSuchPlace, Unfilled, render, resolve
from ..target import Blame, Connection, Fault, FaultKind, Reply, Unreachable, list_tools
from . import beside, groups
from .docket import Docket, Stop
from .folders import Folders
from .ledger import Ledger
from .place import Place, Places
from .result import CaseResult, Verdict
from .transcript import Transcript
from .wording import Doing, unwanted, whose

Json = Any


@dataclass(frozen=True, slots=True)
class Means:
    """What a case is done with."""

    pack: Pack
    judges: Judges
    places: Places
    #: Where what the case makes is written down, if it has to be taken back.
    ledger: Ledger | None
    #: The ways of making things that this target has.
    seeds: Mapping[str, Recipe]
    #: The tools that the target lists.
    tools: frozenset[str]
    marker: str
    call_timeout: float
    redact: Callable[[Json], Json]
    #: The folders of the case, where it needs some.
    folders: Folders | None = None
    #: What it may say of stores and folders, by the names of placeholders.
    places_by_name: Mapping[str, Json] = field(default_factory=dict)


@dataclass(slots=True)
class Performance:
    """A case under way."""

    case: Case
    means: Means
    values: dict[str, Json]
    docket: Docket
    transcript: Transcript

    async def steps(self) -> None:
        """Do every step. Raises ``Stop``."""
        for number, step in enumerate(self.case.steps, 1):
            await self._step(str(number), step)

    async def _step(self, label: str, step: Step) -> None:
        now = datetime.now(UTC)
        match step:
            case Call():
                await self.call(label, step, now)
            case ListTools():
                await self._list(label, step, now)
            case Seed():
                await self._seed(label, step, now)
            case Raw():
                await self._raw(label, step, now)
            case Parallel():
                await groups.parallel(self, label, step, now)
            case WaitUntil():
                await groups.wait(self, label, step)
            case Follow():
                await groups.follow(self, label, step, now)
            case Restart():
                await self._restart(label, step)
            case Halt():
                await self._place(step.at).close()
            case File():
                beside.make_file(self, label, step, now)
            case Look():
                beside.look(self, label, step, now)
            case Sqlite():
                beside.ask_store(self, label, step, now)
            case Judge():
                self._judge(label, step, now)

    # --- the kinds of steps -------------------------------------------------------------------------------------

    async def call(self, label: str, step: Call, now: datetime) -> None:
        arguments = self.fill(step.arguments, now)
        answer = await self.answer(label, step, arguments, now)
        self.judged(label, step, arguments, answer, now)
        self.save(label, step, answer, step.save)

    async def _list(self, label: str, step: ListTools, now: datetime) -> None:
        began = time.perf_counter()
        try:
            connection = await self._connection(step.caller, now)
        except Unreachable as error:
            raise self.docket.faulty(label, step.clause, "tools/list", error.fault) from None
        listing = await list_tools(connection, timeout=self.means.call_timeout)
        took = (time.perf_counter() - began) * 1000
        document = {"tools": list(listing.tools)}
        reply = listing.stopped or Reply(result=document)
        self.transcript.note(label, "tools/list", None, replace(reply, elapsed=took / 1000), step.caller)
        answer = Answer.of_document(document)
        if listing.stopped is not None:
            answer = self._outcome(label, step.clause, "tools/list", listing.stopped, step.refusal)
        if step.refusal is not None:
            broken = self.means.judges.refusal(self._filled(step.refusal, now), answer)
            self.docket.judged.add(step.clause)
            if broken is not None:
                raise self.docket.broken(label, step.clause, "tools/list", [broken])
            return
        if answer.outcome is not Outcome.SUCCESS:
            raise self.docket.broken(label, step.clause, "tools/list", [unwanted(answer)])
        self.check(label, "tools/list", step.checks, answer, now)
        self.save(label, step, answer, step.save)

    async def _seed(self, label: str, step: Seed, now: datetime) -> None:
        recipe = self.means.seeds.get(step.kind)
        if recipe is None:
            raise Stop(Verdict.SKIP, f"the kit has no way to make a {step.kind} on this target")
        values = {**recipe.defaults, **self.values, **self.fill(step.values, now)}
        try:
            arguments = render(recipe.arguments, values, now)
        except Unfilled as error:
            raise Stop(Verdict.ERROR, f"step {label}, the recipe of {step.kind}: {error}") from None
        reply = await self._request(label, "tools/call", {"name": recipe.tool, "arguments": arguments}, now)
        what = f"could not make a {step.kind} with {recipe.tool}"
        if reply.result is None:
            got = reply.fault.message if reply.fault else f"JSON-RPC error {show(reply.error)}"
            raise Stop(Verdict.NOT_RUN, f"{what}: {got}", lost=bool(reply.fault and reply.fault.lost))
        answer = Answer.of_result(reply.result)
        if answer.outcome is not Outcome.SUCCESS:
            raise Stop(Verdict.NOT_RUN, f"{what}: {show(answer.text)}")
        if self.means.ledger is not None:
            made = f"{step.kind} made with {recipe.tool} {show(self.fill(step.values, now))}"
            self.means.ledger.made(self.case.path, made)
        self.save(label, step, answer, step.save)

    async def _raw(self, label: str, step: Raw, now: datetime) -> None:
        params = self.fill(step.params, now)
        reply = await self._request(label, step.method, params, now, step.caller)
        what = f"{step.method} {show(params)}{whose(step.caller)}"
        if reply.fault is not None:
            raise self.docket.faulty(label, step.clause, what, reply.fault)
        document = {"result": reply.result} if reply.result is not None else {"error": reply.error}
        answer = Answer.of_document(document)
        self.check(label, what, step.checks, answer, now)
        self.save(label, step, answer, step.save)

    async def _restart(self, label: str, step: Restart) -> None:
        try:
            await self._place(step.at).restart()
        except Unreachable as error:
            raise self.docket.faulty(label, step.clause, "start the target again", error.fault) from None

    def _judge(self, label: str, step: Judge, now: datetime) -> None:
        value = self.fill(step.value, now)
        self.check(label, f"look at what was saved: {show(value)}", step.checks, Answer.of_document(value), now)

    # --- asking -------------------------------------------------------------------------------------------------

    async def answer(self, label: str, step: Call, arguments: Json, now: datetime) -> Answer:
        params = {"name": step.tool, "arguments": arguments}
        reply = await self._request(label, "tools/call", params, now, step.caller)
        answer = self._outcome(label, step.clause, Doing(step, arguments), reply, step.refusal)
        ledger = self.means.ledger
        if ledger is not None and answer.outcome is Outcome.SUCCESS and step.caller.at == MAIN:
            for recipe in self.means.pack.cleanup.get(step.tool, ()):
                ledger.answered(self.case.path, step.tool, recipe, answer, step.caller.credential)
        return answer

    async def _request(
        self, label: str, method: str, params: Json, now: datetime, caller: Caller = DEFAULT_CALLER
    ) -> Reply:
        try:
            connection = await self._connection(caller, now)
        except Unreachable as error:
            return Reply(fault=error.fault)
        reply = await connection.request(method, params, timeout=self.means.call_timeout)
        self.transcript.note(label, method, params, reply, caller)
        return reply

    async def _connection(self, caller: Caller, now: datetime) -> Connection:
        client = None if caller.client is None else str(self.fill(caller.client, now))
        return await self._place(caller.at).connection(caller.credential, client)

    def _place(self, name: str) -> Place:
        try:
            return self.means.places.place(name)
        except Unreachable as error:
            raise Stop(Verdict.ERROR, error.fault.message) from None

    def _outcome(self, label: str, clause: str, what: str | Doing, reply: Reply, refusal: Refusal | None) -> Answer:
        """What kind of answer a reply is. Raises ``Stop`` where it is none."""
        if refusal is not None and reply.status in self.means.pack.refusal(refusal).status:
            return Answer.of_status(reply.status or 0)
        if reply.result is not None:
            return Answer.of_result(reply.result, reply.status)
        if reply.error is not None:
            return Answer.of_rpc_error(reply.error, reply.status)
        fault = reply.fault
        if fault and fault.kind is FaultKind.HTTP_STATUS and fault.blame is Blame.TARGET and reply.status is not None:
            return Answer.of_status(reply.status)
        fault = fault or Fault(FaultKind.GARBAGE, Blame.KIT, "the kit made nothing of the reply")
        raise self.docket.faulty(label, clause, what, fault)

    # --- judging ------------------------------------------------------------------------------------------------

    def judged(
        self,
        label: str,
        step: Call,
        arguments: Json,
        answer: Answer,
        now: datetime,
        more: Mapping[str, Json] | None = None,
    ) -> None:
        what = Doing(step, arguments)
        self.docket.judged |= self.means.judges.stand(step.tool, answer, step.unjudged)
        if not step.precondition:
            self.docket.judged.add(step.clause)
        for judgement in self.means.judges.standing(step.tool, answer, step.unjudged):
            self.docket.find(label, judgement.clause, what, judgement.broken)
        if step.refusal is not None and not (step.lenient and answer.outcome is Outcome.SUCCESS):
            broken = self.means.judges.refusal(self._filled(step.refusal, now, more), answer)
            if broken is not None:
                raise self.docket.broken(label, step.clause, what, [broken], precondition=step.precondition)
            checks = tuple(check for check in step.checks if _is_for(check, answer, lenient=step.lenient))
            self.check(label, what, checks, answer, now, more, precondition=step.precondition)
            return
        if answer.outcome is not Outcome.SUCCESS:
            raise self.docket.broken(label, step.clause, what, [unwanted(answer)], precondition=step.precondition)
        if answer.body is MISSING and (step.checks or step.save):
            missing = Broken("/content", "a first text block that is one JSON object", answer.problem or "none")
            known = self.docket.reported(label) and not step.precondition
            raise self.docket.broken(
                label, step.clause, what, [] if known else [missing], precondition=step.precondition
            )
        self.check(label, what, step.checks, answer, now, more, precondition=step.precondition)

    def check(
        self,
        label: str,
        what: str | Doing,
        checks: tuple[Check, ...],
        answer: Answer,
        now: datetime,
        more: Mapping[str, Json] | None = None,
        *,
        precondition: bool = False,
    ) -> None:
        """Judge by the step's own expectations; a broken MUST stops the case once all of the step were looked at."""
        stop: Stop | None = None
        if not precondition:
            self.docket.judged.update(check.clause for check in checks)
        for check in checks:
            filled = replace(
                check,
                schema=self.fill(check.schema, now, more),
                args=self.fill(check.args, now, more),
                nowhere=tuple(self.fill(list(check.nowhere), now, more)),
                shows=tuple(self.fill(list(check.shows), now, more)),
            )
            try:
                broken = list(judge_check(filled, answer))
            except TypeError as error:
                why = f"step {label}: what an earlier answer gave is of no use to judge by: {error}"
                raise Stop(Verdict.NOT_RUN, why) from None
            if broken:
                stopped = self.docket.broken(label, check.clause, what, broken, precondition=precondition)
                if stopped.verdict is not None or self.means.pack.clauses[check.clause].level is Level.MUST:
                    stop = stop or stopped
        if stop is not None:
            raise stop

    # --- values ---------------------------------------------------------------------------------------------------

    def fill(self, template: Json, now: datetime, more: Mapping[str, Json] | None = None) -> Json:
        try:
            return render(template, {**self.values, **(more or {})}, now)
        except Unfilled as error:
            raise Stop(Verdict.ERROR, f"the case is at fault: {error}") from None

    def _filled(self, refusal: Refusal, now: datetime, more: Mapping[str, Json] | None = None) -> Refusal:
        """The errors that a step asks for, at length, with every placeholder filled."""
        full = self.means.pack.refusal(refusal)
        own = None if refusal.named is None else self.fill(refusal.values, now, more)

        def fill(schema: Json) -> Json:
            return self.fill(schema, now, more) if own is None else render(schema, own, now)

        return replace(full, message=fill(full.message), in_band=fill(full.in_band), body=fill(full.body))

    def save(self, label: str, step: Step, answer: Answer, save: Mapping[str, str] | None) -> None:
        self.values.update(self.taken(label, step, answer, save))

    def taken(self, label: str, step: Step, answer: Answer, save: Mapping[str, str] | None) -> dict[str, Json]:
        if not save or answer.outcome is not Outcome.SUCCESS:
            return {}
        taken: dict[str, Json] = {}
        for name, pointer in save.items():
            try:
                taken[name] = resolve(answer.body, pointer)
            except NoSuchPlace:
                missing = Broken(pointer, "something there", show(answer.body))
                precondition = isinstance(step, Call | Look | Sqlite) and step.precondition
                raise self.docket.broken(
                    label, step.clause, f"save {name}", [missing], precondition=precondition
                ) from None
        return taken


async def perform(case: Case, means: Means, timeout: float) -> tuple[CaseResult, bool]:
    """Do a case. Answers its result, and whether the connection was lost in it; never raises for the target's doing."""
    began = time.perf_counter()
    docket, transcript = Docket(means.pack, means.redact), Transcript(means.redact)
    performance = Performance(case, means, {"marker": means.marker, **means.places_by_name}, docket, transcript)
    verdict, reason, whole = Verdict.PASS, None, False
    try:
        async with asyncio.timeout(case.timeout or timeout):
            await performance.steps()
        whole = True
    except Stop as stop:
        verdict, reason = stop.verdict or Verdict.FAIL, stop.reason
        docket.lost = docket.lost or stop.lost
    except TimeoutError:
        verdict, reason = Verdict.NOT_RUN, f"the case was not done within {case.timeout or timeout:g} s"
    except Exception as error:  # noqa: BLE001 one case is lost to a fault of the kit's, and not the whole run
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        reason = f"the kit is at fault, please report it: {type(error).__name__}: {error} ({where})"
        verdict = Verdict.ERROR
    if docket.findings:
        # Whatever kept the case from its end: what was found by then stands.
        verdict = Verdict.FAIL
    broken = {finding.clause for finding in docket.findings}
    return (
        CaseResult(
            case=case.path,
            title=case.title,
            verdict=verdict,
            clauses=case.clauses,
            decided=tuple(clause for clause in case.clauses if clause in docket.judged - broken) if whole else (),
            findings=tuple(docket.findings),
            reason=means.redact(reason),
            took=round(time.perf_counter() - began, 6),
            transcript=tuple(transcript.exchanges),
        ),
        docket.lost,
    )


def _is_for(check: Check, answer: Answer, *, lenient: bool) -> bool:
    """Whether an expectation of a step is for an error that is right: what is nowhere is nowhere in any answer."""
    if check.nowhere:
        return True
    if lenient or answer.outcome is Outcome.REFUSED:
        return False
    return answer.outcome is Outcome.ERROR or bool(check.shows)
