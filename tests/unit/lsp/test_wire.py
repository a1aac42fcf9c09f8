from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.lsp import serving as wire


def read(data: bytes, **options: bool) -> tuple[list[bytes], list[str]]:
    taken, problems = [], []
    wire.read_messages(io.BytesIO(data), taken.append, problems.append, **options)
    return taken, problems


def message(body: bytes, *fields: bytes) -> bytes:
    return (
        b"".join(field + b"\r\n" for field in (b"Content-Length: %d" % len(body), *fields)) + b"\r\n" + body
    )


@given(st.lists(st.binary(max_size=30)))
def test_messages_are_read_as_they_were_written(bodies):
    assert read(b"".join(map(message, bodies))) == (bodies, [])


def test_other_fields_and_other_cases_are_known():
    body = message(b"{}", b"Content-Type: application/vscode-jsonrpc; charset=utf-8")
    assert read(body + b"content-length:2\n\n[]") == ([b"{}", b"[]"], [])


@pytest.mark.parametrize(
    "bad",
    [
        b"hello\r\n",
        b'{"jsonrpc": "2.0"}',
        b"Content-Length: many\r\n\r\n{}",
        b"Content-Type: x\r\n\r\n",
        b"\xff\xfe\r\n",
    ],
)
def test_what_is_no_header_is_told_and_the_next_message_is_read(bad):
    taken, problems = read(bad + message(b"next") + message(b"one more"))
    assert taken[-2:] == [b"next", b"one more"]
    assert problems


def test_a_message_that_no_editor_sends_is_not_read(monkeypatch):
    monkeypatch.setattr(wire, "LARGEST", 10)
    taken, problems = read(message(b"x" * 11) + message(b"y" * 10))
    assert taken == [b"y" * 10]
    assert problems == ["a message of 11 bytes; the maximum is 10"]


def test_what_is_cut_off_is_no_message():
    assert read(message(b"whole")[:-1]) == ([], [])


def test_a_length_is_a_header_of_its_own():
    taken, problems = read(b"X-Note: content-length: 2\r\n\r\n" + message(b"next"))
    assert (taken, problems) == ([b"next"], ["a header without Content-Length"])


def test_what_a_browser_sends_is_not_read():
    sent = b"POST / HTTP/1.1\r\nHost: localhost\r\n" + message(b"{}") + message(b"[]")
    assert read(sent, skip_invalid=False) == ([], ["not a message header: b'POST / HTTP/1.1'"])
    assert read(message(b"{}"), skip_invalid=False) == ([b"{}"], [])
