"""Data of experiments: cached files, paragraphs of text and counts of them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from disambig.errors import UserError
from disambig.files import READ_ERRORS, open_bytes, read_error
from disambig.formats import decode_line, read_lines
from disambig.text import Words

VARIABLE = "DISAMBIG_CACHE"
"""Names the directory; by default it is the user's cache directory."""


def cache_directory() -> Path:
    """Return the directory of cached files, which need not exist yet; D722 where there is no home."""
    said = os.environ.get(VARIABLE)
    if said:
        return Path(said)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "disambig"
    except RuntimeError:  # a user without a home
        problem = "this user has no home directory"
        raise UserError("D722", path="~/.cache", problem=problem, variable=VARIABLE) from None


def cached(
    name: str,
    ending: str,
    *,
    sources: Sequence[Path],
    about: Mapping[str, Any],
    make: Callable[[Path], object],
) -> Path:
    """Return a file made before from the same sources with the same settings, or make it.

    Parameters
    ----------
    name, ending : str
        Parts of the file's name; between them stands a hash of all that it depends on.
    sources : sequence of Path
        Files it is made from, known by name, size and time of change.
    about : mapping
        Plain values it depends on.
    make : callable
        Given the path to write to.

    Raises
    ------
    UserError
        D722 where the directory cannot be written to.
    """
    stats = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(sources)]
    said = json.dumps([stats, about], sort_keys=True)
    directory = cache_directory()
    path = directory / f"{name}-{hashlib.sha256(said.encode()).hexdigest()[:16]}{ending}"
    if path.is_file():
        return path
    unfinished = directory / f"{path.stem}.{os.getpid()}{ending}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        unfinished.touch()
        unfinished.unlink()
    except OSError as problem:
        raise UserError("D722", path=directory, problem=problem.strerror, variable=VARIABLE) from problem
    try:
        make(unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


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
                yield decode_line(line, name).removesuffix("\n").removesuffix("\r")
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
    from disambig.counts import build_table

    kept = sorted(set(words))

    def texts() -> Iterator[str]:
        for number, path in enumerate(files):
            progress("counting n-grams", number, len(files))
            yield from text_lines(path)

    def make(path: Path) -> None:
        build_table(path, texts(), Words(), keep_words=kept, record="exact", memory=3 * GiB)

    about = {"layout": LAYOUT, "words": kept, "tokenisation": Words.name}
    return cached("around", ".counts", sources=files, about=about, make=make)
