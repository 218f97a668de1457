"""The server under test, as a fixture hands it to tests of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ..check import Answer, Outcome
from ..check.answer import MISSING
from ..report.foreign import harmless
from ..run.result import TargetIdentity
from ..target import Unreachable
from .driver import Driver


class TargetHandle:
    """A server that answers. What a test writes into it is the test's to take back."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    @property
    def identity(self) -> TargetIdentity:
        """Who answers: name, version, MCP version, tools."""
        return self._driver.identity

    @property
    def capabilities(self) -> frozenset[str]:
        """What it can do; ``docs/cases.md`` lists the names."""
        return self._driver.capabilities

    def ask(self, tool: str, arguments: Mapping[str, Any] | None = None, *, credential: str | None = None) -> Answer:
        """Call a tool and get whatever it answers, a success or an error. No answer fails the test."""
        __tracebackhide__ = True
        try:
            reply = self._driver.ask(tool, arguments or {}, credential)
        except Unreachable as error:
            pytest.fail(f"{tool}: {harmless(error.fault.message)}", pytrace=False)
        if reply.result is not None:
            return Answer.of_result(reply.result, reply.status)
        if reply.error is not None:
            return Answer.of_rpc_error(reply.error, reply.status)
        if reply.status is not None and reply.status >= 400:
            return Answer.of_status(reply.status)
        why = reply.fault.message if reply.fault else "no answer"
        raise AssertionError(f"{tool}: {harmless(why)}")

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool; the body of its success. Raises ``AssertionError`` with what else it answers."""
        __tracebackhide__ = True
        answer = self.ask(tool, arguments)
        if answer.outcome is not Outcome.SUCCESS:
            said = f"HTTP status {answer.status}" if answer.outcome is Outcome.REFUSED else str(answer.text)
            raise AssertionError(f"{tool} answered an error: {harmless(said, 600)}")
        if answer.body is MISSING:
            raise AssertionError(f"{tool} answered no body: {answer.problem}")
        body: dict[str, Any] = answer.body
        return body
