"""Standard output and standard error as bytes, whatever the terminal thinks of the text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from disambig.errors import UserError
from disambig.files.saving import is_special, saved_output, writing
from disambig.visible import visible


class Output:
    """Results on standard output, notes on standard error."""

    def result(self, text: str) -> None:
        """Write to standard output: on a terminal nothing that would steer it.

        Raises
        ------
        UserError
            D309 where it is closed or full.
        """
        if not text:
            return
        if sys.stdout is None:
            raise UserError("D309", path="standard output", problem="it is closed")
        shown = visible(text, lines=True) if sys.stdout.isatty() else text
        data = shown.encode("utf-8", "surrogateescape")
        with writing("standard output"):
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def remark(self, text: str) -> None:
        """Write what is no problem to standard error, unless ``--quiet`` is asked for."""
        from disambig.cli import progress

        if not progress.is_quiet():
            self.note(text)

    def note(self, text: str) -> None:
        """Write to standard error, if there is one."""
        if sys.stderr is not None:
            sys.stderr.write(visible(text, lines=True))


@contextmanager
def results(output: Path | None, *, force: bool = False) -> Iterator[Callable[[str], None]]:
    """Give a function that writes text to a file, which is there whole or not at all, or to standard output.

    What is shown of progress is taken away while something is written to standard output.

    Raises
    ------
    UserError
        D309 where it cannot be written, D310 for a file that exists; with `force` it is replaced. A pipe or
        device is written to.
    """
    if output is None:
        from disambig.cli.progress import clear

        console = Output()

        def show(text: str) -> None:
            with clear():
                console.result(text)

        yield show
        return
    if output.exists() and not force and not is_special(output):
        raise UserError("D310", path=output)
    with saved_output(output) as write:

        def keep(text: str) -> None:
            write(text.encode("utf-8", "surrogateescape"))

        yield keep
