"""Projects: the default one of a client, and the fences that callers put around them."""

from __future__ import annotations

import re
from typing import Final

from nmemory_reference.capsules.faults import value_fault

DEFAULT_PROJECT: Final = "default"
MAX_SLUG: Final = 32

_NOT_SLUG = re.compile(r"[^0-9a-z]+")


def slug(client_name: str) -> str:
    """The project of a client by its name; names without a usable character share `default`."""
    dashed = _NOT_SLUG.sub("-", client_name.strip().lower()).lstrip("-")
    return dashed[:MAX_SLUG].rstrip("-") or DEFAULT_PROJECT


def default_project(booted: str | None, client_name: str | None) -> str:
    """Where a capture without project_id goes: the project that the server was booted with, or the client's.

    Booting with `default` pins nothing.
    """
    if booted is not None and booted != DEFAULT_PROJECT:
        return booted
    return slug(client_name or "")


def check_prefix(prefix: str | None) -> str | None:
    """A subtree fence as it was sent. Raises -32602 for one that can match nothing."""
    if prefix is not None and (not prefix.strip() or prefix.endswith("/")):
        raise value_fault(
            "project_prefix is empty or ends in '/', and so can match nothing. Send the project that the subtree "
            'hangs from, for instance "lab" for lab, lab/x and lab/x/y; leave it out to search everywhere.'
        )
    return prefix


def covers(prefix: str, project_id: str) -> bool:
    """Whether a project lies in the subtree: it is `prefix` itself, or begins with `prefix/`."""
    return project_id == prefix or project_id.startswith(prefix + "/")


_EXACT: Final = "project_id = :project_id"
#: As `covers` says; the range lets an index find it.
_SUBTREE: Final = (
    "project_id BETWEEN :project_prefix AND :project_prefix || '0' AND (project_id = :project_prefix OR "
    "(project_id >= :project_prefix || '/' AND project_id < :project_prefix || '0'))"
)


def fence_sql(project_id: str | None, prefix: str | None) -> str:
    """The condition of the fences that were sent, on a column `project_id`; both have to hold.

    Made of constants only: the values go in as the parameters `project_id` and `project_prefix`.
    """
    sent = ((project_id, _EXACT), (prefix, _SUBTREE))
    return " AND ".join(condition for value, condition in sent if value is not None) or "1"
