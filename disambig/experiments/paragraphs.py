"""Text of experiments: files of one paragraph a line, some counted and others held out, and their counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from disambig.experiments.cache import cached
from disambig.files.opening import READ_ERRORS, open_bytes, read_error
from disambig.formats.lines import read_lines, text_of
from disambig.text.tokenisations.words import Words

GiB = 1 << 30
LAYOUT = 1
"""Of the tables made here; a change makes the cached ones stale."""


def text_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text without their ends, blank ones too; it is unpacked as its name says.

    Raises
    ------
    UserError
        D300, D303 to D305 or D308, with the path, for a file that is no text, damaged or cut short.
    """
    name = str(path)
    try:
        with open_bytes(name) as stream:
            for line in read_lines(stream):
                yield text_of(line, name).removesuffix("\n").removesuffix("\r")
    except READ_ERRORS as problem:
        raise read_error(name, problem) from problem


def paragraphs(files: Iterable[Path]) -> Iterator[str]:
    """Yield the paragraphs of some files, file by file (errors: `text_lines`)."""
    for path in files:
        yield from text_lines(path)


def counts_around(
    files: Sequence[Path], words: Sequence[str], *, progress: Callable[[str, int, int], None]
) -> Path:
    """Return an exact table of all n-grams of some files with one of `words`, made on first use.

    Raises
    ------
    UserError
        D722 where the cache cannot be written to.
    """
    from disambig.counts.building.build import build_table

    kept = sorted(set(words))

    def texts() -> Iterator[str]:
        for number, path in enumerate(files):
            progress("counting n-grams", number, len(files))
            yield from text_lines(path)

    def make(path: Path) -> None:
        build_table(path, texts(), Words(), keep_words=kept, record="exact", memory=3 * GiB)

    about = {"layout": LAYOUT, "words": kept, "tokenisation": Words.name}
    return cached("around", ".counts", sources=files, about=about, make=make)
