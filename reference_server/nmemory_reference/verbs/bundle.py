"""What context_pack and delta have in common: a list of names, and a rendering for a prompt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nmemory_reference.store.names import MAX_NAME
from nmemory_reference.tools.arguments import Arguments
from nmemory_reference.tools.caller import Caller
from nmemory_reference.verbs.vocabulary import sees_private

MAX_ENTITIES = 8


def entity_names(arguments: Arguments) -> list[str] | None:
    """The names in `entities` (comma-separated), the first MAX_ENTITIES of them; None if it is left out."""
    text = arguments.look_up("entities")
    if text is None:
        return None
    names = dict.fromkeys(name[:MAX_NAME] for part in text.split(",") if (name := " ".join(part.split())))
    return list(names)[:MAX_ENTITIES]


def with_private(caller: Caller, arguments: Arguments) -> bool:
    """Whether private facts belong in: they have to be asked for, by a caller who may see them."""
    return arguments.flag("include_private") and sees_private(caller)


def render(
    *,
    cards: Iterable[dict[str, Any]] = (),
    pages: Iterable[dict[str, Any]] = (),
    threads: Iterable[dict[str, Any]] = (),
    facts: Iterable[dict[str, Any]] = (),
) -> str:
    """The bundle as Markdown."""
    sections = {
        "Entities": [_card_line(card) for card in cards],
        "Changed pages": [f"- {page['title']} ({page['slug']})" for page in pages],
        "Open threads": [f"- {thread['text']}" + _in_brackets(thread["date"]) for thread in threads],
        "Facts": [f"- {fact['fact']} [{fact['provenance']}]" for fact in facts],
    }
    return "\n\n".join("\n".join([f"## {title}", *lines]) for title, lines in sections.items() if lines)


def _card_line(card: dict[str, Any]) -> str:
    entity = card["entity"]
    return f"- {entity['title']} ({entity['slug']}){': ' + card['summary'] if card['summary'] else ''}"


def _in_brackets(date: str | None) -> str:
    return f" ({date[:10]})" if date else ""
