"""``nmemory_kit.target`` costs little until it is used."""

from __future__ import annotations

import subprocess
import sys


def test_importing_the_targets_imports_nothing_heavy():
    script = "import sys, nmemory_kit.target; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert {"httpx", "yaml", "jsonschema", "mcp", "pytest", "rich"}.isdisjoint(loaded)
