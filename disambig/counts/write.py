"""Writes a count table from n-grams in ascending order of their keys. No counting here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from disambig.counts import file as files
from disambig.counts.index import Chunk, renumber, write_index
from disambig.counts.layout import EXACT, RECORDS
from disambig.counts.ranks import Ranks
from disambig.errors import UserError, nearest_first
from disambig.text import hashing

HASHES = {
    "word": "MurmurHash64A",
    "word_seed": hashing.WORD_SEED,
    "order": hashing.ORDER,
    "places": list(hashing.PLACES),
    "fmix": list(hashing.FMIX),
}
"""What keys are made with; a table made with other constants is refused."""


def write_table(
    path: str | os.PathLike[str],
    chunks: Iterable[Chunk],
    *,
    tokenisation: str,
    orders: int = hashing.MAX_ORDER,
    record: str = "exact",
    info: Mapping[str, Any] | None = None,
    force: bool = False,
) -> Path:
    """Write a count table; the file appears when it is complete, or not at all.

    Parameters
    ----------
    path : path
    chunks : iterable of (keys, counts)
        Arrays of uint64: n-gram keys, ascending and distinct over all chunks, and counts, none zero.
    tokenisation : str
        Registry name of the tokenisation; its hash seeded the keys.
    orders : int
        The longest n-grams in the table.
    record : {"exact", "compact"}
    info : mapping, optional
        What else the header should say (plain JSON values): licence, sources, thresholds, totals.
        Read when `chunks` is used up, so it may be filled meanwhile.
    force : bool
        Replace a file that exists.

    Raises
    ------
    UserError
        D106 (exists), D107 (cannot be written), D108 (unknown record).
    """
    target = Path(path)
    if record not in RECORDS:
        raise UserError("D108", name=record, names=nearest_first(record, RECORDS))
    refuse_existing(target, force=force)
    form = RECORDS[record]
    ranks = Ranks(form)
    with files.replacing(target) as file:
        file.write(bytes(files.PAGE))
        directory, n_ngrams = write_index(file, chunks, form, ranks)
        size = file.tell() - files.PAGE
        places = ranks.places()
        if form is EXACT and places is not None:
            renumber(file, files.PAGE, directory, places)
        sections = {
            "index": (files.PAGE, size),
            "directory": files.append_section(file, directory),
            "values": files.append_section(file, ranks.values()),
            "overflow": files.append_section(file, np.ascontiguousarray(ranks.overflow())),
        }
        header = {
            "tokenisation": tokenisation,
            "seed": hashing.hash_word(tokenisation),
            "hashes": HASHES,
            "record": record,
            "orders": orders,
            "n_ngrams": n_ngrams,
            "info": dict(info or {}),
        }
        files.finish(file, header, sections)
    return target


def refuse_existing(path: Path, *, force: bool) -> None:
    """Raise D106 where `path` exists (unless `force`), D107 where its directory does not."""
    if path.is_dir() or (path.exists() and not force):
        raise UserError("D106", path=path)
    if not path.parent.is_dir():
        raise UserError("D107", path=path, problem=f"there is no directory {path.parent}")
