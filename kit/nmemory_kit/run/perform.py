"""Doing one case: its steps in order, each answer judged, until the end or the first broken expectation of its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from ..check import Answer, Broken, Judges, Outcome
from ..check.answer import MISSING
from ..check.judge import judge_check
from ..check.vocabulary import show
from ..contract.case import (
    Call,
    Case,
    Check,
    Follow,
    Judge,
    ListTools,
    Parallel,
    Raw,
    Refusal,
    Restart,
    Seed,
    Step,
    WaitUntil,
)
from ..contract.clause import Level
from ..contract.pack import Pack, Recipe
from ..contract.template import NoSuchPlace, Unfilled, render, resolve
from ..target import Blame, Era, Fault, FaultKind, Reply, Unreachable, list_tools
from .docket import Docket, Stop
from .ledger import Ledger
from .place import Place
from .result import CaseResult, Verdict
from .transcript import Transcript

Json = Any

#: Seconds between two looks of a ``wait_until``.
LOOK_AGAIN = 0.1


@dataclass(frozen=True, slots=True)
class Means:
    """What a case is done with."""

    pack: Pack
    judges: Judges
    place: Place
    ledger: Ledger
    #: The ways of making things that this target has.
    seeds: Mapping[str, Recipe]
    #: The tools that the target lists.
    tools: frozenset[str]
    marker: str
    call_timeout: float
    redact: Callable[[Json], Json]


@dataclass(slots=True)
class Performance:
    """A case under way."""

    case: Case
    means: Means
    values: dict[str, Json]
    docket: Docket
    transcript: Transcript
    #: The era that the latest connection speaks.
    era: Era = "legacy"

    async def steps(self) -> None:
        """Do every step. Raises ``Stop``."""
        for number, step in enumerate(self.case.steps, 1):
            await self._step(str(number), step)

    async def _step(self, label: str, step: Step) -> None:
        now = datetime.now(UTC)
        match step:
            case Call():
                await self._call(label, step, now)
            case ListTools():
                await self._list(label, step, now)
            case Seed():
                await self._seed(label, step, now)
            case Raw():
                await self._raw(label, step, now)
            case Parallel():
                await self._parallel(label, step, now)
            case WaitUntil():
                await self._wait(label, step)
            case Follow():
                await self._follow(label, step, now)
            case Restart():
                await self._restart(label, step)
            case Judge():
                self._judge(label, step, now)

    # --- the kinds of steps -------------------------------------------------------------------------------------

    async def _call(self, label: str, step: Call, now: datetime) -> None:
        arguments = self._fill(step.arguments, now)
        answer = await self._answer(label, step, arguments)
        self._judged(label, step, arguments, answer, now)
        self._save(label, step, answer, step.save)

    async def _list(self, label: str, step: ListTools, now: datetime) -> None:
        began = time.perf_counter()
        try:
            connection = await self.means.place.connection(step.credential)
        except Unreachable as error:
            raise self.docket.faulty(label, step.clause, "tools/list", error.fault) from None
        self.era = connection.server.era
        listing = await list_tools(connection, timeout=self.means.call_timeout)
        took = (time.perf_counter() - began) * 1000
        document = {"tools": list(listing.tools)}
        reply = listing.stopped or Reply(result=document)
        self.transcript.note(label, "tools/list", None, replace(reply, elapsed=took / 1000), step.credential)
        answer = Answer.of_document(document)
        if listing.stopped is not None:
            answer = self._outcome(label, step.clause, "tools/list", listing.stopped, step.refusal)
        if step.refusal is not None:
            broken = self.means.judges.refusal(self._refusal(step.refusal, now), answer)
            if broken is not None:
                raise self.docket.broken(label, step.clause, "tools/list", [broken])
            return
        if answer.outcome is not Outcome.SUCCESS:
            raise self.docket.broken(label, step.clause, "tools/list", [_unwanted(answer)])
        self._check(label, "tools/list", step.checks, answer, now)
        self._save(label, step, answer, step.save)

    async def _seed(self, label: str, step: Seed, now: datetime) -> None:
        recipe = self.means.seeds.get(step.kind)
        if recipe is None:
            raise Stop(Verdict.SKIP, f"the kit has no way to make a {step.kind} on this target")
        values = {**recipe.defaults, **self.values, **self._fill(step.values, now)}
        try:
            arguments = render(recipe.arguments, values, now)
        except Unfilled as error:
            raise Stop(Verdict.ERROR, f"step {label}, the recipe of {step.kind}: {error}") from None
        reply = await self._request(label, "tools/call", {"name": recipe.tool, "arguments": arguments}, None)
        what = f"could not make a {step.kind} with {recipe.tool}"
        if reply.result is None:
            got = reply.fault.message if reply.fault else f"JSON-RPC error {show(reply.error)}"
            raise Stop(Verdict.NOT_RUN, f"{what}: {got}", lost=bool(reply.fault and reply.fault.lost))
        answer = Answer.of_result(reply.result)
        if answer.outcome is not Outcome.SUCCESS:
            raise Stop(Verdict.NOT_RUN, f"{what}: {show(answer.text)}")
        self.means.ledger.made(
            self.case.path, f"{step.kind} made with {recipe.tool} {show(self._fill(step.values, now))}"
        )
        self._save(label, step, answer, step.save)

    async def _raw(self, label: str, step: Raw, now: datetime) -> None:
        params = self._fill(step.params, now)
        reply = await self._request(label, step.method, params, None)
        doing = f"{step.method} {show(params)}"
        if reply.fault is not None:
            raise self.docket.faulty(label, step.clause, doing, reply.fault)
        document = {"result": reply.result} if reply.result is not None else {"error": reply.error}
        answer = Answer.of_document(document)
        self._check(label, doing, step.checks, answer, now)
        self._save(label, step, answer, step.save)

    async def _parallel(self, label: str, step: Parallel, now: datetime) -> None:
        calls = [
            (f"{label}.{number}", call, self._fill(call.arguments, now, {"index": index}), index)
            for number, (index, call) in enumerate(
                ((index, call) for index in range(step.times) for call in step.calls), 1
            )
        ]
        answers = await asyncio.gather(
            *(self._answer(label, call, arguments) for label, call, arguments, _ in calls),
            return_exceptions=True,
        )
        gathered: dict[str, list[Json]] = {}
        for (sublabel, call, arguments, index), answer in zip(calls, answers, strict=True):
            if isinstance(answer, BaseException):
                raise answer
            self._judged(sublabel, call, arguments, answer, now, {"index": index})
            for name, value in self._taken(sublabel, call, answer, call.save).items():
                gathered.setdefault(name, []).append(value)
        several = step.times > 1
        self.values.update({name: values if several else values[-1] for name, values in gathered.items()})

    async def _wait(self, label: str, step: WaitUntil) -> None:
        deadline = time.monotonic() + step.within
        while True:
            now = datetime.now(UTC)
            kept = len(self.docket.findings)
            try:
                return await self._call(label, step.call, now)
            except Stop as stop:
                if stop.verdict is not None or stop.lost or time.monotonic() >= deadline:
                    raise
                del self.docket.findings[kept:]
            await asyncio.sleep(LOOK_AGAIN)

    async def _follow(self, label: str, step: Follow, now: datetime) -> None:
        call, arguments = step.call, self._fill(step.call.arguments, now)
        gathered: dict[str, list[Json]] = {name: [] for name in step.gather}
        for turn in range(1, step.calls + 1):
            sublabel = f"{label}.{turn}"
            answer = await self._answer(sublabel, call, arguments)
            self._judged(sublabel, call, arguments, answer, now)
            for name, items in self._taken(sublabel, call, answer, step.gather).items():
                gathered[name] += items if isinstance(items, list) else [items]
            if self._taken(sublabel, call, answer, {"more": step.more})["more"] is not True:
                self.values.update(gathered)
                return
            arguments = {**arguments, **self._taken(sublabel, call, answer, step.cursor)}
        endless = Broken(step.more, f"false after {step.calls} calls at most", "true")
        raise self.docket.broken(label, step.clause, doing(call, arguments), [endless], precondition=call.precondition)

    async def _restart(self, label: str, step: Restart) -> None:
        try:
            await self.means.place.restart()
        except Unreachable as error:
            raise self.docket.faulty(label, step.clause, "start the target again", error.fault) from None

    def _judge(self, label: str, step: Judge, now: datetime) -> None:
        value = self._fill(step.value, now)
        self._check(label, f"look at what was saved: {show(value)}", step.checks, Answer.of_document(value), now)

    # --- asking -------------------------------------------------------------------------------------------------

    async def _answer(self, label: str, step: Call, arguments: Json) -> Answer:
        params = {"name": step.tool, "arguments": arguments}
        reply = await self._request(label, "tools/call", params, step.credential)
        answer = self._outcome(label, step.clause, doing(step, arguments), reply, step.refusal)
        if answer.outcome is Outcome.SUCCESS and (recipe := self.means.pack.cleanup.get(step.tool)):
            self.means.ledger.answered(self.case.path, step.tool, recipe, answer, step.credential)
        return answer

    async def _request(self, label: str, method: str, params: Json, credential: str | None) -> Reply:
        try:
            connection = await self.means.place.connection(credential)
        except Unreachable as error:
            return Reply(fault=error.fault)
        self.era = connection.server.era
        reply = await connection.request(method, params, timeout=self.means.call_timeout)
        self.transcript.note(label, method, params, reply, credential)
        return reply

    def _outcome(self, label: str, clause: str, what: str, reply: Reply, refusal: Refusal | None) -> Answer:
        """What kind of answer a reply is. Raises ``Stop`` where it is none."""
        if refusal is not None and reply.status in self.means.pack.refusal(refusal).status:
            return Answer.of_status(reply.status or 0)
        if reply.result is not None:
            return Answer.of_result(reply.result, reply.status)
        if reply.error is not None:
            return Answer.of_rpc_error(reply.error, reply.status)
        if reply.fault is not None and reply.fault.kind is FaultKind.HTTP_STATUS and reply.status is not None:
            return Answer.of_status(reply.status)
        fault = reply.fault or Fault(FaultKind.GARBAGE, Blame.KIT, "the kit made nothing of the reply")
        raise self.docket.faulty(label, clause, what, fault)

    # --- judging ------------------------------------------------------------------------------------------------

    def _judged(
        self,
        label: str,
        step: Call,
        arguments: Json,
        answer: Answer,
        now: datetime,
        more: Mapping[str, Json] | None = None,
    ) -> None:
        what = doing(step, arguments)
        for judgement in self.means.judges.standing(step.tool, answer, step.unjudged):
            self.docket.find(label, judgement.clause, what, judgement.broken)
        if step.refusal is not None and not (step.lenient and answer.outcome is Outcome.SUCCESS):
            broken = self.means.judges.refusal(self._refusal(step.refusal, now, more), answer)
            if broken is not None:
                raise self.docket.broken(label, step.clause, what, [broken], precondition=step.precondition)
            # Only an envelope has a body that a schema or a law could judge; its texts any error has.
            texts = tuple(check for check in step.checks if check.nowhere or check.shows)
            checks = step.checks if answer.outcome is Outcome.ERROR else texts
            self._check(label, what, () if step.lenient else checks, answer, now, more, precondition=step.precondition)
            return
        if answer.outcome is not Outcome.SUCCESS:
            raise self.docket.broken(label, step.clause, what, [_unwanted(answer)], precondition=step.precondition)
        if answer.body is MISSING and (step.checks or step.save):
            missing = Broken("/content", "a first text block that is one JSON object", answer.problem or "none")
            known = self.docket.reported(label) and not step.precondition
            raise self.docket.broken(
                label, step.clause, what, [] if known else [missing], precondition=step.precondition
            )
        self._check(label, what, step.checks, answer, now, more, precondition=step.precondition)

    def _check(
        self,
        label: str,
        what: str,
        checks: tuple[Check, ...],
        answer: Answer,
        now: datetime,
        more: Mapping[str, Json] | None = None,
        *,
        precondition: bool = False,
    ) -> None:
        """Judge by the step's own expectations; a broken MUST stops the case once all of the step were looked at."""
        stop: Stop | None = None
        for check in checks:
            filled = replace(
                check,
                schema=self._fill(check.schema, now, more),
                args=self._fill(check.args, now, more),
                nowhere=tuple(self._fill(list(check.nowhere), now, more)),
                shows=tuple(self._fill(list(check.shows), now, more)),
            )
            if broken := list(judge_check(filled, answer)):
                stopped = self.docket.broken(label, check.clause, what, broken, precondition=precondition)
                if stopped.verdict is not None or self.means.pack.clauses[check.clause].level is Level.MUST:
                    stop = stop or stopped
        if stop is not None:
            raise stop

    def _refusal(self, refusal: Refusal, now: datetime, more: Mapping[str, Json] | None = None) -> Refusal:
        """The errors that a step asks for, at length: placeholders filled, JSON-RPC codes of the era."""
        full = self.means.pack.refusal(refusal)
        own = None if refusal.named is None else self._fill(refusal.values, now, more)

        def fill(schema: Json) -> Json:
            return self._fill(schema, now, more) if own is None else render(schema, own, now)

        return replace(full.in_era(self.era), in_band=fill(full.in_band), body=fill(full.body))

    # --- values ---------------------------------------------------------------------------------------------------

    def _fill(self, template: Json, now: datetime, more: Mapping[str, Json] | None = None) -> Json:
        try:
            return render(template, {**self.values, **(more or {})}, now)
        except Unfilled as error:
            raise Stop(Verdict.ERROR, f"the case is at fault: {error}") from None

    def _save(self, label: str, step: Step, answer: Answer, save: Mapping[str, str] | None) -> None:
        self.values.update(self._taken(label, step, answer, save))

    def _taken(self, label: str, step: Step, answer: Answer, save: Mapping[str, str] | None) -> dict[str, Json]:
        if not save or answer.outcome is not Outcome.SUCCESS:
            return {}
        taken: dict[str, Json] = {}
        for name, pointer in save.items():
            try:
                taken[name] = resolve(answer.body, pointer)
            except NoSuchPlace:
                missing = Broken(pointer, "something there", show(answer.body))
                precondition = isinstance(step, Call) and step.precondition
                raise self.docket.broken(
                    label, step.clause, f"save {name}", [missing], precondition=precondition
                ) from None
        return taken


async def perform(case: Case, means: Means, timeout: float) -> tuple[CaseResult, bool]:
    """Do a case. Answers its result, and whether the connection was lost in it; never raises for the target's doing."""
    began = time.perf_counter()
    docket, transcript = Docket(means.pack, means.redact), Transcript(means.redact)
    performance = Performance(case, means, {"marker": means.marker}, docket, transcript)
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
            decided=tuple(clause for clause in case.clauses if clause not in broken) if whole else (),
            findings=tuple(docket.findings),
            reason=means.redact(reason),
            took=round(time.perf_counter() - began, 6),
            transcript=tuple(transcript.exchanges),
        ),
        docket.lost,
    )


def doing(step: Call, arguments: Json) -> str:
    """A call in words."""
    return f"{step.tool} {show(arguments)}" + (f" as {step.credential}" if step.credential else "")


def _unwanted(answer: Answer) -> Broken:
    match answer.outcome:
        case Outcome.RPC:
            got = f"JSON-RPC error {answer.raw.get('code')}: {show(answer.text)}"
        case Outcome.REFUSED:
            got = f"HTTP status {answer.status}"
        case _:
            got = f"an error: {show(answer.text)}"
    return Broken("", "a success", got)
