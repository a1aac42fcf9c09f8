"""Builds a count table from text: reads, counts, prunes and writes. The steps are in rooms of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from disambig.counts.counter import MEMORY, Merged, NgramCounter
from disambig.counts.index import Chunk
from disambig.counts.write import refuse_existing, write_table
from disambig.errors import UserError
from disambig.text.hashing import MAX_ORDER, hash_word
from disambig.text.view import Tokenisation

Progress = Callable[[str, int, int | None], None]
"""Told ``(stage, done, total or None)``: ``"count"`` in texts, ``"write"`` in n-grams written."""
BATCH = 1 << 22
"""Characters that are tokenised at a time."""


def batches(texts: Iterable[str], *, size: int = BATCH) -> Iterator[list[str]]:
    """Gather texts into lists of about `size` characters."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        batch.append(text)
        characters += len(text) + 1
        if characters >= size:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def count_texts(counter: NgramCounter, texts: Iterable[str], tokenisation: Tokenisation) -> int:
    """Add the n-grams of `texts` to `counter`, each text a unit of its own; return how many texts."""
    n_texts = 0
    for batch in batches(texts):
        counter.add(tokenisation(batch))
        n_texts += len(batch)
    return n_texts


def merged_partitions(
    texts: Iterable[str],
    tokenisation: Tokenisation,
    *,
    orders: int = MAX_ORDER,
    min_counts: Mapping[int, int] | None = None,
    keep_words: Collection[str] | None = None,
    memory: int = MEMORY,
    temporary: str | Path | None = None,
) -> Iterator[Merged]:
    """Yield all n-grams of `texts` as sorted arrays ``(keys, counts, orders)``, for experiments.

    Parameters are those of `build_table`.
    """
    words = _hashes(keep_words)
    with NgramCounter(
        tokenisation.name,
        orders=orders,
        keep_words=words,
        keep_pairs=_pairs(keep_words),
        memory=memory,
        temporary=temporary,
    ) as counter:
        count_texts(counter, texts, tokenisation)
        yield from counter.partitions(min_counts=min_counts)


def build_table(
    path: str | os.PathLike[str],
    texts: Iterable[str],
    tokenisation: Tokenisation,
    *,
    orders: int = MAX_ORDER,
    min_counts: Mapping[int, int] | None = None,
    keep_words: Collection[str] | None = None,
    record: str = "exact",
    memory: int = MEMORY,
    temporary: str | Path | None = None,
    licence: str = "",
    sources: Sequence[Mapping[str, Any]] = (),
    force: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Count the n-grams of `texts` and write them as a count table.

    Parameters
    ----------
    path : path
        The table; its directory must exist.
    texts : iterable of str
        One paragraph, or document, each: no n-gram crosses from one into the next.
    tokenisation : Tokenisation
    orders : int
        Count 1-grams to n-grams of this length, 5 at most.
    min_counts : mapping of int to int, optional
        For an order, the count below which its n-grams are left out.
    keep_words : collection of str, optional
        Only n-grams that contain one of these words, in the tokenisation's normal form; of two words
        with a space between, those that contain both side by side.
    record : {"exact", "compact"}
        Form of the records.
    memory : int
        Bound on the process's memory, in bytes; what does not fit is sorted on disk.
    temporary : path, optional
        Where those temporary files lie.
    licence, sources
        What the header says of the counted text.
    force : bool
        Replace a file that exists.
    progress : callable, optional
        See `Progress`.

    Raises
    ------
    UserError
        D106 (exists), D107 (cannot be written), D108 (record), D111 (orders), D112 (memory),
        D113 (no word in all the texts).
    """
    refuse_existing(Path(path), force=force)
    tell = progress or (lambda stage, done, total: None)
    words = _hashes(keep_words)
    with NgramCounter(
        tokenisation.name,
        orders=orders,
        keep_words=words,
        keep_pairs=_pairs(keep_words),
        memory=memory,
        temporary=temporary,
    ) as counter:
        n_texts = 0
        for batch in batches(texts):
            counter.add(tokenisation(batch))
            n_texts += len(batch)
            tell("count", n_texts, None)
        if not counter.totals[0] and not words:
            raise UserError("D113")
        info = {
            "texts": n_texts,
            "keep_words": sorted(keep_words) if keep_words is not None else None,
        }
        return write_counter(
            path,
            counter,
            record=record,
            min_counts=min_counts,
            info=info | {"licence": licence, "sources": [dict(source) for source in sources]},
            force=force,
            progress=progress,
        )


def write_counter(
    path: str | os.PathLike[str],
    counter: NgramCounter,
    *,
    min_counts: Mapping[int, int] | None = None,
    record: str = "exact",
    info: Mapping[str, Any] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Prune what `counter` holds and write it as a count table; parameters are those of `build_table`."""
    said: dict[str, Any] = dict(info or {})

    def chunks() -> Iterator[Chunk]:
        done = 0
        for keys, counts, _ in counter.partitions(min_counts=min_counts):
            yield keys, counts
            done += len(keys)
            if progress is not None:
                progress("write", done, None)
        by_order = {
            "seen": counter.totals,
            "distinct": counter.distinct,
            "kept": counter.kept,
        }
        said["ngrams"] = {
            name: {str(n + 1): count for n, count in enumerate(counts)} for name, counts in by_order.items()
        }
        said["min_counts"] = {str(n): (min_counts or {}).get(n, 1) for n in range(1, counter.orders + 1)}

    return write_table(
        path,
        chunks(),
        tokenisation=counter.tokenisation,
        orders=counter.orders,
        record=record,
        info=said,
        force=force,
    )


def _hashes(words: Collection[str] | None) -> list[int] | None:
    return None if words is None else [hash_word(word) for word in words if " " not in word]


def _pairs(words: Collection[str] | None) -> list[tuple[int, int]]:
    split = [word.split(" ") for word in words or () if " " in word]
    return [(hash_word(first), hash_word(second)) for first, second in split]
