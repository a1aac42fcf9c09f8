"""Writes a count table from n-grams in ascending order of their keys. No counting here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from numpy.typing import NDArray

from disambig.counts import file as files
from disambig.counts.building.merging import Merged
from disambig.counts.index.layout import EXACT, HASHES, RECORDS, Record
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
    target, form = Path(path), form_of(record, keys=keys)
    refuse_existing(target, force=force)
    ranks = Ranks(form)
    with files.replacing(target) as file, StoredKeys(target.parent, wanted=keys) as stored:
        file.write(bytes(files.PAGE))
        directory, n_ngrams = write_index(file, stored.following(chunks), form, ranks)
        size = file.tell() - files.PAGE
        places = ranks.places()
        if form is EXACT and places is not None:
            renumber(file, files.PAGE, directory, places)
        header = {
            "tokenisations": list(tokenisations),
            "gaps": list(gaps),
            "record": record,
            "orders": orders,
            "n_ngrams": n_ngrams,
            "info": dict(info or {}),
        }
        arrays = {"directory": directory, "values": ranks.values(), "overflow": ranks.overflow()}
        finish_table(file, size, arrays, header, stored if keys else None)
    return target


class KeysSection(Protocol):
    """The keys of a table that are to be stored (see `stored_keys`)."""

    edges: list[int]

    def append_to(self, file: BinaryIO) -> tuple[int, int]:
        """Append them as a section; return its place and size."""
        ...


def finish_table(
    file: BinaryIO,
    size: int,
    arrays: Mapping[str, NDArray[Any]],
    header: Mapping[str, Any],
    stored: KeysSection | None,
    digest: files.Digest | None = None,
) -> None:
    """Append all that follows the index, which is `size` bytes from the first page on.

    Parameters
    ----------
    arrays : mapping of str to array
        The sections ``directory``, ``values`` and ``overflow``.
    header : mapping
        Tokenisations, gaps, record, orders, number of n-grams, info.
    digest : files.Digest, optional
        Of the index, if it was taken while that was written.
    """
    sections = {"index": (files.PAGE, size)}
    for name in ("directory", "values", "overflow"):
        sections[name] = files.append_section(file, arrays[name])
    names = ("tokenisations", "gaps", "hashes", "record", "orders", "n_ngrams", "info")
    said = {name: HASHES if name == "hashes" else header[name] for name in names}
    if stored is not None:
        sections["keys"] = stored.append_to(file)
        said["key_edges"] = stored.edges
    files.finish(file, said, sections, {} if digest is None else {"index": digest.of_section(size)})


def form_of(record: str, *, keys: bool) -> Record:
    """Return a form of record by its name; D108 for an unknown one, D119 for keys beside rounded counts."""
    if record not in RECORDS:
        raise UserError("D108", name=record, names=nearest_first(record, RECORDS))
    if keys and RECORDS[record] is not EXACT:
        raise UserError("D119", record=record)
    return RECORDS[record]


def refuse_existing(path: Path, *, force: bool) -> None:
    """Raise D106 where `path` exists (unless `force`), D107 where its directory does not."""
    if path.is_dir() or (path.exists() and not force):
        raise UserError("D106", path=path)
    if not path.parent.is_dir():
        raise UserError("D107", path=path, problem=f"there is no directory {path.parent}")
