"""The folders of a case: files that a target is to read, and a look at what is there.

Nothing is written or removed but below the two folders that are the case's own, and nothing is looked at but there and
where the kit has made a place for stores. A link is never followed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ..contract.case import File
from ..target import leftovers

Json = Any

#: Bytes of a file whose text is shown.
_SHOWN = 64 * 2**20


class OutOfBounds(Exception):
    """A path of a case that leads to what is not the case's own."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path!r} leads out of the folders of the case")
        self.path = path


class Folders:
    """The folders of one case; they are there while it is done."""

    def __init__(self, name: str, home: Path, root: Path | None, others: Iterable[Path] = ()) -> None:
        """``home`` is where the kit has its files, ``root`` from where the target counts relative paths.

        ``others`` are further folders that may be looked at. All of them are resolved paths.
        """
        self._root = root
        self._others = tuple(others)
        self.folder = (root or home) / name
        self.outside = home / f"{name}-outside"
        for folder in (self.folder, self.outside):
            folder.mkdir()
        leftovers.keep(self, self._remove)

    def values(self) -> dict[str, Json]:
        """What the placeholders become."""
        here = {} if self._root is None else {"here": self.folder.relative_to(self._root).as_posix()}
        return {"folder": str(self.folder), "outside": str(self.outside), **here}

    def make(self, step: File, fill: Callable[[Json], Json]) -> None:
        """Make, replace or remove what a step says. Raises ``OutOfBounds``, ``OSError``."""
        path = self._own(str(fill(step.path)), (self.folder, self.outside))
        _clear(path)
        if step.gone:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if step.folder:
            path.mkdir()
        elif step.link is not None:
            path.symlink_to(str(fill(step.link)))
        elif step.copy is not None:
            shutil.copyfile(self._own(str(fill(step.copy))), path, follow_symlinks=False)
        elif step.content is not None:
            path.write_bytes(step.content)
        else:
            path.write_bytes(str(fill(step.text)).encode("utf-8", "surrogatepass"))

    def look(self, path: str) -> Json:
        """What is at a path: a document of its kind, size, mode and content. Raises ``OutOfBounds``, ``OSError``."""
        return _seen(self._own(path))

    def remove(self) -> None:
        """Remove both folders."""
        leftovers.forget(self)
        self._remove()

    def _remove(self) -> None:
        for folder in (self.folder, self.outside):
            _clear(folder)

    def _own(self, path: str, bounds: Iterable[Path] | None = None) -> Path:
        """A path of the case, with what leads to it resolved, but not itself: a link is looked at, not through."""
        joined = self.folder / path
        whole = joined.parent.resolve() / joined.name
        allowed = (self.folder, self.outside, *self._others) if bounds is None else tuple(bounds)
        if joined.name == ".." or "\0" in path:
            raise OutOfBounds(path)
        if not any(whole.is_relative_to(bound) for bound in allowed) or (bounds is not None and whole in allowed):
            raise OutOfBounds(path)
        return whole


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.unlink()


def _seen(path: Path) -> Json:
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return {"kind": "nothing"}
    seen: dict[str, Json] = {"mode": f"{stat.S_IMODE(status.st_mode):o}"}
    if stat.S_ISLNK(status.st_mode):
        return {"kind": "link", **seen, "target": str(path.readlink())}
    if stat.S_ISDIR(status.st_mode):
        return {"kind": "folder", **seen, "files": {name: _seen(file) for name, file in _files(path)}}
    content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
    return {
        "kind": "file",
        **seen,
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "text": content[:_SHOWN].decode("utf-8", "replace"),
    }


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every file and link below a folder by its path, sorted."""
    for home, folders, files in os.walk(folder):
        folders.sort()
        linked = [name for name in folders if (Path(home) / name).is_symlink()]
        for name in sorted([*files, *linked]):
            path = Path(home) / name
            yield path.relative_to(folder).as_posix(), path
