"""Training of a tagger from sentences that are cut into words and tagged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from disambig.api import Model, UserError, WordClasses, fit_labels, label_model, resolve

from .sequences import Tagged, batch_of, tags_of

LEARNER: Mapping[str, Any] = {"@disambig_learners": "random_subspace.StructuredPerceptron.v1", "passes": 8}
Progress = Callable[[str, int, int], None]


def train_tagger(
    train: Tagged,
    dev: Tagged,
    *,
    name: str,
    version: str = "0.1.0",
    learner: Mapping[str, Any] = LEARNER,
    classes: WordClasses | None = None,
    least: float = 0.0,
    progress: Progress | None = None,
) -> Model:
    """Train the model of a tagger.

    Parameters
    ----------
    train : sequence of (words, tags)
        To learn from; its tags are the tag set.
    dev : sequence of (words, tags)
        To calibrate probabilities on, by the words whose tags are known.
    learner : mapping
        The config's section.
    classes : WordClasses, optional
        Of the words of plain text: they help with words that the sentences lack.
    least : float
        Weights of features that are smaller in size are left out. Above 0 weights are also rounded
        to 64ths, which halves the model's size; at 0 the model is just what was learned.
    progress : callable, optional

    Raises
    ------
    UserError
        D790 to D792 for sentences that cannot be learned from.
    """
    tell = progress or (lambda stage, done, total: None)
    tags = tags_of(train)
    config = {
        "task": {"@disambig_tasks": "random_subspace.Tags.v1", "tags": list(tags)},
        "tokenisation": {"@disambig_tokenisations": "disambig.spacy_tokens.v1"},
        "extractors": {"context": {"@disambig_extractors": "disambig.TokenContext.v1"}},
        "learner": dict(learner),
        "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
    }
    parts = resolve(config)
    tell("features", 0, 3)
    batch, extractor = batch_of(train, tags, classes=classes)
    tell("learning", 1, 3)
    fitted = parts["learner"].fit(batch)
    scorer = fitted.scorer
    if least > 0:
        scorer = scorer.pruned(least).rounded()
        kept = np.diff(scorer.begins) > 0
        scorer, extractor = scorer.only(kept), extractor.only(kept)
    tell("calibrating", 2, 3)
    tuning, _ = batch_of(dev, tags, extractor)
    known = tuning.costs.min(axis=1, initial=1.0) == 0
    if not known.any():
        raise UserError("D790")
    scores = scorer.scores(tuning).reshape(tuning.costs.shape)[known]
    gold = tuning.costs[known].argmin(axis=1).astype(np.int32)
    right = int((scores.argmax(axis=1) == gold).sum())
    labels = fit_labels([scores], [gold], metric=("accuracy", None), biased=False)
    n_words = sum(len(words) for words, _ in train)
    return label_model(
        parts,
        name=name,
        version=version,
        config=config,
        extractors=(extractor,),
        scorers=(scorer,),
        fitted=labels,
        provenance={
            "groups": {"tag": {"examples": n_words, **fitted.report}},
            "examples": {"labelled": n_words, "documents": len(train), "train_words": n_words},
            "notes": [f"{right / len(known):.2%} of {len(known):,} words of the development text are right"],
        },
    )
