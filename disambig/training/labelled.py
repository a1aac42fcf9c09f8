"""Training from labelled examples: in folds where candidates are labels, else with some put aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from disambig.fields import decides
from disambig.formats.labelled.example import Labelled
from disambig.model.model import Model
from disambig.training import notes
from disambig.training.folds import FOLDS, Folds, counts
from disambig.training.marking import Marked, mark
from disambig.training.trainer import train_by, train_examples


def train_labelled(
    parts: dict[str, Any], labelled: Sequence[Labelled], *, name: str, **settings: Any
) -> Model:
    """Train a model from labelled examples.

    Parameters
    ----------
    parts : dict
        The resolved config, as for `trainer.train`.
    labelled : sequence of Labelled
    **settings
        As for `trainer.train`; tasks of labels have ``least_margin``, and learn from all examples.

    Raises
    ------
    UserError
        D462 where no example can be used.
    """
    return train_marked(parts, mark(parts["task"], parts["tokenisation"], labelled), name=name, **settings)


def train_marked(parts: dict[str, Any], marked: Marked, *, name: str, **settings: Any) -> Model:
    """Train a model from examples whose places are found; parameters are those of `train_labelled`."""
    if decides(parts["task"]).between == "labels":
        return train_by(Folds(marked), parts, name=name, **settings)
    folds = marked.folds(FOLDS)
    learn, tune = marked.take(folds > 0), marked.take(folds == 0)
    said = notes.of_examples(marked)
    if marked.n_documents < FOLDS:
        learn = tune = marked
        few = "1 document is" if marked.n_documents == 1 else f"{marked.n_documents} documents are"
        said.append(f"{few} too few to put any aside for tuning")
    model = train_examples(parts, learn.examples, tune.examples, learn.examples, name=name, **settings)
    return replace(model, provenance={**model.provenance, **counts(marked), "notes": said})
