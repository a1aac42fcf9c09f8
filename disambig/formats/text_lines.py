"""The lines of files, for commands that take text a line at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from disambig.files.opening import READ_ERRORS, open_bytes, read_error
from disambig.formats.lines import read_lines, text_of


def lines_in(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield where each line stands and its text, without its end; blank lines too.

    Parameters
    ----------
    paths : sequence of str
        Files, packed ones (.gz, .xz, .zst) too; ``-`` is standard input, whose lines come as they are typed.

    Yields
    ------
    where : str
        File and line, for messages.
    text : str

    Raises
    ------
    UserError
        D300 to D308 for a file that cannot be read, and for a line that is no text.
    """
    for path in paths:
        try:
            with open_bytes(path) as stream:
                for line in read_lines(stream):
                    text = text_of(line, path).removesuffix("\n").removesuffix("\r")
                    yield f"{path}:{line.number}", text.removeprefix("\ufeff") if line.number == 1 else text
        except READ_ERRORS as problem:
            raise read_error(path, problem) from problem
