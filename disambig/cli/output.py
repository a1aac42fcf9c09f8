"""Standard output and standard error as bytes, whatever the terminal thinks of the text."""

from __future__ import annotations

import sys

from disambig.errors import UserError
from disambig.files.saving import writing


class Output:
    """Results on standard output, notes on standard error."""

    def result(self, text: str) -> None:
        """Write to standard output.

        Raises
        ------
        UserError
            D309 where it is closed or full.
        """
        data = text.encode("utf-8", "surrogateescape")
        if not data:
            return
        if sys.stdout is None:
            raise UserError("D309", path="standard output", problem="it is closed")
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
            sys.stderr.write(text.encode("utf-8", "replace").decode())
