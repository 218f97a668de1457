"""A profile: a YAML file that says how to reach a target and what it can do.

The file holds no secret. Where a token or a secret header is wanted, it names the environment variable or the file
that has it. Paths in it are relative to it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from .environment import Inherit
from .era import McpVersion
from .limits import Limits
from .profile_yaml import Node, read_yaml

_KEYS = (
    *("target", "command", "name", "env", "inherit", "cwd", "folder"),
    *("token_env", "token_file", "headers", "headers_env"),
    *("mcp_version", "tokens", "seeds", "capabilities", "claims", "limits", "auth"),
)
#: Capabilities that stand on something that the kit has to know, and how to tell it.
_NOT_CLAIMED = {
    "shared-root": "write `folder: PATH`, the folder from which the target counts relative paths",
    "store-file": "put {store} into the command",
    "second-store": "put {store} into the command",
    "fresh-store": "put {store} into the command",
}
_PLAIN_REFUSED = "name the variable or file that has it: `token_env: NAME` or `token_file: PATH`"


@dataclass(frozen=True, slots=True)
class Profile:
    """What a profile says, with its secrets fetched. Nothing in it has a default but what is missing."""

    #: The file, as it was named.
    file: str
    #: A URL, or a command as a shell would split it.
    target: str | None = None
    #: A command as a list of arguments; beside a URL it is what starts the server there.
    command: tuple[str, ...] | None = None
    name: str | None = None
    #: Variables that the process gets besides what it inherits.
    env: Mapping[str, str] = field(default_factory=dict)
    inherit: Inherit | None = None
    #: Where the process runs: an absolute path.
    cwd: Path | None = None
    #: From where the target counts relative paths, and where the kit may make files: an absolute path.
    folder: Path | None = None
    token: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    mcp_version: McpVersion | None = None
    #: Tokens of named credentials.
    tokens: Mapping[str, str] = field(default_factory=dict)
    #: How the target makes the things that cases need, by kind: ``{"tool": ..., "with": ...}``, for the run to fill.
    seeds: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: What the target can (True) or cannot (False) do, where it is not left to be found out.
    capabilities: Mapping[str, bool] = field(default_factory=dict)
    #: What the target claims to conform to.
    claims: tuple[str, ...] = ()
    #: Only the limits that the file names; see `limits`.
    limit_values: Mapping[str, float] = field(default_factory=dict)
    #: Whether a request without a token has to be refused.
    auth_required: bool | None = None
    #: The lines of the names under ``seeds``, ``capabilities`` and ``claims``, by section and name.
    lines: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def limits(self, *, start: float | None = None, call: float | None = None, run: float | None = None) -> Limits:
        """The limits in seconds: those given here, then those of the file, then the defaults."""
        of_file = self.limit_values
        default = Limits()
        return Limits(
            start=start or of_file.get("start", default.start),
            call=call or of_file.get("call", default.call),
            run=run or of_file.get("run", default.run),
            grace=of_file.get("grace", default.grace),
        )


def load_profile(path: Path) -> Profile:
    """Read a profile. Raises ``ProfileError`` with the file, the line, what is wrong and what to do."""
    root = read_yaml(path)
    known = root.entries(_KEYS, refused={"token": _PLAIN_REFUSED})
    if "target" in known and "command" in known and "://" not in known["target"].text():
        raise known["command"].error("both `target` and `command` are given", "keep one of them")
    folder = path.resolve().parent
    return Profile(
        file=str(path),
        target=known["target"].text() if "target" in known else None,
        command=_command(known["command"]) if "command" in known else None,
        name=known["name"].text() if "name" in known else None,
        env=_texts(known.get("env")),
        inherit=known["inherit"].one_of(get_args(Inherit)) if "inherit" in known else None,
        cwd=_folder(known["cwd"], folder) if "cwd" in known else None,
        folder=_folder(known["folder"], folder) if "folder" in known else None,
        token=_token(known, folder),
        headers=_headers(known),
        mcp_version=known["mcp_version"].one_of(get_args(McpVersion)) if "mcp_version" in known else None,
        tokens=_tokens(known.get("tokens"), folder),
        seeds=_seeds(known.get("seeds")),
        capabilities=_capabilities(known.get("capabilities")),
        claims=tuple(item.text() for item in known["claims"].items()) if "claims" in known else (),
        limit_values=_limit_values(known.get("limits")),
        auth_required=_auth_required(known.get("auth")),
        lines=_lines(known),
    )


def _command(node: Node) -> tuple[str, ...]:
    if node.is_text():
        return _split(node)
    command = tuple(item.text(empty=True) for item in node.items())
    if not command or not command[0]:
        raise node.error("the command is empty", "write a list: [program, argument, ...]")
    return command


def _split(node: Node) -> tuple[str, ...]:
    """A command that is written as one text, split as a POSIX shell splits it."""
    try:
        command = tuple(shlex.split(node.text()))
    except ValueError as error:
        raise node.error(f"the command cannot be split: {error}", "write it as a list instead") from None
    if not command:
        raise node.error("the command is empty", "write a program and its arguments")
    return command


def _texts(node: Node | None) -> dict[str, str]:
    return {} if node is None else {key: value.scalar_text() for key, value in node.pairs()}


def _folder(node: Node, folder: Path) -> Path:
    path = folder / Path(node.text()).expanduser()
    if not path.is_dir():
        raise node.error(f"the folder {node.text()!r} does not exist", "write it relative to the profile")
    return path.resolve()


def _token(known: Mapping[str, Node], folder: Path) -> str | None:
    if "token_env" in known and "token_file" in known:
        raise known["token_file"].error("both `token_env` and `token_file` are given", "keep one of them")
    if "token_env" in known:
        return _from_env(known["token_env"])
    return _from_file(known["token_file"], folder) if "token_file" in known else None


def _from_env(node: Node) -> str:
    value = os.environ.get(node.text())
    if not value:
        state = "is empty" if value == "" else "is not set"
        raise node.error(f"the environment variable {node.text()} {state}", "set it, or name another")
    return value.strip()


def _from_file(node: Node, folder: Path) -> str:
    path = folder / Path(node.text()).expanduser()
    try:
        value = path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise node.error(f"the file {node.text()!r} is not UTF-8 text", "put only the token in it") from None
    except OSError as error:
        raise node.error(f"the file {node.text()!r} cannot be read: {error.strerror}", "check the path") from None
    if not value:
        raise node.error(f"the file {node.text()!r} is empty", "put only the token in it")
    return value


def _headers(known: Mapping[str, Node]) -> dict[str, str]:
    headers: dict[str, str] = {}
    if "headers" in known:
        for name, node in known["headers"].pairs():
            if name.lower() in ("authorization", "cookie", "x-api-key", "proxy-authorization"):
                raise node.error(f"the header {name} holds a secret", f"write `headers_env: {{{name}: VARIABLE}}`")
            headers[name] = node.scalar_text()
    if "headers_env" in known:
        headers |= {name: _from_env(node) for name, node in known["headers_env"].pairs()}
    return headers


def _tokens(node: Node | None, folder: Path) -> dict[str, str]:
    tokens: dict[str, str] = {}
    for name, source in node.pairs() if node is not None else ():
        if name in ("nobody", "stranger"):
            raise source.error(f"the credential {name!r} is the kit's own", "give it another name")
        if source.is_text():
            raise source.error(f"the token {name!r} stands in the file", f"write `{name}: {{env: VARIABLE}}`")
        where = source.entries(["env", "file"])
        if len(where) != 1:
            raise source.error(f"the token {name!r} has {len(where)} sources", "give either `env` or `file`")
        tokens[name] = _from_env(where["env"]) if "env" in where else _from_file(where["file"], folder)
    return tokens


def _seeds(node: Node | None) -> dict[str, dict[str, Any]]:
    seeds: dict[str, dict[str, Any]] = {}
    for kind, seed in node.pairs() if node is not None else ():
        parts = seed.entries(["tool", "with"])
        if "tool" not in parts:
            raise seed.error(f"the seed {kind!r} names no tool", "add `tool: NAME`")
        arguments = parts["with"].mapping() if "with" in parts else {}
        seeds[kind] = {"tool": parts["tool"].text(), "with": arguments}
    return seeds


def _lines(known: Mapping[str, Node]) -> dict[tuple[str, str], int]:
    lines = {
        (section, name): node.line
        for section in ("seeds", "capabilities")
        if section in known
        for name, node in known[section].pairs()
    }
    if "claims" in known:
        lines |= {("claims", item.text()): item.line for item in known["claims"].items()}
    return lines


def _capabilities(node: Node | None) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for name, value in node.pairs() if node is not None else ():
        found[name] = value.boolean()
        if found[name] and name in _NOT_CLAIMED:
            raise value.error(f"the capability {name!r} can only be denied", _NOT_CLAIMED[name])
    return found


def _limit_values(node: Node | None) -> dict[str, float]:
    if node is None:
        return {}
    return {name: value.seconds() for name, value in node.entries(["start", "call", "run", "grace"]).items()}


def _auth_required(node: Node | None) -> bool | None:
    parts = {} if node is None else node.entries(["required"])
    return parts["required"].boolean() if "required" in parts else None
