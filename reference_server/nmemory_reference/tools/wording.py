"""How a contract words an answer, and the refusals that are no tool's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Wording(Protocol):
    """What differs between the contracts on one server. The refusals are exceptions to be raised."""

    def text(self, body: Mapping[str, Any]) -> str:
        """The text block of an answer."""

    def unknown_tool(self, name: str, offered: int) -> Exception:
        """The surface has no such tool; it has `offered` others."""

    def scope_denied(self, tool: str, scope: str) -> Exception:
        """The caller's token does not have the scope."""

    def unavailable(self, detail: str) -> Exception:
        """The store can't be used just now: locked for long, disk full, file gone read-only."""

    def internal(self) -> Exception:
        """Something happened that nobody foresaw."""
