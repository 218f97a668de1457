"""A secret is shown nowhere, and a report stays readable."""

from __future__ import annotations

import pytest
from nmemory_kit.target import Redactor
from nmemory_kit.target.secrets import secret_arguments, secret_values


def test_a_secret_is_taken_out_of_texts_and_values():
    redactor = Redactor(["hunter22", None, ""])
    assert redactor.text("password hunter22!") == "password [redacted]!"
    assert redactor.value({"hunter22": ["a", {"b": "xhunter22"}, 1, None]}) == {
        "[redacted]": ["a", {"b": "x[redacted]"}, 1, None]
    }
    assert redactor.optional(None) is None


def test_a_secret_inside_another_leaves_no_remainder():
    assert Redactor(["abcd", "abcdefgh"]).text("abcdefgh abcd") == "[redacted] [redacted]"


def test_a_secret_is_known_in_the_form_that_urls_give_it():
    assert Redactor(["a/b+c=="]).text("q=a%2Fb%2Bc%3D%3D") == "q=[redacted]"


URLS = [
    ("http://ada:pw@host/mcp", "http://[redacted]@host/mcp"),
    ("https://host/mcp?api_key=abc&x=1#f", "https://host/mcp?api_key=[redacted]&x=1#f"),
    ("https://host/mcp?Token=abc", "https://host/mcp?Token=[redacted]"),
    ("https://host/a@b?monkey=1", "https://host/a@b?monkey=1"),
]


@pytest.mark.parametrize(("url", "shown"), URLS)
def test_a_url_is_shown_without_what_stands_in_the_places_of_secrets(url, shown):
    assert Redactor().text(url) == shown


def test_what_is_too_short_to_be_a_secret_blots_out_nothing():
    assert Redactor(["a", "no"]).text("a banana, no?") == "a banana, no?"


def test_a_variable_is_a_secret_by_its_name_or_its_look():
    named = {
        "API_KEY": "abcd",
        "LEVEL": "debug",
        "STRANGE": "c2VjcmV0LXZhbHVlLXh5eg",
        "HOME_DIR": "/home/somebody/brain",
        "ENDPOINT": "http://localhost:11434/v1",
        "Authorization": "Bearer abc123",
    }
    assert secret_values(named) == ["abcd", "c2VjcmV0LXZhbHVlLXh5eg", "Bearer abc123", "abc123"]


def test_an_argument_is_a_secret_by_the_option_before_it():
    command = [
        "serve",
        "--token=aaaa",
        "--api-key",
        "bbbb",
        "--key-file",
        "/etc/key",
        "--verbose",
        "cccc",
        "--password",
    ]
    assert secret_arguments(command) == ["aaaa", "bbbb", ""]


def test_an_argument_is_a_secret_by_the_variable_that_it_sets_or_the_mark_that_it_bears():
    marked = "sk-abcdefgh12345678"
    command = [
        "env",
        "API_KEY=aaaa",
        "MODE=quick",
        "serve",
        "https://keys.example/key=2",
        "task-abcdefgh12345678",
        marked,
    ]
    assert secret_arguments(command) == ["aaaa", marked]


def test_a_cut_leaves_no_half_of_a_secret():
    shown = Redactor(["s3cr3t-token"]).excerpt("x" * 295 + "s3cr3t-token")
    assert shown == "x" * 295 + "[reda…"
