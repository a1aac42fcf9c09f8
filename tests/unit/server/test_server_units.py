"""Parts of the server: annotated text, request bodies, origins, the thread of the models."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from fake_checker import TEXT, Fake, FakeChecker, loaded
from fake_models import GROUPS, annotate_texts
from hypothesis import given, strategies as st

from disambig.checking import Flag, flag_candidates
from disambig.errors import UserError
from disambig.formats import AnnotatedDocument, Document
from disambig.runtime import check_time
from disambig.server import (
    AllowedOrigins,
    AnnotatedPiece,
    AnnotatedText,
    BodyReader,
    ModelThread,
    ServerLimits,
    Utf16Offsets,
    languagetool,
    make_visible,
    plain_annotated,
    utf16_length,
    visible_flags,
)

PIECES = st.lists(
    st.builds(AnnotatedPiece, st.text("ab \U0001f600", max_size=4), st.none() | st.text("\nx", max_size=2)),
    max_size=6,
)


@given(PIECES)
def test_original_spans_of_annotated_text(pieces):
    text = AnnotatedText.from_pieces(pieces)
    assert text.original == "".join(piece.original for piece in pieces)
    meant = [piece.original if piece.interpretation is None else piece.interpretation for piece in pieces]
    assert text.plain == "".join(meant)
    taken = set()
    for start in range(len(text.plain)):
        place = text.original_span(start, start + 1)
        if place:
            assert text.original[slice(*place)] == text.plain[start]
            taken.add(place[0])
    assert len(taken) == sum(len(piece.original) for piece in pieces if piece.interpretation is None)


def test_markup_separates_runs_of_text():
    text = AnnotatedText.from_pieces(
        [AnnotatedPiece("un"), AnnotatedPiece("do"), AnnotatedPiece("<b>", ""), AnnotatedPiece("ing")]
    )
    assert text.plain == "undoing"
    assert text.original_span(0, 4) == (0, 4)
    assert text.original_span(4, 7) == (7, 10)
    assert text.original_span(3, 5) is None
    assert AnnotatedText.from_pieces([AnnotatedPiece("<b>", "")]).original_span(0, 0) is None


@given(st.text("a\u00e9\u0301\u05d0\U0001f600\n", max_size=20), st.integers(0, 20))
def test_offsets_count_utf16_units(text, offset):
    offset = min(offset, len(text))
    units = len(text[:offset].encode("utf-16-le")) // 2
    assert Utf16Offsets(text).count(offset) == utf16_length(text[:offset]) == units


def flag(text, start, end, replacement, edit, alternatives=()):
    return Flag(start, end, 1, start + 1, text[start:end], replacement, "spelling", 0.9, edit, alternatives)


@pytest.mark.parametrize(
    ("text", "widened", "covered", "proposed"),
    [
        ("a quite place", (2, 7, "quiet", (2, 7, "quiet")), "quite", "quiet"),
        ("many of of them", (8, 10, "", (8, 11, "")), "of of", "of"),
        ("The the end", (0, 3, "", (0, 5, "T")), "The the", "The"),
        ("A number people", (9, 9, "of", (9, 9, "of ")), "people", "of people"),
        ("and so of", (7, 9, "", (6, 9, "")), "so of", "so"),
        ("of\nnow", (0, 2, "", (0, 3, "")), "of\nnow", "now"),
    ],
)
def test_edits_include_a_neighbouring_word(text, widened, covered, proposed):
    shown = make_visible(flag(text, *widened), plain_annotated(text), [])
    assert text[shown.start : shown.end] == covered
    assert shown.proposals[0].text == proposed
    whole = text[: shown.start] + proposed + text[shown.end :]
    start, end, new = widened[3]
    assert whole == text[:start] + new + text[end:]


def test_alternatives_follow_without_repetition():
    text = "It depends of it"
    others = [
        {"task": "form", "start": 11, "end": 13, "replacement": "on", "probability": 0.5},
        {"task": "form", "start": 11, "end": 13, "replacement": "off", "probability": 0.4},
        {"task": "form", "start": 3, "end": 13, "replacement": "rests on", "probability": 0.3},
    ]
    widened = flag(text, 11, 13, "on", (11, 13, "on"), tuple(others))
    shown = make_visible(
        widened, plain_annotated(text), *flag_candidates([widened], [], text, annotate_texts)
    )
    assert [(item.text, item.share) for item in shown.proposals] == [("on", None), ("off", None)]


def test_edits_do_not_cross_markup():
    pieces = [AnnotatedPiece("many"), AnnotatedPiece("<b>", ""), AnnotatedPiece(" of of them")]
    text = AnnotatedText.from_pieces(pieces)
    shown = make_visible(flag(text.plain, 5, 7, "", (5, 8, "")), text, [])
    assert text.original[shown.start : shown.end] == "of of"
    pieces = [AnnotatedPiece("a "), AnnotatedPiece("<b>", "x"), AnnotatedPiece(" b")]
    alone = AnnotatedText.from_pieces(pieces)
    assert make_visible(flag(alone.plain, 2, 3, "y", (2, 3, "y")), alone, []) is None


def test_shows_the_more_certain_of_overlapping_flags(monkeypatch):
    text = "We had quite place during 1997."
    (result,) = [AnnotatedDocument(Document("1", text, ""), tuple(annotate_texts([text])))]
    checker = FakeChecker(loaded({name: Fake(name) for name in GROUPS}), {})
    shown = visible_flags(plain_annotated(text), result, checker)
    assert [one.flag.observed for one in shown] == ["quite", "during"]
    monkeypatch.setattr(languagetool, "_widen", lambda *_: [(7, 25)])
    assert len(visible_flags(plain_annotated(text), result, checker)) == 1


SMALL = ServerLimits(max_text=1, client_seconds=0.05, held=100_000)


def receiving(*parts, more=False):
    """Return an ASGI receiver of a body in parts, and the list of the parts that were received."""
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


def error_code(bodies, receive, announced=None):
    with pytest.raises(UserError) as caught:
        read(bodies, receive, announced)
    return caught.value.code


def rejected_code(bodies, receive, announced=None):
    code = error_code(bodies, receive, announced)
    assert bodies.held == 0
    return code


def test_counts_bytes_until_the_block_ends():
    bodies = BodyReader(SMALL)
    receive, _ = receiving(b"ab", b"", b"c")
    assert read(bodies, receive, "3") == (b"abc", 3)
    assert bodies.held == 0


def test_does_not_read_a_body_with_too_large_a_content_length():
    receive, taken = receiving(b"a")
    assert rejected_code(BodyReader(SMALL), receive, str(SMALL.max_body + 1)) == "D885"
    assert not taken


def test_stops_reading_a_body_that_gets_too_long():
    receive, taken = receiving(*[b"a" * 40_000] * 5)
    assert rejected_code(BodyReader(SMALL), receive, "no number") == "D885"
    assert len(taken) == 2


def test_rejects_a_slow_body():
    assert rejected_code(BodyReader(SMALL), receiving(b"a", more=True)[0]) == "D889"


def test_client_disconnects():
    async def receive():
        return {"type": "http.disconnect"}

    assert rejected_code(BodyReader(SMALL), receive) == "D883"


def test_counts_bytes_of_responses():
    bodies = BodyReader(SMALL)
    with bodies.hold(90_000):
        with pytest.raises(UserError, match="D887"), bodies.hold(20_000):
            pass
        assert error_code(bodies, receiving(b"a" * 20_000)[0]) == "D887"
        assert bodies.held == 90_000
    assert bodies.held == 0


def test_limits_all_bodies_together():
    bodies = BodyReader(SMALL)

    async def several():
        async with bodies.read(receiving(b"a" * 60_000)[0], None):
            with pytest.raises(UserError, match="D887"):
                async with bodies.read(receiving(b"a" * 60_000)[0], None):
                    pass
            assert bodies.held == 60_000
        async with bodies.read(receiving(b"a" * 60_000)[0], None):
            pass

    asyncio.run(several())
    assert bodies.held == 0


NAMED_ORIGINS = AllowedOrigins.from_options(
    hosts=["checker.internal"], origins=["https://Good.example/", "chrome-extension://*", "app://obsidian.md"]
)

LOCAL = {"host": "localhost"}


@pytest.mark.parametrize(
    ("origins", "headers", "expected"),
    [
        *(
            (AllowedOrigins(), {"host": host}, "")
            for host in ("127.0.0.1:8081", "localhost", "LOCALHOST:1", "")
        ),
        *((AllowedOrigins(), {"host": host}, "") for host in ("[::1]:8081", "10.0.0.7")),
        (NAMED_ORIGINS, {"host": "Checker.internal:8081"}, ""),
        (NAMED_ORIGINS, LOCAL | {"origin": "https://good.example"}, "https://good.example"),
        (NAMED_ORIGINS, LOCAL | {"origin": "chrome-extension://abc"}, "chrome-extension://abc"),
        (NAMED_ORIGINS, LOCAL | {"origin": "app://obsidian.md"}, "app://obsidian.md"),
        (NAMED_ORIGINS, {"host": "localhost:8081", "origin": "http://localhost:8081"}, ""),  # the page itself
        (NAMED_ORIGINS, LOCAL | {"sec-fetch-mode": "navigate", "sec-fetch-site": "cross-site"}, ""),  # a link
    ],
)
def test_accepts_known_hosts_and_origins(origins, headers, expected):
    assert origins.check("GET", headers) == expected


OTHER_HOSTS = "evil.example localhost.evil.example 127.0.0.1.evil.example [::1 a@b evil.example@localhost"
OTHER_HOSTS += " localhost/a localhost?a localhost#a"


@pytest.mark.parametrize(
    "headers",
    [
        *({"host": host} for host in OTHER_HOSTS.split()),
        *(LOCAL | {"origin": f"http{end}"} for end in ("://good.example", "s://localhost")),
        *(LOCAL | {"origin": origin} for origin in ("moz-extension://abc", "null")),
        *(
            LOCAL | {"sec-fetch-mode": "no-cors", "sec-fetch-site": f"{site}-site"}
            for site in ("cross", "same")
        ),
    ],
    ids=str,
)
def test_rejects_other_hosts_and_origins(headers):
    for origins in (AllowedOrigins(), NAMED_ORIGINS):
        with pytest.raises(UserError, match="D886"):
            origins.check("GET", headers)


@pytest.mark.parametrize("origin", ["*", "null", "https://*", "*.example", "example.org", "https://a/b", ""])
def test_rejects_invalid_origins(origin):
    with pytest.raises(UserError, match="D882"):
        AllowedOrigins.from_options(hosts=[], origins=[origin])


def count_flags(results):
    return b",".join(str(item.flags).encode() for item in results)


@pytest.fixture
def held_worker():
    """A thread whose first call waits for an event, and the number of texts per call."""
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


def ask_while_busy(worker, go, jobs):
    """Send some requests while the first one is running."""

    async def all_of_them():
        first = asyncio.create_task(worker.ask(["first"], {}, count_flags))
        await asyncio.sleep(0.05)
        others = [asyncio.create_task(worker.ask(*job)) for job in jobs]
        await asyncio.sleep(0.05)
        go.set()
        await first
        return await asyncio.gather(*others, return_exceptions=True)

    return asyncio.run(all_of_them())


def test_decides_waiting_requests_in_one_call(held_worker):
    worker, go, sizes = held_worker
    jobs = [([TEXT], {}, count_flags), ([TEXT, "none"], {}, count_flags), ([], {}, count_flags)] * 3
    assert ask_while_busy(worker, go, jobs) == [b"2", b"2,0", b""] * 3
    assert [size for size, _ in sizes] == [1, 9]


def test_does_not_mix_rates(held_worker):
    worker, go, sizes = held_worker
    jobs = [([TEXT], {"spelling": rate}, count_flags) for rate in (1.0, 2.0, 1.0)]
    assert ask_while_busy(worker, go, jobs) == [b"2"] * 3
    assert sizes[1:] == [(2, {"spelling": 1.0}), (1, {"spelling": 2.0})]


def test_limits_the_size_of_a_batch(held_worker):
    worker, go, sizes = held_worker
    ask_while_busy(worker, go, [(["a " * 30_000], {}, count_flags)] * 3)
    assert [size for size, _ in sizes] == [1, 1, 1, 1]


def test_failures_are_isolated(held_worker):
    worker, go, _ = held_worker

    def broken(result):
        raise RuntimeError("the answer cannot be made")

    jobs = [
        ([TEXT], {}, count_flags),
        ([TEXT, "RAISE"], {}, count_flags),
        ([TEXT], {}, broken),
        ([TEXT], {}, count_flags),
    ]
    first, bad, unmade, last = ask_while_busy(worker, go, jobs)
    assert (first, last) == (b"2", b"2")
    assert isinstance(bad, UserError)
    assert bad.code == "D313"
    assert isinstance(unmade, RuntimeError)


def test_does_not_answer_cancelled_requests(held_worker):
    worker, go, sizes = held_worker

    async def leaving():
        first = asyncio.create_task(worker.ask(["first"], {}, count_flags))
        await asyncio.sleep(0.05)
        gone = asyncio.create_task(worker.ask([TEXT], {}, count_flags))
        stays = asyncio.create_task(worker.ask([TEXT, TEXT], {}, count_flags))
        await asyncio.sleep(0.05)
        gone.cancel()
        await asyncio.sleep(0.05)
        go.set()
        return await first, await stays

    assert asyncio.run(leaving()) == (b"0", b"2,2")
    assert [size for size, _ in sizes] == [1, 2]


def test_rejects_waiting_requests_at_the_end(held_worker):
    worker, go, _ = held_worker

    async def ending():
        first = asyncio.create_task(worker.ask(["first"], {}, count_flags))
        await asyncio.sleep(0.05)
        waiting = asyncio.create_task(worker.ask([TEXT], {}, count_flags))
        await asyncio.sleep(0.05)
        end = asyncio.create_task(asyncio.to_thread(worker.end))
        await asyncio.sleep(0.05)
        go.set()
        await end
        with pytest.raises(UserError) as caught:
            await waiting
        with pytest.raises(UserError):
            await worker.ask([TEXT], {}, count_flags)
        return await first, caught.value.code

    assert asyncio.run(ending()) == (b"0", "D887")


def test_time_limit_of_a_text():
    def annotate(rates):
        def run(texts):
            while "slow" in texts:
                check_time()
            return annotate_texts(texts)

        return run

    worker = ModelThread(annotate, seconds=0.1)
    go = threading.Event()
    go.set()
    slow, other, late = ask_while_busy(
        worker, go, [(["slow"], {}, count_flags), ([TEXT], {}, count_flags), ([TEXT], {}, count_flags)]
    )
    worker.end()
    assert slow.code == "D891"
    assert other == late == b"2"


def test_many_slow_texts_at_once_do_not_exceed_the_limit_again_and_again():
    """Together they take longer than a text may; each is annotated again alone, which happens once only."""
    interrupted, go = [], threading.Event()

    def annotate(rates):
        def run(texts):
            go.wait(10)
            end = time.thread_time() + 0.02 * len(texts)
            interrupted.append(len(texts))
            while time.thread_time() < end:
                check_time()
            interrupted.pop()
            return annotate_texts(texts)

        return run

    worker = ModelThread(annotate, seconds=0.2)
    text = "x" * 5_000 + TEXT
    answers = ask_while_busy(worker, go, [([text], {}, count_flags)] * 60)
    worker.end()
    assert answers == [b"2"] * 60
    assert len(interrupted) <= 1
