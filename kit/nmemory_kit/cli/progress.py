"""How far a run has come, on stderr and only where that is a terminal."""

import sys
from types import TracebackType
from typing import Any, Self


class Progress:
    """A line that shows how much is done and how much of it went wrong; nothing where nobody looks on."""

    def __init__(self, before: str) -> None:
        """``before`` is what happens until it is known how much there is to do."""
        self._before = before
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
            self._task = self._bar.add_task(self._before, total=None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def start(self, planned: int) -> None:
        """It is known how much there is to do."""
        if self._bar is not None:
            self._bar.update(self._task, total=planned, description="")

    def add(self, *, good: bool) -> None:
        """One more is done."""
        if self._bar is None:
            return
        self._failed += not good
        self._bar.update(self._task, advance=1, description=f"{self._failed} failed" if self._failed else "")
