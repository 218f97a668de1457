"""The body of an HTTP reply as bytes, piece by piece and never more than the kit is willing to hold."""

from __future__ import annotations

import zlib
from contextlib import aclosing
from typing import TYPE_CHECKING

from .frames import FrameTooLarge

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import httpx

#: Bytes that are unpacked at a time, however many a packed piece holds.
_STEP = 256 * 1024


class Undecodable(Exception):
    """The body is packed in a way that the kit did not ask for and cannot read."""


async def chunks(response: httpx.Response) -> AsyncGenerator[bytes]:
    """Yield the body as it comes. Raises ``Undecodable``, and whatever httpx raises on the way.

    The kit asks for a body that is not packed. A proxy may pack it all the same: gzip and deflate are
    unpacked in small steps, so that a small body that unpacks to a huge one meets the caller's limit and not
    the memory's.
    """
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding in ("", "identity"):
        async for chunk in response.aiter_raw():
            yield chunk
        return
    if coding not in ("gzip", "x-gzip", "deflate"):
        raise Undecodable(f"the body has the Content-Encoding {coding!r}; the kit asked for none")
    inflate = zlib.decompressobj(wbits=47)
    async for packed in response.aiter_raw():
        rest = packed
        while rest:
            try:
                piece = inflate.decompress(rest, _STEP)
            except zlib.error:
                raise Undecodable(f"the body is said to be packed with {coding}, and is not") from None
            rest = inflate.unconsumed_tail
            if piece:
                yield piece


async def whole(response: httpx.Response, limit: int) -> bytes:
    """The whole body. Raises ``FrameTooLarge`` past ``limit`` bytes."""
    body = bytearray()
    async with aclosing(chunks(response)) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > limit:
                raise FrameTooLarge(bytes(body[:1000]))
    return bytes(body)


async def start(response: httpx.Response, size: int) -> bytes:
    """The first ``size`` bytes of the body, or what there is of it."""
    body = bytearray()
    async with aclosing(chunks(response)) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) >= size:
                break
    return bytes(body[:size])
