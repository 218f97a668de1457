"""From what a user wrote to the target that is meant."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence

from .command import PORT, Command
from .connection import Target
from .era import McpVersion
from .errors import TargetError
from .http import HttpTarget
from .limits import Limits
from .profile import Profile
from .served import ServedTarget
from .stdio import StdioTarget


def make_target(
    *,
    target: str | None = None,
    command: Sequence[str] | None = None,
    start: str | None = None,
    profile: Profile | None = None,
    token: str | None = None,
    headers: Mapping[str, str] | None = None,
    version: McpVersion | None = None,
    limits: Limits | None = None,
) -> Target:
    """Build the target that flags and profile describe; what a flag says goes before what the profile says.

    ``target`` that begins with ``http://`` or ``https://`` is a URL; anything else is a command, split as a POSIX
    shell splits it and run without one. ``command`` is a command as a list. ``start`` is what the kit starts to have a
    server behind the URL; in a profile it is the command beside a URL. Starts and reaches nothing yet. Raises
    ``TargetError`` with what is wrong and what to do.
    """
    said = profile or Profile(file="")
    if target is not None and command is not None:
        raise TargetError("both --target and a command after -- are given", "give one of them")
    starting: Sequence[str] | None = None if start is None else _start(start)
    if target is None and command is None:
        target, command = said.target, said.command
        if target is not None:
            starting, command = starting or command, None
    elif target is not None and PORT in target:
        starting = starting or said.command
    chosen = version or said.mcp_version or "auto"
    bounds = limits or said.limits()
    if target is not None and target.strip().lower().startswith(("http://", "https://")):
        at = _http(said, token, headers or {}, chosen, bounds)
        if starting is not None:
            return ServedTarget(_launched(starting, said), target.strip(), at, name=said.name)
        if PORT in target:
            raise TargetError(
                f"{PORT} in a URL is for a server that the kit starts", "give its command: --start COMMAND"
            )
        if said.env or said.inherit or said.cwd:
            raise TargetError("`env`, `inherit` and `cwd` of the profile are for a command", "take them out for a URL")
        return at(target.strip())
    if starting is not None:
        what = "--start is for a server on HTTP, and the target is no http:// or https:// URL"
        raise TargetError(what, f"give --target http://127.0.0.1:{PORT}/mcp")
    if token or headers or said.token or said.tokens or said.headers:
        raise TargetError(
            "tokens and headers are for a URL; a command on stdio has no use for them",
            "take them out, or pass what the server wants as `env:` in the profile",
        )
    command = _command(target, command)
    if any(PORT in argument for argument in command):
        raise TargetError(
            f"{PORT} in a command is for a server on HTTP",
            f"give its URL, too: --target http://127.0.0.1:{PORT}/mcp --start COMMAND",
        )
    return StdioTarget(_launched(command, said), limits=bounds, version=chosen, name=said.name)


def _http(
    profile: Profile, token: str | None, headers: Mapping[str, str], version: McpVersion, limits: Limits
) -> Callable[[str], HttpTarget]:
    """What makes the target at a URL."""
    given = {name.lower() for name in headers}
    kept = {name: value for name, value in profile.headers.items() if name.lower() not in given}
    return lambda url: HttpTarget(
        url,
        headers={**kept, **headers},
        # A header on the command line beats a token of the profile.
        token=token or (None if "authorization" in given else profile.token),
        tokens=profile.tokens,
        limits=limits,
        version=version,
        name=profile.name,
        root=profile.folder,
    )


def _launched(command: Sequence[str], profile: Profile) -> Command:
    return Command(command, env=profile.env, inherit=profile.inherit or "safe", cwd=profile.cwd, root=profile.folder)


def _start(command: str) -> list[str]:
    if not command.strip():
        raise TargetError("the command of --start is empty", "give a program and its arguments")
    if "://" in command.split()[0]:
        raise TargetError("--start has a URL", "give the URL as --target, and here the command that starts the server")
    return _command(command, None)


def _command(target: str | None, command: Sequence[str] | None) -> list[str]:
    if target is not None:
        if scheme := re.match(r"\s*([a-z][a-z0-9+.-]*)://", target, re.IGNORECASE):
            raise TargetError(f"{scheme[1]}:// is not HTTP", "write http:// or https://, or the command of a server")
        if re.match(r"\s*[a-z]:\\", target, re.IGNORECASE):
            what = "a backslash in --target is taken away, as a POSIX shell does"
            raise TargetError(what, "write / for it, or give the command as a list after --")
        try:
            command = shlex.split(target)
        except ValueError as error:
            what = f"the command cannot be split: {str(error).lower()}"
            raise TargetError(what, "check its quotes, or give it as a list after --") from None
    if command is None:
        raise TargetError("no target is given", "give --target URL or COMMAND, or a command after --")
    if not command or not command[0]:
        raise TargetError("the command of the target is empty", "give a program and its arguments")
    if any("\0" in argument for argument in command):
        raise TargetError("the command of the target has a NUL character in it", "take it out")
    return list(command)
