"""Servers on HTTP that the kit starts itself: a process a store, and what is told of one that ends."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nmemory_kit.run.state import ledgers
from nmemory_kit.target import (
    Blame,
    Command,
    FaultKind,
    HttpTarget,
    Limits,
    Profile,
    ServedTarget,
    TargetError,
    Unreachable,
    load_profile,
    make_target,
)

from .playing import DOUBLES, LIMITS, call, process_is_gone, text

pytestmark = pytest.mark.anyio

URL = "http://127.0.0.1:{port}/mcp"
SMALL = (sys.executable, "-S", str(DOUBLES / "small_http.py"), "{port}", "{store}")


def small(*more: str, limits: Limits = LIMITS, env: Mapping[str, str] | None = None) -> ServedTarget:
    return ServedTarget(Command([*SMALL, *more], env=env), URL, lambda url: HttpTarget(url, limits=limits))


async def who(connection: Any) -> dict[str, Any]:
    return dict(json.loads(text(await connection.request("tools/call", {"name": "who"}, timeout=10))))


async def test_each_store_has_one_process_for_all_its_connections_which_ends_with_the_last():
    target = small()
    store = target.fresh_store()
    here, there = await target.connect(), await target.connect(store=store)
    beside = await target.connect(store=store, client="somebody else")
    mine, its, besides = [await who(connection) for connection in (here, there, beside)]
    assert mine["pid"] != its["pid"]
    assert (its["store"], its["uses"]) == (str(target.store_file(store)), 1)
    assert besides == {**its, "uses": 2}
    await there.close()
    assert (await who(beside))["pid"] == its["pid"]
    await beside.close()
    await beside.close()
    assert process_is_gone(its["pid"])
    again = await target.connect(store=store)
    assert {"uses": 4, "store": its["store"]}.items() <= (await who(again)).items()
    for connection in (again, here):
        await connection.close()
    await target.close()
    assert process_is_gone(mine["pid"])


async def test_a_process_that_ends_is_told_with_its_exit_code_and_last_words_and_started_again():
    target = small()
    connection = await target.connect()
    reply = await connection.request("tools/call", {"name": "die"}, timeout=10)
    assert reply.fault is not None
    assert (reply.fault.kind, reply.fault.blame, reply.fault.lost) == (FaultKind.CLOSED, Blame.TARGET, True)
    assert "ended with exit code 7" in reply.fault.message
    assert reply.fault.stderr is not None
    assert "I was told to" in reply.fault.stderr
    assert connection.lost
    await connection.close()
    anew = await target.connect()
    assert (await who(anew))["uses"] == 1
    await anew.close()
    await target.close()


STARTS = [
    ("ends", "the target's process ended with exit code 3", "no license key"),
    ("deaf", "nobody listens on 127.0.0.1, port", None),
]


@pytest.mark.parametrize(("how", "message", "said"), STARTS, ids=[row[0] for row in STARTS])
async def test_a_process_that_does_not_listen_is_told_and_nothing_of_it_stays(how, message, said):
    target = small(how, limits=Limits(start=0.5, grace=0.2))
    with pytest.raises(Unreachable) as caught:
        await target.connect()
    fault = caught.value.fault
    assert message in fault.message
    assert said is None or said in (fault.stderr or "")
    await target.close()
    assert not [entry for entry in Path("/proc").glob("*/cmdline") if target_of(entry) == str(target.store_file(None))]


def target_of(entry: Path) -> str | None:
    """The store that a process was started on, if it is a small server."""
    try:
        words = entry.read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return None
    return words[4] if len(words) > 4 and "small_http.py" in words[2] else None


@pytest.mark.parametrize("how", ["taken", "breaks-off"])
async def test_a_port_that_somebody_took_and_a_conversation_that_is_broken_off_at_first_are_tried_again(how):
    target = small(how)
    connection = await target.connect()
    assert (await who(connection))["uses"] == 1
    await connection.close()
    await target.close()


async def test_targets_that_are_displayed_alike_are_told_apart(tmp_path, monkeypatch):
    def ledger_of(profile: Profile) -> Path:
        return ledgers(make_target(profile=profile))

    served = Profile(file="p", target=URL, command=("serve", "{port}"))
    here = ledger_of(served)
    assert ledger_of(replace(served, env={"DB": "a.db"})) != ledger_of(replace(served, env={"DB": "b.db"})) != here
    assert ledger_of(replace(served, cwd=tmp_path)) != here
    assert ledger_of(Profile(file="p", target="http://h/mcp")) == ledger_of(Profile(file="q", target="http://h/mcp"))
    monkeypatch.chdir(tmp_path)
    assert ledger_of(served) != here
    assert ledger_of(replace(served, target=None, command=("serve",))) != here


async def test_a_flag_may_name_the_url_of_the_profiles_command():
    profile = Profile(file="p", command=SMALL)
    assert isinstance(make_target(profile=profile, target=URL), ServedTarget)
    started = make_target(profile=replace(profile, target=URL), start="other {port}")
    assert "other" in started.display


async def test_a_command_that_cannot_be_started_says_why():
    target = make_target(target=URL, start="/no/such/program {port}", limits=LIMITS)
    with pytest.raises(Unreachable, match="no such command: '/no/such/program'"):
        await target.connect()


async def test_the_port_and_the_store_may_be_told_by_variables():
    command = [*SMALL[:3], "{port}", "{store}"]
    assert Command(command[:3], env={"DB": "{store}", "PORT": "{port}"}).disposable
    arguments, environment = Command(command[:3], env={"DB": "{store}", "PORT": "{port}"}).filled(None, port="5")
    assert arguments == command[:3]
    assert environment["PORT"] == "5"
    assert Path(environment["DB"]).name == "store.db"


async def test_a_profile_has_the_command_beside_the_url(tmp_path):
    profile = tmp_path / "p.yaml"
    profile.write_text(f"target: {URL!r}\ncommand: {json.dumps(SMALL)}\nname: small\nenv: {{KEY: s3cr3t}}\n")
    target = make_target(profile=load_profile(profile), limits=LIMITS)
    assert isinstance(target, ServedTarget)
    assert target.redactor.text("a s3cr3t") == "a [redacted]"
    connection = await target.connect()
    assert connection.server.name == "small"
    assert (await call(connection)).fault is None
    await connection.close()
    await target.close()


MISTAKES = [
    ({"target": "http://127.0.0.1:80/mcp", "start": "serve --port {port}"}, "there is no {port} in the URL"),
    ({"target": URL, "start": "serve --port 80"}, "there is no {port} in the command"),
    ({"target": URL}, "{port} in a URL is for a server that the kit starts"),
    ({"target": "serve --port {port}"}, "{port} in a command is for a server on HTTP"),
    ({"target": "http://127.0.0.1/{port}", "start": "serve --port {port}"}, "there is no {port} in the URL"),
    ({"target": "serve", "start": "serve --port {port}"}, "--start is for a server on HTTP"),
    ({"command": ["serve"], "start": "serve --port {port}"}, "--start is for a server on HTTP"),
    ({"start": "serve --port {port}"}, "--start is for a server on HTTP"),
    ({"target": "http://", "start": "serve {port}"}, "is not an http:// or https:// URL"),
    ({"target": URL, "start": "serve '{port}"}, "the command cannot be split"),
    ({"target": URL, "start": " "}, "the command of --start is empty"),
    ({"target": URL, "start": URL}, "--start has a URL"),
    ({"profile": Profile(file="p", target=URL, command=("serve",))}, "there is no {port} in the command"),
]


@pytest.mark.parametrize(("arguments", "what"), MISTAKES, ids=[row[1] for row in MISTAKES])
async def test_what_makes_no_sense_is_refused_with_what_to_do(arguments, what):
    with pytest.raises(TargetError) as caught:
        make_target(**arguments)
    assert what in caught.value.what
    assert caught.value.remedy
