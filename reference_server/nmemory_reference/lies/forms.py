"""Variants in form, for any protocol: what an answer or a list may hold more, and how else it may be written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from nmemory_reference.lies.answers import Body, Result, body_of, is_error
from nmemory_reference.lies.framed import OtherIntroduction, PagedTools
from nmemory_reference.lies.variant import Bodies, Lists, Texts, Variant, Wholes
from nmemory_reference.serve.interceptor import Interceptor

Json = Any


def _with_extras(value: Json, extra: Json) -> Json:
    """A body with a member more in every object."""
    match value:
        case dict():
            return {"x_note": extra, **{key: _with_extras(item, extra) for key, item in value.items()}, "zz": extra}
        case list():
            return [_with_extras(item, extra) for item in value]
        case _:
            return value


def _blocks(before: list[Body], after: list[Body]) -> Callable[[Result], Result]:
    return lambda result: {**result, "content": [*before, *result["content"], *after]}


def _annotated(result: Result) -> Result:
    result["content"][0] |= {"annotations": {"audience": ["assistant"], "priority": 0.5}, "_meta": {"x": 1}}
    return {**result, "_meta": {"example.org/took": {"ms": 3}}}


def _unflagged(result: Result) -> Result:
    return result if is_error(result) else {key: value for key, value in result.items() if key != "isError"}


def _more_tools(tools: list[Body]) -> list[Body]:
    more = [
        {"name": f"z_tool_{number}", "inputSchema": {"type": "object", "anyOf": [{"required": []}]}}
        for number in range(40)
    ]
    return [*more[:20], *reversed(tools), *more[20:]]


def _reversed(value: Json) -> Json:
    match value:
        case dict():
            return {key: _reversed(value[key]) for key in reversed(value)}
        case list():
            return [_reversed(item) for item in value]
        case _:
            return value


_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z")


def instants(write: Callable[[datetime], str]) -> Callable[[Json], Json]:
    """Writes every instant of a body another way."""

    def change(value: Json) -> Json:
        match value:
            case str() if _INSTANT.fullmatch(value):
                return write(datetime.fromisoformat(value))
            case dict():
                # A cursor is the server's own: whoever follows it passes it back as it was.
                return {key: item if key == "next_cursor" else change(item) for key, item in value.items()}
            case list():
                return [change(item) for item in value]
            case _:
                return value

    return change


def _milliseconds(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def seconds(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _elsewhere(moment: datetime) -> str:
    return moment.astimezone(timezone(timedelta(hours=5, minutes=30))).isoformat()


def _extra_texts(body: Json) -> Json:
    return _with_extras(body, "more")


def _extra_nulls(body: Json) -> Json:
    return _with_extras(body, None)


def _extra_objects(body: Json) -> Json:
    return _with_extras(body, {"facts": [1], "error": None, "protocol_version": 7})


def _link(name: str) -> Body:
    return {"type": "resource_link", "uri": f"memory://{name}", "name": name}


def _pretty(body: Body) -> str:
    return "\n" + json.dumps(body, ensure_ascii=False, indent=4, sort_keys=True) + "\n"


def _ascii(body: Body) -> str:
    return json.dumps(body, ensure_ascii=True, separators=(",", ":"))


def forms(tools: Collection[str], *, errors: bool) -> tuple[Variant, ...]:
    """Every variant in form, for a protocol of these tools; `errors` says whether its errors have JSON bodies."""

    def bodies(change: Callable[[Json], Json]) -> Callable[[], Interceptor]:
        return lambda: Bodies(tools, change, errors=errors)

    def wholes(change: Callable[[Result], Result]) -> Callable[[], Interceptor]:
        return lambda: Wholes(change)

    def texts(write: Callable[[Body], str]) -> Callable[[], Interceptor]:
        return lambda: Texts(write, errors=errors)

    def structured(result: Result) -> Result:
        return {**result, "structuredContent": body_of(result)} if errors or not is_error(result) else result

    return (
        Variant("extra-keys", "Every object of an answer has keys more.", bodies(_extra_texts)),
        Variant("extra-nulls", "Every object of an answer has keys more, which are null.", bodies(_extra_nulls)),
        Variant("extra-objects", "Every object of an answer has objects more.", bodies(_extra_objects)),
        Variant(
            "text-block-after",
            "A text block follows, which is no JSON.",
            wholes(_blocks([], [{"type": "text", "text": "This was it."}])),
        ),
        Variant(
            "link-blocks-around",
            "Before the text stands a link, after it another.",
            wholes(_blocks([_link("before")], [_link("after")])),
        ),
        Variant(
            "image-block-before",
            "Before the text stands an image.",
            wholes(_blocks([{"type": "image", "data": "R0lGODlhAQABAAAAACw=", "mimeType": "image/gif"}], [])),
        ),
        Variant("structured-content", "structuredContent holds the same object.", wholes(structured)),
        Variant("meta", "Results and blocks carry _meta and annotations.", wholes(_annotated)),
        Variant("no-flag-on-success", "A success comes without isError.", wholes(_unflagged)),
        Variant("more-tools", "Forty tools more are listed, and all in another order.", lambda: Lists(_more_tools)),
        Variant("paged-tools", "Tools are listed two at a time.", around=PagedTools),
        Variant("other-introduction", "The server says other things of itself.", around=OtherIntroduction),
        Variant("reversed-keys", "The keys of every object come in reverse.", bodies(_reversed)),
        Variant("pretty-json", "JSON is written on several lines.", texts(_pretty)),
        Variant("ascii-json", "JSON is written with escapes only.", texts(_ascii)),
        Variant(
            "milliseconds",
            "Instants have three digits and +00:00.",
            bodies(instants(_milliseconds)),
            gaps="of what happens within a millisecond none can be said to be the later",
        ),
        Variant("other-offset", "Instants are told at +05:30.", bodies(instants(_elsewhere))),
    )
