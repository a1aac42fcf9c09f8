"""The thread that asks the models: what waits is decided together, and what fails fails alone."""

from __future__ import annotations

import asyncio
import threading

import pytest
from fake_checker import TEXT
from fake_models import annotate_texts

from disambig.errors import UserError
from disambig.runtime import check_time
from disambig.server import ModelThread


def flags(found):
    return b",".join(str(each.flags).encode() for each in found)


@pytest.fixture
def held():
    """A worker whose first call waits for an event; and the number of texts of each call."""
    go, sizes = threading.Event(), []

    def annotate(rates):
        def run(texts):
            if not sizes:
                go.wait(10)
            sizes.append((len(texts), dict(rates)))
            return annotate_texts(texts)

        return run

    worker = ModelThread(annotate)
    yield worker, go, sizes
    go.set()
    worker.end()


def asked(worker, go, jobs):
    """Ask for some jobs while the first is at work."""

    async def all_of_them():
        first = asyncio.create_task(worker.ask(["first"], {}, flags))
        await asyncio.sleep(0.05)
        others = [asyncio.create_task(worker.ask(*job)) for job in jobs]
        await asyncio.sleep(0.05)
        go.set()
        await first
        return await asyncio.gather(*others, return_exceptions=True)

    return asyncio.run(all_of_them())


def test_what_waits_together_is_decided_in_one_call(held):
    worker, go, sizes = held
    jobs = [([TEXT], {}, flags), ([TEXT, "none"], {}, flags), ([], {}, flags)] * 3
    assert asked(worker, go, jobs) == [b"2", b"2,0", b""] * 3
    assert [size for size, _ in sizes] == [1, 9]


def test_rates_are_not_mixed_and_nobody_is_passed_over(held):
    worker, go, sizes = held
    jobs = [([TEXT], {"spelling": rate}, flags) for rate in (1.0, 2.0, 1.0)]
    assert asked(worker, go, jobs) == [b"2"] * 3
    assert sizes[1:] == [(2, {"spelling": 1.0}), (1, {"spelling": 2.0})]


def test_a_batch_has_a_bounded_size(held):
    worker, go, sizes = held
    asked(worker, go, [(["a " * 60_000], {}, flags)] * 3)
    assert [size for size, _ in sizes] == [1, 1, 1, 1]


def test_what_fails_fails_alone(held):
    worker, go, _ = held

    def broken(found):
        raise RuntimeError("the answer cannot be made")

    jobs = [([TEXT], {}, flags), ([TEXT, "RAISE"], {}, flags), ([TEXT], {}, broken), ([TEXT], {}, flags)]
    first, bad, unmade, last = asked(worker, go, jobs)
    assert (first, last) == (b"2", b"2")
    assert isinstance(bad, UserError)
    assert bad.code == "D313"
    assert isinstance(unmade, RuntimeError)


def test_who_leaves_is_not_answered_and_others_are(held):
    worker, go, sizes = held

    async def leaving():
        first = asyncio.create_task(worker.ask(["first"], {}, flags))
        await asyncio.sleep(0.05)
        gone = asyncio.create_task(worker.ask([TEXT], {}, flags))
        stays = asyncio.create_task(worker.ask([TEXT, TEXT], {}, flags))
        await asyncio.sleep(0.05)
        gone.cancel()
        await asyncio.sleep(0.05)
        go.set()
        return await first, await stays

    assert asyncio.run(leaving()) == (b"0", b"2,2")
    assert [size for size, _ in sizes] == [1, 2]


def test_at_the_end_what_waits_is_refused(held):
    worker, go, _ = held

    async def ending():
        first = asyncio.create_task(worker.ask(["first"], {}, flags))
        await asyncio.sleep(0.05)
        waiting = asyncio.create_task(worker.ask([TEXT], {}, flags))
        await asyncio.sleep(0.05)
        end = asyncio.create_task(asyncio.to_thread(worker.end))
        await asyncio.sleep(0.05)
        go.set()
        await end
        with pytest.raises(UserError) as caught:
            await waiting
        with pytest.raises(UserError):
            await worker.ask([TEXT], {}, flags)
        return await first, caught.value.code

    assert asyncio.run(ending()) == (b"0", "D887")


def test_a_text_that_takes_too_long_is_refused_and_the_next_is_answered():
    def annotate(rates):
        def run(texts):
            while "slow" in texts:
                check_time()
            return annotate_texts(texts)

        return run

    worker = ModelThread(annotate, seconds=0.1)
    go = threading.Event()
    go.set()
    slow, other, late = asked(worker, go, [(["slow"], {}, flags), ([TEXT], {}, flags), ([TEXT], {}, flags)])
    worker.end()
    assert slow.code == "D891"
    assert other == late == b"2"
