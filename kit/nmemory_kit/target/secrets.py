"""Keeping secrets out of everything that the kit shows or writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .excerpt import SHOWN, excerpt

if TYPE_CHECKING:
    from .reply import Fault

REDACTED = "[redacted]"

#: A shorter text is no secret, and blotting it out would blot out half of a report.
_SHORTEST = 4

_TELLING_NAME = re.compile(
    r"key|token|secret|pass|pwd|auth|cred|cookie|session|private|dsn|(^|_)(pw|pat)($|_)", re.IGNORECASE
)
_USER_INFO = re.compile(r"(?<=://)[^/\s@\"']+(?=@)")
#: Keys of widely used services, and JSON web tokens, by how they begin.
_MARKED_KEY = re.compile(
    r"\b(?:(?:sk|pk|rk)[-_]|gh[opsur]_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|hf_|npm_|pypi-|eyJ)[\w.-]{16,}"
)
_QUERY_SECRET = re.compile(
    r"([?&](?:[\w.-]*[_.-])?(?:api|access|auth|session|client)?"
    r"(?:token|key|secret|password|passwd|pwd|signature|sig|code)=)[^&\s#\"']+",
    re.IGNORECASE,
)


class Redactor:
    """Replaces each known secret by ``[redacted]``, and what URLs carry in the places of secrets."""

    def __init__(self, secrets: Iterable[str | None] = ()) -> None:
        texts = {secret for secret in secrets if secret and len(secret) >= _SHORTEST}
        texts |= {quote(secret, safe="") for secret in texts if not _has_lone_surrogate(secret)}
        # The longest first, so that a secret inside another leaves no remainder.
        ordered = sorted(texts, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def text(self, text: str) -> str:
        """``text`` without a secret."""
        if self._known is not None:
            text = self._known.sub(REDACTED, text)
        if "://" in text:
            text = _USER_INFO.sub(REDACTED, text)
            text = _QUERY_SECRET.sub(rf"\1{REDACTED}", text)
        return text

    def optional(self, text: str | None) -> str | None:
        """The same for a text that may be missing."""
        return None if text is None else self.text(text)

    def excerpt(self, received: bytes | str) -> str:
        """The start of what was received, without a secret, also where a cut would leave half of one."""
        return excerpt(self.text(excerpt(received, SHOWN * 4)))

    def fault(self, fault: Fault) -> Fault:
        """A fault without a secret in anything that it says."""
        return replace(
            fault,
            message=self.text(fault.message),
            remedy=self.optional(fault.remedy),
            received=self.optional(fault.received),
            stderr=self.optional(fault.stderr),
        )

    def value(self, value: Any) -> Any:
        """A JSON value of the same shape without a secret in any text or key."""
        match value:
            case str():
                return self.text(value)
            case Mapping():
                return {self.text(key): self.value(item) for key, item in value.items()}
            case list() | tuple():
                return [self.value(item) for item in value]
            case _:
                return value


def secret_values(named: Mapping[str, str], *, by_looks: bool = True) -> list[str]:
    """The values of variables or headers that look like secrets, by their name or (``by_looks``) by their length.

    ``DEBUG=true`` and ``LEVEL=info`` are not: a report without these words would be unreadable.
    """
    values: list[str] = []
    for name, value in named.items():
        if _TELLING_NAME.search(name) or (by_looks and _looks_random(value)):
            # Of ``Bearer abc`` the second word is the secret, and a server may repeat it without the first.
            values += [value, *(word for word in value.split()[1:] if len(word) >= _SHORTEST)]
    return values


def secret_arguments(command: Sequence[str]) -> list[str]:
    """The arguments of a command that look like secrets: ``--api-key X``, ``--token=X``, ``API_KEY=X``, ``sk-...``.

    They are told by the name before them, or by the mark that many services begin their keys with.
    """
    secrets = []
    for argument, following in zip(command, [*command[1:], ""], strict=True):
        secrets += _MARKED_KEY.findall(argument)
        name, equals, value = argument.partition("=")
        if not _TELLING_NAME.search(name):
            continue
        if equals and re.fullmatch(r"-{0,2}[\w.-]+", name):
            secrets.append(value)
        elif name.startswith("-") and not equals:
            secrets.append(following)
    return [secret for secret in secrets if not secret.startswith(("-", "/", ".", "~", "{"))]


def marked_keys(text: str) -> list[str]:
    """What in a text bears the mark that a service begins its keys with, as in ``https://host/mcp/sk-...``."""
    return _MARKED_KEY.findall(text)


def _looks_random(value: str) -> bool:
    return len(value) >= 16 and not re.search(r"\s|://", value) and value[0] not in "/.~\\" and value[1] != ":"


def _has_lone_surrogate(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)
