"""What a user got wrong in saying which target to test."""

from __future__ import annotations


class TargetError(Exception):
    """A target, a profile or an option that makes no sense: ``what`` is wrong, and the ``remedy``."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what, remedy)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what}; {self.remedy}"


class ProfileError(TargetError):
    """A profile that cannot be used: ``file`` and ``line`` (from 1; None for the file as a whole) say where."""

    def __init__(self, file: str, line: int | None, what: str, remedy: str) -> None:
        super().__init__(what, remedy)
        self.file = file
        self.line = line

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {super().__str__()}"
