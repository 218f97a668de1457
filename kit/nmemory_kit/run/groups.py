"""Steps that ask the same more than once: at once, until it is so, page after page."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..check import Broken
from ..contract.case import Follow, Parallel, WaitUntil
from .docket import Stop
from .wording import Doing

if TYPE_CHECKING:
    from .perform import Performance

Json = Any

#: Seconds between two looks of a ``wait_until``.
LOOK_AGAIN = 0.1


async def parallel(case: Performance, label: str, step: Parallel, now: datetime) -> None:
    """Send the calls at once; judge the answers in their order. Raises ``Stop``."""
    calls = [
        (f"{label}.{number}", call, case.fill(call.arguments, now, {"index": index}), index)
        for number, (index, call) in enumerate(((index, call) for index in range(step.times) for call in step.calls), 1)
    ]
    answers = await asyncio.gather(
        *(case.answer(label, call, arguments, now) for label, call, arguments, _ in calls),
        return_exceptions=True,
    )
    gathered: dict[str, list[Json]] = {}
    for (sublabel, call, arguments, index), answer in zip(calls, answers, strict=True):
        if isinstance(answer, BaseException):
            raise answer
        case.judged(sublabel, call, arguments, answer, now, {"index": index})
        for name, value in case.taken(sublabel, call, answer, call.save).items():
            gathered.setdefault(name, []).append(value)
    several = step.times > 1
    case.values.update({name: values if several else values[-1] for name, values in gathered.items()})


async def wait(case: Performance, label: str, step: WaitUntil) -> None:
    """Ask until the answer is as it should be, or it is too late. Raises ``Stop``."""
    deadline = time.monotonic() + step.within
    since = len(case.docket.own)
    while True:
        stop: Stop | None = None
        try:
            await case.call(label, step.call, datetime.now(UTC))
        except Stop as unmet:
            if not unmet.unmet:
                raise
            stop = unmet
        if stop is None and len(case.docket.own) == since:
            return
        if time.monotonic() >= deadline:
            break
        case.docket.take_back(since)
        await asyncio.sleep(LOOK_AGAIN)
    if stop is not None:
        raise stop


async def follow(case: Performance, label: str, step: Follow, now: datetime) -> None:
    """Ask for page after page, and gather what they hold. Raises ``Stop``."""
    call, arguments = step.call, case.fill(step.call.arguments, now)
    gathered: dict[str, list[Json]] = {name: [] for name in step.gather}
    for turn in range(1, step.calls + 1):
        sublabel = f"{label}.{turn}"
        answer = await case.answer(sublabel, call, arguments, now)
        case.judged(sublabel, call, arguments, answer, now)
        for name, items in case.taken(sublabel, call, answer, step.gather).items():
            gathered[name] += items if isinstance(items, list) else [items]
        if case.taken(sublabel, call, answer, {"more": step.more})["more"] is not True:
            case.values.update(gathered)
            return
        arguments = {**arguments, **case.taken(sublabel, call, answer, step.cursor)}
    endless = Broken(step.more, f"false after {step.calls} calls at most", "true")
    raise case.docket.broken(label, step.clause, Doing(call, arguments), [endless], precondition=call.precondition)
