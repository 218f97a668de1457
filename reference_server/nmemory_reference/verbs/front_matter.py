"""Reading a page: Markdown with YAML front matter.

```
---
title: Alice Example
type: person
aliases: [Al, A. Example]
links:
  - companies/acme
  - {to: people/bob-example, type: works_with, context: since 2024}
---
The first paragraph is the summary. [[projects/apollo]] is a mention.

## Timeline
- 2026-01-31: joined Acme
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from nmemory_reference.store.names import MAX_NAME
from nmemory_reference.store.pages import MENTION, Entry, Link
from nmemory_reference.store.slug import slugify
from nmemory_reference.verbs.fence import without_private
from nmemory_reference.yaml_text import Fields, Scalar, Value, YamlFault, read_yaml, strings

#: The type of a link that the front matter gives none.
RELATED = "related"
SUMMARY_CHARACTERS = 400

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_OPENING = re.compile(r"\A\ufeff?---[ \t]*(?:\r?\n|\Z)")
_WIKI_LINK = re.compile(r"\[\[([^\[\]|\n]+)(?:\|[^\[\]\n]*)?\]\]")
_HEADING = re.compile(r"#{1,6}[ \t]+(.*?)[ \t#]*$")
_ENTRY = re.compile(r"[-*+][ \t]+(\d{4}-\d{2}-\d{2})[ \t]*:[ \t]*(.+)")
_LINK_KEYS = frozenset({"to", "type", "context"})


class Parsed(NamedTuple):
    """What is read out of a page. `title` is None where neither front matter nor a heading gives one."""

    title: str | None
    type: str | None
    aliases: tuple[str, ...]
    links: tuple[Link, ...]
    timeline: tuple[Entry, ...]
    public_body: str
    summary: str


def parse(content: str) -> Parsed:
    """Read the public part of a page. Keys of the front matter that aren't known are kept in the page and mean nothing.

    Raises YamlFault, with the line within `content`, for front matter that can't be read.
    """
    front, public = split(without_private(content))
    title = type_ = None
    aliases: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    if front is not None:
        fields = _fields(front)
        title, type_ = _text(fields, "title"), _text(fields, "type")
        aliases = tuple(dict.fromkeys(_short(alias) for alias in strings(fields.get("aliases", _NOTHING))))
        links = tuple(_links(fields.get("links", _NOTHING)))
    return Parsed(
        title=title or _first_heading(public),
        type=type_,
        aliases=aliases,
        links=(*links, *_mentions(public)),
        timeline=tuple(_timeline(public)),
        public_body=public,
        summary=_summary(public),
    )


def split(content: str) -> tuple[str | None, str]:
    """The front matter (None where there is none) and the body of a page. Raises YamlFault if it never ends."""
    if match := _FRONT.match(content):
        return match[1], content[match.end() :]
    if _OPENING.match(content):
        raise YamlFault(1, "the front matter that begins here is never closed by a line of ---")
    return None, content


_NOTHING = Scalar(1, "", quoted=False)


def _fields(front: str) -> dict[str, Value]:
    # The opening line of the page is line 1: put it back, so that lines are counted as the author sees them.
    value = read_yaml("\n" + front)
    if isinstance(value, Fields):
        return value.values
    if isinstance(value, Scalar) and value.empty:
        return {}
    raise YamlFault(value.line, "front matter should be lines of `key: value`")


def _text(fields: dict[str, Value], key: str) -> str | None:
    value = fields.get(key, _NOTHING)
    if not isinstance(value, Scalar):
        raise YamlFault(value.line, f"{key} should be a string")
    return None if value.empty or not value.text.strip() else _short(value)


def _short(value: Scalar) -> str:
    text = " ".join(value.text.split())
    if len(text) > MAX_NAME:
        raise YamlFault(value.line, f"is {len(text)} characters long; at most {MAX_NAME} are allowed")
    return text


def _links(value: Value) -> Iterator[Link]:
    if isinstance(value, Fields):
        raise YamlFault(value.line, "links should be a list")
    for item in (value,) if isinstance(value, Scalar) else value.values:
        if isinstance(item, Scalar):
            if item is not value or not item.empty:
                yield Link(_target(item), RELATED)
        elif isinstance(item, Fields):
            item.refuse_unknown(_LINK_KEYS)
            to = item.values.get("to", _NOTHING)
            if not isinstance(to, Scalar) or to.empty:
                raise YamlFault(item.line, "a link should say `to` which slug it goes")
            yield Link(_target(to), _text(item.values, "type") or RELATED, _text(item.values, "context"))
        else:
            raise YamlFault(item.line, "a link should be a slug, or {to, type, context}")


def _target(scalar: Scalar) -> str:
    slug = slugify(scalar.text)
    if not slug:
        raise YamlFault(scalar.line, f"{scalar.text!r} is no slug: it has neither letter nor digit")
    return slug


def _mentions(public_body: str) -> Iterator[Link]:
    slugs = (slugify(match[1]) for match in _WIKI_LINK.finditer(public_body))
    for slug in dict.fromkeys(slugs):
        if slug:
            yield Link(slug, MENTION)


def _timeline(public_body: str) -> Iterator[Entry]:
    inside = False
    for line in public_body.splitlines():
        if heading := _HEADING.match(line):
            inside = heading[1].casefold() == "timeline"
        elif inside and (entry := _ENTRY.match(line.strip())) and _is_date(entry[1]):
            yield Entry(entry[1], entry[2].strip())


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _first_heading(public_body: str) -> str | None:
    for line in public_body.splitlines():
        if (heading := _HEADING.match(line)) and heading[1]:
            return heading[1][:MAX_NAME]
    return None


def _summary(public_body: str) -> str:
    for block in re.split(r"\n[ \t]*\r?\n", public_body):
        lines = [line.strip() for line in block.splitlines() if not _HEADING.match(line)]
        text = _WIKI_LINK.sub(lambda match: match[0].strip("[]").rpartition("|")[2], " ".join(lines)).strip()
        if text:
            return text if len(text) <= SUMMARY_CHARACTERS else text[: SUMMARY_CHARACTERS - 1] + "…"
    return ""
