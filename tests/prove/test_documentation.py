"""The lies that docs/lies.md shows are lies, and each is caught."""

from __future__ import annotations

import re
from pathlib import Path

from nmemory_kit.prove import Sources, prove

PAGE = Path(__file__).resolve().parents[2] / "docs" / "lies.md"


def test_the_lies_that_are_shown_are_caught(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    file = tmp_path / "my_lies.py"
    file.write_text(shown, encoding="utf-8")
    proof = prove(Sources(("memory-verbs",), (file,)), only=["mine/*"], jobs=1)
    assert {trial.lie: trial.fate.value for trial in proof.lies} == {
        "mine/sorted-by-length": "caught",
        "mine/limit-is-at-least-ten": "caught",
        "mine/forgotten-only-once": "caught",
    }
