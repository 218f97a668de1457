"""A small pack on disk: one tool, one clause a kind, and one good case. Tests change it and see what happens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

PACK: dict[str, Any] = {
    "protocol": "notes",
    "version": "v1",
    "name": "NOTES",
    "protocol_version": 1,
    "title": "Notes: a protocol that is small enough to read",
    "versioning_policy": "It never changes.",
    "advertises": "n1/wire/advertises",
    "tools": {
        "write": {"description": "Keeps a note and answers its id.", "required": True, "params": {}, "response": {}},
        "read": {"description": "Reads the notes that were kept.", "params": {}, "response": "read.json"},
    },
    "errors": {"envelope": {"properties": {"error": {"enum": ["blank", "unknown"]}}}, "code": "/error"},
    "standing": [
        {"name": "read-shape", "clause": "n1/read/shape", "on": "success", "tools": ["read"], "schema": "read.json"},
        {"name": "error-shape", "clause": "n1/error/shape", "on": "error", "schema": {"required": ["error"]}},
        {"name": "json-body", "clause": "n1/wire/json", "on": "success", "law": "body-is-object"},
    ],
    "seeds": {"page": {"tool": "write", "with": {"text": "{{title}} {{body}}"}, "defaults": {"body": ""}}},
    "observe": {"fast": {"call": "read", "with": {}, "expect": {"required": ["notes"]}}},
}

CLAUSES: dict[str, Any] = {
    "clauses": [
        {"id": clause, "level": "MUST", "text": "Something that a server of notes must do.", "source": "Notes, 1"}
        for clause in (
            "n1/wire/advertises",
            "n1/wire/json",
            "n1/read/shape",
            "n1/read/back",
            "n1/error/shape",
            "n1/write/blank",
        )
    ]
}

CASES: dict[str, dict[str, Any]] = {
    "wire-advertises": {
        "id": "wire-advertises",
        "title": "The list names the tool write",
        "clauses": ["n1/wire/advertises"],
        "steps": [{"list_tools": True, "expect": {"properties": {"tools": {"minItems": 1}}}}],
    },
    "write-blank": {
        "id": "write-blank",
        "title": "A blank note is refused, and nothing is kept",
        "clauses": ["n1/write/blank", "n1/error/shape", "n1/read/back", "n1/read/shape", "n1/wire/json"],
        "steps": [
            {"call": "write", "with": {"text": "{{marker}} good"}, "save": {"id": "/id"}},
            {"call": "write", "with": {"text": " "}, "error": {"code": "blank"}},
            {
                "call": "read",
                "with": {"id": "{{id}}"},
                "clause": "n1/read/back",
                "shows": ["{{marker}} good"],
                "nowhere": ["{{marker}} bad"],
            },
        ],
    },
}


class SmallPack:
    """The files of the pack, open to changes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.pack = json.loads(json.dumps(PACK))
        self.clauses = json.loads(json.dumps(CLAUSES))
        self.cases = json.loads(json.dumps(CASES))
        self.schemas: dict[str, Any] = {"read.json": {"type": "object"}}
        #: Files written as they stand, by relative name.
        self.others: dict[str, str] = {}

    @property
    def case(self) -> dict[str, Any]:
        """The case that most tests change."""
        return self.cases["write-blank"]

    def written(self) -> Path:
        """Write every file; the folder of the pack."""
        documents = {"pack.json": self.pack}
        areas = {clause["id"].split("/")[1] for clause in self.clauses["clauses"]}
        for area in areas:
            chosen = [clause for clause in self.clauses["clauses"] if clause["id"].split("/")[1] == area]
            documents[f"clauses/{area}.json"] = {"clauses": chosen}
        documents |= {f"schemas/{name}": schema for name, schema in self.schemas.items()}
        documents |= {f"cases/{name.partition('-')[0]}/{name}.json": case for name, case in self.cases.items()}
        texts = {name: json.dumps(data, ensure_ascii=False, indent=1) for name, data in documents.items()} | self.others
        for name, text in texts.items():
            file = self.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return self.root


@pytest.fixture
def small(tmp_path: Path) -> SmallPack:
    """A fresh copy of the small pack."""
    return SmallPack(tmp_path / "notes" / "v1")
