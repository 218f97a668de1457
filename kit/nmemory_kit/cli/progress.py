"""How far a run has come, on stderr and only where that is a terminal."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from ..run.result import CaseResult


class Progress:
    """A line that shows how many cases are done and how many of them failed; nothing where nobody looks on."""

    def __init__(self) -> None:
        self._failed = 0
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("reaching the target", total=None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def start(self, planned: int) -> None:
        """The run has begun."""
        if self._bar is not None:
            self._bar.update(self._task, total=planned, description="")

    def add(self, case: "CaseResult") -> None:
        """A case is done."""
        if self._bar is None:
            return
        if case.verdict in ("fail", "error", "xpass"):
            self._failed += 1
        self._bar.update(self._task, advance=1, description=f"{self._failed} failed" if self._failed else "")
