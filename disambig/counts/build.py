"""Build count tables from text, merge tables and prune them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from disambig.counts import runs
from disambig.counts.counter import MAX_TOTAL, MEMORY, NgramCounter, add_up, ngram_kinds
from disambig.counts.file import least_counts, ngram_order
from disambig.counts.runs import Merged, RunFile, spans
from disambig.counts.table import CountTable
from disambig.counts.writer import entries, first_key_index, refuse_existing, write_table
from disambig.data import minibatch
from disambig.errors import UserError
from disambig.text import MAX_ORDER, Tokenisation, check_view, hash_word
from disambig.type_aliases import OpenProgress, no_progress

if TYPE_CHECKING:
    from typing_extensions import Unpack


BATCH = 1 << 22
"""Number of characters tokenised at a time."""


class TableOptions(TypedDict, total=False):
    """Options of a table that is counted, imported or merged."""

    # for an order, the count below which n-grams with this many words are left out, and longer ones up to the
    # next given order (see `least_counts`); by default all are kept
    min_counts: Mapping[int, int] | None
    record: str  # record format
    keys: bool  # also store the keys, so that the table can be merged and pruned
    force: bool  # replace an existing file
    progress: OpenProgress  # called with texts in the stage ``"count"``, n-grams in ``"write"``


class BuildOptions(TableOptions, total=False):
    """Options that `build_table` and `import_table` share, with those of `TableOptions`."""

    orders: int  # count n-grams from 1 word to this many words, at most 5 (the default)
    # Count only n-grams that contain one of these words (in the normal form of the tokenisation), or two
    # words side by side if an entry has a space. In a pattern with a gap, only the words outside the gap
    # count
    keep_words: Collection[str] | None
    memory: int  # memory limit of the process, in bytes; the rest is sorted on disk
    temporary: str | Path | None  # directory for the temporary files
    licence: str  # licence of the counted text, for the header


def batches(texts: Iterable[str], *, size: int = BATCH) -> Iterator[list[str]]:
    """Group texts into lists of about `size` characters."""
    return minibatch(texts, size, lambda text: len(text) + 1)


def count_texts(
    counter: NgramCounter,
    texts: Iterable[str],
    *tokenisations: Tokenisation,
    progress: OpenProgress = no_progress,
) -> int:
    """Add the n-grams of `texts` to `counter`; return the number of texts. No n-gram crosses two texts.

    `progress` is called with the number of texts so far, from time to time, in the stage ``"count"``.

    Raises D414 for a tokenisation of a plugin whose tokens of the first texts are not valid.
    """
    n_texts = 0
    for batch in batches(texts):
        for tokenisation in tokenisations:
            view = tokenisation(batch)
            if not n_texts:
                check_view(tokenisation, view, batch)
            counter.add(view)
        n_texts += len(batch)
        progress("count", n_texts, None)
    return n_texts


def build_table(
    path: str | os.PathLike[str],
    texts: Iterable[str],
    tokenisation: Tokenisation | Sequence[Tokenisation],
    *,
    gaps: bool = False,
    sources: Sequence[Mapping[str, Any]] = (),
    **choices: Unpack[BuildOptions],
) -> Path:
    """Count the n-grams of `texts` and write them as a count table.

    Raises D106 (exists), D107 (cannot be written), D108 (record), D111 (orders), D112 (memory), D113 (the
    texts contain no word).

    `path`: path of the table; its directory must exist.
    `texts`: each is a paragraph or a document: no n-gram crosses from one to the next.
    `tokenisation` (Tokenisation, or sequence of them): each tokenisation adds a view of the same text to the
    table.
    `gaps`: also count patterns with a gap (see `NgramCounter`).
    `sources`: origin of the text, for the header; read after the last text.
    `**choices`: see `BuildOptions`.
    """
    tokenisations = tokenisation if isinstance(tokenisation, Sequence) else [tokenisation]
    refuse_existing(Path(path), force=choices.get("force", False))
    progress = choices.get("progress", no_progress)
    with make_counter([item.name for item in tokenisations], gaps=gaps, **choices) as counter:
        n_texts = count_texts(counter, texts, *tokenisations, progress=progress)
        refuse_no_ngrams(counter.totals, choices.get("keep_words"))
        text_info = {"texts": n_texts, "sources": [dict(source) for source in sources]}
        views = {item.name: text_info for item in tokenisations}
        return write_counter(path, counter, info=header_info(views, **choices), **choices)


def refuse_no_ngrams(totals: Sequence[int], keep_words: Collection[str] | None) -> None:
    """Raise an error if nothing was counted: D113, or D126 if only n-grams with certain words are kept."""
    if any(totals):
        return
    if keep_words is None:
        raise UserError("D113")
    words = sorted(keep_words)
    more = [f"{len(words) - _SHOWN_WORDS:,} more"] if len(words) > _SHOWN_WORDS else []
    raise UserError("D126", words=", ".join(words[:_SHOWN_WORDS] + more) or "none")


_SHOWN_WORDS = 3
"""Number of kept words that an error shows."""


def make_counter(
    tokenisations: Sequence[str],
    *,
    gaps: bool = False,
    runs_to: RunFile | None = None,
    **choices: Unpack[BuildOptions],
) -> NgramCounter:
    """Return a counter with these options."""
    words = choices.get("keep_words")
    split = [word.split(" ") for word in words or () if " " in word]
    return NgramCounter(
        *tokenisations,
        orders=choices.get("orders", MAX_ORDER),
        gaps=gaps,
        keep_words=None if words is None else [hash_word(word) for word in words if " " not in word],
        keep_pairs=[(hash_word(first), hash_word(second)) for first, second in split],
        memory=choices.get("memory", MEMORY),
        temporary=choices.get("temporary"),
        runs_to=runs_to,
    )


def header_info(views: Mapping[str, Mapping[str, Any]], **choices: Unpack[BuildOptions]) -> dict[str, Any]:
    """Return the part of the header that describes the text."""
    words = choices.get("keep_words")
    return {
        "licence": choices.get("licence", ""),
        "keep_words": None if words is None else sorted(words),
        "views": dict(views),
    }


def write_counter(
    path: str | os.PathLike[str],
    counter: NgramCounter,
    *,
    info: Mapping[str, Any] | None = None,
    **choices: Unpack[BuildOptions],
) -> Path:
    """Prune the contents of `counter` and write them as a count table.

    `info`: the part of the header that describes the text (see `header_info`).
    `**choices`: see `TableOptions`; the other `BuildOptions` have no effect.
    """
    header: dict[str, Any] = dict(info or {})
    min_counts, progress = choices.get("min_counts"), choices.get("progress", no_progress)

    def chunks() -> Iterator[Merged]:
        done = 0
        for chunk in counter.partitions(min_counts=min_counts):
            yield chunk
            done += len(chunk[0])
            progress("write", done, None)
        header.update(
            ngram_numbers(counter.orders, counter.totals, counter.distinct, counter.kept, min_counts)
        )

    return write_table(
        path,
        chunks(),
        tokenisations=counter.tokenisations,
        gaps=counter.tokenisations if counter.gaps else (),
        orders=counter.orders,
        info=header,
        **_write_options(choices),
    )


def _write_options(choices: TableOptions) -> dict[str, Any]:
    """Return those options of a table that `write_table` has."""
    return {name: choices[name] for name in ("record", "keys", "force") if name in choices}


def ngram_numbers(
    orders: int,
    seen: Sequence[int],
    distinct: Sequence[int],
    kept: Sequence[int],
    min_counts: Mapping[int, int] | None,
) -> dict[str, Any]:
    """Return the part of the header with the numbers of n-grams, given by kind, and the thresholds.

    Raises D125 if there are n-grams, but none of them is kept.
    """
    if any(seen) and not any(kept):
        raise UserError("D125")
    plain, patterns = slice(0, orders), slice(orders, None)
    by_name = {"seen": seen, "distinct": distinct, "kept": kept}
    numbers: dict[str, Any] = {
        "ngrams": {name: _by_order(values[plain], 1) for name, values in by_name.items()},
        "min_counts": {str(n): minimum for n, minimum in least_counts(min_counts, orders=orders).items()},
    }
    if len(seen) > orders:
        numbers["patterns"] = {name: _by_order(values[patterns], 3) for name, values in by_name.items()}
    return numbers


def _by_order(values: Sequence[int], first: int) -> dict[str, int]:
    return {str(order): value for order, value in enumerate(values, first)}


_AT_ONCE = 1 << 19
"""Number of n-grams held at a time."""


def merge_tables(
    path: str | os.PathLike[str], tables: Sequence[CountTable], **choices: Unpack[TableOptions]
) -> Path:
    """Merge tables into one that equals, byte for byte, the table counted from all the text at once.

    Tables of different tokenisations become one table with several views.

    Raises D105 (damaged stored keys), D106 to D108, D118 (counts too large), D119, D120 (no keys), D121
    (pruned), D122 (tables that do not fit together).

    `tables`: unpruned tables with keys; their orders, kept words and, per tokenisation, gaps must be the
    same.
    `**choices`: see `TableOptions`.
    """
    refuse_existing(Path(path), force=choices.get("force", False))
    min_counts = choices.get("min_counts")
    names, gaps, info = merge_headers(tables)
    first = tables[0]
    pruned = PrunedChunks(first.orders, bool(gaps), min_counts)

    def chunks() -> Iterator[Merged]:
        n_ngrams = sum(table.n_ngrams for table in tables)
        yield from pruned.chunks(
            merge_ngrams(tables, pruned.kinds), n_ngrams, choices.get("progress", no_progress)
        )
        info.update(ngram_numbers(pruned.orders, pruned.seen, pruned.distinct, pruned.kept, min_counts))

    return write_table(
        path,
        chunks(),
        tokenisations=names,
        gaps=gaps,
        orders=first.orders,
        info=info,
        **_write_options(choices),
    )


def merge_headers(tables: Sequence[CountTable]) -> tuple[list[str], list[str], dict[str, Any]]:
    """Return the tokenisations, those with gaps, and the description of the text for the merged table.

    Raises D105, D120 to D122.
    """
    for table in tables:
        if not table.has_keys:
            raise UserError("D120", path=table.path)
        for order, minimum in _thresholds(table).items():
            if minimum > 1:
                raise UserError("D121", path=table.path, order=order, least=minimum)
    _check_compatible(tables)
    names = list(dict.fromkeys(name for table in tables for name in table.tokenisations))
    gaps = [name for name in names if any(name in table.gaps for table in tables)]
    licences = dict.fromkeys(str(_info(table).get("licence") or "") for table in tables)
    info = {
        "licence": "; ".join(filter(None, licences)),
        "keep_words": _info(tables[0]).get("keep_words"),
        "views": _merged_views(tables),
    }
    return names, gaps, info


def prune_table(
    path: str | os.PathLike[str],
    table: CountTable,
    *,
    orders: int | None = None,
    **choices: Unpack[TableOptions],
) -> Path:
    """Write `table` without rare or long n-grams, byte for byte the table counted with these thresholds.

    Raises D105 (damaged stored keys), D106 to D108, D111 (orders), D119, D120 (no keys).

    `table`: a table with keys. It may be pruned already; its own thresholds still hold.
    `orders`: number of words of the longest n-grams to keep; by default all are kept.
    `**choices`: see `TableOptions`.
    """
    refuse_existing(Path(path), force=choices.get("force", False))
    orders = table.orders if orders is None else orders
    if not 1 <= orders <= table.orders:
        raise UserError("D111", orders=orders, most=table.orders)
    if not table.has_keys:
        raise UserError("D120", path=table.path)
    info = _info(table)
    before = _thresholds(table)
    requested = least_counts(choices.get("min_counts"), orders=orders)
    # thresholds can only rise: n-grams that an earlier pruning removed cannot come back
    minimum = {n: max(count, before.get(n, 1)) for n, count in requested.items()}
    pruned = PrunedChunks(orders, bool(table.gaps), minimum)
    new_info = {name: info[name] for name in ("licence", "keep_words", "views") if name in info}

    def chunks() -> Iterator[Merged]:
        kinds = ngram_kinds(table.orders, gaps=bool(table.gaps))
        yield from pruned.chunks(
            merge_ngrams([table], kinds), table.n_ngrams, choices.get("progress", no_progress)
        )
        # the header of a table that was pruned before knows the numbers of the text; counting gives those
        # left
        seen = _header_numbers(info, "seen", pruned.kinds) or pruned.seen
        distinct = _header_numbers(info, "distinct", pruned.kinds) or pruned.distinct
        new_info.update(ngram_numbers(orders, seen, distinct, pruned.kept, minimum))

    return write_table(
        path,
        chunks(),
        tokenisations=table.tokenisations,
        gaps=table.gaps,
        orders=orders,
        info=new_info,
        **_write_options(choices),
    )


class PrunedChunks:
    """Drops n-grams below their thresholds or beyond the orders, and counts all of them."""

    def __init__(self, orders: int, gaps: bool, min_counts: Mapping[int, int] | None) -> None:
        self.orders = orders
        self.kinds = ngram_kinds(orders, gaps=gaps)
        self.seen, self.distinct, self.kept = ([0] * len(self.kinds) for _ in range(3))
        minimum = least_counts(min_counts, orders=orders)
        self._least = [minimum[ngram_order(kind)] for kind in self.kinds]

    def chunks(self, chunks: Iterator[Merged], total: int, progress: OpenProgress) -> Iterator[Merged]:
        """Yield the kept n-grams of `chunks`; report the number of n-grams read to `progress`."""
        done = 0
        for keys, counts, kinds in chunks:
            is_kept = np.zeros(len(keys), dtype=np.bool_)
            for row, kind in enumerate(self.kinds):
                has_kind = kinds == kind
                self.seen[row] = add_up(self.seen[row], counts[has_kind])
                self.distinct[row] += int(np.count_nonzero(has_kind))
                has_kind &= counts >= np.uint64(self._least[row])
                self.kept[row] += int(np.count_nonzero(has_kind))
                is_kept |= has_kind
            done += len(keys)
            progress("write", done, total)
            yield keys[is_kept], counts[is_kept], kinds[is_kept]


def merge_ngrams(
    tables: Sequence[CountTable], kinds: Sequence[int], first: int = 0, stop: int = runs.SLICES
) -> Iterator[Merged]:
    """Yield the n-grams of all tables in the slices ``first:stop``, in ascending order of keys.

    Counts of the same n-gram are added up.
    """
    places = slice_places(tables, first, stop)
    for start, end in spans(places.sum(axis=0), first, stop, _AT_ONCE):
        parts = []
        for table, place in zip(tables, places.tolist(), strict=True):
            parts.append(entries(table, place[start], place[end]))
            if not np.isin(parts[-1][2], kinds).all():
                raise UserError("D105", path=table.path, section="keys")
            table.forget_pages()
        # checked before adding: the sum of the largest counts bounds every sum, and uint64 would wrap around
        if sum(int(counts.max()) for _, counts, _ in parts if len(counts)) >= MAX_TOTAL:
            raise UserError("D118", most=MAX_TOTAL)
        keys, counts = runs.merge_counts([part[:2] for part in parts])
        merged_kinds = np.zeros(len(keys), dtype=np.uint8)
        for table_keys, _, table_kinds in parts:
            merged_kinds[np.searchsorted(keys, table_keys)] = table_kinds
        if len(keys):
            yield keys, counts, merged_kinds


def slice_places(tables: Sequence[CountTable], first: int = 0, stop: int = runs.SLICES) -> NDArray[np.int64]:
    """Return the index at which each slice of ``first:stop`` begins, shape ``(n_tables, SLICES + 1)``."""
    places = np.zeros((len(tables), runs.SLICES + 1), dtype=np.int64)
    for row, table in zip(places, tables, strict=True):
        for s in range(first, min(stop + 1, runs.SLICES)):
            row[s] = first_key_index(table, s << 52)
            if s % 256 == 0:  # each look-up touches pages all over the file, which would fill the memory
                table.forget_pages()
        row[stop:] = row[stop] if stop < runs.SLICES else table.n_ngrams
    return places


def _check_compatible(tables: Sequence[CountTable]) -> None:
    """Raise D122 unless the tables were counted with the same options."""
    first, gaps = tables[0], dict[str, bool]()
    for table in tables:
        difference = ""
        if table.orders != first.orders:
            difference = "the longest n-grams"
        elif _info(table).get("keep_words") != _info(first).get("keep_words"):
            difference = "the words that n-grams were kept for"
        for name in table.tokenisations:
            if gaps.setdefault(name, name in table.gaps) != (name in table.gaps):
                difference = f"the patterns with a gap of {name}"
        if difference:
            raise UserError("D122", path=table.path, first=first.path, what=difference)


def _merged_views(tables: Sequence[CountTable]) -> dict[str, Any]:
    views: dict[str, Any] = {}
    for table in tables:
        try:
            for name, view in _info(table).get("views", {}).items():
                views[name] = _merged_view(views[name], view) if name in views else view
        except (KeyError, TypeError, AttributeError) as error:
            raise UserError("D105", path=table.path, section="header") from error
    return views


def _merged_view(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    view: dict[str, Any] = {}
    for key, empty in (("texts", 0), ("sources", [])):
        if key in first or key in second:
            view[key] = first.get(key, empty) + second.get(key, empty)
    # only imported counts have this entry
    left_out = [view["left_out"] for view in (first, second) if "left_out" in view]
    if left_out:
        view["left_out"] = {cause: sum(numbers[cause] for numbers in left_out) for cause in left_out[0]}
    return view


def _info(table: CountTable) -> Mapping[str, Any]:
    """Return the description of the text in the header; D105 if it is not an object."""
    info = table.header.get("info", {})
    if not isinstance(info, dict):
        raise UserError("D105", path=table.path, section="header")
    return info


def _thresholds(table: CountTable) -> dict[int, int]:
    """Return the minimum count of each order that the table was pruned with."""
    try:
        return {int(order): int(minimum) for order, minimum in _info(table).get("min_counts", {}).items()}
    except (TypeError, ValueError, AttributeError) as error:
        raise UserError("D105", path=table.path, section="header") from error


def _header_numbers(info: Mapping[str, Any], name: str, kinds: Sequence[int]) -> list[int] | None:
    """Return a header entry (``"seen"``, ``"distinct"``) by kind; None if the header lacks it."""
    try:
        return [
            int(info["patterns" if ngram_order(kind) != kind else "ngrams"][name][str(ngram_order(kind))])
            for kind in kinds
        ]
    except (KeyError, TypeError, ValueError):
        return None
