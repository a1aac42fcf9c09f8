"""Training from lists of candidates: some put aside to tune on; those to test on are left out beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.instances import Instances
from disambig.data.lists import CandidateLists
from disambig.errors import UserError
from disambig.fields import metric
from disambig.formats.nbest.columns import instances_of, lists_of
from disambig.formats.nbest.reader import NBest
from disambig.measures.named import measure_of_lists
from disambig.measures.texts import costs_of
from disambig.model.model import Model
from disambig.plural import many
from disambig.text.hashing import hash_word
from disambig.training.accounting import account
from disambig.training.examples import Examples
from disambig.training.trainer import train_examples
from disambig.types import Task

PARTS = 5
"""Documents are dealt to so many parts: one to test on, one to tune on."""
TEST, TUNE = 0, 1
FEW = 2 * PARTS
"""Documents below which none are put aside to test on."""


def split_lists(items: Sequence[NBest]) -> tuple[list[NBest], list[NBest]]:
    """Return the lists to learn and tune on, and those to test on; a document lies on one side.

    Of few documents none are put aside.
    """
    parts = _parts(items)
    if parts.max(initial=-1) < 0 or len({item.document for item in items}) < FEW:
        return list(items), []
    tested = parts == TEST
    return (
        [item for item, out in zip(items, tested, strict=True) if not out],
        [item for item, out in zip(items, tested, strict=True) if out],
    )


def train_lists(
    parts: dict[str, Any], items: Sequence[NBest], *, name: str, put_aside: int = 0, **settings: Any
) -> Model:
    """Train a model that finds the best of a list.

    Parameters
    ----------
    parts : dict
        The resolved config, as for `trainer.train`; its task has items with candidates of their own.
    items : sequence of NBest
        With costs, or references that the task's measure makes costs of.
    put_aside : int
        Lists that were left out before, to test on: they are accounted for.
    **settings
        As for `trainer.train`.

    Raises
    ------
    UserError
        D337 where no list has candidates of different costs.
    """
    every = examples_of(parts, items)
    costs = every.instances.costs(parts["task"].groups[0])
    if not (costs[~np.isnan(costs)] > 0).any() or (every.instances.observed < 0).all():
        raise UserError("D337", n=len(items))
    known = np.flatnonzero(every.instances.observed >= 0)
    folds = _parts([items[i] for i in known.tolist()])
    tuned = folds == TUNE
    notes = []
    if not tuned.any() or tuned.all():
        n = len({items[i].document for i in known.tolist()})
        notes.append(
            f"too few to put any aside to tune on: {many(n, 'document')} (equal references count as one)"
        )
        tuned, learned = np.ones(len(known), bool), np.ones(len(known), bool)
    else:
        learned = ~tuned
    learn, tune = (_some(every, known[part]) for part in (learned, tuned))
    model = train_examples(parts, learn, tune, learn, name=name, **settings)
    documents = len({item.document for item in items})
    left_out = ["lists: neither costs nor a reference"] * (len(items) - len(known))
    told = account(len(known) + put_aside, left_out, "lists")
    said = {"lists": len(known), "documents": documents, "train_words": 0, "account": told}
    return replace(model, provenance={**model.provenance, "examples": said, "notes": notes})


def examples_of(parts: dict[str, Any], items: Sequence[NBest]) -> Examples:
    """Return lists as examples; costs are those of the lists, or the measure's."""
    return Examples(parts["tokenisation"]([]), instances_of(listed(parts["task"], items)), 0)


def listed(task: Task, items: Sequence[NBest]) -> CandidateLists:
    """Return lists by columns, with the costs that the task's measure gives them."""
    measure = measure_of_lists(metric(task)[0])
    return lists_of(items, lambda texts, references: costs_of(measure, texts, references))


def _some(examples: Examples, rows: NDArray[np.int64]) -> Examples:
    chosen: Instances = examples.instances.take(rows)
    return replace(examples, instances=chosen)


def _parts(items: Sequence[NBest]) -> NDArray[np.int64]:
    """Return the part of each list: by its document alone, whatever the order."""
    names = sorted({item.document for item in items}, key=hash_word)
    number = {name: i for i, name in enumerate(names)}
    return np.array([number[item.document] % PARTS for item in items], np.int64)
