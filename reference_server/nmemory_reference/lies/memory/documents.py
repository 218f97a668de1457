"""Changing a generated document, and making its hash true again: what lies about the index and the diagrams need."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

#: The hash of a document, on the line after which the hashed body begins.
_HASH = re.compile(r"body sha256:([0-9a-f]{64})")


def parts(document: str) -> tuple[str, str]:
    """The head of a document up to the end of the line with the hash, and the body that it covers."""
    found = _HASH.search(document)
    assert found is not None
    end = document.index("\n", found.end()) + 1
    return document[:end], document[end:]


def rebuilt(document: str, change: Callable[[str], str]) -> str:
    """A document with another body, and the hash of that."""
    head, body = parts(document)
    body = change(body)
    return _HASH.sub(f"body sha256:{hashlib.sha256(body.encode()).hexdigest()}", head, count=1) + body


def lines(change: Callable[[list[str]], list[str]]) -> Callable[[str], str]:
    """A change of a body's lines as a change of the body."""
    return lambda body: "\n".join(change(body.split("\n")))


def replaced(old: str, new: str) -> Callable[[str], str]:
    """Puts another text in wherever one stands in a body."""
    return lambda body: body.replace(old, new) if old else body


def without_lines(unwanted: Callable[[str], bool]) -> Callable[[str], str]:
    """Leaves lines of a body out."""
    return lines(lambda given: [line for line in given if not unwanted(line)])
