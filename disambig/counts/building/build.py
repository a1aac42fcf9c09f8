"""Builds a count table from text: reads, counts, prunes and writes. The steps are in rooms of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from disambig.counts.building.counter import MEMORY, NgramCounter
from disambig.counts.building.merging import Merged
from disambig.counts.building.pruning import least_counts
from disambig.counts.building.runs import RunFile
from disambig.counts.building.write import refuse_existing, write_table
from disambig.errors import UserError
from disambig.text.hashing import MAX_ORDER, hash_word
from disambig.text.view import Tokenisation

if TYPE_CHECKING:
    from typing_extensions import Unpack

Progress = Callable[[str, int, int | None], None]
"""Told ``(stage, done, total or None)``: ``"count"`` in texts, ``"write"`` in n-grams written."""
BATCH = 1 << 22
"""Characters that are tokenised at a time."""


class Choices(TypedDict, total=False):
    """What `build_table` and `readers.import_table` can be asked for alike.

    Attributes
    ----------
    orders : int
        Count 1-grams to n-grams of this length, 5 at most (the default).
    min_counts : mapping of int to int
        For an order, the count below which n-grams of this many words, and longer ones up to the next
        order that is named, are left out (see `pruning.least_counts`); by default none is.
    keep_words : collection of str
        Only n-grams that contain one of these words, in the tokenisation's normal form; of two words
        with a space between, those that contain both side by side. Of a pattern with a gap, the words
        outside the gap count.
    record : {"exact", "compact", "small"}
        Form of the records.
    keys : bool
        Keep the keys too, so that the table can be merged and pruned.
    memory : int
        Bound on the process's memory, in bytes; what does not fit is sorted on disk.
    temporary : path
        Where those temporary files lie.
    licence : str
        What the header says of the counted text.
    force : bool
        Replace a file that exists.
    progress : callable
        See `Progress`.
    """

    orders: int
    min_counts: Mapping[int, int] | None
    keep_words: Collection[str] | None
    record: str
    keys: bool
    memory: int
    temporary: str | Path | None
    licence: str
    force: bool
    progress: Progress | None


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


def count_texts(
    counter: NgramCounter,
    texts: Iterable[str],
    *tokenisations: Tokenisation,
    tell: Callable[[int], None] | None = None,
) -> int:
    """Add the n-grams of `texts` to `counter`, each text a unit of its own; return how many texts.

    `tell` is told their number now and then.
    """
    n_texts = 0
    for batch in batches(texts):
        for tokenisation in tokenisations:
            counter.add(tokenisation(batch))
        n_texts += len(batch)
        if tell is not None:
            tell(n_texts)
    return n_texts


def merged_partitions(
    texts: Iterable[str],
    tokenisation: Tokenisation,
    *,
    gaps: bool = False,
    **choices: Unpack[Choices],
) -> Iterator[Merged]:
    """Yield all n-grams of `texts` as sorted arrays ``(keys, counts, kinds)``, for experiments.

    Parameters are those of `build_table`; `layout.order_of` tells the order of a kind.
    """
    with counter_for([tokenisation.name], gaps=gaps, **choices) as counter:
        count_texts(counter, texts, tokenisation)
        yield from counter.partitions(min_counts=choices.get("min_counts"))


def build_table(
    path: str | os.PathLike[str],
    texts: Iterable[str],
    tokenisation: Tokenisation | Sequence[Tokenisation],
    *,
    gaps: bool = False,
    sources: Sequence[Mapping[str, Any]] = (),
    **choices: Unpack[Choices],
) -> Path:
    """Count the n-grams of `texts` and write them as a count table.

    Parameters
    ----------
    path : path
        The table; its directory must exist.
    texts : iterable of str
        One paragraph, or document, each: no n-gram crosses from one into the next.
    tokenisation : Tokenisation, or sequence of them
        Each gives the table a view of the same text.
    gaps : bool
        Count patterns with a gap as well (see `NgramCounter`).
    sources : sequence of mapping
        What the header says of where the text comes from; read when all texts are.
    **choices
        See `Choices`.

    Raises
    ------
    UserError
        D106 (exists), D107 (cannot be written), D108 (record), D111 (orders), D112 (memory),
        D113 (no word in all the texts).
    """
    cuts = tokenisation if isinstance(tokenisation, Sequence) else [tokenisation]
    refuse_existing(Path(path), force=choices.get("force", False))
    progress = choices.get("progress")
    with counter_for([cut.name for cut in cuts], gaps=gaps, **choices) as counter:
        n_texts = count_texts(
            counter, texts, *cuts, tell=lambda done: progress("count", done, None) if progress else None
        )
        if not counter.totals[0] and not choices.get("keep_words"):
            raise UserError("D113")
        view = {"texts": n_texts, "sources": [dict(source) for source in sources]}
        return write_chosen(path, counter, views={cut.name: view for cut in cuts}, **choices)


def counter_for(
    tokenisations: Sequence[str],
    *,
    gaps: bool = False,
    runs_to: RunFile | None = None,
    **choices: Unpack[Choices],
) -> NgramCounter:
    """Return the counter for these choices."""
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


def write_chosen(
    path: str | os.PathLike[str],
    counter: NgramCounter,
    *,
    views: Mapping[str, Mapping[str, Any]],
    **choices: Unpack[Choices],
) -> Path:
    """Write what `counter` holds as a table, with what its header says of the text, for each tokenisation."""
    return write_counter(
        path,
        counter,
        min_counts=choices.get("min_counts"),
        record=choices.get("record", "exact"),
        keys=choices.get("keys", False),
        info=info_of(views, **choices),
        force=choices.get("force", False),
        progress=choices.get("progress"),
    )


def info_of(views: Mapping[str, Mapping[str, Any]], **choices: Unpack[Choices]) -> dict[str, Any]:
    """Return what the header says of the text."""
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
    min_counts: Mapping[int, int] | None = None,
    record: str = "exact",
    keys: bool = False,
    info: Mapping[str, Any] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Prune what `counter` holds and write it as a count table; parameters are those of `build_table`."""
    said: dict[str, Any] = dict(info or {})

    def chunks() -> Iterator[Merged]:
        done = 0
        for chunk in counter.partitions(min_counts=min_counts):
            yield chunk
            done += len(chunk[0])
            if progress is not None:
                progress("write", done, None)
        said.update(numbers(counter.orders, counter.totals, counter.distinct, counter.kept, min_counts))

    return write_table(
        path,
        chunks(),
        tokenisations=counter.tokenisations,
        gaps=counter.tokenisations if counter.gaps else (),
        orders=counter.orders,
        record=record,
        keys=keys,
        info=said,
        force=force,
    )


def numbers(
    orders: int,
    seen: Sequence[int],
    distinct: Sequence[int],
    kept: Sequence[int],
    min_counts: Mapping[int, int] | None,
) -> dict[str, Any]:
    """Return what the header says of how many n-grams there are, given by kind, and of thresholds."""
    plain, patterns = slice(0, orders), slice(orders, None)
    named = {"seen": seen, "distinct": distinct, "kept": kept}
    said: dict[str, Any] = {
        "ngrams": {name: _by_order(values[plain], 1) for name, values in named.items()},
        "min_counts": {str(n): least for n, least in least_counts(min_counts, orders=orders).items()},
    }
    if len(seen) > orders:
        said["patterns"] = {name: _by_order(values[patterns], 3) for name, values in named.items()}
    return said


def _by_order(values: Sequence[int], first: int) -> dict[str, int]:
    return {str(order): value for order, value in enumerate(values, first)}
