"""Errors that keep the server from serving, worded for the person who started it."""

from __future__ import annotations


class CannotServe(Exception):
    """The reference server can't do what it was started for.

    `what` happened, `why`, and the `remedy`; none of the three ever holds a secret.
    """

    def __init__(self, what: str, why: str, remedy: str) -> None:
        super().__init__(what, why, remedy)
        self.what = what
        self.why = why
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what}: {self.why}. {self.remedy}"


class ConfigError(CannotServe):
    """A setting, or a file that a setting names, can't be used."""


class StoreError(CannotServe):
    """The database file can't be used; it was left as it was."""
