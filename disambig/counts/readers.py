"""Ready counts: files of n-gram, TAB and count, alone or in the layout of Web 1T. No text is cut here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disambig.corpora.opening import (
    READ_ERRORS,
    decode,
    read_error,
    without_compression,
)
from disambig.counts.build import Choices, counter_for, write_chosen
from disambig.counts.counter import NgramCounter
from disambig.counts.inputs import unpacked
from disambig.counts.write import refuse_existing
from disambig.errors import UserError
from disambig.text.hashing import MAX_ORDER, hash_word

if TYPE_CHECKING:
    from typing_extensions import Unpack

_BLOCK = 1 << 22
_LONGEST_LINE = 1 << 24
_WEB1T_FOLDER = re.compile("([1-5])gms")
_PROBLEMS = (
    "",
    "there is no TAB",
    "the count is no whole number above zero",
    "the words are not separated by single spaces",
    f"there are more than {MAX_ORDER} words",
    "there are more or fewer words than the folder says",
)


def count_files(paths: Sequence[str]) -> list[tuple[str, int]]:
    """Return the files of counts that `paths` name, with the order of their n-grams, 0 where it is free.

    A path is a file, or a directory in the layout of Web 1T (``1gms/vocab.gz``, ``2gms/2gm-0000.gz``, ...,
    packed with gzip, xz or not at all).

    Raises
    ------
    UserError
        D300 (missing), D302 (empty), D115 (a directory of another layout).
    """
    found: list[tuple[str, int]] = []
    for path in paths:
        if not os.path.exists(path):
            raise UserError("D300", path=path)
        if os.path.isdir(path):
            inside = list(_web1t_files(Path(path)))
            if not inside:
                raise UserError("D115", path=path)
            found += inside
        elif os.path.isfile(path) and not os.path.getsize(path):
            raise UserError("D302", path=path)
        else:
            found.append((path, 0))
    return found


def _web1t_files(root: Path) -> Iterator[tuple[str, int]]:
    for folder in sorted(root.iterdir()):
        match = _WEB1T_FOLDER.fullmatch(folder.name)
        if match is None or not folder.is_dir():
            continue
        order = int(match[1])
        name = "vocab" if order == 1 else rf"{order}gm-\d+"
        for file in sorted(folder.iterdir()):
            if re.fullmatch(name, without_compression(file.name)):
                yield str(file), order


def read_counts(counter: NgramCounter, path: str, order: int = 0) -> Iterator[int]:
    """Add the counts of one file to `counter`; yield, now and then, the bytes read from the disk.

    Words are hashed as they stand: they must be in the normal form of the counter's tokenisation.

    Raises
    ------
    UserError
        D114 (a malformed line, with its number), D303 (binary), D304 (not UTF-8), D308 (cut short).
    """
    from disambig.counts.reader_kernels import parse

    seed = np.uint64(hash_word(counter.tokenisations[0]))
    table = counter.kept_words if counter.kept_words is not None else np.empty(0, dtype=np.uint64)
    lines = 0
    try:
        with open(path, "rb") as raw, unpacked(raw, path) as stream:
            for offset, block in _blocks(stream, path):
                decode(block, path, start=offset)
                data = np.frombuffer(block, dtype=np.uint8)
                room = block.count(b"\n") + 1
                keys, counts = (
                    np.empty(room, dtype=np.uint64),
                    np.empty(room, dtype=np.uint64),
                )
                orders = np.empty(room, dtype=np.uint8)
                n, read, wrong = parse(data, order, seed, table, keys, counts, orders)  # type: ignore[no-untyped-call]
                lines += read
                if wrong:
                    raise UserError("D114", path=path, line=lines, problem=_PROBLEMS[wrong])
                _add(counter, keys[:n], counts[:n], orders[:n])
                yield raw.tell()
    except READ_ERRORS as problem:
        raise read_error(path, problem) from problem


def _add(
    counter: NgramCounter,
    keys: NDArray[np.uint64],
    counts: NDArray[np.uint64],
    orders: NDArray[np.uint8],
) -> None:
    for order in range(1, counter.orders + 1):
        here = orders == order
        if here.all():
            counter.add_counts(keys, counts, order)
            return
        if here.any():
            counter.add_counts(keys[here], counts[here], order)


def _blocks(stream: object, path: str) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines together, with their offset in the file."""
    held, offset, lines = b"", 0, 0
    while True:
        block = stream.read(_BLOCK)  # type: ignore[attr-defined]
        held += block
        cut = held.rfind(b"\n") + 1 if block else len(held)
        if cut:
            lines += held.count(b"\n", 0, cut)
            yield offset, held[:cut]
            held = held[cut:]
            offset += cut
        elif len(held) > _LONGEST_LINE:
            raise UserError("D114", path=path, line=lines + 1, problem="it has no end")
        if not block:
            return


def import_table(
    path: str | os.PathLike[str],
    files: Sequence[tuple[str, int]],
    tokenisation: str,
    **choices: Unpack[Choices],
) -> Path:
    """Write a count table from files of counts; those of the same n-gram are added up.

    Parameters
    ----------
    files : sequence of (path, order)
        From `count_files`.
    tokenisation : str
        Registry name of the tokenisation that the words in the files are of.
    **choices
        See `build.Choices`; n-grams longer than `orders` are left out.

    Raises
    ------
    UserError
        What `read_counts` and `build_table` raise.
    """
    refuse_existing(Path(path), force=choices.get("force", False))
    progress = choices.get("progress")
    with counter_for([tokenisation], **choices) as counter:
        before = 0
        for file, order in files:
            if order <= counter.orders:
                for done in read_counts(counter, file, order):
                    if progress is not None:
                        progress("count", before + done, None)
            before += os.path.getsize(file)
        sources = [{"name": os.path.basename(file), "bytes": os.path.getsize(file)} for file, _ in files]
        return write_chosen(path, counter, views={tokenisation: {"sources": sources}}, **choices)
