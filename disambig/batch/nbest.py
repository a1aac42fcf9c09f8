"""Reranking of n-best lists in one stream: lists in, lists out, some thousand at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from disambig.errors import UserError
from disambig.formats.nbest.columns import lists_of
from disambig.formats.nbest.locating import located
from disambig.formats.nbest.reader import NBest, read_nbest
from disambig.formats.nbest.writer import lines_of
from disambig.model.lists import decide_lists
from disambig.model.model import Model

AT_ONCE = 2000
"""Lists decided at a time."""


def rerank(
    model: Model,
    paths: Sequence[str],
    write: Callable[[bytes], object],
    *,
    bad: Callable[[UserError], object] | None = None,
) -> int:
    """Write the lists of files with their best candidate first; return how many there were.

    Parameters
    ----------
    bad : callable, optional
        Gets the error of a line that is no list, and the rest goes on; else it is raised.

    Raises
    ------
    UserError
        D334 for a line that is no list; D300 to D308 for a file; D336 for a model of another kind.
    """
    n = 0
    for items in _batches(read_nbest(paths, bad=bad)):
        with located(items):
            decisions = decide_lists(model, lists_of(items))
        write("".join(f"{line}\n" for line in lines_of(items, decisions)).encode())
        n += len(items)
    return n


def _batches(items: Iterator[NBest]) -> Iterator[list[NBest]]:
    while batch := list(islice(items, AT_ONCE)):
        yield batch
