"""Data for experiments: cached files, paragraphs of text, and count tables."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

from disambig.errors import UserError
from disambig.files import READ_ERRORS, file_stamp, open_bytes, read_error
from disambig.formats import ConlluSentence, decode_line, read_conllu, read_lines
from disambig.text import Words
from disambig.type_aliases import Progress

VARIABLE = "DISAMBIG_CACHE"
"""Environment variable that names the cache directory; by default it is the user's cache directory."""


def cache_directory() -> Path:
    """Return the cache directory, which may not exist yet; D722 if the user has no home directory."""
    directory = os.environ.get(VARIABLE)
    if directory:
        return Path(directory)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "disambig"
    except RuntimeError:  # Path.home() fails for a user without a home directory
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
    """Return a cached file that was made from the same sources and settings; make it if there is none.

    Parameters
    ----------
    name, ending : str
        Start and end of the file name; a hash of all that the file depends on is put between them.
    sources : sequence of Path
        Source files, identified by name and content.
    about : mapping
        Plain values that the file depends on.
    make : callable
        Called with the path to write to.

    Raises
    ------
    UserError
        D722 if the directory is not writable; the errors of `file_digest` for a source.
    """
    digests = [(path.name, file_digest(path)) for path in sorted(sources)]
    description = json.dumps([digests, about], sort_keys=True)
    directory = cache_directory()
    path = directory / f"{name}-{hashlib.sha256(description.encode()).hexdigest()[:16]}{ending}"
    if path.is_file():
        return path
    unfinished = directory / f"{path.stem}.{os.getpid()}{ending}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        # fail now if the directory is not writable, not after the work
        unfinished.touch()
        unfinished.unlink()
    except OSError as problem:
        raise UserError("D722", path=directory, problem=problem.strerror, variable=VARIABLE) from problem
    try:
        make(unfinished)
        unfinished.replace(path)  # atomic: a killed process leaves no partial file under this name
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's content in hexadecimal; a file that has not changed is read once.

    Raises D300 or D305 if it cannot be read.
    """
    return _digest(path, file_stamp(path))


@lru_cache(maxsize=1024)
def _digest(path: Path, stamp: tuple[int, ...]) -> str:
    """Return the digest of a file; `stamp` is part of the cache's key only."""
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as problem:
        raise read_error(str(path), problem) from problem
    return digest.hexdigest()


GiB = 1 << 30
LAYOUT = 1
"""Version of the tables made here; increase it when they change, so that cached ones are not used."""


def text_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text without line ends, including blank ones; decompress it by its suffix.

    Raises
    ------
    UserError
        D300, D303 to D305 or D308, with the path, for a file that is not text, is damaged or cut short.
    """
    name = str(path)
    try:
        with open_bytes(name) as stream:
            for line in read_lines(stream):
                yield decode_line(line, name).removesuffix("\n").removesuffix("\r")
    except READ_ERRORS as problem:
        raise read_error(name, problem) from problem


def paragraphs(files: Iterable[Path]) -> Iterator[str]:
    """Yield the paragraphs of some files, one file after the other (errors: see `text_lines`)."""
    for path in files:
        yield from text_lines(path)


def counts_around(files: Sequence[Path], words: Sequence[str], *, progress: Progress) -> Path:
    """Return an exact table of all n-grams in some files that contain one of `words`; made on first use.

    Raises
    ------
    UserError
        D722 if the cache is not writable.
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


EWT = "labelled/ewt/*.conllu.xz"
"""UD English EWT (English Web Treebank) by genre and split."""
EWT_GENRES = ("answers", "newsgroup", "reviews", "weblog", "email")
EWT_SPLITS = ("train", "dev", "test")


def ewt_sentences(
    data: Path, splits: Sequence[str] = EWT_SPLITS, genres: Sequence[str] = EWT_GENRES
) -> Iterator[ConlluSentence]:
    """Yield the sentences of UD English EWT, genre by genre.

    Raises D735 for a word without a tag; the errors of `read_conllu`.
    """
    for genre, split in product(genres, splits):
        path = data / EWT.replace("*", f"{genre}.{split}")
        for sentence in read_conllu(path):
            for line, tag in zip(sentence.lines, sentence.tags, strict=True):
                if tag in ("", "_"):
                    raise UserError("D735", path=path, line=line)
            yield sentence
