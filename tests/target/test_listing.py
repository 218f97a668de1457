"""``tools/list`` is walked to its end, and no further."""

from __future__ import annotations

import pytest
from nmemory_kit.target import Blame, FaultKind, Listing, list_tools

from .playing import connected

pytestmark = pytest.mark.anyio


async def listed(double: str) -> Listing:
    async with connected(double) as connection:
        return await list_tools(connection, timeout=10)


async def test_pages_are_followed_also_by_a_cursor_that_is_the_empty_text():
    listing = await listed("lists_tools_on_three_pages")
    assert [tool["name"] for tool in listing.tools] == ["a", "b", "c"]
    assert (listing.pages, listing.stopped) == (3, None)


ENDLESS = [
    ("lists_tools_for_ever", FaultKind.ENDLESS, "no end after 100 pages"),
    ("lists_tools_in_a_circle", FaultKind.ENDLESS, "page 2 gives the cursor 'again' again"),
    ("lists_no_array_of_tools", FaultKind.MALFORMED, "no array of tools"),
]


@pytest.mark.parametrize(("double", "kind", "message"), ENDLESS, ids=[row[0] for row in ENDLESS])
async def test_a_list_without_an_end_or_without_tools_is_the_targets_fault(double, kind, message):
    listing = await listed(double)
    assert listing.stopped is not None
    assert listing.stopped.fault is not None
    assert (listing.stopped.fault.kind, listing.stopped.fault.blame) == (kind, Blame.TARGET)
    assert message in listing.stopped.fault.message


async def test_a_list_that_is_refused_stops_at_the_refusal():
    listing = await listed("refuses_to_list_tools")
    assert listing.stopped is not None
    assert listing.stopped.error == {"code": -32000, "message": "closed on Sundays", "data": None}
    assert (listing.tools, listing.pages) == ((), 0)
