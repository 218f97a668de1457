"""memory_import: the blocks of the instruction and memory files of agents, captured as imported text.

What a file says is never trusted: everything from here is externally-imported and tainted. Links are not
followed: a known file that is one is refused with the reason, and one in a folder is passed over.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from nmemory_reference.capsules.call import Call, Settings
from nmemory_reference.capsules.capture import engine, lineage
from nmemory_reference.capsules.capture.drafts import Draft
from nmemory_reference.capsules.capture.engine import Outcome
from nmemory_reference.capsules.capture.ingest import summary
from nmemory_reference.capsules.capture.sections import Block, blocks
from nmemory_reference.capsules.faults import store_fault, value_fault
from nmemory_reference.capsules.parameters import choice, shape_of, text
from nmemory_reference.capsules.tool import MemoryTool
from nmemory_reference.capsules.vocabulary import IMPORT_SOURCES
from nmemory_reference.tools.failure import shown

NAME: Final = "memory_import"
USER: Final = "user-claude-md"
FOLDER: Final = "memory-dir"
#: Where the file of a source may be below its base; the first that is there counts.
PLACES: Final = {
    USER: (".claude3/CLAUDE.md", ".claude2/CLAUDE.md", ".claude/CLAUDE.md"),
    "project-claude-md": ("CLAUDE.md",),
    "project-agents-md": ("AGENTS.md",),
}
_SUFFIX: Final = ".md"
_MISSING: Final = frozenset({errno.ENOENT, errno.ENOTDIR})


class ImportArguments(NamedTuple):
    """Which files to import."""

    source: str = choice(IMPORT_SOURCES, "What to import.")
    dir: str | None = text("The folder of memory-dir, which needs it; no other source takes it.", optional=True)
    base: str | None = text(
        "The folder to look in: the home folder for user-claude-md, the working folder for the others if left out.",
        optional=True,
    )


class _File(NamedTuple):
    """A file that was read: its true path, and the path that anchors in it have."""

    path: str
    anchor: str
    blocks: tuple[Block, ...]


class _Absent(NamedTuple):
    """No file is there."""

    tried: tuple[str, ...]


class _Link(Exception):
    """A known file is a symbolic link."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path


def handle(call: Call, given: ImportArguments) -> dict[str, Any]:
    """Read the files first, then capture their blocks and carry on their lineage in one transaction."""
    folder = None
    try:
        if given.source == FOLDER:
            folder = _folder(call.settings, given)
            found: tuple[_File, ...] | _Absent = _files_in(folder, call.settings.anchor_root)
        else:
            found = _known_file(given.source, _base(call.settings, given), call.settings.anchor_root)
    except _Link as link:
        return {
            "outcome": "rejected",
            "source": given.source,
            "reason": "the file is a symlink, and symlinks are never followed",
            "path": _shown(link.path),
        }
    if isinstance(found, _Absent):
        return {"outcome": "absent", "source": given.source, "tried": list(found.tried)}
    outcomes: list[Outcome] = []
    with call.store.writing() as db:
        changes = []
        for file in found:
            of_file = [engine.capture(db, call, draft, action=NAME) for draft in _drafts(file, given.source)]
            changes.append(lineage.note(db, file.path, of_file))
            outcomes += of_file
        if folder is not None:
            lineage.note_removed(db, _shown(_true(folder)), {file.path for file in found})
        for change in changes:
            lineage.succeed(db, call, change)
        rows = [outcome.row() for outcome in outcomes]
        return {"outcome": "imported", "source": given.source, **summary(rows, outcomes)}


def _drafts(file: _File, source: str) -> Iterator[Draft]:
    for block in file.blocks:
        yield Draft(
            content=block.text,
            source=source,
            anchor=f"{file.anchor}:{block.line}",
            authority_class=engine.IMPORTED,
            instruction_taint=True,
        )


def _base(settings: Settings, given: ImportArguments) -> Path:
    """The folder that the source is looked for in. Raises -32602 where there is none."""
    if given.dir is not None and given.source != FOLDER:
        raise value_fault(f"dir goes with source memory-dir only, not with {given.source}; send base to look elsewhere")
    default = settings.home if given.source == USER else settings.working_folder
    if given.base is None:
        if default is None:
            raise value_fault(f"the server knows no folder to look for {given.source} in; send base")
        return default
    base = _path("base", given.base)
    return base if settings.working_folder is None else settings.working_folder / base


def _folder(settings: Settings, given: ImportArguments) -> Path:
    if given.dir is None or not given.dir.strip():
        raise value_fault("source memory-dir needs dir, the folder whose .md files are to be imported")
    folder = _path("dir", given.dir)
    return folder if folder.is_absolute() else _base(settings, given) / folder


def _path(name: str, sent: str) -> Path:
    if not sent.strip() or "\0" in sent:
        raise value_fault(f"{name} is {shown(sent)!r}, which names no folder; send the path of one")
    return Path(sent)


def _known_file(source: str, base: Path, root: Path) -> tuple[_File, ...] | _Absent:
    """The first of the source's files that is there. Raises _Link if that is a link."""
    places = [base / place for place in PLACES[source]]
    for place in places:
        if (content := _content(place)) is not None:
            return (_file(place, content, root),)
    return _Absent(tuple(map(_shown, places)))


def _files_in(folder: Path, root: Path) -> tuple[_File, ...] | _Absent:
    """The Markdown files directly in a folder, by name; links and folders among them don't count."""
    try:
        with os.scandir(folder) as entries:
            names = [
                entry.name for entry in entries if entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False)
            ]
    except NotADirectoryError:
        raise value_fault(
            f"dir is {_named(folder)}, which is no folder; send the folder that holds the files"
        ) from None
    except FileNotFoundError:
        return _Absent((_shown(folder),))
    except OSError as error:
        raise _unreadable(folder, error) from None
    files = []
    for name in sorted(names, key=os.fsencode):
        try:
            content = _content(folder / name)
        except _Link:
            continue  # it was none when the folder was listed
        if content is not None:
            files.append(_file(folder / name, content, root))
    return tuple(files)


def _content(path: Path) -> str | None:
    """The text of a file, None where there is none. Raises _Link, and -32603 for what can't be read as UTF-8."""
    try:
        # Not blocking, so that a pipe in the place of the file can't hold the call.
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in _MISSING:
            return None
        if error.errno == errno.ELOOP and path.is_symlink():
            raise _Link(path) from None
        raise _unreadable(path, error) from None
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise store_fault(f"Can't import {_named(path)}: it is no regular file. Put a file there, or name another.")
    try:
        with os.fdopen(opened, "rb") as file:
            return file.read().decode()
    except OSError as error:
        raise _unreadable(path, error) from None
    except UnicodeDecodeError as error:
        raise store_fault(
            f"Can't import {_named(path)}: byte {error.start} is no UTF-8. Save the file as UTF-8."
        ) from None


def _file(path: Path, content: str, root: Path) -> _File:
    true, true_root = _true(path.parent) / path.name, _true(root)
    anchor = true.relative_to(true_root) if true.is_relative_to(true_root) else true
    return _File(_shown(true), _shown(anchor), tuple(blocks(content)))


def _true(folder: Path) -> Path:
    """The folder by its only absolute path without links."""
    return Path(os.path.realpath(folder))


def _shown(path: Path) -> str:
    """A path as a text; bytes in it that are no UTF-8 are replaced."""
    return os.fsencode(path).decode("utf-8", "replace")


def _named(path: Path) -> str:
    """A path as it may stand in a message."""
    return shown(_shown(path), 200)


def _unreadable(path: Path, error: OSError) -> Exception:
    reason = error.strerror or type(error).__name__
    return store_fault(f"Can't import {_named(path)}: {reason}. Check its permissions, or name another.")


TOOL: Final = MemoryTool(
    name=NAME,
    title="Import memory files",
    description=(
        "Import the memories of one source: user-claude-md (.claude3/CLAUDE.md in the home folder, else .claude2, "
        "else .claude), project-claude-md (CLAUDE.md), project-agents-md (AGENTS.md), or memory-dir (every .md file "
        "directly in dir). A file is cut at the headings of the smallest level that repeats, or into paragraphs if it "
        "has none; fenced code stays whole. Every block becomes a capsule that is externally-imported and tainted, "
        "with path:line as its anchor. The outcome is imported (rows as in memory_ingest), absent (with the paths "
        "tried) or rejected (the file is a symlink). Import again after an edit: what is unchanged is found again, a "
        "block that changed is superseded by the new one if as many came as went, and one that came back stands "
        "again. What you captured or related yourself is never touched by that."
    ),
    shape=shape_of(ImportArguments),
    handler=handle,
    writes=True,
    idempotent=True,
    reads_files=True,
)
