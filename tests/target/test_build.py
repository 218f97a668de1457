"""What a user writes becomes the target that they mean."""

from __future__ import annotations

import pytest
from doubles.hostile_http import serving
from nmemory_kit.target import HttpTarget, Limits, Profile, StdioTarget, TargetError, make_target

from .playing import LIMITS


def test_a_url_is_reached_and_anything_else_is_started():
    assert isinstance(make_target(target="HTTP://127.0.0.1:1/mcp"), HttpTarget)
    target = make_target(target="gbrain serve --name 'my brain' $HOME; ls")
    assert isinstance(target, StdioTarget)
    # No shell: what one would expand or run is an argument.
    assert target.display == "gbrain serve --name 'my brain' '$HOME;' ls"


def test_a_command_as_a_list_is_taken_as_it_is():
    assert make_target(command=["a b", "", "c"]).display == "'a b' '' c"


def test_a_flag_goes_before_the_profile():
    profile = Profile(file="p", command=("from", "profile"), name=None)
    assert make_target(profile=profile).display == "from profile"
    assert make_target(target="from flag", profile=profile).display == "from flag"
    limits = Profile(file="p", target="x", limit_values={"call": 3})
    made = make_target(profile=limits)
    assert isinstance(made, StdioTarget)
    assert made.limits == Limits(call=3)


@pytest.mark.anyio
async def test_a_header_of_a_flag_takes_the_place_of_the_profiles():
    async with serving("be_polite") as (url, house):
        profile = Profile(file="p", target=url, token="of-profile", headers={"X-Tenant": "p", "X-Kept": "k"})
        for flags in ({"headers": {"x-tenant": "f", "Authorization": "Basic f"}}, {"token": "of-flag"}):
            target = make_target(profile=profile, limits=LIMITS, **flags)
            await (await target.connect()).close()
            await target.close()
        first, last = house.seen[0].headers, house.seen[-1].headers
    assert (first["x-tenant"], first["x-kept"], first["authorization"]) == ("f", "k", "Basic f")
    assert (last["x-tenant"], last["authorization"]) == ("p", "Bearer of-flag")


MISTAKES = [
    ({}, "no target is given"),
    ({"target": "  "}, "the command of the target is empty"),
    ({"target": "''"}, "the command of the target is empty"),
    ({"command": []}, "the command of the target is empty"),
    ({"target": "node 'x"}, "the command cannot be split: no closing quotation"),
    ({"target": "a", "command": ["b"]}, "both --target and a command after -- are given"),
    ({"target": "a\0b"}, "has a NUL character in it"),
    ({"target": "ftp://host/x"}, "ftp:// is not HTTP"),
    ({"target": r"C:\server\serve.exe --db x"}, "a backslash in --target is taken away"),
    ({"target": "http://"}, "is not an http:// or https:// URL"),
    ({"target": "serve", "token": "s3cr3t"}, "tokens and headers are for a URL"),
    ({"target": "serve", "headers": {"A": "s3cr3t"}}, "tokens and headers are for a URL"),
    ({"target": "http://h/", "profile": Profile(file="p", env={"A": "s3cr3t"})}, "are for a command"),
]


@pytest.mark.parametrize(("arguments", "what"), MISTAKES, ids=[row[1] for row in MISTAKES])
def test_what_makes_no_sense_is_refused_with_what_to_do(arguments, what):
    with pytest.raises(TargetError) as caught:
        make_target(**arguments)
    assert what in caught.value.what
    assert caught.value.remedy
    assert "s3cr3t" not in str(caught.value)
