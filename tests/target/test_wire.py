"""A frame is read strictly, whatever is in it, and written so that every peer can read it."""

from __future__ import annotations

import asyncio
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_kit.target import FaultKind, Redactor
from nmemory_kit.target.excerpt import excerpt
from nmemory_kit.target.exchange import Exchange
from nmemory_kit.target.frames import FrameSplitter, FrameTooLarge
from nmemory_kit.target.noise import NoiseLog
from nmemory_kit.target.sse import EventStream
from nmemory_kit.target.wire import Notification, Request, Response, Unread, answer, encode, parse_frame

READ = [
    (b'{"jsonrpc":"2.0","id":1,"result":{}}', Response(1, result={})),
    (b'{"jsonrpc":"2.0","id":"a","result":{},"more":1}', Response("a", result={})),
    (b'{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}', Response(1, result={"a": 2})),
    (
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":[1]}}',
        Response(1, error={"code": -1, "message": "m", "data": [1]}),
    ),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping"}', Request(1, "ping")),
    (b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}', Notification("notifications/message")),
]


@pytest.mark.parametrize(("frame", "message"), READ)
def test_a_well_formed_message_is_read_as_it_was_sent(frame, message):
    assert parse_frame(frame) == message


BROKEN = [
    (b'{"id":1,"result":{}}', FaultKind.MALFORMED, "jsonrpc"),
    (b'{"jsonrpc":2.0,"id":1,"result":{}}', FaultKind.MALFORMED, "jsonrpc"),
    (b'{"jsonrpc":"2.0","id":1,"result":{},"error":null}', FaultKind.MALFORMED, "both"),
    (b'{"jsonrpc":"2.0","id":1,"result":null}', FaultKind.MALFORMED, "not an object"),
    (b'{"jsonrpc":"2.0","id":1,"error":null}', FaultKind.MALFORMED, "not an object"),
    (b'{"jsonrpc":"2.0","id":1,"error":{"code":true,"message":"m"}}', FaultKind.MALFORMED, "code"),
    (b'{"jsonrpc":"2.0","id":1,"error":{"code":1.0,"message":"m"}}', FaultKind.MALFORMED, "code"),
    (b'{"jsonrpc":"2.0","id":1,"error":{"code":1}}', FaultKind.MALFORMED, "message"),
    (b'{"jsonrpc":"2.0","id":1,"result":{"n":-Infinity}}', FaultKind.MALFORMED, "-Infinity"),
    (b'{"jsonrpc":"2.0","id":1,"result":{"s":"\xc3("}}', FaultKind.GARBAGE, "UTF-8 (byte 39)"),
]


@pytest.mark.parametrize(("frame", "kind", "why"), BROKEN)
def test_a_response_that_breaks_a_rule_is_known_by_its_id_and_says_which(frame, kind, why):
    message = parse_frame(frame)
    assert isinstance(message, Response)
    assert message.broken is not None
    assert (message.id, message.result, message.error, message.broken.kind) == (1, None, None, kind)
    assert why in message.broken.why


NOISE = [
    (b"hello", "not-json"),
    (b'{"a":', "not-json"),
    (b"\xff\xfe", "invalid-utf-8"),
    (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":{}}', "not-json"),
    (b"[" * 100_000, "not-json"),
    (b"1" * 10_000, "not-json"),
    (b"7", "not-json-rpc"),
    (b"null", "not-json-rpc"),
    (b"{}", "not-json-rpc"),
    (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', "not-json"),
    (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', "not-json-rpc"),
    (b'{"jsonrpc":"2.0","method":"\xff"}', "invalid-utf-8"),
    (b'{"result":{}}', "not-json-rpc"),
    (b'{"jsonrpc":"2.0","method":5}', "not-json-rpc"),
    (b'[{"jsonrpc":"2.0","id":1,"result":{}}]', "batch"),
]


@pytest.mark.parametrize(("frame", "kind"), NOISE, ids=lambda value: repr(value)[:30])
def test_what_is_no_message_is_noise(frame, kind):
    assert parse_frame(frame) == Unread(kind)


@given(st.binary(max_size=200))
def test_no_bytes_whatever_make_the_reader_raise(frame):
    parse_frame(frame)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_what_is_sent_comes_back_the_same(result):
    frame = encode({"jsonrpc": "2.0", "id": 1, "result": result})
    assert b"\n" not in frame
    assert parse_frame(frame) == Response(1, result=result)


MEMBERS = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON,
        "id": st.integers(1, 3) | JSON,
        "method": st.just("ping") | JSON,
        "result": st.just({}) | JSON,
        "error": st.just({"code": 1, "message": "m"}) | JSON,
    },
)


@given(st.lists(MEMBERS, max_size=6))
def test_no_messages_whatever_make_an_exchange_raise_or_leave_a_request_without_an_end(messages):
    async def exchange() -> None:
        on = Exchange(Redactor(), lambda: None, NoiseLog(Redactor()))
        pending = [on.open("tools/call", 60) for _ in range(2)]
        for message in messages:
            incoming = on.receive(json.dumps(message).encode())
            assert incoming is None or json.loads(encode(answer(incoming)))["id"] == incoming.id
        on.end(on.fault(FaultKind.CLOSED, "over"))
        for reply in [await waiting.reply for waiting in pending]:
            assert [reply.result, reply.error, reply.fault].count(None) == 2

    asyncio.run(exchange())


def test_text_goes_out_as_it_is_unless_it_has_half_a_character():
    assert encode({"t": "é今\u2028"}) == '{"t":"é今\u2028"}'.encode()
    assert json.loads(encode({"t": "é\ud800"})) == {"t": "é\ud800"}
    assert encode({"t": "é\ud800"}).isascii()


def test_nan_never_goes_out():
    with pytest.raises(ValueError, match="JSON"):
        encode({"n": float("nan")})


def test_an_excerpt_is_one_printable_line():
    assert excerpt(b"a\n\x1b[31mb\xff") == "a  [31mb�"
    assert excerpt("x" * 1000) == "x" * 300 + "…"


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in itertools.pairwise(edges)]


PLACES = st.lists(st.integers(0, 10_000), max_size=20)


@given(st.lists(st.binary().map(lambda line: line.replace(b"\n", b"").rstrip(b"\r"))), st.binary(), PLACES)
def test_lines_are_the_same_however_the_stream_is_cut(lines, rest, places):
    rest = rest.replace(b"\n", b"").rstrip(b"\r")
    splitter = FrameSplitter(10_000)
    stream = b"".join(line + b"\n" for line in lines) + rest
    assert [line for piece in cut(stream, places) for line in splitter.feed(piece)] == lines
    assert splitter.rest() == rest


@given(st.integers(1, 50), PLACES)
def test_a_line_past_the_limit_is_refused_and_one_at_it_is_not(limit, places):
    splitter = FrameSplitter(limit)
    assert [line for piece in cut(b"x" * limit + b"\n", places) for line in splitter.feed(piece)] == [b"x" * limit]
    pieces = cut(b"x" * (limit + 1), places)
    with pytest.raises(FrameTooLarge):
        list(itertools.chain.from_iterable(map(splitter.feed, pieces)))


LINE = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1, max_size=20)
EVENTS = st.lists(st.lists(LINE, min_size=1, max_size=3), max_size=5)


@given(EVENTS, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), PLACES)
def test_events_are_the_same_however_the_stream_is_cut_and_its_lines_end(events, end, bom, places):
    written = "\ufeff" if bom else ""
    for lines in events:
        written += f": comment{end}event: message{end}id: 7{end}"
        written += "".join(f"data: {line}{end}" for line in lines) + end
    stream = EventStream(10_000)
    found = [event for piece in cut(written.encode(), places) for event in stream.feed(piece)]
    assert found == ["\n".join(lines).encode() for lines in events]


def test_an_event_without_data_and_one_without_an_end_are_none():
    stream = EventStream(100)
    assert list(stream.feed(b"data:\n\nretry: 5\n\nevent: x\n\ndata:a\n\ndata: lost")) == [b"a"]


def test_an_event_of_many_short_lines_is_bounded_too():
    stream = EventStream(100)
    with pytest.raises(FrameTooLarge):
        list(stream.feed(b"data: 0123456789\n" * 11))
