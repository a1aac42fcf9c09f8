"""Count n-grams within a memory limit."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disambig.counts import file as files, runs
from disambig.counts.runs import Counted, Merge, Merged, Run, RunFile, run_file
from disambig.errors import UserError
from disambig.files import TempFiles, temp_folder
from disambig.text import MAX_ORDER, UNKNOWN, TokenView, hash_word

if TYPE_CHECKING:
    from typing_extensions import Self

MEMORY = 2 << 30
"""Default memory limit of a counting process, in bytes."""
RESERVE = 392 << 20
"""Bytes of it for the interpreter, the compiled functions, the current text and the merge."""
MIN_MEMORY = 512 << 20
_FOLDER_NAME = "disambig.counts.runs"
"""Name of the temporary folders for runs; those that a killed process left in the same place are deleted."""

MAX_TOTAL = 1 << 60
"""The counts of one kind must add up to less than this, so that no sum of counts overflows."""


def add_up(total: int, counts: NDArray[np.uint64]) -> int:
    """Return a total plus the sum of some counts; D118 if it is `MAX_TOTAL` or more."""
    # the float sum cannot overflow but is not exact; the integer sum below is exact and now known to fit
    if total + counts.sum(dtype=np.float64) >= MAX_TOTAL:
        raise UserError("D118", most=MAX_TOTAL)
    return total + int(counts.sum(dtype=np.uint64))


class NgramCounter:
    """Count the n-grams of views (`add`) or add up ready counts (`add_counts`) within a memory limit.

    Occurrences are collected in one buffer per kind of n-gram. A full buffer is sorted and written to a
    temporary directory as a run; `partitions` merges the runs. Use the counter in a ``with`` statement:
    the temporary files are deleted at its end.

    `*tokenisations`: registry names. They seed the keys, and every view must come from one of them.
    `orders`: count n-grams from 1 word to this many words, at most 5.
    `gaps`: also count patterns with a gap: n-grams of 3 to 5 words with one inner word left open. The open
    word may be any word, but not the end of a sentence.
    `keep_words`: word hashes: only n-grams that contain one of them are counted, and patterns that contain
    one outside the gap. The counts of these patterns are therefore sums over all words in the gap.
    `keep_pairs` (collection of (int, int)): hashes of two adjacent words: n-grams that contain both are also
    counted.
    `memory`: memory limit of the whole process, in bytes.
    `temporary`: where the temporary directory is created; by default where Python creates temporary files.
    `capacity`: N-grams per buffer, instead of the number that `memory` allows (for tests).
    `runs_to`: write the runs here and keep them, instead of in the temporary directory.
    Attribute `kinds`: what is counted: orders, and for patterns with a gap the order plus `file.PATTERN`.
    Attribute `totals`: number of n-grams seen, per kind.
    Attributes `distinct` and `kept`: number of different n-grams per kind, before and after pruning; set by
    `partitions`.
    Attribute `kept_words` (array of uint64, or None): the words of `keep_words` as a hash set for compiled
    functions (`_kernels.mark_members`).
    Attribute `spilled`: number of runs written to disk.
    """

    def __init__(
        self,
        *tokenisations: str,
        orders: int = MAX_ORDER,
        gaps: bool = False,
        keep_words: Collection[int] | None = None,
        keep_pairs: Collection[tuple[int, int]] = (),
        memory: int = MEMORY,
        temporary: str | Path | None = None,
        capacity: int | None = None,
        runs_to: RunFile | None = None,
    ) -> None:
        if not 1 <= orders <= MAX_ORDER:
            raise UserError("D111", orders=orders, most=MAX_ORDER)
        if memory < MIN_MEMORY:
            raise UserError("D112", memory=memory, least=MIN_MEMORY)
        if temporary is not None and not Path(temporary).is_dir():
            raise UserError("D107", path=temporary, problem="there is no such directory")
        self.tokenisations = tokenisations
        self.orders = orders
        self.gaps = gaps
        self.kinds = ngram_kinds(orders, gaps=gaps)
        self.totals, self.distinct, self.kept = ([0] * len(self.kinds) for _ in range(3))
        self.spilled = 0
        self._temporary = temporary
        self._runs_to = runs_to
        self._resources = ExitStack()
        # number of n-grams that can begin at one token
        self._max_per_token = np.array(
            [1 if kind <= orders else kind - files.PATTERN - 2 for kind in self.kinds]
        )
        affordable = (memory - RESERVE) // (8 * len(self.kinds))
        self._capacity = max(capacity or affordable, int(self._max_per_token.max()))
        self._clear()
        self._pending: list[list[Counted]] = [[] for _ in self.kinds]
        self._n_pending = 0
        self._runs: list[list[Run]] = [[] for _ in self.kinds]
        self.kept_words = None if keep_words is None else _hash_set(keep_words)
        self.kept_pairs = tuple(keep_pairs)

    def add(self, view: TokenView) -> None:
        """Count the n-grams of `view`: none crosses a sentence end or contains an `UNKNOWN` word."""
        if view.tokenisation not in self.tokenisations:
            raise ValueError(f"a view of {view.tokenisation}, not of {', '.join(self.tokenisations)}")
        from disambig.counts._kernels import add_keys, mark_members

        membership = np.empty(0, dtype=np.uint8)
        if self.kept_words is not None:
            membership = np.empty(len(view), dtype=np.uint8)
            mark_members(view.hashes, self.kept_words, membership)
            for first, second in self.kept_pairs:
                is_pair = (view.hashes[:-1] == np.uint64(first)) & (view.hashes[1:] == np.uint64(second))
                membership[1:][is_pair] |= 2
        seed = np.uint64(hash_word(view.tokenisation))
        start = 0
        while start < len(view):
            room = int(((self._capacity - self._filled) // self._max_per_token).min())
            if not room:
                self._spill()
                continue
            end = min(len(view), start + room)
            before = self._filled.copy()
            buffers = self._keys, self._filled
            add_keys(view.hashes, view.sentences, start, end, seed, membership, self.orders, *buffers)
            for row, n_new in enumerate((self._filled - before).tolist()):
                self.totals[row] += n_new
            start = end

    def add_counts(self, keys: NDArray[np.uint64], counts: NDArray[np.uint64], kind: int) -> None:
        """Add counts of n-grams of one kind, in any order; keys may repeat.

        Raises D118 if the counts of a kind add up to `MAX_TOTAL` or more.
        """
        if not len(keys):
            return
        row = self.kinds.index(kind)
        self.totals[row] = add_up(self.totals[row], counts)
        self._pending[row].append((keys, counts))
        self._n_pending += len(keys)
        # sorting needs eight times the memory of the keys
        if self._n_pending * 8 >= self._capacity * len(self.kinds):
            self._spill_pending()

    def partitions(self, *, min_counts: Mapping[int, int] | None = None) -> Iterator[Merged]:
        """Yield all n-grams once, in ascending order of their keys, about half a million at a time.

        `min_counts`: for an order, the count below which n-grams and patterns with this many words or more
        are left out (see `disambig.counts.least_counts`).
        Yields keys and counts (uint64), and kinds (uint8).
        """
        self._finish()
        merge = Merge(self.orders, self.kinds, self._runs, min_counts)
        self.distinct, self.kept = merge.distinct, merge.kept
        yield from merge.chunks()

    def spill(self) -> list[list[Run]]:
        """Also write the contents of the buffers as runs; return all runs, grouped by kind."""
        if self._n_pending:
            self._spill_pending()
        if self._filled.any():
            self._spill()
        return self._runs

    def _clear(self) -> None:
        """Allocate new buffers; the system maps their pages only when they are filled."""
        self._keys = np.empty((len(self.kinds), self._capacity), dtype=np.uint64)
        self._filled = np.zeros(len(self.kinds), dtype=np.int64)

    def _spill(self) -> None:
        """Write the contents of the buffers as runs."""
        for row in range(len(self.kinds)):
            keys = self._sorted(row)
            if len(keys):
                self._runs[row].append(self._file().add_keys(keys))
        self._filled[:] = 0

    def _spill_pending(self) -> None:
        """Write the ready counts as runs."""
        for row, pending in enumerate(self._pending):
            if pending:
                keys = np.concatenate([keys for keys, _ in pending])
                counts = np.concatenate([counts for _, counts in pending])
                pending.clear()
                self._runs[row].append(self._file().add_counts(*_sum_counts(keys, counts)))
        self._n_pending = 0

    def _sorted(self, row: int) -> NDArray[np.uint64]:
        """Sort the keys of one kind in place and return them."""
        keys: NDArray[np.uint64] = self._keys[row, : self._filled[row]]
        keys.sort()
        return keys

    def _finish(self) -> None:
        """Make a run of the buffered keys: in memory, unless other runs are on disk already."""
        if self._n_pending:
            self._spill_pending()
        if not self._filled.any():
            return
        if self.spilled:
            self._spill()
        else:
            for row in range(len(self.kinds)):
                keys = self._sorted(row)
                self._runs[row].append(runs.RawRun(keys, runs.slice_edges(keys)))
        self._clear()

    def _file(self) -> RunFile:
        """Return the file of the next run; create it with the first one."""
        self.spilled += 1
        if self._runs_to is None:
            place = Path(self._temporary or tempfile.gettempdir())
            folder = self._resources.enter_context(
                temp_folder(TempFiles.for_name(place, _FOLDER_NAME), private=True)
            )
            self._runs_to = self._resources.enter_context(run_file(folder / "runs"))
        return self._runs_to

    def close(self) -> None:
        """Delete the temporary files and release the buffers."""
        self._resources.close()
        self._runs_to = None
        self._keys = np.empty((len(self.kinds), 0), dtype=np.uint64)
        self._runs = [[] for _ in self.kinds]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def ngram_kinds(orders: int, *, gaps: bool) -> tuple[int, ...]:
    """Return the kinds of n-grams up to `orders` words, and of patterns if `gaps` is set."""
    patterns = range(3, orders + 1) if gaps else ()
    return (*range(1, orders + 1), *(order + files.PATTERN for order in patterns))


def _hash_set(words: Collection[int]) -> NDArray[np.uint64]:
    """Return a hash set of word hashes for compiled functions."""
    from disambig.counts._kernels import fill_set

    hashes = np.unique(np.fromiter(words, dtype=np.uint64, count=len(words)))
    table = np.zeros(1 << (4 * len(hashes) + 4).bit_length(), dtype=np.uint64)
    fill_set(hashes[hashes != UNKNOWN], table)
    return table


def _sum_counts(keys: NDArray[np.uint64], counts: NDArray[np.uint64]) -> Counted:
    """Sort keys, and add up the counts of equal ones."""
    order = np.argsort(keys)
    keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[first], np.add.reduceat(counts, first)
