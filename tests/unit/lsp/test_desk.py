from __future__ import annotations

import asyncio
import time

from disambig.configuration import CheckSettings
from disambig.lsp import CheckScheduler, LoadedCheckers, TextDocument
from disambig.runtime import check_time


def checked_while(change) -> tuple[TextDocument, list[int]]:
    """Check a text; when its settings are read for the first time, `change` is called with it."""
    document = TextDocument.opened("file:///a.md", "/a.md", 1, "It was so.", "utf-16")
    published: list[int] = []
    loaded: list[str] = []

    class NoModels(LoadedCheckers):
        def get(self, settings):
            loaded.append("once more")
            if len(loaded) == 1:
                change(document)
                loop.call_soon_threadsafe(scheduler.schedule, document)
            return lambda texts: []

    async def run() -> None:
        nonlocal loop, scheduler
        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def publish(_, found) -> None:
            published.append(len(loaded))
            done.set()

        scheduler = CheckScheduler(NoModels(), lambda path: CheckSettings(), publish, lambda *told: None)
        scheduler.schedule(document, after=0.0)
        await asyncio.wait_for(done.wait(), 60)
        scheduler.worker.end()

    loop: asyncio.AbstractEventLoop
    scheduler: CheckScheduler
    asyncio.run(run())
    return document, published


def test_settings_that_change_while_they_are_read_hold():
    def change(document: TextDocument) -> None:
        document.settings += 1

    document, published = checked_while(change)
    assert published == [2]  # nothing of the settings before
    assert document.live_settings == document.settings == 1


def test_a_change_of_the_text_needs_no_settings_anew():
    def change(document: TextDocument) -> None:
        document.change(2, [])

    assert checked_while(change)[1] == [1]


def checks(annotate, texts: list[str]) -> tuple[list[str], list[str]]:
    """Check some texts at once; return the names of those published, in order, and the codes told."""
    published: list[str] = []
    told: list[str] = []

    class Models(LoadedCheckers):
        def get(self, settings):
            return annotate

    async def run() -> None:
        done = asyncio.Event()

        def publish(document, found) -> None:
            published.append(document.name)
            if len(published) == len(texts):
                done.set()

        def tell(document, problem) -> None:
            told.append(problem.code)

        scheduler = CheckScheduler(Models(), lambda path: CheckSettings(), publish, tell)
        for number, text in enumerate(texts):
            name = f"/{number}.txt"
            scheduler.schedule(TextDocument.opened(f"file://{name}", name, 1, text, "utf-16"), after=0.0)
        await asyncio.wait_for(done.wait(), 60)
        scheduler.worker.end()

    asyncio.run(run())
    return published, told


def test_a_long_text_is_checked_in_slices_between_others(monkeypatch):
    monkeypatch.setattr("disambig.lsp.scheduler.SLICE", 0.05)
    calls: list[int] = []

    def annotate(texts):
        end = time.thread_time() + 0.04
        while time.thread_time() < end:
            pass
        calls.append(sum(map(len, texts)))
        return []

    long = "\n\n".join(f"{number} " + "so it is " * 6_000 for number in range(6))
    published, told = checks(annotate, [long, "short"])
    assert published == ["/1.txt", "/0.txt"]
    assert set(told) == {"D894"}
    assert len(calls) == 7  # nothing is decided twice


def test_a_text_that_leaves_no_turn_to_others_is_given_up(monkeypatch):
    monkeypatch.setattr("disambig.lsp.scheduler.LIMIT", 0.05)

    def annotate(texts):
        while "slow" in texts:
            check_time()
        return []

    published, told = checks(annotate, ["slow", "short"])
    assert published == ["/0.txt", "/1.txt"]
    assert told == ["D895"]


def test_a_very_long_text_is_called_long_at_once():
    published, told = checks(lambda texts: [], ["so it is\n\n" * 60_000])
    assert told == ["D894"]
    assert published == ["/0.txt"]
