"""Bodies of requests: refused as soon as they are too long, too slow or too many."""

from __future__ import annotations

import asyncio

import pytest

from disambig.errors import UserError
from disambig.server import BodyReader, ServerLimits

SMALL = ServerLimits(max_text=1, client_seconds=0.05, held=100_000)


def receiving(*parts, more=False):
    """Return what ASGI gives of a body in parts, and how many parts were taken."""
    left = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    if not more:
        left[-1]["more_body"] = False
    taken = []

    async def receive():
        taken.append(1)
        if len(taken) > len(left):
            await asyncio.sleep(60)
        return left[len(taken) - 1]

    return receive, taken


def read(bodies, receive, announced=None):
    async def one():
        async with bodies.read(receive, announced) as body:
            return body, bodies.held

    return asyncio.run(one())


def refused_with(bodies, receive, announced=None):
    with pytest.raises(UserError) as caught:
        read(bodies, receive, announced)
    return caught.value.code


def refused(bodies, receive, announced=None):
    code = refused_with(bodies, receive, announced)
    assert bodies.held == 0
    return code


def test_a_body_is_held_until_its_block_is_left():
    bodies = BodyReader(SMALL)
    receive, _ = receiving(b"ab", b"", b"c")
    assert read(bodies, receive, "3") == (b"abc", 3)
    assert bodies.held == 0


def test_what_is_announced_too_long_is_not_read():
    receive, taken = receiving(b"a")
    assert refused(BodyReader(SMALL), receive, str(SMALL.max_body + 1)) == "D885"
    assert not taken


def test_what_gets_too_long_is_not_read_further():
    receive, taken = receiving(*[b"a" * 40_000] * 5)
    assert refused(BodyReader(SMALL), receive, "no number") == "D885"
    assert len(taken) == 2


def test_a_slow_body_is_given_up():
    assert refused(BodyReader(SMALL), receiving(b"a", more=True)[0]) == "D889"


def test_a_client_that_leaves():
    async def receive():
        return {"type": "http.disconnect"}

    assert refused(BodyReader(SMALL), receive) == "D883"


def test_answers_are_held_too():
    bodies = BodyReader(SMALL)
    with bodies.hold(90_000):
        with pytest.raises(UserError) as caught, bodies.hold(20_000):
            pass
        assert caught.value.code == "D887"
        assert refused_with(bodies, receiving(b"a" * 20_000)[0]) == "D887"
        assert bodies.held == 90_000
    assert bodies.held == 0


def test_bodies_together_are_bounded():
    bodies = BodyReader(SMALL)

    async def several():
        async with bodies.read(receiving(b"a" * 60_000)[0], None):
            with pytest.raises(UserError) as caught:
                async with bodies.read(receiving(b"a" * 60_000)[0], None):
                    pass
            assert caught.value.code == "D887"
            assert bodies.held == 60_000
        async with bodies.read(receiving(b"a" * 60_000)[0], None):
            pass

    asyncio.run(several())
    assert bodies.held == 0
