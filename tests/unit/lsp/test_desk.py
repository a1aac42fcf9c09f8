from __future__ import annotations

import asyncio

from disambig.configuration.settings import Settings
from disambig.lsp.desk import Checkers, Desk
from disambig.lsp.documents import TextDocument


def checked_while(change) -> tuple[TextDocument, list[int]]:
    """Check a text; when its settings are read for the first time, `change` is called with it."""
    document = TextDocument.opened("file:///a.md", "/a.md", 1, "It was so.", "utf-16")
    published: list[int] = []
    loaded: list[str] = []

    class NoModels(Checkers):
        def of(self, settings):
            loaded.append("once more")
            if len(loaded) == 1:
                change(document)
                loop.call_soon_threadsafe(desk.ask, document)
            return lambda texts: []

    async def run() -> None:
        nonlocal loop, desk
        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def publish(_, found) -> None:
            published.append(len(loaded))
            done.set()

        desk = Desk(NoModels(), lambda path: Settings(), publish, lambda *told: None)
        desk.ask(document, after=0.0)
        await asyncio.wait_for(done.wait(), 60)
        desk.worker.end()

    loop: asyncio.AbstractEventLoop
    desk: Desk
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
