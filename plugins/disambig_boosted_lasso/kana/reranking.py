"""The model that ranks a converter's candidates again: word n-grams, BLasso; small enough to be shipped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, FeatureExtractor, LinearScorer, Model, resolve
from disambig.api.tasks import CandidateLists, decide_lists
from disambig.api.training import train_candidates

from .stored import fingerprint

EPS = 0.1
CONFIG: dict[str, Any] = {
    "task": {"@disambig_tasks": "boosted_lasso.KanaKanji.v1"},
    "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
    "extractors": {
        "source": {"@disambig_extractors": "disambig.SourceFeatures.v1", "rank": False},
        "words": {"@disambig_extractors": "disambig.TextNgrams.v1", "order": 2, "least": 2},
    },
    "learner": {"@disambig_learners": "boosted_lasso.BLasso.v1", "eps": EPS},
    "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
}
CONTENT = ["名詞", "代名詞", "動詞", "形容詞", "形状詞", "副詞"]
"""Tags of head words: nouns, pronouns, verbs, adjectives of both kinds, adverbs."""
HEADWORDS = {"@disambig_extractors": "disambig.HeadwordBigrams.v1", "tags": CONTENT, "least": 2}
MOST = 1_000_000
"""Lists: all there are."""


def learn_reranker(
    lists: CandidateLists,
    documents: Sequence[str],
    converter: str | Path,
    *,
    name: str,
    version: str = "0.1.0",
    eps: float = EPS,
    headwords: bool = False,
    tune: CandidateLists | None = None,
    progress: Callable[[str, int, int], Any] | None = None,
) -> Model:
    """Learn to rank the candidates of a converter again.

    Parameters
    ----------
    lists : CandidateLists
        Of text that the converter has not learned from (`cross_fitted`), with costs.
    documents : sequence of str
        What must not be split between learning and tuning.
    converter : path
        The converter's folder.
    eps : float
        Length of a step.
    headwords : bool
        Whether pairs of content words are features, too.
    tune : CandidateLists, optional
        Lists that say when to stop; else a fifth of the documents.

    Returns
    -------
    Model
        Without the features whose weights are zero.
    """
    config = {**CONFIG, "learner": {**CONFIG["learner"], "eps": eps}}
    config["task"] = {**config["task"], "converter": str(converter), "digest": fingerprint(converter)}
    if headwords:
        config["extractors"] = {**config["extractors"], "heads": HEADWORDS}
    parts = resolve(config)
    about: dict[str, Any] = {"name": name, "version": version, "config": config, "max_examples": MOST}
    model = train_candidates(parts, lists, documents, tune=tune, progress=progress, **about)
    return without_zeros(model)


def without_zeros(model: Model) -> Model:
    """Return a model of lists without the n-grams whose weights are zero: it decides alike."""
    (scorer,) = model.scorers
    if not isinstance(scorer, LinearScorer):
        return model
    weights, done = np.asarray(scorer.weights), 0
    extractors, kept = [], []
    for extractor in model.extractors:
        n = _columns(extractor, model)
        own = weights[done : done + n]
        done += n
        chosen = np.flatnonzero(own)
        if "keys" in (state := extractor.state()) and len(chosen) < n:
            extractors.append(extractor.from_state(_some(state, chosen)))
            own = own[chosen]
        else:
            extractors.append(extractor)
        kept.append(own)
    if done != len(weights):
        raise ValueError(f"{len(weights)} weights for {done} columns")
    return replace(model, extractors=tuple(extractors), scorers=(LinearScorer(np.concatenate(kept)),))


def mean_cost(lists: CandidateLists, model: Model | None = None) -> float:
    """Return what the first candidates cost on average, or those that a model chooses."""
    rows = lists.offsets[:-1]
    if model is not None:
        rows = rows + decide_lists(model, lists).chosen
    return float(lists.costs[rows].mean()) if len(rows) else 0.0


def _columns(extractor: FeatureExtractor, model: Model) -> int:
    """Return how many columns an extractor makes."""
    none = model.task.instances(view := model.tokenisation([]))
    return len(extractor.transform(view, none, model.task.groups[0]).batch.columns)


def _some(state: Arrays, chosen: NDArray[np.int64]) -> Arrays:
    """Return the state of n-grams of which some columns are left: their names tell their keys."""
    ends = state["ends"]
    begins = np.concatenate([[0], ends[:-1]])
    letters = [state["letters"][a:b] for a, b in zip(begins[chosen], ends[chosen], strict=True)]
    return {
        "n": np.array([len(chosen)]),
        "letters": np.concatenate([np.zeros(0, np.uint8), *letters]),
        "ends": np.cumsum((ends - begins)[chosen], dtype=np.int64),
    }
