"""New tables out of finished ones that keep their keys: merged and pruned. No text and no counting here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.counts.building import runs
from disambig.counts.building.build import Progress, numbers
from disambig.counts.building.counter import MOST, kinds_of
from disambig.counts.building.merging import Merged, spans
from disambig.counts.building.pruning import least_counts
from disambig.counts.building.write import refuse_existing, write_table
from disambig.counts.index.layout import order_of
from disambig.counts.index.stored_keys import entries, place_of
from disambig.counts.table import CountTable
from disambig.errors import UserError

_AT_ONCE = 1 << 19
"""N-grams that are held at a time."""


def merge_tables(
    path: str | os.PathLike[str],
    tables: Sequence[CountTable],
    *,
    min_counts: Mapping[int, int] | None = None,
    record: str = "exact",
    keys: bool = False,
    force: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Write the table of the text of all `tables`, byte for byte the one that is counted at once.

    Tables of several tokenisations become one with several views.

    Parameters
    ----------
    path : path
    tables : sequence of CountTable
        Tables with keys, not pruned, alike in orders, kept words and, for a tokenisation, gaps.
    min_counts, record, keys, force, progress
        As for `build.build_table`.

    Raises
    ------
    UserError
        D105 (stored keys that are damaged), D106 to D108, D118 (counts too large), D119, D120 (no keys),
        D121 (pruned), D122 (tables that do not fit together).
    """
    refuse_existing(Path(path), force=force)
    names, gaps, said = joined_header(tables)
    first = tables[0]
    pruned = Pruned(first.orders, bool(gaps), min_counts)

    def chunks() -> Iterator[Merged]:
        yield from pruned.chunks(merged(tables, pruned.kinds), sum(t.n_ngrams for t in tables), progress)
        said.update(numbers(pruned.orders, pruned.seen, pruned.distinct, pruned.kept, min_counts))

    return write_table(
        path,
        chunks(),
        tokenisations=names,
        gaps=gaps,
        orders=first.orders,
        record=record,
        keys=keys,
        info=said,
        force=force,
    )


def joined_header(tables: Sequence[CountTable]) -> tuple[list[str], list[str], dict[str, Any]]:
    """Return tokenisations, those with gaps, and what the header of the merged table says of the text.

    Raises
    ------
    UserError
        D105, D120 to D122.
    """
    for table in tables:
        _require_whole(table)
    _require_alike(tables)
    names = list(dict.fromkeys(name for table in tables for name in table.tokenisations))
    gaps = [name for name in names if any(name in table.gaps for table in tables)]
    licences = dict.fromkeys(str(_info(table).get("licence") or "") for table in tables)
    said = {
        "licence": "; ".join(filter(None, licences)),
        "keep_words": _info(tables[0]).get("keep_words"),
        "views": _merged_views(tables),
    }
    return names, gaps, said


def prune_table(
    path: str | os.PathLike[str],
    table: CountTable,
    *,
    min_counts: Mapping[int, int] | None = None,
    orders: int | None = None,
    record: str = "exact",
    keys: bool = False,
    force: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Write `table` without its rare or long n-grams, byte for byte the table counted with these thresholds.

    Parameters
    ----------
    path : path
    table : CountTable
        A table with keys; it may be pruned already, its own thresholds go on to hold.
    orders : int, optional
        The longest n-grams that stay; by default all do.
    min_counts, record, keys, force, progress
        As for `build.build_table`.

    Raises
    ------
    UserError
        D105 (stored keys that are damaged), D106 to D108, D111 (orders), D119, D120 (no keys).
    """
    refuse_existing(Path(path), force=force)
    orders = table.orders if orders is None else orders
    if not 1 <= orders <= table.orders:
        raise UserError("D111", orders=orders, most=table.orders)
    if not table.has_keys:
        raise UserError("D120", path=table.path)
    info = _info(table)
    before = _thresholds(table)
    asked = least_counts(min_counts, orders=orders)
    least = {n: max(count, before.get(n, 1)) for n, count in asked.items()}
    pruned = Pruned(orders, bool(table.gaps), least)
    said = {name: info[name] for name in ("licence", "keep_words", "views") if name in info}

    def chunks() -> Iterator[Merged]:
        kinds = kinds_of(table.orders, gaps=bool(table.gaps))
        yield from pruned.chunks(merged([table], kinds), table.n_ngrams, progress)
        seen = _numbers(info, "seen", pruned.kinds) or pruned.seen
        distinct = _numbers(info, "distinct", pruned.kinds) or pruned.distinct
        said.update(numbers(orders, seen, distinct, pruned.kept, least))

    return write_table(
        path,
        chunks(),
        tokenisations=table.tokenisations,
        gaps=table.gaps,
        orders=orders,
        record=record,
        keys=keys,
        info=said,
        force=force,
    )


class Pruned:
    """Chunks without the n-grams below their thresholds or beyond the orders, and how many there were."""

    def __init__(self, orders: int, gaps: bool, min_counts: Mapping[int, int] | None) -> None:
        self.orders = orders
        self.kinds = kinds_of(orders, gaps=gaps)
        self.seen, self.distinct, self.kept = ([0] * len(self.kinds) for _ in range(3))
        least = least_counts(min_counts, orders=orders)
        self._least = [least[order_of(kind)] for kind in self.kinds]

    def chunks(self, chunks: Iterator[Merged], total: int, progress: Progress | None) -> Iterator[Merged]:
        """Yield what is kept of `chunks`; `progress` is told of n-grams, of `total`."""
        done = 0
        for keys, counts, kinds in chunks:
            wanted = np.zeros(len(keys), dtype=np.bool_)
            for row, kind in enumerate(self.kinds):
                here = kinds == kind
                self._add(row, counts[here])
                here &= counts >= np.uint64(self._least[row])
                self.kept[row] += int(np.count_nonzero(here))
                wanted |= here
            done += len(keys)
            if progress is not None:
                progress("write", done, total)
            yield keys[wanted], counts[wanted], kinds[wanted]

    def _add(self, row: int, counts: NDArray[np.uint64]) -> None:
        # the first sum cannot overflow, the second is exact
        if self.seen[row] + counts.sum(dtype=np.float64) >= MOST:
            raise UserError("D118", most=MOST)
        self.seen[row] += int(counts.sum(dtype=np.uint64))
        self.distinct[row] += len(counts)


def merged(
    tables: Sequence[CountTable], kinds: Sequence[int], first: int = 0, stop: int = runs.SLICES
) -> Iterator[Merged]:
    """Yield the n-grams of all tables in ascending order of keys, counts of the same one added up.

    They are those of the slices ``first:stop``.
    """
    places = slice_places(tables, first, stop)
    for begin, end in spans(places.sum(axis=0), first, stop, _AT_ONCE):
        parts = []
        for table, place in zip(tables, places.tolist(), strict=True):
            parts.append(entries(table, place[begin], place[end]))
            if not np.isin(parts[-1][2], kinds).all():
                raise UserError("D105", path=table.path, section="keys")
            table.forget_pages()
        if sum(int(counts.max()) for _, counts, _ in parts if len(counts)) >= MOST:
            raise UserError("D118", most=MOST)
        keys, counts = runs.merged([part[:2] for part in parts])
        of_all = np.zeros(len(keys), dtype=np.uint8)
        for some, _, theirs in parts:
            of_all[np.searchsorted(keys, some)] = theirs
        if len(keys):
            yield keys, counts, of_all


def slice_places(tables: Sequence[CountTable], first: int = 0, stop: int = runs.SLICES) -> NDArray[np.int64]:
    """Return where in each table each slice of ``first:stop`` begins, shape ``(n_tables, SLICES + 1)``."""
    places = np.zeros((len(tables), runs.SLICES + 1), dtype=np.int64)
    for row, table in zip(places, tables, strict=True):
        for s in range(first, min(stop + 1, runs.SLICES)):
            row[s] = place_of(table, s << 52)
            if s % 256 == 0:
                table.forget_pages()
        row[stop:] = row[stop] if stop < runs.SLICES else table.n_ngrams
    return places


def _require_whole(table: CountTable) -> None:
    if not table.has_keys:
        raise UserError("D120", path=table.path)
    for order, least in _thresholds(table).items():
        if least > 1:
            raise UserError("D121", path=table.path, order=order, least=least)


def _require_alike(tables: Sequence[CountTable]) -> None:
    first, gaps = tables[0], dict[str, bool]()
    for table in tables:
        unlike = ""
        if table.orders != first.orders:
            unlike = "the longest n-grams"
        elif _info(table).get("keep_words") != _info(first).get("keep_words"):
            unlike = "the words that n-grams were kept for"
        for name in table.tokenisations:
            if gaps.setdefault(name, name in table.gaps) != (name in table.gaps):
                unlike = f"the patterns with a gap of {name}"
        if unlike:
            raise UserError("D122", path=table.path, first=first.path, what=unlike)


def _merged_views(tables: Sequence[CountTable]) -> dict[str, Any]:
    views: dict[str, Any] = {}
    for table in tables:
        try:
            for name, more in _info(table).get("views", {}).items():
                views[name] = _merged_view(views[name], more) if name in views else more
        except (KeyError, TypeError, AttributeError) as error:
            raise UserError("D105", path=table.path, section="header") from error
    return views


def _merged_view(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    view: dict[str, Any] = {}
    for what, nothing in (("texts", 0), ("sources", [])):
        if what in one or what in other:
            view[what] = one.get(what, nothing) + other.get(what, nothing)
    left_out = [said["left_out"] for said in (one, other) if "left_out" in said]
    if left_out:
        view["left_out"] = {why: sum(said[why] for said in left_out) for why in left_out[0]}
    return view


def _info(table: CountTable) -> Mapping[str, Any]:
    info = table.header.get("info", {})
    if not isinstance(info, dict):
        raise UserError("D105", path=table.path, section="header")
    return info


def _thresholds(table: CountTable) -> dict[int, int]:
    try:
        return {int(order): int(least) for order, least in _info(table).get("min_counts", {}).items()}
    except (TypeError, ValueError, AttributeError) as error:
        raise UserError("D105", path=table.path, section="header") from error


def _numbers(info: Mapping[str, Any], name: str, kinds: Sequence[int]) -> list[int] | None:
    """Return what the header says by kind of the n-grams seen, or different; None where it is silent."""
    try:
        return [
            int(info["patterns" if order_of(kind) != kind else "ngrams"][name][str(order_of(kind))])
            for kind in kinds
        ]
    except (KeyError, TypeError, ValueError):
        return None
