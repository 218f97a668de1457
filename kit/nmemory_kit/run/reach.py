"""From what the user said about a target to the target: its address, its secrets, and the line that says it again."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..target.errors import TargetError
from .state import ledger

if TYPE_CHECKING:
    from ..target import Limits, McpVersion, Target
    from ..target.profile import Profile
    from .options import Options

COMMAND = "nmemory protocol conformance"


@dataclass(frozen=True)
class Address:
    """How the user said that the target is reached, as it stands on the command line."""

    target: str | None = None
    command: tuple[str, ...] = ()
    profile: Path | None = None
    token: str | None = None
    token_env: str | None = None
    token_file: Path | None = None
    headers: tuple[str, ...] = ()
    version: "McpVersion | None" = None
    timeout: float | None = None
    #: The command to use where the user named no target; it is not said again.
    unless_given: tuple[str, ...] = ()
    #: The command that starts the server behind the URL.
    start: str | None = None

    @classmethod
    def of(
        cls,
        target: str | None,
        command: Sequence[str] | None,
        profile: Path | None,
        token: tuple[str | None, str | None, Path | None],
        headers: Sequence[str] | None,
        version: "McpVersion | None",
        timeout: float | None,
        unless_given: tuple[str, ...] = (),
        start: str | None = None,
    ) -> "Address":
        """An address from options. Raises ``TargetError`` where they contradict each other."""
        command = tuple(command or ())
        if target is not None and command:
            raise TargetError("a target was given twice, by --target and as a command", "give one of the two")
        if len(command) == 1 and command[0].startswith(("http://", "https://")):
            raise TargetError("a URL is not a command", f"write --target {shlex.quote(command[0])}")
        if sum(way is not None for way in token) > 1:
            raise TargetError("the token was given twice", "give one of --token, --token-env and --token-file")
        return cls(target, command, profile, *token, tuple(headers or ()), version, timeout, unless_given, start)

    @property
    def given(self) -> bool:
        """Whether the user named a target at all."""
        return bool(self.target is not None or self.command or self.start or self.profile is not None)

    def words(self) -> list[str]:
        """The options that say it again, without any secret: a token is a variable that the user has to set."""
        from ..target.command import written

        words: list[str] = []
        if self.target is not None:
            words += ["--target", self.target]
        if self.start is not None:
            words += ["--start", self.start]
        if self.command:
            words += ["--target", written(self.command)]
        if self.profile is not None:
            words += ["--profile", str(self.profile)]
        if self.token is not None:
            words += ["--token-env", "NMEMORY_TOKEN"]
        if self.token_env is not None:
            words += ["--token-env", self.token_env]
        if self.token_file is not None:
            words += ["--token-file", str(self.token_file)]
        for header in self.headers:
            words += ["--header", f"{header.partition(':')[0].strip()}: [redacted]"]
        if self.version is not None:
            words += ["--mcp-version", self.version]
        if self.timeout is not None:
            words += ["--timeout", f"{self.timeout:g}"]
        return words


@dataclass(frozen=True)
class Reached:
    """A target that has been built, with what is known of it beforehand; nothing has been started yet."""

    address: Address
    target: "Target"
    profile: "Profile | None"
    limits: "Limits"

    def options(
        self,
        *,
        protocol: str | None = None,
        jobs: int = 8,
        run_timeout: float | None = None,
        synthesize: bool = False,
        claims: frozenset[str] = frozenset(),
    ) -> "Options":
        """The options of a run against it: what flags say goes before what the profile says."""
        from ..contract.pack import Recipe
        from .options import Options, new_run_id

        limits, profile = self.limits, self.profile
        run = new_run_id()
        again = [*self.address.words(), *(["--protocol", protocol] if protocol else [])]
        again += ["--synthesize"] if synthesize and self.address.given else []
        seeds = profile.seeds if profile else {}
        return Options(
            jobs=jobs,
            call_timeout=limits.call,
            run_timeout=run_timeout or limits.run or Options().run_timeout,
            synthesize=synthesize,
            run=run,
            seeds={kind: Recipe(seed["tool"], seed["with"]) for kind, seed in seeds.items()},
            declared=dict(profile.capabilities) if profile else {},
            claims=claims | frozenset(profile.claims if profile else ()),
            auth_required=bool(profile and profile.auth_required),
            ledger=ledger(self.target, run),
            reproduce=self.target.redactor.text(shlex.join([*COMMAND.split(), *again])),
            profile=profile.file if profile else None,
            environment=getattr(self.target, "passed_names", ()),
            redact=self.target.redactor.text,
        )


def reach(address: Address) -> Reached:
    """Build the target at an address. Raises ``TargetError`` for what makes no sense."""
    from ..target import Limits
    from ..target.build import make_target
    from ..target.profile import load_profile

    profile = load_profile(address.profile) if address.profile is not None else None
    if profile is not None:
        limits = profile.limits(call=address.timeout)
    else:
        limits = Limits() if address.timeout is None else Limits(call=address.timeout)
    target = make_target(
        target=address.target,
        command=(address.command or None) if address.given else address.unless_given,
        start=address.start,
        profile=profile,
        token=_token(address),
        headers=_headers(address.headers),
        version=address.version,
        limits=limits,
    )
    return Reached(address, target, profile, limits)


def _token(address: Address) -> str | None:
    if address.token_env is not None:
        token = os.environ.get(address.token_env, "")
        if not token.strip():
            raise TargetError(f"the environment variable {address.token_env} is not set", "put the token into it")
        return token.strip()
    if address.token_file is not None:
        try:
            token = address.token_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not text"
            raise TargetError(f"cannot read the token file {address.token_file}: {why}", "name another") from error
        if not token:
            raise TargetError(f"the token file {address.token_file} is empty", "put the token into it")
        return token
    return address.token


def _headers(given: Sequence[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for number, header in enumerate(given, 1):
        name, colon, value = header.partition(":")
        if not colon or not name.strip():
            # The text itself may be a secret in the wrong place, so it is not shown.
            raise TargetError(f"header {number} has no name", "write --header 'Name: value'")
        headers[name.strip()] = value.strip()
    return headers
