"""A store in a temporary file, a clock that stands still, and calls of memory tools on them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from nmemory_reference.capsules.call import Call, CapsuleStore, Settings
from nmemory_reference.capsules.instants import minted
from nmemory_reference.capsules.project import default_project
from nmemory_reference.capsules.store import capsules
from nmemory_reference.capsules.store.capsules import NewCapsule
from nmemory_reference.capsules.tool import MemoryTool, answer
from nmemory_reference.store.database import Database

START = datetime(2031, 5, 1, 8, 0, 0, tzinfo=UTC)


@dataclass
class Stage:
    """One store, and the client that calls it."""

    store: CapsuleStore
    settings: Settings
    now: datetime = START
    client: str = "kit"

    @classmethod
    def at(cls, folder: Path, **settings: Any) -> Stage:
        """A stage on a new store in `folder`, which is the anchor root too."""
        database = Database.open(folder / "memory.sqlite3", durable=False)
        given = {"anchor_root": folder, "working_folder": folder, "home": folder, "hmac_key": "k1"} | settings
        return cls(CapsuleStore(database), Settings(**given))

    def call(self, tool: MemoryTool[Any], **arguments: Any) -> dict[str, Any]:
        """The body of the answer; faults are raised."""
        return answer(tool, self.context(), arguments)

    def context(self) -> Call:
        """A call as a handler is given it."""
        return Call(
            store=self.store,
            settings=self.settings,
            now=minted(self.now),
            actor=self.client.strip() or "mcp-caller",
            default_project=default_project(self.settings.project, self.client),
        )

    def later(self, **delta: float) -> None:
        """Let time pass."""
        self.now += timedelta(**delta)

    def put(self, content: str, **fields: Any) -> str:
        """Store a capsule past every tool and journal; gives its id."""
        now = minted(self.now)
        new = NewCapsule(
            content=content,
            source="test",
            anchor="stage",
            confidence=0.6,
            valid_from=now,
            valid_to=None,
            project_id="lab",
            authority_class="agent-inferred",
            instruction_taint=False,
            session_id=None,
            created=now,
        )
        with self.store.writing() as db:
            return f"cap-{capsules.insert(db, new._replace(**fields))}"
