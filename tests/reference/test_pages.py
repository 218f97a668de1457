"""Pages: what is read out of them, what is refused, and what a remote caller never sees."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_reference.store.pages import Entry, Link
from nmemory_reference.verbs.fence import without_private
from nmemory_reference.verbs.front_matter import parse
from reference.talk import LOCAL, Memory

PAGE = """---
title: Alice Example
type: person
aliases: [Al, "2024"]
mood: ignored
links:
  - companies/Acme Inc
  - {to: people/bob, type: works_with, context: since 2024}
---
Body with [[projects/apollo|Apollo]] and [[people/bob]].

## Timeline ##
- 2026-01-31: joined
* 2026-02-30: never
text
+ 2025-12-01 : left

## After
- 2026-03-01: not in the timeline
"""


def test_a_page_is_read() -> None:
    page = parse(PAGE)
    assert (page.title, page.type, page.aliases) == ("Alice Example", "person", ("Al", "2024"))
    assert page.links == (
        Link("companies/acme-inc", "related"),
        Link("people/bob", "works_with", "since 2024"),
        Link("projects/apollo", "mentions"),
        Link("people/bob", "mentions"),
    )
    assert page.timeline == (Entry("2026-01-31", "joined"), Entry("2025-12-01", "left"))
    assert page.summary == "Body with Apollo and people/bob."


@pytest.mark.parametrize(
    ("content", "title"),
    [("# Heading\n\ntext", "Heading"), ("---\n---\ntext", None), ("---\ntitle:\n---\n## H", "H"), ("", None)],
)
def test_front_matter_may_be_missing(content: str, title: str | None) -> None:
    assert parse(content).title == title


def test_windows_line_breaks_and_a_byte_order_mark_do_no_harm() -> None:
    page = parse("\ufeff" + PAGE.replace("\n", "\r\n"))
    assert (page.title, len(page.links), len(page.timeline)) == ("Alice Example", 4, 2)
    assert page.summary == "Body with Apollo and people/bob."


@pytest.mark.parametrize(
    ("front", "line"),
    [
        ("title: [a", 3),
        ("title: {a: b}", 2),
        ("title: a\naliases:\n  - [b]", 4),
        ("title: a\nlinks:\n  - {type: knows}", 4),
        ("title: a\nlinks:\n  - {to: b, tpye: knows}", 4),
        ("title: a\nlinks: ['!!!']", 3),
        ("title: a\nlinks: {to: b}", 3),
        ("title: a\ntitle: b", 3),
        ("- a list", 2),
        ("just text", 2),
        ("a: b: c", 2),
        ("title: " + "x" * 501, 2),
        ("title: a\nx: " + "[" * 5000, 3),
        ("title: \x01", 1),
    ],
)
def test_bad_front_matter_is_refused_by_line(memory: Memory, front: str, line: int) -> None:
    envelope = memory.refusal("put_page", slug="people/a", content=f"---\n{front}\n---\nbody")
    assert envelope["error"] == "invalid_params"
    assert f"line {line}:" in envelope["message"]
    assert memory.refusal("get_page", slug="people/a")["error"] == "not_found"


def test_front_matter_has_to_end(memory: Memory) -> None:
    assert "line 1" in memory.refusal("put_page", slug="a", content="---\ntitle: A\n")["message"]


def test_a_page_comes_back_as_it_was_put(memory: Memory) -> None:
    assert memory.call("put_page", slug="people/a", content=PAGE)["status"] == "created"
    page = memory.call("get_page", slug="people/a")
    assert (page["content"], page["title"], page["aliases"]) == (PAGE, "Alice Example", ["Al", "2024"])


def test_a_page_put_again_is_replaced_whole(memory: Memory) -> None:
    memory.call("put_page", slug="people/a", content=PAGE)
    assert memory.call("put_page", slug="People/A", content="# New")["status"] == "updated"
    card = memory.call("entity", name="people/a")["card"]
    assert (card["entity"], card["aka"], card["edges"]) == ({"slug": "people/a", "title": "New", "type": None}, [], [])
    assert memory.call("entity", name="Al")["found"] is False
    assert memory.call("recall", query="Apollo")["results"] == []
    assert memory.call("recall", query="new")["results"][0]["slug"] == "people/a"


@pytest.mark.parametrize("slug", ["../../etc/passwd", "/etc/passwd", "..\\x", "a//b", "./a"])
def test_a_slug_is_a_name_and_never_a_path(memory: Memory, slug: str) -> None:
    stored = memory.call("put_page", slug=slug, content="# T")["slug"]
    assert not stored.startswith(("/", "."))
    assert ".." not in stored.split("/")
    assert memory.call("get_page", slug=stored)["title"] == "T"


@pytest.mark.parametrize("slug", [None, "", "///", "🦊", "x" * 256, 5])
def test_a_slug_is_needed(memory: Memory, slug: object) -> None:
    assert memory.refusal("put_page", slug=slug, content="# T")["error"] == "invalid_params"


def test_private_parts_are_for_local_callers(memory: Memory) -> None:
    content = "---\ntitle: A\n---\nOpen <!-- private -->canary<!-- /private --> end <!--PRIVATE-->canary two"
    memory.call("put_page", slug="a", content=content)
    assert memory.call("get_page", LOCAL, slug="a")["content"] == content
    assert memory.call("get_page", slug="a")["content"] == "---\ntitle: A\n---\nOpen  end "
    assert memory.call("recall", query="canary")["results"] == []
    assert "canary" not in str(memory.call("recall", query="open"))


@given(st.lists(st.sampled_from(["<!-- private -->", "<!-- /private -->", "text", "\n"])))
def test_no_arrangement_of_fences_shows_what_they_hold(parts: list[str]) -> None:
    private, numbered, secrets = False, [], []
    for index, part in enumerate(parts):
        if part == "text":
            numbered.append(f"<{index}>")
            secrets += [f"<{index}>"] if private else []
        else:
            private = part == "<!-- private -->" or (private and part != "<!-- /private -->")
            numbered.append(part)
    public = without_private("".join(numbered))
    assert not [secret for secret in secrets if secret in public]


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=30).map(str.strip)


@given(
    title=NAMES.filter(bool),
    aliases=st.lists(NAMES.filter(bool), max_size=4, unique=True),
    links=st.lists(st.tuples(st.from_regex(r"\A[a-z]{1,8}(/[a-z0-9]{1,8})?\Z"), NAMES.filter(bool)), max_size=4),
)
def test_front_matter_says_what_was_written(title: str, aliases: list[str], links: list[tuple[str, str]]) -> None:
    def squeezed(text: str) -> str:
        return " ".join(text.split())

    front = {"title": title, "aliases": aliases, "links": [{"to": to, "type": type_} for to, type_ in links]}
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in front.items()]
    page = parse("\n".join(["---", *lines, "---", "body"]))
    if "<!--" not in title:
        assert page.title == squeezed(title)
        assert page.aliases == tuple(dict.fromkeys(map(squeezed, aliases)))
        assert page.links == tuple(Link(to, squeezed(type_)) for to, type_ in links)
