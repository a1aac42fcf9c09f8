"""``real_words.cloze``: how well systems tell words of held-out text from words they are confused with.

Each word with related words in the file of relations is a question, and the observed word is the answer.
The model of words in context, the counts of the pack and, if a model is named, KenLM are each weighted by a
conditional logit on one half of the paragraphs and tested on the other half. KenLM models are named under
``kenlm`` in the settings file of ``bergsma2010.peers``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import (
    CandidateBatch,
    Columns,
    FeatureExtractor,
    Group,
    Instances,
    TokenView,
    UserError,
    Words,
    resolve,
)
from disambig.api.arrays import Floats, Ints
from disambig.api.batches import DenseLists, segments
from disambig.api.experiments import Claim, ExperimentResult, Progress, ResultRow, text_lines
from disambig.api.features import Cloze, open_cloze, transform_checked
from disambig.api.tasks import word_tokens

from ..places import listed_places
from ..relations import ENGLISH_RELATIONS, KINDS, WordRelations, load_relations


@dataclass(frozen=True, slots=True, eq=False)
class ClozePlaces:
    """Places in one domain; the observed word is the first candidate of each."""

    view: TokenView
    instances: Instances  # with per-instance candidates, in text order
    # bool (n,): true for the places on which the systems' weights are fitted: those in the first half of the
    # paragraphs
    learns: NDArray[np.bool_]

    def groups(self) -> Mapping[Group, Ints]:
        """Return the places by their candidates, for extractors that only support fixed groups."""
        lists = self.instances.lists
        assert lists is not None
        rows_by_candidates: dict[tuple[str, ...], list[int]] = {}
        for i, (start, end) in enumerate(pairwise(lists.offsets.tolist())):
            rows_by_candidates.setdefault(tuple(lists.texts[start:end]), []).append(i)
        return {Group(words[0], words): np.array(rows) for words, rows in rows_by_candidates.items()}


def find_cloze_places(
    path: Path, model: Cloze, related: WordRelations, *, paragraphs: int, places: int
) -> ClozePlaces:
    """Return places of a text whose word, and at least one related word, are in the model's vocabulary.

    If there are more than `paragraphs` or `places`, a random sample is taken, the same in each run.
    """
    rng = np.random.default_rng(0)
    lines = list(text_lines(path))
    taken = np.sort(rng.permutation(len(lines))[:paragraphs])
    view = Words()([lines[i] for i in taken.tolist()])
    lists = _lists_in_model(model, related)
    number = related.find(view.hashes)
    positions = np.flatnonzero((number >= 0) & word_tokens(view))
    positions = np.array([i for i in positions.tolist() if int(number[i]) in lists], np.int64)
    positions = np.sort(rng.permutation(positions)[:places])
    instances = listed_places(positions, [lists[int(i)] for i in number[positions]])
    return ClozePlaces(view, instances, view.document_indices(positions) < (len(view.texts) + 1) // 2)


def _lists_in_model(model: Cloze, related: WordRelations) -> Mapping[int, Sequence[str]]:
    """Return the candidates in the model's vocabulary, with the word itself first, by the word's number."""
    in_model = model.numbers_of_candidates(related.spellings) >= 0
    lists = {}
    for i in np.flatnonzero(in_model).tolist():
        others = related.others[i]
        others = others[in_model[others]]
        if len(others):
            lists[i] = [related.spellings[i], *(related.spellings[other] for other in others.tolist())]
    return lists


HELD_OUT = "english/*.heldout.txt.xz"
SETTINGS = "DISAMBIG_PEERS"
OURS, COUNTS = "words in context", "n-gram counts"
MEAN = "mean of domains"
MAX_PARAGRAPHS, MAX_PLACES = 2_000, 10_000
"""Maximum numbers per domain."""
QUICK = 10
"""With `quick` the maximum numbers are divided by this."""
Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ClozeFigures:
    """Rank and log loss of the observed word among the words that it is confused with.

    Parameters
    ----------
    words, counts : str or path
        A model of words in context and a count table, or the name of a pack that contains them.
    """

    words: str | Path = "disambig_en"
    counts: str | Path = "disambig_en"
    title: str = "Words of held-out text among those that they are confused with"
    description: str = "confused words chosen by their context: the cloze model, counts and KenLM"
    needs: tuple[str, ...] = (HELD_OUT,)

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Score each system on the same places of each domain; with `quick` on about a tenth of them."""
        share = QUICK if quick else 1
        model, related = open_cloze(self.words), load_relations(str(ENGLISH_RELATIONS), KINDS)
        paths = sorted(data.glob(HELD_OUT))
        places_by_domain = {}
        for number, path in enumerate(paths):
            progress("reading", number, len(paths))
            places = find_cloze_places(
                path, model, related, paragraphs=MAX_PARAGRAPHS // share, places=MAX_PLACES // share
            )
            if places.learns.any() and not places.learns.all():
                places_by_domain[path.name.partition(".")[0]] = places
        systems, notes = self._systems()
        by_system: dict[str, dict[str, Figures]] = {}
        for number, (name, extractor) in enumerate(systems.items()):
            progress(name, number, len(systems))
            by_system[name] = {
                domain: evaluate_system(extractor, places) for domain, places in places_by_domain.items()
            }
            by_system[name][MEAN] = _mean_figures(list(by_system[name].values()))
        return ExperimentResult(
            rows=[row for name, figures in by_system.items() for row in figure_rows(name, figures)],
            claims=list(figure_claims(by_system)),
            notes=[*NOTES, *notes],
            details={"figures": by_system},
            places=2,
        )

    def _systems(self) -> tuple[Mapping[str, FeatureExtractor], Sequence[str]]:
        """Return the systems, and notes on those that are missing."""
        models, notes = kenlm_models()
        configs: dict[str, dict[str, Any]] = {
            OURS: {"@disambig_extractors": "disambig.WordsInContext.v1", "words": str(self.words)},
            COUNTS: {"@disambig_extractors": "disambig.ContextProbabilities.v1", "counts": str(self.counts)},
        }
        for name, path in models.items():
            configs[name] = {"@disambig_extractors": "variance_svm.KenLM.v1", "path": path}
        return {name: resolve({"it": config})["it"] for name, config in configs.items()}, notes


NOTES = (
    "right: the word in the text has the highest score; rank: its rank, ties get the mean; loss: minus "
    "the log of its probability, times 100.",
    "The weight of each system is fitted on half of the paragraphs of each domain and tested on the "
    "others. The counted text contains none of them, and the model of words in context was not trained "
    "on them.",
)


def kenlm_models() -> tuple[Mapping[str, str], Sequence[str]]:
    """Return the KenLM models by name, and notes on why there are none.

    Raises D743 for a file of settings that cannot be read.
    """
    if find_spec("kenlm") is None:
        return {}, ["KenLM is left out: it needs pip install kenlm."]
    named = os.environ.get(SETTINGS)
    try:
        models = dict(json.loads(Path(named).read_text(encoding="utf8")).get("kenlm", {})) if named else {}
    except (OSError, ValueError, TypeError, AttributeError) as problem:
        raise UserError("D743", path=named, problem=problem) from problem
    if not models:
        return {}, [f"KenLM is left out: the file named by {SETTINGS} has no models under kenlm."]
    return models, []


def evaluate_system(extractor: FeatureExtractor, places: ClozePlaces) -> Figures:
    """Return the figures of one system in one domain."""
    batch = transform_candidates(extractor, places)
    learner = resolve({"it": {"@disambig_learners": "variance_svm.ConditionalLogit.v1"}})["it"]
    scorer = learner.fit(batch.take(np.flatnonzero(places.learns))).scorer
    test = np.flatnonzero(~places.learns)
    lists = places.instances.take(test).lists
    assert lists is not None
    return list_figures(scorer.scores(batch.take(test)), lists.offsets)


def transform_candidates(extractor: FeatureExtractor, places: ClozePlaces) -> CandidateBatch:
    """Return the attributes of all candidates, also for extractors that only support fixed groups."""
    every, instances = Group("cloze", ()), places.instances
    if getattr(extractor, "describes", "") != "group":
        return transform_checked(extractor, places.view, instances, every).batch
    lists, groups = instances.lists, places.groups()
    assert lists is not None
    fitted = extractor.fit(places.view, instances, list(groups))
    values = np.zeros((len(lists.texts), 1), np.float32)
    for group, rows in groups.items():
        zeros = np.zeros(len(rows), np.int32)
        part = Instances(instances.positions[rows], instances.lengths[rows], zeros, zeros.copy())
        batch = transform_checked(fitted, places.view, part, group).batch
        at = lists.offsets[rows][:, None] + np.arange(len(group.candidates))
        values[at, 0] = batch.scores(np.ones(1)).reshape(at.shape)
    columns = Columns(np.array([-1], np.int32), np.zeros(1, np.int32), ("KenLM",), ["KenLM"])
    return DenseLists(values, lists.offsets, instances.costs(every), columns)


def list_figures(scores: Floats, offsets: NDArray[np.int64]) -> Figures:
    """Return the mean figures of the first candidate of each list: share at rank 1, rank, log loss."""
    sizes = np.diff(offsets)
    first = scores[offsets[:-1]]
    above = np.add.reduceat(scores > np.repeat(first, sizes), offsets[:-1])
    ties = np.add.reduceat(scores == np.repeat(first, sizes), offsets[:-1]) - 1
    ranks = 1 + above + ties / 2
    return {
        "n": len(first),
        "candidates": float(sizes.mean()),
        "right": 100 * float((ranks == 1).mean()),
        "rank": float(ranks.mean()),
        "loss": 100 * float((segments.log_sums(scores, offsets) - first).mean()),
    }


def _mean_figures(by_domain: Sequence[Figures]) -> Figures:
    mean = {name: float(np.mean([figures[name] for figures in by_domain])) for name in by_domain[0]}
    return {**mean, "n": sum(int(figures["n"]) for figures in by_domain)}


def figure_rows(system: str, by_domain: Mapping[str, Figures]) -> list[ResultRow]:
    """Return the figures of one system, the mean first."""
    return [
        ResultRow(system, f"{domain}: {name}", None, by_domain[domain][name], int(by_domain[domain]["n"]))
        for domain in (MEAN, *(domain for domain in by_domain if domain != MEAN))
        for name in ("right", "rank", "loss")
    ]


def figure_claims(by_system: Mapping[str, Mapping[str, Figures]]) -> list[Claim]:
    """Return the claims that the model has a lower mean loss than each other system."""
    ours, claims = by_system[OURS], []
    for name, theirs in by_system.items():
        if name == OURS:
            continue
        domains = [domain for domain in ours if domain != MEAN]
        better = sum(ours[domain]["loss"] < theirs[domain]["loss"] for domain in domains)
        evidence = (
            f"{ours[MEAN]['loss']:.2f} and {theirs[MEAN]['loss']:.2f}, lower in {better} of {len(domains)}"
        )
        holds = ours[MEAN]["loss"] < theirs[MEAN]["loss"]
        claims.append(Claim(f"{OURS} has a lower loss than {name}", holds, evidence))
    return claims
