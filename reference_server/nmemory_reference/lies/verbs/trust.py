"""Lies about who may do what: tokens, scopes and tenants."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from nmemory_reference.lies.answers import Honest, Result, as_tenant, body_of, is_error, with_body
from nmemory_reference.lies.lie import Area, Lie
from nmemory_reference.lies.verbs.answers import failure, success
from nmemory_reference.serve.interceptor import Interceptor, ToolCall
from nmemory_reference.tools.caller import Caller

area = Area("trust")

Authenticate = Callable[[str | None], Caller | None]


# --- tokens ---------------------------------------------------------------------------------------------------------


@area.liar(clause="mv1/trust/no-token")
class NoTokenIsEnough(Interceptor):
    """Without a token a caller is let in to call; only the list of tools is kept from it."""

    def authenticate(self, token: str | None, honest: Authenticate) -> Caller | None:
        return honest(token) or (Caller(name="nobody") if token is None else None)

    async def list_tools(self, caller: Caller, honest: Callable[[Caller], Awaitable[Result]]) -> Result:
        return {"tools": []} if caller.name == "nobody" else await honest(caller)


@area.liar(clause="mv1/trust/no-token")
class AnyTokenIsEnough(Interceptor):
    """Any token at all lets a caller in."""

    def authenticate(self, token: str | None, honest: Authenticate) -> Caller | None:
        return honest(token) or (Caller() if token else None)


@area.liar(clause="mv1/trust/no-token")
class ToolsAreShownToStrangers(Interceptor):
    """A wrong token gets the list of tools, and every call refused."""

    def authenticate(self, token: str | None, honest: Authenticate) -> Caller | None:
        return honest(token) or (Caller(scopes=frozenset()) if token else None)


# --- scopes ---------------------------------------------------------------------------------------------------------


def _may_all(name: str, says: str, *tools: str) -> None:
    class Lax(Interceptor):
        async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
            if call.name in tools:
                call = replace(call, caller=replace(call.caller, scopes=frozenset({"read", "write"})))
            return await honest(call)

    area.add(
        Lie(f"trust/{name}", "mv1/trust/read-scope", says, Lax, tools=frozenset(tools)),
    )


_may_all("reader-may-write", "A read-only token may remember and forget.", "remember", "forget")
_may_all("reader-may-remember", "A read-only token may remember.", "remember")
_may_all("reader-may-forget", "A read-only token may forget.", "forget")


@area.liar("recall", clause="mv1/trust/read-scope")
class ReaderMayNotRead(Interceptor):
    """A read-only token may not even recall."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        if "write" not in call.caller.scopes:
            return failure("scope_denied", "this token may do nothing")
        return await honest(call)


@area.failure("remember", "forget", clause="mv1/trust/read-scope")
def missing_scope_is_unavailable(call: ToolCall, body: dict[str, object]) -> None:
    """A read-only token that writes is told that the server is unavailable."""
    if body["error"] == "scope_denied":
        body["error"] = "unavailable"


@area.answer("remember", clause="mv1/trust/read-scope")
async def denied_and_written(call: ToolCall, honest: Honest) -> Result:
    """A read-only token is denied after the fact was written."""
    result = await honest(call)
    if is_error(result) and "write" not in call.caller.scopes:
        await honest(replace(call, caller=replace(call.caller, scopes=frozenset({"read", "write"}))))
    return result


@area.answer("forget", clause="mv1/trust/read-scope")
async def denied_and_forgotten(call: ToolCall, honest: Honest) -> Result:
    """A read-only token is denied after the fact was ended."""
    result = await honest(call)
    if is_error(result) and "write" not in call.caller.scopes:
        await honest(replace(call, caller=replace(call.caller, scopes=frozenset({"read", "write"}))))
    return result


# --- tenants --------------------------------------------------------------------------------------------------------


class _Neighbours(Interceptor):
    """Knows every tenant that has called."""

    def __init__(self) -> None:
        self._tenants: dict[str, None] = {}

    def authenticate(self, token: str | None, honest: Authenticate) -> Caller | None:
        caller = honest(token)
        if caller is not None:
            self._tenants[caller.tenant] = None
        return caller

    def others(self, call: ToolCall) -> list[ToolCall]:
        """The same call on behalf of each other tenant."""
        return [as_tenant(call, tenant) for tenant in self._tenants if tenant != call.caller.tenant]


@area.liar("recall", clause="mv1/trust/source-isolation")
class RecallCrossesTenants(_Neighbours):
    """recall shows every tenant's facts."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "recall" or is_error(result):
            return result
        body = body_of(result)
        for other in self.others(call):
            body["facts"] += body_of(await honest(other))["facts"]
        body["total"] = len(body["facts"])
        return with_body(result, body)


@area.liar("recall", clause="mv1/trust/source-isolation")
class GrepCrossesTenants(_Neighbours):
    """recall by grep shows every tenant's facts."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "recall" or is_error(result) or not call.arguments.get("grep"):
            return result
        body = body_of(result)
        for other in self.others(call):
            body["facts"] += body_of(await honest(other))["facts"]
        body["total"] = len(body["facts"])
        return with_body(result, body)


@area.liar("recall", clause="mv1/trust/source-isolation")
class SearchCrossesTenants(_Neighbours):
    """A query finds every tenant's pages."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "recall" or is_error(result) or "results" not in body_of(result):
            return result
        body = body_of(result)
        for other in self.others(call):
            body["results"] += body_of(await honest(other)).get("results", [])
        return with_body(result, body)


@area.liar("entity", clause="mv1/trust/source-isolation")
class CardsCrossTenants(_Neighbours):
    """A name that is unknown to a tenant finds another's page."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "entity" or is_error(result) or body_of(result)["found"]:
            return result
        for other in self.others(call):
            found = await honest(other)
            if not is_error(found) and body_of(found)["found"]:
                return found
        return result


@area.liar("entity", clause="mv1/trust/source-isolation")
class CardsCountEveryTenant(_Neighbours):
    """A card counts the facts that every tenant has about its page."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != "entity" or is_error(result) or not body_of(result)["found"]:
            return result
        body = body_of(result)
        for other in self.others(call):
            facts = body_of(
                await honest(replace(other, name="recall", arguments={"entity": body["card"]["entity"]["slug"]}))
            )
            body["card"]["active_fact_count"] += facts["total"]
        return with_body(result, body)


@area.liar("forget", clause="mv1/trust/source-isolation")
class ForgetCrossesTenants(_Neighbours):
    """A tenant can end another's fact by its id."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        for other in self.others(call) if call.name == "forget" and is_error(result) else ():
            ended = await honest(other)
            if not is_error(ended):
                return ended
        return result


@area.liar("forget", clause="mv1/trust/source-isolation")
class ForeignIdsAreDenied(_Neighbours):
    """Another tenant's id is refused with scope_denied, which tells that it is there."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        for other in self.others(call) if call.name == "forget" and is_error(result) else ():
            facts = body_of(await honest(replace(other, name="recall", arguments={"limit": 100})))["facts"]
            if any(fact["fact_id"] == call.arguments.get("id") for fact in facts):
                return failure("scope_denied", "it is somebody else's")
        return result


@area.liar("forget", clause="mv1/trust/source-isolation")
class ForeignIdsAreForgottenAlready(_Neighbours):
    """Another tenant's id is answered with expired: false."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        for other in self.others(call) if call.name == "forget" and is_error(result) else ():
            facts = body_of(await honest(replace(other, name="recall", arguments={"limit": 100})))["facts"]
            if any(fact["fact_id"] == call.arguments.get("id") for fact in facts):
                return success(id=call.arguments["id"], expired=False, reason=None)
        return result
