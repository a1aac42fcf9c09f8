"""What the user of a long command sees on standard error: progress, messages, a summary."""

from __future__ import annotations

import time
from collections.abc import Sequence

from disambig.batch.job import Report
from disambig.cli.progress import Meter, remark, say
from disambig.plural import many
from disambig.visible import visible

MESSAGES_SHOWN = 50


class Reporter:
    """Shows how far annotating is, and messages and the summary.

    Parameters
    ----------
    meter : Meter, optional
        Where progress is shown.
    """

    def __init__(self, meter: Meter | None = None) -> None:
        self._meter = meter or Meter()
        self._size: int | None = None
        self._done = 0
        self._first: tuple[float, int] | None = None
        self._last = (0.0, 0)
        self._messages = 0

    def begin(self, size: int | None) -> None:
        """Begin; `size` is how much there is to do, in bytes, if that is known."""
        self._size = size
        self._meter.show("annotating", 0, size, unit="B")

    def listen(self, amount: int, messages: Sequence[str]) -> None:
        """Show that so much more is done, and messages, the first `MESSAGES_SHOWN` of them."""
        self._done += amount
        self._last = (time.monotonic(), self._done)
        if amount and self._first is None:
            self._first = self._last
        self._meter.show("annotating", self._done, self._size, unit="B")
        for message in messages:
            self._messages += 1
            if self._messages <= MESSAGES_SHOWN:
                say(f"disambig: {message}")

    def _words_a_second(self, words: int) -> str:
        """Return the rate of all but the first piece, which waits for models and compiled code."""
        if self._first is None or self._last[1] <= self._first[1] or not words:
            return ""
        share = (self._last[1] - self._first[1]) / self._last[1]
        seconds = max(self._last[0] - self._first[0], 1e-9)
        return f", {words * share / seconds:,.0f} words/s"

    def summary(self, report: Report, output: str | None) -> None:
        """Tell what was done: documents, words a second, decisions and flags of each task."""
        totals = report.totals
        rate = self._words_a_second(report.fresh.words) if not report.skipped else ""
        remark(f"{many(totals.documents, 'document')}, {many(totals.words, 'word')}{rate}")
        for task, (decisions, flags) in sorted(totals.tasks.items()):
            told = f"{task}: {many(decisions, 'decision')}"
            if flags is not None:
                share = f" ({1000 * flags / totals.words:.2f} per 1,000 words)" if totals.words else ""
                told += f", {many(flags, 'flag')}{share}"
            remark(told)
        if report.skipped:
            remark(_before(report.skipped, report.shards))
        hidden = self._messages - MESSAGES_SHOWN
        if hidden > 0:
            say(f"{many(hidden, 'more message')} not shown")
        if report.bad:
            say(f"left out, since they could not be annotated: {many(len(report.bad), 'document')}")
        if report.left_out:
            say(f"left out, since their work failed: {many(len(report.left_out), 'part')}")
        if output is not None:
            remark(f"written to {visible(output)}")


def _before(skipped: int, shards: int) -> str:
    """Return how much of a job an earlier run had done."""
    if skipped == shards:
        return "nothing was left to do: an earlier run had finished it"
    was = "was" if skipped == 1 else "were"
    return f"{skipped:,} of {many(shards, 'shard')} {was} finished by an earlier run"
