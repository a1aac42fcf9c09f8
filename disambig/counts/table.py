"""An open count table: n-gram lookups, opening tables by name, and a description of a table."""

from __future__ import annotations

import mmap
import os
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.counts import file as files
from disambig.counts.file import C1, C2, EXACT, RECORD_FORMS, SMALL, checked_edges, describe_least_counts
from disambig.data import HashVocabulary
from disambig.errors import UserError
from disambig.files import file_stamp
from disambig.formatting import escape_control_chars
from disambig.runtime import use_numba
from disambig.text import (
    GAP,
    GAP_HASH,
    MAX_ORDER,
    NOTHING,
    SENTENCE_END,
    SENTENCE_START,
    UNKNOWN,
    Tokenisation,
    hash_word,
    hash_words,
    ngram_keys,
    tokenisation_named,
)

_seed = lru_cache(maxsize=64)(hash_word)
"""Returns the seed of the n-gram keys of a tokenisation, which each look-up needs."""
UNSPLIT_TOKENISATIONS = ("web1t.v1",)
"""Tokenisations for which the words in count files are already in normal form."""
_GAP = re.compile(r"(?<=\s)\*(?=\s)")
_SPECIAL = re.compile(f"({'|'.join(map(re.escape, (SENTENCE_START, SENTENCE_END, GAP, NOTHING)))})")


def ngram_words(ngram: str, tokenisation: Tokenisation) -> list[str]:
    """Return the words of an n-gram given as text.

    ``<S>`` and ``</S>`` stand for the sentence boundaries, ``<0>`` for an empty position, and a ``*`` between
    two words for any word (returned as `GAP`).
    """
    words: list[str] = []
    for piece in _SPECIAL.split(_GAP.sub(GAP, ngram.strip())):
        if _SPECIAL.fullmatch(piece):
            words.append(piece)
        elif piece.strip():
            words += tokenisation.words(piece)[1:-1]
    return words


def ngram_hashes(ngrams: Sequence[str], tokenisation: str) -> list[NDArray[np.uint64]]:
    """Return the word hashes of each n-gram given as text, each of shape ``(order,)``.

    Raises D001 if the tokenisation is unknown.
    """
    splitter = tokenisation_named(tokenisation)
    return [hash_words(ngram_words(ngram, splitter)) for ngram in ngrams]


_BLOCK = 1 << 14
"""Number of keys handled at a time with NumPy, so that its intermediate arrays stay in the cache."""


class TableArrays(NamedTuple):
    """An open table as plain arrays, for compiled functions (see `_kernels`)."""

    words: NDArray[np.uint16]  # (n_words,): the records and pilots of all parts
    # uint64 (n_parts, 5): for each part: offset of its records in `words`, number of slots, offset of its
    # pilots, number of buckets, seed * 2**16. Checked against `words`
    directory: NDArray[np.uint64]
    shift: np.uint64  # ``key >> shift`` is the part
    width: np.uint64  # size of a record in `words`: 3 (exact), 2 (compact) or 1 (small)


def find_ranks(
    arrays: TableArrays, keys: NDArray[np.uint64], *, backend: str | None = None
) -> NDArray[np.uint16]:
    """Return the rank of each key, 0 if it is absent.

    `keys`: uint64 (n,).
    `backend` ({"numpy", "numba"}): by default NumPy, until enough keys were looked up in this process to make
    up for starting Numba.
    """
    keys = np.ascontiguousarray(keys, dtype=np.uint64)
    ranks = np.empty(len(keys), dtype=np.uint16)
    if backend == "numba" or (backend is None and use_numba(len(keys))):
        # imported late, because importing compiled functions loads Numba
        from disambig.counts._kernels import lookup_block

        lookup_block(*arrays, keys, ranks)
        return ranks
    for start in range(0, len(keys), _BLOCK):
        ranks[start : start + _BLOCK] = _find_ranks(arrays, keys[start : start + _BLOCK])
    return ranks


def _find_ranks(arrays: TableArrays, keys: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Return the rank of each key's count, 0 for absent keys; the NumPy form of `_kernels.lookup_block`."""
    words, directory, shift, width = arrays
    u32 = np.uint64(32)
    records, slots, pilots, buckets, seed = directory[(keys >> shift).astype(np.intp)].T
    # the bits of a key select a part, then a bucket of it; the pilot of the bucket selects a slot
    bucket = (((keys << (np.uint64(64) - shift)) >> u32) * buckets) >> u32
    pilot = words[(pilots + bucket).astype(np.intp)].astype(np.uint64)
    mixed = (keys ^ ((pilot + seed) * np.uint64(C1))) * np.uint64(C2)
    at = (records + width * (((mixed >> u32) * slots) >> u32)).astype(np.intp)
    # the record in the slot belongs to the key if the low bits are equal; shifts drop the bits of the rank
    ranks: NDArray[np.uint16]
    if width == SMALL.width:
        small = words[at]
        ranks = np.where((small ^ keys.astype(np.uint16)) << np.uint16(6) == 0, small >> np.uint16(10), 0)
        return ranks.astype(np.uint16, copy=False)
    record = words[at].astype(np.uint32) | (words[at + 1].astype(np.uint32) << np.uint32(16))
    low = keys.astype(np.uint32)
    if width == EXACT.width:
        ranks = np.where(record == low, words[at + 2], np.uint16(0))
        return ranks
    same = (record ^ low) << np.uint32(8) == 0
    ranks = np.where(same, record >> np.uint32(24), np.uint32(0)).astype(np.uint16)
    return ranks


class CountTable:
    """A count table, memory-mapped and read-only; processes that open the same file share its pages.

    A closed table cannot be queried. Pickling stores only the path; the file is mapped again when unpickled.

    Attributes
    ----------
    header : dict
        Contents of the header: tokenisations, gaps, record, orders, n_ngrams, and under
        ``"info"`` the licence, sources, thresholds and totals.
    identity : str
        Digest of the header, which holds the digests of the sections: it changes with any byte.
    tokenisations : tuple of str
        Registry names of the tokenisations that produced its words.
    gaps : tuple of str
        The tokenisations for which the table contains patterns with a gap.
    orders : int
        Number of words of the longest n-grams.
    values : array of uint64, shape (65536,), (256,) or (64,)
        The count of each rank, zero for unused ranks. Rank 0 is the absent n-gram. In an exact table,
        rank 65535 stands for the counts in `overflow`; its value here is their median.
    overflow : array of uint64, shape (n, 2)
        Keys, ascending, and exact counts of the n-grams with rank 65535 (empty in most tables).
    has_keys : bool
        Whether the keys are stored too (`stored_keys`, `key_edges`: see `StoredKeys`).
    arrays : TableArrays
        Arrays with which compiled functions look up keys (see `_kernels`).
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._map, self.header, sections = files.map_file(self.path)
        self.identity = files.identity(self._map)
        try:
            self._read(sections)
        except UserError:
            raise
        except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
            raise UserError("D105", path=self.path, section="header") from error

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> CountTable:
        """Open a table; takes milliseconds for any size.

        Checks the size, header and section table but not the contents; `verify` checks those.

        Raises D100 to D105 (no file, empty, not a table, other version, cut short, damaged), D109 (hashes).
        """
        return cls(path)

    def _read(self, sections: dict[str, files.Section]) -> None:
        """Set the attributes from the header and map the sections.

        Everything that a look-up uses as an index is checked here, since compiled functions check no bounds.
        """
        header = self.header
        self.tokenisations = _checked_names(header.get("tokenisations", [header.get("tokenisation")]))
        self.gaps = _checked_names(header.get("gaps", []))
        if not self.tokenisations or not set(self.gaps) <= set(self.tokenisations):
            raise ValueError("a table without tokenisations")
        self.orders = int(header["orders"])
        self.n_ngrams = int(header["n_ngrams"])
        self._nested = _nested_words(header.get("info", {}))
        seed = hash_word(self.tokenisations[0])
        if header["hashes"] != files.HASHES or header.get("seed", seed) != seed:
            raise UserError("D109", path=self.path)
        record = files.RECORD_FORMS[header["record"]]
        words = _section_array(self._map, sections["index"], np.uint16)
        directory = _section_array(self._map, sections["directory"], np.uint64).reshape(-1, 5).copy()
        stored = _section_array(self._map, sections["values"], np.uint64)
        self.overflow = _section_array(self._map, sections["overflow"], np.uint64).reshape(-1, 2)
        bits = len(directory).bit_length() - 1
        records, slots, pilots, buckets, seeds = directory.T
        n_words = np.uint64(len(words))
        # the sections of all parts of the table (records, pilots) must lie inside `words`, and the numbers of
        # slots and buckets fit in 32 bits, since compiled functions multiply them with 32 bits of a hash
        in_range = (
            1 <= bits <= files.MAX_BITS
            and len(directory) == 1 << bits
            and bool((directory[:, :4] <= n_words).all() and (slots > 0).all() and (buckets > 0).all())
            and bool((records + slots * np.uint64(record.width) <= n_words).all())
            and bool(
                (pilots + buckets <= n_words).all() and (slots < 2**32).all() and (buckets < 2**32).all()
            )
            and bool((seeds < files.SEEDS).all())
        )
        if not in_range:
            raise UserError("D105", path=self.path, section="directory")
        if not 1 <= len(stored) <= record.n_ranks or stored[0]:
            raise UserError("D105", path=self.path, section="values")
        directory[:, 4] *= np.uint64(files.PILOTS)
        self.values = np.zeros(record.n_ranks, dtype=np.uint64)
        self.values[: len(stored)] = stored
        if record is files.EXACT and len(self.overflow):
            self.values[files.OVERFLOW] = np.sort(self.overflow[:, 1])[len(self.overflow) // 2]
        stored_keys = sections.get("keys", files.Section(files.PAGE, 0, ""))
        self.stored_keys = _section_array(self._map, stored_keys, np.uint64)
        self.has_keys = "keys" in sections
        if self.has_keys:
            if len(self.stored_keys) != self.n_ngrams or record is not files.EXACT:
                raise UserError("D105", path=self.path, section="keys")
            self.key_edges = checked_edges(header["key_edges"], self.n_ngrams)
        self.arrays = TableArrays(words, directory, np.uint64(64 - bits), np.uint64(record.width))

    def ranks(
        self, keys: NDArray[np.uint64], *, backend: str | None = None, engine: str | None = None
    ) -> NDArray[np.uint16]:
        """Return the rank of each key's count, 0 if it is absent, shape ``(n,)``.

        `keys` (uint64 (n,)): N-gram keys made with the `seed` of a tokenisation (`disambig.text.ngram_keys`).
        `backend` ({"numpy", "numba"}): as for `find_ranks`.
        `engine`: deprecated name of `backend`.
        """
        return find_ranks(self.arrays, keys, backend=_renamed_engine(backend, engine))

    def counts(
        self, keys: NDArray[np.uint64], *, backend: str | None = None, engine: str | None = None
    ) -> NDArray[np.uint64]:
        """Return the count of each key, 0 if it is absent, shape ``(n,)``; parameters as for `ranks`."""
        ranks = self.ranks(keys, backend=_renamed_engine(backend, engine))
        counts: NDArray[np.uint64] = self.values[ranks]
        if len(self.overflow):
            over = np.flatnonzero(ranks == files.OVERFLOW)
            # the index compares only the low bits of a key (fingerprint), the overflow section all of it
            counts[over] = HashVocabulary(self.overflow[:, 0]).get(keys[over], self.overflow[:, 1], 0)
        return counts

    def counts_of_words(
        self,
        word_hashes: NDArray[np.uint64],
        *,
        tokenisation: str | None = None,
        backend: str | None = None,
        engine: str | None = None,
    ) -> NDArray[np.uint64]:
        """Return the count of each n-gram given by its words.

        Raises D110 if the table has no words of that tokenisation.

        `word_hashes` (uint64 (n, order)): one n-gram per row; rows with an `UNKNOWN` word and rows longer
        than `orders` have count 0. If the table has patterns with a gap, `GAP_HASH` stands for any word.
        `tokenisation`: tokenisation of the words; by default the first of `tokenisations`.
        """
        seed = self.seed(tokenisation)
        if not 1 <= word_hashes.shape[1] <= self.orders:
            return np.zeros(len(word_hashes), dtype=np.uint64)
        keys = ngram_keys(word_hashes, seed)
        counts = self.counts(keys, backend=_renamed_engine(backend, engine))
        counts[(word_hashes == UNKNOWN).any(axis=1)] = 0
        return counts

    def count(self, ngram: str, *, tokenisation: str | None = None) -> int:
        """Return the count of one n-gram given as text, which a tokenisation of the table splits into words.

        ``<S>`` and ``</S>`` stand for the sentence boundaries, a ``*`` between two words for any word. For a
        tokenisation of `UNSPLIT_TOKENISATIONS`, words with blanks between them are looked up unchanged first,
        because an imported table may contain words that the tokenisation would split (``AT&T``).

        Raises D110 if the table has no words of that tokenisation; D117 if it has no patterns with that gap.
        """
        return self.counts_of_texts([ngram], tokenisation=tokenisation)[0]

    def counts_of_texts(self, ngrams: Sequence[str], *, tokenisation: str | None = None) -> list[int]:
        """Return the count of each n-gram given as text, as `count` does."""
        name = tokenisation or self.tokenisations[0]
        self.require(name)
        hashes = ngram_hashes(ngrams, name)
        for ngram, words in zip(ngrams, hashes, strict=True):
            n_gaps = int(np.count_nonzero(words == np.uint64(GAP_HASH)))
            if n_gaps and (name not in self.gaps or n_gaps > 1):
                problem = "has one gap at most" if name in self.gaps else "was built without gaps (--gaps)"
                raise UserError("D117", path=self.path, ngram=ngram, problem=problem)
        totals = self._counts_of_sizes(hashes, name)
        if name in UNSPLIT_TOKENISATIONS:
            as_written = [hash_words(_GAP.sub(GAP, ngram.strip()).split()) for ngram in ngrams]
            unsplit = self._counts_of_sizes(as_written, name)
            np.copyto(totals, unsplit, where=unsplit > 0)
        counts: list[int] = totals.tolist()
        return counts

    def _counts_of_sizes(self, hashes: Sequence[NDArray[np.uint64]], name: str) -> NDArray[np.uint64]:
        """Return the counts of n-grams of different lengths, given by their word hashes, shape ``(n,)``."""
        totals = np.zeros(len(hashes), dtype=np.uint64)
        sizes = np.fromiter(map(len, hashes), dtype=np.int64, count=len(hashes))
        for size in np.unique(sizes[sizes > 0]).tolist():
            same = np.flatnonzero(sizes == size).tolist()
            totals[same] = self.counts_of_words(np.stack([hashes[i] for i in same]), tokenisation=name)
        return totals

    def seed(self, tokenisation: str | None = None) -> int:
        """Return the seed of the n-gram keys of a tokenisation, by default the first one; D110."""
        name = tokenisation or self.tokenisations[0]
        self.require(name)
        return _seed(name)

    def is_nested(self, words: Sequence[str]) -> bool:
        """Return True if, for every n-gram with one of `words`, its shorter n-grams with them are here too.

        This holds if the table was counted from text with thresholds that do not fall with the length. Then a
        hit whose shorter n-gram is absent is a false positive.
        """
        return self._nested is None or (bool(words) and self._nested.issuperset(words))

    def least_count(self, order: int, words: Collection[str]) -> int | None:
        """Return the count from which an n-gram of `order` words with one of `words` is surely in the table.

        None if it may be absent with any count: if it is longer than `orders`, or its words were not counted.
        """
        info = self.header.get("info", {})
        minimum, restricted = info.get("min_counts", {}), info.get("keep_words")
        if "least" in info:  # a pack's table has one rule per task, and one for all other words
            is_task_word = self._nested is not None and self._nested.issuperset(words)
            rules = [rule for name, rule in info["least"].items() if (name != "elsewhere") == is_task_word]
            counts = [int(rule[str(order)]) for rule in rules if str(order) in rule]
            return max(counts) if counts and len(counts) == len(rules) else None
        if order > self.orders or (restricted is not None and not set(words) <= set(restricted)):
            return None
        return int(minimum.get(str(order), 1))

    def require(self, tokenisation: str) -> CountTable:
        """Return this table if it has words of `tokenisation`.

        Raises D110 if it has none: every lookup would silently return zero.
        """
        if tokenisation not in self.tokenisations:
            raise UserError("D110", path=self.path, seen=" and ".join(self.tokenisations), asked=tokenisation)
        return self

    def verify(self) -> None:
        """Check every byte of the file against its checksums; D105 names the damaged section."""
        files.verify(self.path)

    def forget_pages(self) -> None:
        """Let the operating system reclaim the pages that were read; they are read again on demand."""
        if hasattr(self._map, "madvise"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        """Release the memory map; it is freed with the last array that refers to it."""
        empty = np.empty(0, dtype=np.uint16)
        self.arrays = self.arrays._replace(words=empty, directory=np.empty((0, 5), dtype=np.uint64))
        self.overflow = np.empty((0, 2), dtype=np.uint64)
        self.stored_keys = np.empty(0, dtype=np.uint64)
        with suppress(BufferError):  # other code still holds `arrays`
            self._map.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return CountTable, (self.path,)

    def __repr__(self) -> str:
        return (
            f"<CountTable {str(self.path)!r}: {self.n_ngrams:,} n-grams of {', '.join(self.tokenisations)}>"
        )


def _renamed_engine(backend: str | None, engine: str | None) -> str | None:
    """Return the backend, also if it is given by the deprecated name of the parameter."""
    if engine is None:
        return backend
    # 1: this function, 2: the method of the table, 3: its caller
    warnings.warn("the parameter engine is now called backend", DeprecationWarning, stacklevel=3)
    return engine


def _checked_names(names: Any) -> tuple[str, ...]:
    """Return the names of a list in the header; raise ValueError if it is not a list of names."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("not a list of names")
    return tuple(names)


def _section_array(mapped: mmap.mmap, section: files.Section, dtype: type[np.generic]) -> NDArray[Any]:
    """Return a section as an array without a copy; raise ValueError if it does not fit the type."""
    if section.size % np.dtype(dtype).itemsize or section.offset % files.PAGE:
        raise ValueError("a section whose size does not fit its type")
    return np.frombuffer(mapped, dtype, section.size // np.dtype(dtype).itemsize, section.offset)


def _nested_words(info: Any) -> frozenset[str] | None:
    """Return the words for which `CountTable.is_nested` is true; None for all words."""
    if not isinstance(info, dict):
        return frozenset()
    if "nested" in info:
        return frozenset(map(str, info["nested"]))
    views, minimum = info.get("views"), info.get("min_counts", {})
    if not isinstance(views, dict) or not isinstance(minimum, dict) or not views:
        return frozenset()
    pruned = [minimum.get(str(order), 1) for order in range(1, MAX_ORDER + 1)]
    if pruned != sorted(pruned) or not all("texts" in view for view in views.values()):
        return frozenset()  # imported counts may lack the shorter n-grams
    words = info.get("keep_words")
    return None if words is None else frozenset(map(str, words))


_TABLE_FILE = "ngrams.counts"
"""File name of the table in a folder of a pack."""


def open_table(counts: str | Path | CountTable) -> CountTable:
    """Open a count table; a file is opened once per process, and again after it was replaced.

    Parameters
    ----------
    counts : str, path or CountTable
        ``PACK`` for the table of an installed pack, ``PACK/FOLDER`` for the table in one of its folders, or
        a path. Installed packs take precedence over files in the current directory; write ``./PACK`` for
        such a file.

    Raises
    ------
    UserError
        D100 to D109 for the file; D402 for an unknown pack, D413 for one without counts, D660 for another
        type of value.
    """
    if isinstance(counts, CountTable):
        return counts
    if not isinstance(counts, str | Path) or not str(counts):
        raise UserError("D660", value=counts)
    path = Path(counts)
    if str(path) == str(counts) and len(path.parts) <= 2 and not path.suffix and not path.is_absolute():
        path = _pack_table(path) or path
    path = path.resolve()
    return _open_stamped(path, file_stamp(path))


def _pack_table(name: Path) -> Path | None:
    """Return the table that an installed pack provides under a name; None if it does not name a pack."""
    from disambig.packs import find_pack, pack

    first, *folders = name.parts or ("",)
    installed = find_pack(first)
    if installed is None:
        if not folders and not name.is_file():
            pack(first)  # raises D402, which lists the installed packs
        return None
    table = installed.counts
    if folders:
        folder = installed.folders.get(folders[0])
        table = folder and folder / _TABLE_FILE
    if table is None or (folders and not table.is_file()):
        raise UserError("D413", name=str(name))
    return table


@lru_cache(maxsize=32)
def _open_stamped(path: Path, stamp: tuple[int, ...]) -> CountTable:
    # the stamp is only part of the cache key: a replaced file is opened again
    return CountTable.open(path)


def describe_table(table: CountTable) -> Iterator[str]:
    """Yield lines that describe where `table` comes from and what it covers.

    Raises D105 for a header with values of unexpected types.
    """
    try:
        lines = list(_describe_lines(table))
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as problem:
        raise UserError("D105", path=table.path, section="header") from problem
    yield from map(escape_control_chars, lines)


def _describe_lines(table: CountTable) -> Iterator[str]:
    """Yield what `disambig counts info` shows of a table."""
    info: dict[str, Any] = table.header.get("info", {})
    size = table.path.stat().st_size
    bytes_per_ngram = f", {size / table.n_ngrams:.2f} bytes each" if table.n_ngrams else ""
    yield f"{table.path}"
    yield f"n-grams       {table.n_ngrams:,} of 1 to {table.orders} words; {size:,} bytes{bytes_per_ngram}"
    for name in table.tokenisations:
        yield f"words         {name}" + (", also patterns with a gap" if name in table.gaps else "")
    record = RECORD_FORMS[table.header["record"]]
    rounded = ": large ones rounded" if record.growth else ""
    yield f"counts        {record.name}{rounded}, up to {int(table.values.max()):,}"
    yield f"              an absent n-gram is mistaken for another once in {1 << record.fingerprint:,}"
    for entry, label in (("ngrams", "words"), ("patterns", "with gap")):
        numbers = info.get(entry, {})
        for order in sorted(numbers.get("kept", {}), key=int):
            seen, distinct, kept = (numbers[name][order] for name in ("seen", "distinct", "kept"))
            minimum = info.get("min_counts", {}).get(order, 1)
            of = f"kept (seen {minimum:,} times or more) of {distinct:,} " if minimum > 1 else ""
            unit = label.removesuffix("s") if order == "1" else label
            yield f"  {order} {unit:9} {kept:,} {of}different, {seen:,} in all"
    min_counts = {int(order): int(minimum) for order, minimum in info.get("min_counts", {}).items()}
    if left_out := describe_least_counts(min_counts):
        yield f"left out      {left_out}"
    if table.has_keys:
        yield "keys          stored: the table can be merged and pruned"
    words = info.get("keep_words")
    if words:
        shown = ", ".join([*words[:12], *(["..."] if len(words) > 12 else [])])
        yield f"restricted    to n-grams with one of {len(words):,} words: {shown}"
    for name, view in info.get("views", {}).items():
        for cause, n_lines in view.get("left_out", {}).items():
            if n_lines:
                reason = "a part-of-speech tag" if cause == "tagged" else f"a word that {name} splits"
                yield f"left out      lines with {reason}: {n_lines:,}"
    yield f"licence       {info.get('licence') or 'not stated'}"
    views = list(info.get("views", {}).values()) or [info]
    sources: list[Any] = []
    for view in views:
        sources += [source for source in view.get("sources", []) if source not in sources]
    for source in sources[:20]:
        source_size = f" ({source['bytes']:,} bytes)" if "bytes" in source else ""
        yield f"source        {source.get('name') or source.get('file') or 'not named'}{source_size}"
    if len(sources) > 20:
        yield f"              and {len(sources) - 20:,} more"
