"""Bearer tokens: the file that lists them, and finding whose one is.

```yaml
- token: a-long-random-string
  name: alice
  tenant: team-a
  scopes: [read, write]
  expires: 2027-01-01T00:00:00Z     # may be left out
```
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from nmemory_reference.errors import ConfigError
from nmemory_reference.instant import parse_instant
from nmemory_reference.tools.caller import BOTH_SCOPES, DEFAULT_TENANT, Caller
from nmemory_reference.yaml_text import Fields, Items, Scalar, YamlFault, read_yaml, strings

_KEYS = frozenset({"token", "name", "tenant", "scopes", "expires"})
_MIN_TOKEN = 6


@dataclass(frozen=True, slots=True)
class Grant:
    """What a token gives, and until when."""

    caller: Caller
    expires: datetime | None


@dataclass(frozen=True, slots=True)
class Tokens:
    """The known tokens. Only their digests are kept, so that no repr, log or core dump shows one."""

    grants: Mapping[bytes, Grant]

    def caller(self, token: str | None, now: datetime) -> Caller | None:
        """Whose token this is; None for no, an unknown or an expired one."""
        grant = self.grants.get(_digest(token)) if token else None
        if grant is None or (grant.expires is not None and grant.expires <= now):
            return None
        return grant.caller


def read_tokens(path: Path) -> Tokens:
    """The tokens of a file. Raises ConfigError with the line of what is wrong, and never with a token."""

    def refuse(why: str) -> NoReturn:
        raise ConfigError(
            f"Can't use the tokens file {path}",
            why,
            "Write a YAML or JSON list of {token, name, tenant, scopes: [read, write], expires?}.",
        )

    try:
        listed = read_yaml(path.read_text("utf-8"))
        if not isinstance(listed, Items) or not listed.values:
            refuse(f"line {listed.line}: it is no list of tokens")
        grants: dict[bytes, Grant] = {}
        for item in listed.values:
            digest, grant = _grant(item)
            if digest in grants:
                refuse(f"line {item.line}: its token is there before")
            grants[digest] = grant
        return Tokens(grants)
    except YamlFault as fault:
        refuse(f"line {fault.line}: {fault.reason}")
    except UnicodeDecodeError:
        refuse("it is no UTF-8 text")
    except OSError as error:
        refuse(error.strerror or "it can't be read")


def _grant(item: Fields | Items | Scalar) -> tuple[bytes, Grant]:
    if not isinstance(item, Fields):
        raise YamlFault(item.line, "each entry should have the keys token, name, tenant and scopes")
    item.refuse_unknown(_KEYS)
    token, name, tenant = (_text(item, key) for key in ("token", "name", "tenant"))
    if len(token) < _MIN_TOKEN or token.split() != [token]:
        line = item.key_lines["token"]
        raise YamlFault(line, f"a token is {_MIN_TOKEN} characters or more, without white space")
    if "scopes" not in item.values:
        raise YamlFault(item.line, "scopes is missing")
    scopes = list(strings(item.values["scopes"]))
    for scope in scopes:
        if scope.text not in BOTH_SCOPES:
            raise YamlFault(scope.line, f"{scope.text!r} is no scope; they are read and write")
    expires = None
    if "expires" in item.values:
        try:
            expires = parse_instant(_text(item, "expires"))
        except ValueError:
            raise YamlFault(item.key_lines["expires"], "expires is no ISO 8601 instant") from None
    caller = Caller(
        tenant=tenant,
        scopes=frozenset(scope.text for scope in scopes),
        remote=True,
        files=tenant == DEFAULT_TENANT,
        name=name,
    )
    return _digest(token), Grant(caller, expires)


def _text(item: Fields, key: str) -> str:
    value = item.values.get(key)
    if value is None:
        raise YamlFault(item.line, f"{key} is missing")
    if not isinstance(value, Scalar) or value.empty or not value.text.strip():
        raise YamlFault(value.line, f"{key} should be a string")
    return value.text


def _digest(token: str) -> bytes:
    # Looking a digest up, instead of comparing tokens, leaves an attacker no timing to learn from.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
