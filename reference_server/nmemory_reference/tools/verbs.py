"""The tools of MEMORY_VERBS v1: the five frozen verbs, the two added later, and whole pages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from nmemory_reference.tools.failure import VerbFailure, shown
from nmemory_reference.tools.tool import Tool
from nmemory_reference.verbs.context_pack import context_pack
from nmemory_reference.verbs.delta import delta
from nmemory_reference.verbs.entity import entity
from nmemory_reference.verbs.forget import forget
from nmemory_reference.verbs.page import get_page, put_page
from nmemory_reference.verbs.recall import DEFAULT_LIMIT, MAX_LIMIT, recall
from nmemory_reference.verbs.remember import MAX_PROVENANCE, remember
from nmemory_reference.verbs.synthesize import synthesize
from nmemory_reference.verbs.vocabulary import KINDS, VISIBILITIES

_READS: Final = {"readOnlyHint": True, "openWorldHint": False}


class VerbsWording:
    """MEMORY_VERBS v1: JSON, and its error envelope for everything."""

    def text(self, body: Mapping[str, Any]) -> str:
        """JSON on one line."""
        return json.dumps(body, ensure_ascii=False)

    def unknown_tool(self, name: str, offered: int) -> VerbFailure:
        """`unknown_tool`."""
        return VerbFailure(
            "unknown_tool",
            f"There is no tool named {shown(name)!r} here",
            f"Call one of the {offered} tools that tools/list names; --surface full has all.",
        )

    def scope_denied(self, tool: str, scope: str) -> VerbFailure:
        """`scope_denied`."""
        return VerbFailure(
            "scope_denied", f"{tool} needs the scope {scope}", f"Use a token whose scopes include {scope}."
        )

    def unavailable(self, detail: str) -> VerbFailure:
        """`unavailable`."""
        return VerbFailure(
            "unavailable",
            "The memory's file could not be used",
            "Try again; if that does not help, check the disk and who else holds the file.",
            detail=detail,
        )

    def internal(self) -> VerbFailure:
        """`internal`."""
        return VerbFailure(
            "internal",
            "Something went wrong inside the server",
            "Report it, with what the server wrote to its error output.",
        )


WORDING: Final = VerbsWording()


def _string(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def _integer(description: str, minimum: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": minimum, "description": description}


def _flag(description: str) -> dict[str, Any]:
    return {"type": "boolean", "description": description}


def _schema(required: Sequence[str] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return {**schema, "required": list(required)} if required else schema


_BUDGET = _integer("Most tokens the answer may take (four characters count as one); the rest is dropped.", 0)
_SINCE = _string("ISO 8601 date or date-time: leaves out facts from before it.")
_SESSION = _string("Only facts of this session.")
_ENTITIES = _string("Names or slugs, separated by commas; the first eight count.")
_PRIVATE = _flag("Also private facts; only a local caller ever gets them.")

_TOOLS: Final = (
    Tool(
        name="recall",
        title="Recall facts and pages",
        description=(
            "Read what the memory holds. `entity` gives the facts about one person, company or project, newest "
            "first; `query` also searches the pages; `budget_tokens` caps the size of the answer. Every fact "
            "comes with its provenance and with the fact_id that `forget` takes. Finding nothing is no error."
        ),
        input_schema=_schema(
            entity=_string("Name or slug of whom or what the facts are about."),
            query=_string("Words to search the pages for; plain text, no operators."),
            budget_tokens=_BUDGET,
            since=_SINCE,
            session_id=_SESSION,
            limit=_integer(f"Most facts, and most pages; {DEFAULT_LIMIT} unless given, {MAX_LIMIT} at most.", 1),
            include_expired=_flag("Also facts that were forgotten, superseded, or have outlived their ttl."),
            grep=_string("Only facts whose text contains this, case ignored."),
            supersessions=_flag("Only facts that replaced another or were replaced."),
            include_pending=_flag("Accepted; this memory has no pending facts."),
        ),
        annotations=_READS,
        scope="read",
        handler=recall,
        wording=WORDING,
        counted=True,
    ),
    Tool(
        name="remember",
        title="Remember a fact",
        description=(
            "Save one fact, in a sentence of its own, with where it comes from. Set `entity` whenever it is "
            "about somebody or something in particular: recall by entity finds it by nothing else. Facts are "
            "readable by every agent on this memory unless `visibility` is private. Branch on `status`: "
            "inserted, duplicate (known already) or superseded (it replaced an older fact)."
        ),
        input_schema=_schema(
            ["fact", "provenance"],
            fact=_string("The fact, stored word for word."),
            provenance=_string(
                'Where it comes from, such as "conversation 2026-06-12" or "import: notes.md".',
                maxLength=MAX_PROVENANCE,
            ),
            ttl=_string("How long it holds: 45m, 12h, 30d, or an ISO 8601 instant. Left out: for ever."),
            entity=_string("Name or slug of whom or what it is about."),
            kind=_string("What sort of fact it is.", enum=list(KINDS), default="fact"),
            visibility=_string(
                "world: for every agent; private: for local callers only.",
                enum=list(VISIBILITIES),
                default="world",
            ),
            session_id=_string("The session it was learned in."),
        ),
        annotations={
            "readOnlyHint": False,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
        scope="write",
        handler=remember,
        wording=WORDING,
        counted=True,
    ),
    Tool(
        name="entity",
        title="Look up an entity",
        description=(
            "The card of one known person, company or project: other names, summary, open threads, typed links "
            "and counts. Fast, and no model is asked. An unknown name answers found: false, with near misses."
        ),
        input_schema=_schema(["name"], name=_string("Alias, title, slug, or the end of a slug.")),
        annotations=_READS,
        scope="read",
        handler=entity,
        wording=WORDING,
        counted=True,
    ),
    Tool(
        name="synthesize",
        title="Synthesize an answer",
        description=(
            "[EXPENSIVE: asks a language model, takes seconds to minutes, costs money] Answer a question by "
            "combining evidence from several pages, with sources and gaps. For a look-up use recall or entity."
        ),
        input_schema=_schema(
            ["question"],
            question=_string("The question, in a sentence."),
            since=_string("ISO 8601: leaves out evidence from before it."),
            until=_string("ISO 8601: leaves out evidence from after it."),
        ),
        annotations={"readOnlyHint": True, "openWorldHint": True},
        scope="read",
        handler=synthesize,
        wording=WORDING,
        counted=True,
    ),
    Tool(
        name="forget",
        title="Forget a fact",
        description=(
            "End a fact by its id. It leaves every answer at once and is kept, marked expired, for the audit "
            "trail. Forgetting it again is no error and answers expired: false."
        ),
        input_schema=_schema(
            ["id"],
            id=_string("The id that remember answered, or facts[].fact_id of recall; never a page's slug."),
            reason=_string("Why, for the audit trail."),
        ),
        annotations={
            "readOnlyHint": False,
            "destructiveHint": True,
            "idempotentHint": True,
            "openWorldHint": False,
        },
        scope="write",
        handler=forget,
        wording=WORDING,
        counted=True,
    ),
    Tool(
        name="context_pack",
        title="Pack context",
        description=(
            "Everything to start a task with, in one bundle: the cards, open threads and facts of up to eight "
            "entities, as data and as text for a prompt. Without `entities`: those touched last."
        ),
        input_schema=_schema(
            entities=_ENTITIES,
            budget_tokens=_BUDGET,
            since=_SINCE,
            session_id=_SESSION,
            include_private=_PRIVATE,
        ),
        annotations=_READS,
        scope="read",
        handler=context_pack,
        wording=WORDING,
        counted=True,
    ),
    Tool(
        name="delta",
        title="See what changed",
        description=(
            "Pages changed and facts remembered since an instant, or since this session last asked, in order. "
            "While has_more is true, call again with next_cursor's since and slug (as since_slug)."
        ),
        input_schema=_schema(
            since=_string("ISO 8601 instant to start from."),
            session_id=_string("A session whose place is kept: without `since` it goes on where it stopped."),
            since_slug=_string("The slug of next_cursor."),
            entities=_ENTITIES,
            budget_tokens=_BUDGET,
            include_private=_PRIVATE,
        ),
        annotations=_READS,
        scope="read",
        handler=delta,
        wording=WORDING,
        counted=True,
    ),
    Tool(
        name="put_page",
        title="Put a page",
        description=(
            "Create or replace a page: Markdown, with front matter for title, type, aliases and typed links, "
            "dated list items under a Timeline heading, and [[slug]] mentions. What stands between "
            "<!-- private --> and <!-- /private --> is never shown to a remote caller."
        ),
        input_schema=_schema(
            ["slug", "content"],
            slug=_string("Such as people/alice-example."),
            content=_string("The whole page."),
        ),
        annotations={
            "readOnlyHint": False,
            "destructiveHint": True,
            "idempotentHint": True,
            "openWorldHint": False,
        },
        scope="write",
        handler=put_page,
        wording=WORDING,
    ),
    Tool(
        name="get_page",
        title="Get a page",
        description="A whole page by its slug, without its private parts for a remote caller.",
        input_schema=_schema(["slug"], slug=_string("The page's slug.")),
        annotations=_READS,
        scope="read",
        handler=get_page,
        wording=WORDING,
    ),
)

#: By name.
VERBS: Final[Mapping[str, Tool]] = {tool.name: tool for tool in _TOOLS}
