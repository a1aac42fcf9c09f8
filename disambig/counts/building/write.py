"""Writes a count table from n-grams in ascending order of their keys. No counting here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from disambig.counts import file as files
from disambig.counts.building.counter import Merged
from disambig.counts.index.layout import EXACT, HASHES, RECORDS
from disambig.counts.index.ranks import Ranks
from disambig.counts.index.stored_keys import StoredKeys
from disambig.counts.index.writing import Chunk, renumber, write_index
from disambig.errors import UserError, nearest_first
from disambig.text import hashing


def write_table(
    path: str | os.PathLike[str],
    chunks: Iterable[Chunk | Merged],
    *,
    tokenisations: Sequence[str],
    gaps: Sequence[str] = (),
    orders: int = hashing.MAX_ORDER,
    record: str = "exact",
    keys: bool = False,
    info: Mapping[str, Any] | None = None,
    force: bool = False,
) -> Path:
    """Write a count table; the file appears when it is complete, or not at all.

    Parameters
    ----------
    path : path
    chunks : iterable of (keys, counts) or (keys, counts, kinds)
        Arrays of uint64: n-gram keys, ascending and distinct over all chunks, and counts, none zero.
        The kinds (uint8, see `layout.PATTERN`) matter to stored keys alone.
    tokenisations : sequence of str
        Registry names of the tokenisations; the hash of each seeded the keys of its n-grams.
    gaps : sequence of str, optional
        Those of them whose patterns with a gap are in the table.
    orders : int
        The longest n-grams in the table.
    record : {"exact", "compact", "small"}
    keys : bool
        Store the keys and kinds too, so that the table can be merged and pruned.
    info : mapping, optional
        What else the header should say (plain JSON values): licence, sources, thresholds, totals.
        Read when `chunks` is used up, so it may be filled meanwhile.
    force : bool
        Replace a file that exists.

    Raises
    ------
    UserError
        D106 (exists), D107 (cannot be written), D108 (unknown record), D119 (keys beside rounded counts).
    """
    target = Path(path)
    if record not in RECORDS:
        raise UserError("D108", name=record, names=nearest_first(record, RECORDS))
    form = RECORDS[record]
    if keys and form is not EXACT:
        raise UserError("D119", record=record)
    refuse_existing(target, force=force)
    ranks = Ranks(form)
    with files.replacing(target) as file, StoredKeys(target.parent, wanted=keys) as stored:
        file.write(bytes(files.PAGE))
        directory, n_ngrams = write_index(file, stored.following(chunks), form, ranks)
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
            "tokenisations": list(tokenisations),
            "gaps": list(gaps),
            "hashes": HASHES,
            "record": record,
            "orders": orders,
            "n_ngrams": n_ngrams,
            "info": dict(info or {}),
        }
        if keys:
            sections["keys"] = stored.append_to(file)
            header["key_edges"] = stored.edges
        files.finish(file, header, sections)
    return target


def refuse_existing(path: Path, *, force: bool) -> None:
    """Raise D106 where `path` exists (unless `force`), D107 where its directory does not."""
    if path.is_dir() or (path.exists() and not force):
        raise UserError("D106", path=path)
    if not path.parent.is_dir():
        raise UserError("D107", path=path, problem=f"there is no directory {path.parent}")
