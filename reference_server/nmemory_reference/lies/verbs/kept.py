"""Lies about what is kept of a fact: its text, provenance, kind, visibility and entity."""

from __future__ import annotations

import re
import unicodedata

from nmemory_reference.lies.answers import Body, asking, text_argument, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.serve.interceptor import ToolCall
from nmemory_reference.verbs.vocabulary import KINDS

area = Area("kept")


@area.asking("remember", clause="mv1/remember/provenance-verbatim")
def provenance_is_trimmed(call: ToolCall) -> ToolCall:
    """White space around a provenance is dropped."""
    provenance = text_argument(call, "provenance")
    return asking(call, provenance=provenance.strip()) if provenance else call


@area.asking("remember", clause="mv1/remember/provenance-verbatim")
def provenance_is_composed(call: ToolCall) -> ToolCall:
    """A provenance is brought into Unicode's composed form."""
    provenance = text_argument(call, "provenance")
    return asking(call, provenance=unicodedata.normalize("NFC", provenance)) if provenance else call


@area.success("recall", clause="mv1/remember/provenance-verbatim", also={"mv1/remember/provenance-500"})
def provenance_is_cut_at_500_bytes(call: ToolCall, body: Body) -> None:
    """A provenance is cut at 500 bytes of UTF-8."""
    for fact in body["facts"]:
        fact["provenance"] = fact["provenance"].encode()[:500].decode("utf-8", "ignore")


@area.success("recall", clause="mv1/remember/provenance-verbatim")
def provenance_is_escaped_for_tables(call: ToolCall, body: Body) -> None:
    """A pipe in a provenance comes back with a backslash, as Markdown tables want it."""
    for fact in body["facts"]:
        fact["provenance"] = fact["provenance"].replace("|", "\\|")


@area.success("recall", clause="mv1/remember/provenance-verbatim")
def provenance_quotes_are_doubled(call: ToolCall, body: Body) -> None:
    """A quote in a provenance comes back twice, as SQL wants it."""
    for fact in body["facts"]:
        fact["provenance"] = fact["provenance"].replace("'", "''")


@area.success("recall", clause="mv1/remember/provenance-verbatim")
def provenance_markup_is_escaped(call: ToolCall, body: Body) -> None:
    """A `<` in a provenance comes back as `&lt;`."""
    for fact in body["facts"]:
        fact["provenance"] = fact["provenance"].replace("<", "&lt;")


@area.success("recall", clause="mv1/recall/round-trip", also={"mv1/remember/provenance-verbatim"})
def provenance_is_who_wrote(call: ToolCall, body: Body) -> None:
    """Each fact's provenance is that an agent wrote it."""
    for fact in body["facts"]:
        fact["provenance"] = "mcp:agent"


@area.asking("remember", clause="mv1/remember/fact-verbatim")
def fact_spaces_are_folded(call: ToolCall) -> ToolCall:
    """Several spaces in a fact become one."""
    fact = text_argument(call, "fact")
    return asking(call, fact=re.sub(r" {2,}", " ", fact)) if fact else call


@area.asking("remember", clause="mv1/remember/fact-verbatim")
def fact_is_composed(call: ToolCall) -> ToolCall:
    """A fact is brought into Unicode's composed form."""
    fact = text_argument(call, "fact")
    return asking(call, fact=unicodedata.normalize("NFC", fact)) if fact else call


@area.asking("remember", clause="mv1/remember/fact-verbatim")
def fact_is_cut(call: ToolCall) -> ToolCall:
    """A fact is cut at 2,048 characters."""
    fact = text_argument(call, "fact")
    return asking(call, fact=fact[:2048]) if fact else call


@area.success("recall", clause="mv1/remember/fact-verbatim")
def long_facts_end_in_an_ellipsis(call: ToolCall, body: Body) -> None:
    """recall shows the first thousand characters of a fact."""
    for fact in body["facts"]:
        if len(fact["fact"]) > 1000:
            fact["fact"] = fact["fact"][:1000] + "…"


@area.asking("remember", clause="mv1/remember/fact-verbatim")
def fact_in_a_code_page(call: ToolCall) -> ToolCall:
    """What a Western code page lacks becomes a question mark."""
    fact = text_argument(call, "fact")
    return asking(call, fact=fact.encode("cp1252", "replace").decode("cp1252")) if fact else call


@area.asking("remember", clause="mv1/remember/fact-verbatim")
def fact_loses_emoji(call: ToolCall) -> ToolCall:
    """Characters beyond the first 65,536 become a question mark."""
    fact = text_argument(call, "fact")
    return asking(call, fact=re.sub(r"[\U00010000-\U0010ffff]", "?", fact)) if fact else call


@area.asking("remember", clause="mv1/remember/fact-verbatim")
def fact_loses_directions(call: ToolCall) -> ToolCall:
    """Invisible characters, such as joiners and marks of direction, are dropped."""
    fact = text_argument(call, "fact")
    if not fact:
        return call
    return asking(call, fact="".join(letter for letter in fact if unicodedata.category(letter) != "Cf"))


@area.success("recall", clause="mv1/remember/fact-verbatim")
def fact_markup_is_escaped(call: ToolCall, body: Body) -> None:
    """A `<` in a fact comes back as `&lt;`."""
    for fact in body["facts"]:
        fact["fact"] = fact["fact"].replace("<", "&lt;")


@area.success("recall", clause="mv1/remember/fact-verbatim")
def fact_pipes_are_escaped(call: ToolCall, body: Body) -> None:
    """A pipe in a fact comes back with a backslash."""
    for fact in body["facts"]:
        fact["fact"] = fact["fact"].replace("|", "\\|")


@area.success("recall", clause="mv1/remember/fact-verbatim")
def fact_backslashes_are_eaten(call: ToolCall, body: Body) -> None:
    """A backslash in a fact is taken for an escape."""
    for fact in body["facts"]:
        fact["fact"] = fact["fact"].replace("\\", "")


@area.success("recall", clause="mv1/remember/fact-verbatim")
def fact_quotes_are_curled(call: ToolCall, body: Body) -> None:
    """Straight quotes come back as typographic ones."""
    for fact in body["facts"]:
        fact["fact"] = fact["fact"].replace('"', "”")


@area.success("recall", clause="mv1/remember/fact-verbatim")
def fact_is_a_template(call: ToolCall, body: Body) -> None:
    """What stands in double braces is filled in, with nothing."""
    for fact in body["facts"]:
        fact["fact"] = fact["fact"].replace("{{", "")


@area.success("recall", clause="mv1/remember/fact-verbatim")
def fact_percents_are_doubled(call: ToolCall, body: Body) -> None:
    """A per cent sign comes back twice, as format strings want it."""
    for fact in body["facts"]:
        fact["fact"] = fact["fact"].replace("%", "%%")


@area.asking("remember", clause="mv1/remember/fact-multiline")
def fact_is_one_line(call: ToolCall) -> ToolCall:
    """Line breaks become spaces."""
    fact = text_argument(call, "fact")
    return asking(call, fact=" ".join(fact.splitlines())) if fact and fact.strip() else call


@area.success("recall", clause="mv1/remember/fact-multiline")
def only_the_first_line(call: ToolCall, body: Body) -> None:
    """Only the first line of a fact comes back."""
    for fact in body["facts"]:
        fact["fact"] = fact["fact"].partition("\n")[0]


@area.asking("remember", clause="mv1/remember/kind-default")
def kind_defaults_to_event(call: ToolCall) -> ToolCall:
    """Without a kind a fact becomes an event."""
    return call if "kind" in call.arguments else asking(call, kind="event")


@area.asking("remember", clause="mv1/remember/kind-kept")
def kind_is_dropped(call: ToolCall) -> ToolCall:
    """Every fact is kept as a fact, whatever its kind."""
    return without(call, "kind") if call.arguments.get("kind") in KINDS else call


@area.success("recall", clause="mv1/remember/kind-kept")
def beliefs_become_facts(call: ToolCall, body: Body) -> None:
    """A belief comes back as a fact."""
    for fact in body["facts"]:
        fact["kind"] = "fact" if fact["kind"] == "belief" else fact["kind"]


@area.asking("remember", clause="mv1/remember/visibility-default-world")
def visibility_defaults_to_private(call: ToolCall) -> ToolCall:
    """Without a visibility a fact is private."""
    return call if "visibility" in call.arguments else asking(call, visibility="private")


@area.asking("remember", clause="mv1/recall/private-hidden")
def visibility_is_dropped(call: ToolCall) -> ToolCall:
    """A private fact is kept as one for the world."""
    return without(call, "visibility") if call.arguments.get("visibility") == "private" else call


@area.asking("remember", clause="mv1/remember/entity-scoped")
def entity_is_dropped(call: ToolCall) -> ToolCall:
    """A fact about an entity is kept as one about nobody."""
    return without(call, "entity") if isinstance(call.arguments.get("entity"), str) else call


@area.asking("remember", clause="mv1/remember/entity-scoped", also={"mv1/recall/round-trip"})
def entity_loses_its_last_part(call: ToolCall) -> ToolCall:
    """Facts about `people/ann-2` are kept as facts about `people/ann`."""
    entity = text_argument(call, "entity")
    return asking(call, entity=re.sub(r"(?<=[a-z0-9])-[^/-]+$", "", entity)) if entity else call


@area.success("remember", clause="mv1/remember/entity-canonical")
def entity_slug_is_for_show(call: ToolCall, body: Body) -> None:
    """The entity_slug of the answer finds nothing."""
    if body["entity_slug"] is not None:
        body["entity_slug"] = "entity-" + body["entity_slug"].replace("/", "-")


@area.asking("remember", clause="mv1/remember/kind-kept")
def kind_is_lost_beside_a_ttl(call: ToolCall) -> ToolCall:
    """A fact that will expire has no kind of its own."""
    expires = "ttl" in call.arguments and call.arguments.get("kind") in KINDS
    return without(call, "kind") if expires else call
