"""Train on lists of candidates: those for testing are removed first, some others are for tuning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import CandidateLists
from disambig.errors import UserError
from disambig.formats import NBestList, list_instances, name_error_place, to_candidate_lists
from disambig.formatting import pluralize
from disambig.metrics import list_measure_named, text_costs
from disambig.models import Model
from disambig.text import hash_word
from disambig.training.examples import TextExamples, dataset_report
from disambig.training.resolved_config import Parts, ResolvedConfig
from disambig.training.trainer import train_examples
from disambig.types import Task, metric

_N_PARTS = 5
"""Number of parts that documents are split into: one for testing, one for tuning, the rest for learning."""
_TEST, _TUNE = 0, 1
_MIN_DOCUMENTS = 2 * _N_PARTS
"""Minimum number of documents for holding some out for testing."""


def split_lists(items: Sequence[NBestList]) -> tuple[list[NBestList], list[NBestList]]:
    """Split lists into those for learning and tuning, and those for testing, by whole documents.

    If there are fewer than `_MIN_DOCUMENTS` documents, none are held out for testing.
    """
    documents = [item.document for item in items]
    if len(set(documents)) < _MIN_DOCUMENTS:
        return list(items), []
    parts = _split_parts(documents).tolist()
    return (
        [item for item, part in zip(items, parts, strict=True) if part != _TEST],
        [item for item, part in zip(items, parts, strict=True) if part == _TEST],
    )


def train_lists(
    parts: Parts, items: Sequence[NBestList], *, name: str, n_test_lists: int = 0, **settings: Any
) -> Model:
    """Train a model that finds the best candidate of a list.

    Raises D337 if no list has candidates of different costs.

    Parameters
    ----------
    items : sequence of NBestList
        With costs, or with references from which the task's measure computes costs.
    parts, name, n_test_lists, **settings
        See `train_candidates`.
    """
    parts, documents = ResolvedConfig.from_parts(parts), [item.document for item in items]
    with name_error_place(items):
        lists = lists_with_costs(parts.task, items)
        return train_candidates(parts, lists, documents, name=name, n_test_lists=n_test_lists, **settings)


def train_candidates(
    parts: Parts,
    lists: CandidateLists,
    documents: Sequence[str],
    *,
    name: str,
    tune: CandidateLists | None = None,
    n_test_lists: int = 0,
    **settings: Any,
) -> Model:
    """Train a model that finds the best candidate of a list, from lists in columns.

    Parameters
    ----------
    parts : dict or ResolvedConfig
        The resolved config, as for `trainer.train`, with a task on items that have their own candidates.
    lists : CandidateLists
        Lists without costs are left out.
    documents : sequence of str, shape (n_lists,)
        Document of each list; documents are never split between learning and tuning.
    tune : CandidateLists, optional
        Lists with costs for tuning: development data for the learners, and examples for the decision rule.
        By default a fifth of the documents or, if there are few, all of them.
    n_test_lists : int
        Number of lists held out for testing, for the dataset report.
    **settings
        As for `trainer.train`.

    Raises
    ------
    UserError
        D337 if no list has candidates of different costs, or no tuning list has costs.
    ValueError
        If there is not one document per list.
    """
    if len(documents) != len(lists):
        raise ValueError(f"expected one document per list: {len(documents)} documents for {len(lists)} lists")
    parts = ResolvedConfig.from_parts(parts)
    examples = _examples(parts, lists)
    costs = examples.instances.costs(parts.task.groups[0])
    if not (costs[~np.isnan(costs)] > 0).any() or (examples.instances.observed < 0).all():
        raise UserError("D337", n=len(lists))
    usable = np.flatnonzero(examples.instances.observed >= 0)
    if tune is None:
        learn, tuned, notes = _split_tuning(examples, usable, [documents[i] for i in usable.tolist()])
    else:
        learn, tuned, notes = _take(examples, usable), _examples(parts, tune), []
        tuned = _take(tuned, np.flatnonzero(tuned.instances.observed >= 0))
        if not len(tuned.instances):
            raise UserError("D337", n=len(tune))
    model = train_examples(parts, learn, tuned, learn, name=name, **settings)
    left_out = ["neither costs nor a reference"] * (len(lists) - len(usable))
    report = dataset_report(len(usable) + n_test_lists, left_out, "lists")
    counts = {
        "lists": len(usable),
        "without_right": examples.instances.take(usable).without_right(),
        "documents": len(set(documents)),
        "train_words": 0,
        "account": report,
    }
    return replace(model, provenance={**model.provenance, "examples": counts, "notes": notes})


def _split_tuning(
    examples: TextExamples, usable: NDArray[np.int64], documents: Sequence[str]
) -> tuple[TextExamples, TextExamples, list[str]]:
    """Return the examples for learning, those for tuning, and warnings."""
    tuned = _split_parts(documents) == _TUNE
    if tuned.any() and not tuned.all():
        return _take(examples, usable[~tuned]), _take(examples, usable[tuned]), []
    n = pluralize(len(set(documents)), "document")
    note = f"too few to hold any out for tuning: {n} (equal references count as one)"
    return _take(examples, usable), _take(examples, usable), [note]


def lists_with_costs(task: Task, items: Sequence[NBestList]) -> CandidateLists:
    """Return lists in columns, with the costs that the task's measure gives them."""
    measure = list_measure_named(metric(task)[0])
    return to_candidate_lists(items, lambda texts, references: text_costs(measure, texts, references))


def _examples(parts: ResolvedConfig, lists: CandidateLists) -> TextExamples:
    return TextExamples(parts.tokenisation([]), list_instances(lists), 0)


def _take(examples: TextExamples, rows: NDArray[np.int64]) -> TextExamples:
    return replace(examples, instances=examples.instances.take(rows))


def _split_parts(documents: Sequence[str]) -> NDArray[np.int64]:
    """Return the part of each list, which depends on its document only and not on the order."""
    names = sorted(set(documents), key=hash_word)
    number = {name: i for i, name in enumerate(names)}
    return np.array([number[document] % _N_PARTS for document in documents], np.int64)
