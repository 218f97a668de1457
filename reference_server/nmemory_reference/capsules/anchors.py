"""Anchors of the form `path:line`, looked at through one fence: nothing outside of the root is ever read.

The fence refuses absolute paths, `..`, and every symbolic link on the way; what it refuses is "unknown".
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

Live = bool | Literal["unknown"]
Drift = Literal["unchanged", "drifted", "unknown"]

_ANCHOR = re.compile(r"(.+):[0-9]+", re.ASCII | re.DOTALL)


def path_of(anchor: str) -> str | None:
    """The path of a `path:line` anchor that a root can resolve, or None."""
    found = _ANCHOR.fullmatch(anchor)
    if found is None:
        return None
    path = found[1]
    if "\0" in path or path.startswith(("/", "~")) or ".." in path.split("/") or not path.strip("/."):
        return None
    return path


def anchor_live(root: Path, anchor: str) -> Live:
    """Whether the anchored file exists under `root`; a symbolic link on the way counts as missing.

    "unknown" for an anchor that is no relative `path:line`, and for all of them where the root is missing.
    """
    path = path_of(anchor)
    if path is None or not root.is_dir():
        return "unknown"
    with _fenced(root, path) as place:
        if place is None:
            return False
        try:
            return not stat.S_ISLNK(os.stat(place.name, dir_fd=place.folder, follow_symlinks=False).st_mode)
        except OSError:
            return False


def content_hash(root: Path, anchor: str) -> str | None:
    """SHA-256 of the anchored file's bytes, or None where the fence or the file says no."""
    path = path_of(anchor)
    if path is None:
        return None
    with _fenced(root, path) as place:
        if place is None:
            return None
        try:
            # Not blocking, so that a pipe under the root can't hold the call.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with os.fdopen(os.open(place.name, flags, dir_fd=place.folder), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return None
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return None


def anchor_drift(root: Path, anchor: str, captured: str | None) -> Drift:
    """Whether the anchored file has other bytes than when it was captured; `captured` is its hash then."""
    if captured is None:
        return "unknown"
    present = content_hash(root, anchor)
    if present is None:
        return "unknown"
    return "unchanged" if present == captured else "drifted"


class _Place(NamedTuple):
    """A name in an open folder that was reached without following a link."""

    folder: int
    name: str


@contextlib.contextmanager
def _fenced(root: Path, path: str) -> Iterator[_Place | None]:
    """The last step of a path below the root, every step before it taken; None if one can't be.

    Going by open folders leaves no gap between the check and the reading.
    """
    *folders, name = [part for part in path.split("/") if part not in {"", "."}]
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    opened: list[int] = []
    try:
        try:
            opened.append(os.open(root, flags))
            for folder in folders:
                opened.append(os.open(folder, flags | os.O_NOFOLLOW, dir_fd=opened[-1]))
            place: _Place | None = _Place(opened[-1], name)
        except OSError:
            place = None
        yield place
    finally:
        for descriptor in opened:
            os.close(descriptor)
