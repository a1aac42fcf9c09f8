"""Training from lists of candidates: some put aside to tune on; those to test on are left out beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import CandidateLists, Instances
from disambig.errors import UserError
from disambig.formats import NBestList, list_instances, name_error_place, to_candidate_lists
from disambig.formatting import pluralize
from disambig.metrics import list_measure_named, text_costs
from disambig.models import Model
from disambig.text import hash_word
from disambig.training.examples import TextExamples, dataset_report
from disambig.training.trainer import train_examples
from disambig.types import Task, metric

PARTS = 5
"""Documents are dealt to so many parts: one to test on, one to tune on."""
TEST, TUNE = 0, 1
FEW = 2 * PARTS
"""Documents below which none are put aside to test on."""


def split_lists(items: Sequence[NBestList]) -> tuple[list[NBestList], list[NBestList]]:
    """Return the lists to learn and tune on, and those to test on; a document lies on one side.

    Of few documents none are put aside.
    """
    parts = _split_parts([item.document for item in items])
    if parts.max(initial=-1) < 0 or len({item.document for item in items}) < FEW:
        return list(items), []
    tested = parts == TEST
    return (
        [item for item, out in zip(items, tested, strict=True) if not out],
        [item for item, out in zip(items, tested, strict=True) if out],
    )


def train_lists(
    parts: dict[str, Any], items: Sequence[NBestList], *, name: str, put_aside: int = 0, **settings: Any
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
    documents = [item.document for item in items]
    with name_error_place(items):
        lists = lists_with_costs(parts["task"], items)
        return train_candidates(parts, lists, documents, name=name, put_aside=put_aside, **settings)


def train_candidates(
    parts: dict[str, Any],
    lists: CandidateLists,
    documents: Sequence[str],
    *,
    name: str,
    tune: CandidateLists | None = None,
    put_aside: int = 0,
    **settings: Any,
) -> Model:
    """Train a model that finds the best of a list, from lists by columns.

    Parameters
    ----------
    parts : dict
        The resolved config, as for `trainer.train`; its task has items with candidates of their own.
    lists : CandidateLists
        Those whose costs are not known are left out.
    documents : sequence of str, shape (n_lists,)
        What must not be split between learning and tuning.
    tune : CandidateLists, optional
        What is tuned on, with costs: development data of learners, such as those that stop early, and
        examples of the judge. Left out, it is a fifth of the documents; of few documents it is all of them.
    put_aside : int
        Lists that were left out before, to test on: they are accounted for.
    **settings
        As for `trainer.train`.

    Raises
    ------
    UserError
        D337 where no list has candidates of different costs, or none to tune on has costs.
    ValueError
        Where there is not a document for each list.
    """
    if len(documents) != len(lists):
        raise ValueError(f"a document for each list is wanted: {len(documents)} for {len(lists)}")
    every = _examples(parts, lists)
    costs = every.instances.costs(parts["task"].groups[0])
    if not (costs[~np.isnan(costs)] > 0).any() or (every.instances.observed < 0).all():
        raise UserError("D337", n=len(lists))
    known = np.flatnonzero(every.instances.observed >= 0)
    if tune is None:
        learn, tuned, notes = _divided(every, known, [documents[i] for i in known.tolist()])
    else:
        learn, tuned, notes = _some(every, known), _examples(parts, tune), []
        tuned = _some(tuned, np.flatnonzero(tuned.instances.observed >= 0))
        if not len(tuned.instances):
            raise UserError("D337", n=len(tune))
    model = train_examples(parts, learn, tuned, learn, name=name, **settings)
    left_out = ["lists: neither costs nor a reference"] * (len(lists) - len(known))
    told = dataset_report(len(known) + put_aside, left_out, "lists")
    said = {
        "lists": len(known),
        "without_right": every.instances.take(known).without_right(),
        "documents": len(set(documents)),
        "train_words": 0,
        "account": told,
    }
    return replace(model, provenance={**model.provenance, "examples": said, "notes": notes})


def _divided(
    every: TextExamples, known: NDArray[np.int64], documents: Sequence[str]
) -> tuple[TextExamples, TextExamples, list[str]]:
    """Return what is learned from, what is tuned on, and what there is to say of it."""
    tuned = _split_parts(documents) == TUNE
    if tuned.any() and not tuned.all():
        return _some(every, known[~tuned]), _some(every, known[tuned]), []
    n = pluralize(len(set(documents)), "document")
    note = f"too few to put any aside to tune on: {n} (equal references count as one)"
    return _some(every, known), _some(every, known), [note]


def lists_with_costs(task: Task, items: Sequence[NBestList]) -> CandidateLists:
    """Return lists by columns, with the costs that the task's measure gives them."""
    measure = list_measure_named(metric(task)[0])
    return to_candidate_lists(items, lambda texts, references: text_costs(measure, texts, references))


def _examples(parts: dict[str, Any], lists: CandidateLists) -> TextExamples:
    return TextExamples(parts["tokenisation"]([]), list_instances(lists), 0)


def _some(examples: TextExamples, rows: NDArray[np.int64]) -> TextExamples:
    chosen: Instances = examples.instances.take(rows)
    return replace(examples, instances=chosen)


def _split_parts(documents: Sequence[str]) -> NDArray[np.int64]:
    """Return the part of each list: by its document alone, whatever the order."""
    names = sorted(set(documents), key=hash_word)
    number = {name: i for i, name in enumerate(names)}
    return np.array([number[document] % PARTS for document in documents], np.int64)
