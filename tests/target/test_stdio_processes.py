"""No process, no folder and no secret of a target on stdio stays behind or comes out."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from nmemory_kit.target import NOBODY, Blame, Command, FaultKind, StdioTarget, Unreachable

from .playing import DOUBLES, call, connected, group_is_gone, playing, process_is_gone, text

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("double", ["stays_after_eof", "spins_after_eof"])
async def test_a_server_that_will_not_go_is_made_to(double):
    async with connected(double) as connection:
        assert text(await call(connection)) == "hello"
    assert group_is_gone(connection.pid)


@pytest.mark.parametrize(
    "double", ["ignores_sigterm_and_leaves_a_grandchild", "leaves_a_grandchild", "dies_and_leaves_a_grandchild"]
)
async def test_a_grandchild_that_holds_the_pipes_goes_too(double):
    async with connected(double) as connection:
        await call(connection)
        found = re.search(r"grandchild (\d+)", connection.stderr() or "")
        assert found is not None
    assert process_is_gone(int(found[1]))


async def test_the_grandchildren_of_a_dead_server_go_before_the_connection_is_closed():
    async with connected("dies_and_leaves_a_grandchild") as connection:
        await call(connection)
        assert group_is_gone(connection.pid)


async def test_closing_twice_is_closing_once_and_what_is_asked_after_that_is_the_kits_mistake():
    async with connected("hangs") as connection:
        await connection.close()
        reply = await call(connection)
        assert reply.fault is not None
        assert (reply.fault.kind, reply.fault.blame) == (FaultKind.CLOSED, Blame.KIT)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_no_child_and_no_store_stays_when_the_kit_itself_is_ended(number, tmp_path):
    script = """
import asyncio, signal, sys
from nmemory_kit.target import Command, StdioTarget
# Whoever runs the tests may ignore these signals.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
async def main():
    target = StdioTarget(Command([*sys.argv[1:], "{store}"]))
    connection = await target.connect()
    print(connection.pid, flush=True)
    await asyncio.sleep(3600)
asyncio.run(main())
"""
    command = [sys.executable, str(DOUBLES / "hostile_stdio.py"), "ignores_sigterm_and_leaves_a_grandchild"]
    kit = subprocess.Popen(
        [sys.executable, "-c", script, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert kit.stdout is not None
    group = int(kit.stdout.readline())
    assert len(list(tmp_path.iterdir())) == 1
    kit.send_signal(number)
    kit.communicate(timeout=30)
    assert kit.returncode == -number
    assert group_is_gone(group)
    assert list(tmp_path.iterdir()) == []


async def test_an_ordinary_end_of_the_interpreter_leaves_nothing_either(tmp_path):
    script = """
import asyncio, sys
from nmemory_kit.target import Command, StdioTarget
loop = asyncio.new_event_loop()
print(loop.run_until_complete(StdioTarget(Command([*sys.argv[1:], "{store}"])).connect()).pid)
"""
    command = [sys.executable, str(DOUBLES / "hostile_stdio.py"), "stays_after_eof"]
    kit = subprocess.run(
        [sys.executable, "-c", script, *command],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        timeout=30,
        check=True,
    )
    assert group_is_gone(int(kit.stdout))
    assert list(tmp_path.iterdir()) == []


async def test_a_forked_copy_of_the_kit_removes_nothing_of_its_parent():
    script = """
import os, sys
from nmemory_kit.target import leftovers
leftovers.keep("store", lambda: print("removed", flush=True))
if os.fork() == 0:
    sys.exit()
os.wait()
print("still there", flush=True)
"""
    kit = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True)
    assert kit.stdout.split("\n") == ["still there", "removed", ""]


async def shown(target: StdioTarget, **options) -> dict:
    """What a process sees of itself: its environment, its folder, its arguments."""
    connection = await target.connect(**options)
    try:
        return json.loads(text(await call(connection)))
    finally:
        await connection.close()


async def test_each_store_is_a_file_of_its_own_and_the_main_one_stays_the_same():
    target = playing("shows_its_environment", "--db={store}", "{store}.log")
    assert target.disposable
    fresh = target.fresh_store()
    main, again = (await shown(target))["argv"], (await shown(target))["argv"]
    other = (await shown(target, store=fresh))["argv"]
    assert main == again
    assert main[0] != other[0]
    path = Path(main[0].removeprefix("--db="))
    assert main[1] == f"{path}.log"
    assert not path.exists()
    assert path.parent.is_dir()
    await target.close()
    assert not path.parent.exists()


async def test_without_a_placeholder_there_is_one_store_and_it_is_not_the_kits():
    target = playing("hangs")
    assert not target.disposable
    assert target.fresh_store() is None


async def test_the_safe_part_of_the_environment_has_no_secret(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("LC_TIME", "C")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:pass@proxy")
    target = playing("shows_its_environment", env={"BRAIN": "/tmp/brain"}, cwd=tmp_path)
    seen = await shown(target)
    assert "OPENAI_API_KEY" not in seen
    assert "HTTPS_PROXY" not in seen
    assert (seen["BRAIN"], seen["LC_TIME"], seen["PATH"]) == ("/tmp/brain", "C", os.environ["PATH"])
    assert seen["cwd"] == str(tmp_path)
    assert {"BRAIN", "LC_TIME", "PATH"} <= set(target.passed_names)


async def test_all_or_nothing_of_the_environment_may_be_asked_for(monkeypatch):
    monkeypatch.setenv("SOME_SETTING", "1")
    assert (await shown(playing("shows_its_environment", inherit="all")))["SOME_SETTING"] == "1"
    assert playing("hangs", inherit="none", env={"A": "1"}).passed_names == ("A",)


async def test_a_secret_on_stderr_is_not_shown():
    secret = "s3cr3t-upstream-token"
    async with connected("tells_its_secret", env={"UPSTREAM_TOKEN": secret}) as connection:
        reply = await call(connection)
        assert reply.fault is not None
        assert reply.fault.stderr == "401 from upstream with [redacted]"
        assert secret not in repr(reply)


async def test_a_secret_among_the_arguments_is_not_displayed():
    target = playing("hangs", "--api-key", "abcd1234", "--token=efgh5678")
    assert "abcd1234" not in target.display
    assert "efgh5678" not in target.display


NOT_STARTED = [
    (["/no/such/program"], {}, "no such command: '/no/such/program'"),
    (["no-such-program-anywhere"], {}, "no such command: 'no-such-program-anywhere'"),
    ([__file__], {}, "may not be executed"),
    ([str(Path(__file__).parent)], {}, "is a folder"),
    ([sys.executable], {"cwd": Path("/no/such/folder")}, "the folder '/no/such/folder' does not exist"),
]


@pytest.mark.parametrize(("command", "options", "message"), NOT_STARTED, ids=[row[2] for row in NOT_STARTED])
async def test_a_command_that_cannot_be_started_says_why(command, options, message):
    with pytest.raises(Unreachable) as caught:
        await StdioTarget(Command(command, **options)).connect()
    fault = caught.value.fault
    assert (fault.kind, fault.blame) == (FaultKind.UNREACHABLE, Blame.TRANSPORT)
    assert message in fault.message
    assert fault.remedy


def test_a_secret_that_the_process_inherits_is_masked_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOME_API_KEY", "abcd1234")
    assert StdioTarget(Command(["serve"], inherit="all")).redactor.text("key abcd1234") == "key [redacted]"
    assert StdioTarget(Command(["serve"])).redactor.text("key abcd1234") == "key abcd1234"


async def test_a_start_that_is_called_off_at_any_moment_ends_quietly():
    went_wrong: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: went_wrong.append(context))
    for moments in range(30):
        starting = asyncio.create_task(StdioTarget(Command(["true"])).connect())
        for _ in range(moments):
            await asyncio.sleep(0.001)
        starting.cancel()
        with pytest.raises((asyncio.CancelledError, Unreachable)):
            await starting
    assert went_wrong == []


async def test_stdio_knows_no_credentials():
    with pytest.raises(Unreachable) as caught:
        await playing("hangs").connect(credential=NOBODY)
    assert caught.value.fault.blame is Blame.KIT
