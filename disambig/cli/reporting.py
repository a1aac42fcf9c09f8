"""What the user of a long command sees on standard error: progress, messages, a summary."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

from disambig.batch.job import Report

MESSAGES_SHOWN = 50


class Reporter:
    """Shows progress on a terminal, and messages and the summary anywhere."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._began = time.monotonic()
        self._first = 0.0
        self._messages = 0

    def begin(self, size: int | None) -> None:
        """Start the progress bar; `size` is how much there is to do, in bytes, if that is known."""
        self._began = time.monotonic()
        if sys.stderr is not None and sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=size, unit="B", unit_scale=True, leave=False, file=sys.stderr)

    def listen(self, amount: int, messages: Sequence[str]) -> None:
        """Move the bar on and show messages, the first `MESSAGES_SHOWN` of them."""
        if self._bar is not None:
            self._bar.update(amount)
        for message in messages:
            self._messages += 1
            if self._messages <= MESSAGES_SHOWN:
                self.say(f"disambig: {message}")

    def say(self, line: str) -> None:
        """Write a line without disturbing the bar."""
        if sys.stderr is None:
            return
        line = line.encode(sys.stderr.encoding or "utf-8", "backslashreplace").decode(
            sys.stderr.encoding or "utf-8"
        )
        if self._bar is not None:
            self._bar.write(line, file=sys.stderr)
        else:
            sys.stderr.write(line + "\n")

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def summary(self, report: Report, output: str | None) -> None:
        """Tell what was done: documents, words a second, decisions and flags of each task."""
        seconds = max(time.monotonic() - self._began, 1e-9)
        totals = report.totals
        rate = f", {report.fresh.words / seconds:,.0f} words/s" if report.fresh.words else ""
        self.say(f"{_many(totals.documents, 'document')}, {_many(totals.words, 'word')}{rate}")
        for task, (decisions, flags) in sorted(totals.tasks.items()):
            told = f"{task}: {_many(decisions, 'decision')}"
            if flags is not None:
                share = f" ({1000 * flags / totals.words:.2f} per 1,000 words)" if totals.words else ""
                told += f", {_many(flags, 'flag')}{share}"
            self.say(told)
        if report.skipped:
            self.say(f"{report.skipped:,} of {_many(report.shards, 'shard')} were finished before")
        hidden = self._messages - MESSAGES_SHOWN
        if hidden > 0:
            self.say(f"{hidden:,} more messages not shown")
        if report.bad:
            self.say(f"left out, since they could not be annotated: {_many(len(report.bad), 'document')}")
        if report.left_out:
            self.say(f"left out, since their work failed: {_many(len(report.left_out), 'part')}")
        if output is not None:
            self.say(f"written to {output}")


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
