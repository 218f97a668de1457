"""What a command writes: the result file that grows while a run goes on, and reports."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from ..run.state import state
from .complaint import Complaint, say

if TYPE_CHECKING:
    from ..run.result import CaseResult, Header, Results

#: Result files that are kept where the user named no folder for them.
KEPT = 20
RESULT_FILE = "result.jsonl"


class Recorder:
    """A result file that grows with its run, so that an interrupted run leaves what it knew."""

    def __init__(self, folder: Path | None, run: str) -> None:
        """Open the file: in the folder the user named, or in the kit's own.

        Raises ``Complaint`` where the user's folder cannot be written; without one, a run goes on unrecorded.
        """
        self.path: Path | None = (folder / RESULT_FILE) if folder else (state() / "runs" / f"{run}.jsonl")
        self._written: set[str] = set()
        self._file: TextIO | None = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("w", encoding="utf-8")
        except OSError as error:
            if folder is not None:
                raise Complaint(f"cannot write into the report folder {folder}: {error.strerror}") from error
            self.path = None
        if folder is None and self.path is not None:
            _keep_the_last(self.path.parent)

    def start(self, header: "Header") -> None:
        """Write the header."""
        from ..run import record

        self._line(record.line("header", header))

    def add(self, case: "CaseResult") -> None:
        """Write a case."""
        from ..run import record

        self._written.add(case.case)
        self._line(record.line("case", case))

    def finish(self, results: "Results") -> None:
        """Write the cases that never came up and the footer."""
        from ..run import record

        for case in results.cases:
            if case.case not in self._written:
                self.add(case)
        self._line(record.line("footer", results.footer))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file as far as it got, and say where it is if the user broke the run off."""
        if self._file is not None:
            self._file.close()
            if isinstance(error, KeyboardInterrupt):
                say(f"{len(self._written)} cases had been done; what they said is in {self.path}")

    def _line(self, text: str) -> None:
        if self._file is not None:
            self._file.write(text + "\n")
            self._file.flush()


def prepare(path: Path) -> Callable[[str], None]:
    """Make sure that a report can be written before a run is spent on it, and answer what writes it.

    What an earlier run wrote there goes at once: nobody shall take it for this run's. Raises ``Complaint``.
    """
    if path.is_dir():
        raise Complaint(f"cannot write {path}: it is a folder", "Name a file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8"):
            pass
        path.unlink()
    except OSError as error:
        raise Complaint(f"cannot write {path}: {error.strerror}") from error

    def write(text: str) -> None:
        path.write_text(text, encoding="utf-8")

    return write


def _keep_the_last(folder: Path) -> None:
    with contextlib.suppress(OSError):
        files = sorted(folder.glob("*.jsonl"), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in files[KEPT:]:
            file.unlink(missing_ok=True)
