"""The pieces of a table put together: the table, byte for byte as if it had been written at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from disambig.batch.manifest import RECORDS, drafts_of
from disambig.batch.records import BROKEN
from disambig.counts import file as files
from disambig.counts.building.write import finish_table
from disambig.counts.index import layout
from disambig.counts.index.layout import EXACT, Record
from disambig.counts.index.ranks import Ranks
from disambig.counts.jobs.pieces import Piece
from disambig.errors import UserError
from disambig.files.json_text import read_json
from disambig.files.saving import save_json

_COPY = 1 << 22
_RANKED = "ranked.json"


def in_order(pieces: Sequence[Piece]) -> tuple[NDArray[np.uint64], bool]:
    """Return the counts that have a rank, in the order in which they appear, and whether all have one."""
    known, all_ranked = np.empty(0, dtype=np.uint64), True
    for piece in pieces:
        counts = piece.appeared()
        more = counts[~np.isin(counts, known)]
        room = layout.OVERFLOW - 1 - len(known)
        all_ranked &= len(more) <= room and not piece.said["overflow"]
        known = np.concatenate([known, more[:room]])
    return known, all_ranked


def save_ranked(directory: Path, ranked: NDArray[np.uint64]) -> None:
    """Keep the counts that have a rank with a job: its pieces are to be written for them."""
    save_json(directory / RECORDS / _RANKED, ranked.tolist(), drafts=drafts_of(directory))


def load_ranked(directory: Path) -> NDArray[np.uint64] | None:
    """Return what `save_ranked` kept, None where that cannot be read."""
    try:
        counts = np.array(read_json(directory / RECORDS / _RANKED), dtype=np.uint64)
    except BROKEN:
        return None
    whole = counts.shape == (layout.OVERFLOW - 1,) and bool(np.all(counts[1:] > counts[:-1]))
    return counts if whole else None


def assemble(
    output: Path,
    pieces: Sequence[Piece],
    *,
    form: Record,
    ranked: NDArray[np.uint64],
    header: Mapping[str, Any],
    keys: bool,
    consume: bool = False,
) -> None:
    """Write the table of all pieces.

    Parameters
    ----------
    output : Path
    pieces : sequence of Piece
        In the order of their keys.
    form : Record
    ranked : array of uint64
        The counts that have a rank, ascending; of exact records.
    header : mapping
        Tokenisations, gaps, record, orders, info.
    keys : bool
        Whether the keys are stored.
    consume : bool
        Remove each piece when it is in the table: saves room on the disk.

    Raises
    ------
    UserError
        D107; D877 for a piece that is not what was written.
    """
    directories, overflow = [], []
    n_ngrams = 0
    with files.replacing(output) as file, files.Digest() as digest:
        file.write(bytes(files.PAGE))
        for piece in pieces:
            if piece.old and not piece.is_whole():
                raise UserError("D877", path=piece.path)
            directory = piece.directory()
            at = np.uint64((file.tell() - files.PAGE) // 2)
            for words in _parts(piece, directory, form, ranked):
                file.write(words.data)
                digest.add(words.data)
            directory[:, 0] += at
            directory[:, 2] += at
            directories.append(directory)
            overflow.append(piece.overflow())
            n_ngrams += piece.said["n_ngrams"]
            if consume and not keys:
                piece.path.unlink()
        values = Ranks(form).values() if form is not EXACT else np.append(np.uint64(0), ranked)
        arrays = {
            "directory": np.concatenate(directories),
            "values": values,
            "overflow": np.concatenate(overflow),
        }
        stored = _Keys(pieces, consume) if keys else None
        size = file.tell() - files.PAGE
        finish_table(file, size, arrays, {**header, "n_ngrams": n_ngrams}, stored, digest)


def _parts(
    piece: Piece, directory: NDArray[np.uint64], form: Record, ranked: NDArray[np.uint64]
) -> Iterator[NDArray[np.uint16]]:
    """Yield the parts of a piece, its ranks made those of the table."""
    places = None
    if form is EXACT and not piece.said["final"]:
        places = np.zeros(1 << 16, dtype=np.uint16)
        found = np.searchsorted(ranked, piece.appeared()) + 1
        places[1 : len(found) + 1] = found
    with open(piece.path, "rb") as source:
        for _, slots, pilots, buckets, _ in directory.tolist():
            words = np.fromfile(source, np.uint16, pilots + buckets - source.tell() // 2)
            if places is not None:
                ranks = words[2 : slots * form.width : form.width]
                ranks[:] = places[ranks]
            yield words


class _Keys:
    """The keys of all pieces, as a section."""

    def __init__(self, pieces: Sequence[Piece], consume: bool) -> None:
        self._pieces, self._consume = pieces, consume
        self.edges: list[int] = np.sum([piece.edges() for piece in pieces], axis=0).tolist()

    def append_to(self, file: BinaryIO) -> tuple[int, int]:
        offset = files.fill_page(file)
        for piece in self._pieces:
            left = 8 * piece.said["n_ngrams"]
            with open(piece.path, "rb") as source:
                source.seek(piece.said["index"])
                while left and (block := source.read(min(left, _COPY))):
                    file.write(block)
                    left -= len(block)
            if self._consume:
                piece.path.unlink()
        return offset, file.tell() - offset
