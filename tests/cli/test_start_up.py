from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from cli.commands import command
from nmemory_kit import __version__

HEAVY = ("mcp", "httpx", "jsonschema", "yaml", "rich", "pydantic", "starlette", "asyncio", "pytest", "sqlite3")


def test_the_version_is_printed(nmemory):
    assert nmemory("--version").out == f"nmemory {__version__}\n"


def test_a_bare_command_shows_its_help_and_is_no_success(nmemory):
    ran = nmemory()
    assert (ran.code, ran.out) == (2, "")
    assert "protocol" in ran.err


def test_help_loads_nothing_heavy():
    script = (
        "import sys\n"
        "from nmemory_kit.cli.main import run\n"
        "assert run(['--help']) == 0 and run(['protocol', 'conformance', '--help']) == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.strip()) == (0, "[]")


def test_serving_on_stdio_loads_nothing_that_it_does_not_need(tmp_path: Path):
    script = (
        "import sys\n"
        "from nmemory_kit.cli.main import run\n"
        f"assert run(['serve', '--db', {str(tmp_path / 'm.sqlite3')!r}]) == 0\n"
        f"heavy = {HEAVY!r} + ('importlib.metadata',)\n"
        "print(*[name for name in sys.modules if name.startswith('nmemory_kit.') or name in heavy], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    command_line = {"cli"} | {f"cli.{name}" for name in ("main", "complaint", "app", "groups", "options", "serving")}
    assert set(done.stderr.split()) == {"asyncio", "sqlite3"} | {f"nmemory_kit.{name}" for name in command_line}


def test_help_lists_the_commands_in_the_order_of_their_use(nmemory):
    told = nmemory("--help").out
    listed = " ".join(re.findall(r"^  ([a-z]+)  ", told, re.MULTILINE))
    assert listed == "serve remember recall entity forget protocol memory"


def test_a_pipe_that_nobody_reads_ends_the_command_quietly():
    started = subprocess.Popen(command("protocol", "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    started.stdout.close()
    _, told = started.communicate(timeout=60)
    assert (started.returncode, told) == (141, "")


def test_ctrl_c_is_heard_while_the_command_itself_is_still_being_loaded():
    script = (
        "import sys\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'click': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupts())\n"
        "from nmemory_kit.cli.main import run\n"
        "sys.exit(run(['--help']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "nmemory: interrupted\n")
