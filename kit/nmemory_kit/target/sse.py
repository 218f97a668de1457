"""Server-sent events, as they come: the ``data`` of each event of a stream (HTML Standard, section 9.2)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .frames import FrameTooLarge

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class EventStream:
    """Splits what is fed to it into events, however it is cut; linear in the bytes fed.

    Only ``data`` matters in MCP; ``event``, ``id``, ``retry`` and comments are passed over. An event without
    data is none. What follows the last empty line of a stream is dropped, as the standard wants. ``limit``
    bounds one event in bytes.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._line = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._after_return = False
        self._begun = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the data of the events that ``chunk`` completes. Raises ``FrameTooLarge``."""
        for line in self._lines(chunk):
            if line:
                self._field(line)
            else:
                data = b"\n".join(self._data)
                self._data.clear()
                self._size = 0
                if data:
                    yield data

    def _lines(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that ``chunk`` completes; they end with LF, CR or both."""
        if self._after_return and chunk:
            self._after_return = False
            chunk = chunk.removeprefix(b"\n")
        start = 0
        for end in _LINE_END.finditer(chunk):
            self._keep(chunk[start : end.start()])
            line = bytes(self._line)
            self._line.clear()
            start = end.end()
            # Where a chunk ends in CR, the LF of the pair may begin the next one.
            self._after_return = start == len(chunk) and end[0] == b"\r"
            if not self._begun:
                self._begun = True
                line = line.removeprefix(_BOM)
            yield line
        self._keep(chunk[start:])

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
            self._size += len(value)

    def _keep(self, piece: bytes) -> None:
        self._line += piece
        if self._size + len(self._line) > self._limit:
            raise FrameTooLarge(b"\n".join([*self._data, bytes(self._line)])[:1000])
