"""put_page and get_page: whole pages in, whole pages out."""

from __future__ import annotations

from typing import Any

from nmemory_reference.store import pages
from nmemory_reference.store.pages import NewPage
from nmemory_reference.store.slug import MAX_SLUG, slugify
from nmemory_reference.tools.arguments import Arguments
from nmemory_reference.tools.failure import VerbFailure, invalid, shown
from nmemory_reference.tools.tool import Invocation
from nmemory_reference.verbs.fence import without_private
from nmemory_reference.verbs.front_matter import parse
from nmemory_reference.verbs.model_endpoint import ModelUnavailable
from nmemory_reference.verbs.vocabulary import answer, sees_private
from nmemory_reference.yaml_text import YamlFault

MAX_CONTENT = 1_000_000


async def put_page(call: Invocation, arguments: Arguments) -> dict[str, Any]:
    """Create a page or replace it whole: its title, aliases, links and timeline are those of `content`."""
    slug = _slug(arguments)
    content = arguments.required_text("content", limit=MAX_CONTENT, example='"---\\ntitle: Alice\\n---\\n…"')
    try:
        parsed = parse(content)
    except YamlFault as fault:
        raise invalid(
            f"The page's front matter is not valid: line {fault.line}: {fault.reason}",
            "Correct that line; known keys are title, type, aliases: [..] and links: [slug, {to, type, context}].",
        ) from fault
    new = NewPage(
        slug=slug,
        title=parsed.title or pages.tail(slug),
        type=parsed.type,
        content=content,
        public_body=parsed.public_body,
        summary=parsed.summary,
        aliases=parsed.aliases,
        links=parsed.links,
        timeline=parsed.timeline,
    )
    if call.memory.embedder is not None:
        try:
            vector = await call.memory.embedder.embed(f"{new.title}\n{new.public_body}")
            new = new._replace(vector_model=call.memory.embedder.model, vector=vector)
        except ModelUnavailable:
            pass  # the page is found by its words until it is put again
    with call.memory.database.writing() as db:
        created = pages.put(db, call.caller.tenant, new, call.now)
    return answer(slug=slug, status="created" if created else "updated")


async def get_page(call: Invocation, arguments: Arguments) -> dict[str, Any]:
    """A page by its slug; a remote caller gets it without its private parts."""
    slug = _slug(arguments)
    with call.memory.database.reading() as db:
        page = pages.by_slug(db, call.caller.tenant, slug)
        if page is None:
            raise VerbFailure(
                "not_found", f"No page has the slug {shown(slug)!r}", "Find a page's slug with entity or recall."
            )
        content = pages.content(db, page)
        aliases = pages.aliases(db, page)
    return answer(
        slug=page.slug,
        title=page.title,
        type=page.type,
        aliases=aliases,
        content=content if sees_private(call.caller) else without_private(content),
        updated_at=page.updated_at,
    )


def _slug(arguments: Arguments) -> str:
    sent = arguments.required_text("slug", limit=MAX_SLUG, example='"people/alice-example"')
    slug = slugify(sent)
    if not slug:
        raise invalid(
            f"slug is {shown(sent)!r}, which has neither letter nor digit",
            'Send a slug such as "people/alice-example".',
        )
    return slug
