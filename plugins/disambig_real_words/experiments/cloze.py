"""``real_words.cloze``: how well systems distinguish the words of held-out text from words they are confused with."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
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
from disambig.api.batches import DenseLists
from disambig.api.experiments import Claim, ExperimentResult, Progress, ResultRow, text_lines
from disambig.api.features import Cloze, open_cloze
from disambig.api.tasks import CandidateLists, word_tokens

from ..relations import ENGLISH_RELATIONS, KINDS, WordRelations, load_relations

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ClozePlaces:
    """Places of one domain; of each the word that stands there comes first in its list.

    Attributes
    ----------
    view : TokenView
    instances : Instances
        With candidates of their own, in text order.
    learns : array of bool, shape (n,)
        The places by which systems are weighed: those of the first half of the paragraphs.
    """

    view: TokenView
    instances: Instances
    learns: NDArray[np.bool_]

    def groups(self) -> Mapping[Group, Ints]:
        """Return the places by their candidates, for what knows candidates by the group alone."""
        own = self.instances.own
        assert own is not None
        found: dict[tuple[str, ...], list[int]] = {}
        for i, (start, end) in enumerate(
            zip(own.offsets[:-1].tolist(), own.offsets[1:].tolist(), strict=True)
        ):
            found.setdefault(tuple(own.texts[start:end]), []).append(i)
        return {Group(words[0], words): np.array(rows) for words, rows in found.items()}


def find_cloze_places(
    path: Path, model: Cloze, related: WordRelations, *, paragraphs: int, places: int
) -> ClozePlaces:
    """Return places of a text whose word the model knows, and another of its list as well.

    Parameters
    ----------
    paragraphs, places : int
        How many there are at most; of more a random sample, the same each time.
    """
    rng = np.random.default_rng(0)
    lines = list(text_lines(path))
    taken = np.sort(rng.permutation(len(lines))[:paragraphs])
    view = Words()([lines[i] for i in taken.tolist()])
    lists = _lists_in_model(model, related)
    number = related.find(view.hashes)
    found = np.flatnonzero((number >= 0) & word_tokens(view))
    found = np.array([i for i in found.tolist() if int(number[i]) in lists], np.int64)
    found = np.sort(rng.permutation(found)[:places])
    chosen = [lists[int(each)] for each in number[found]]
    zeros = np.zeros(len(found), np.int32)
    own = CandidateLists.from_texts(chosen)
    instances = Instances(found, np.ones(len(found), np.int32), zeros, zeros.copy(), own)
    return ClozePlaces(view, instances, view.document_indices(found) < (len(view.texts) + 1) // 2)


def _lists_in_model(model: Cloze, related: WordRelations) -> Mapping[int, Sequence[str]]:
    """Return each word that the model knows with those related words that it knows, if any, by its number."""
    known = model.numbers_of_candidates(related.spellings) >= 0
    lists = {}
    for i in np.flatnonzero(known).tolist():
        others = related.others[related.offsets[i] : related.offsets[i + 1]]
        others = others[known[others]]
        if len(others):
            lists[i] = [related.spellings[i], *(related.spellings[other] for other in others.tolist())]
    return lists


HELD_OUT = "english/*.heldout.txt.xz"
SETTINGS = "DISAMBIG_PEERS"
OURS, COUNTS = "words in context", "n-gram counts"
MEAN = "mean of domains"
MAX_PARAGRAPHS, MAX_PLACES = 2_000, 10_000
"""Of a domain, at most."""
QUICK = 10
"""With `quick` so many times fewer."""
Floats = NDArray[np.float64]
Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ClozeFigures:
    """Rank and log loss of the word that stands there, among those that it is mistaken for.

    Parameters
    ----------
    words, counts : str or path
        A model of words in context and a count table, or the name of a pack that brings them.
    """

    words: str | Path = "disambig_en"
    counts: str | Path = "disambig_en"
    title: str = "Words of held-out text among those they are mistaken for"
    description: str = "words of held-out text told from others by their context: the model, counts, KenLM"
    needs: tuple[str, ...] = (HELD_OUT,)

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Ask each system about the same places of each domain; with `quick` about a tenth of them."""
        share = QUICK if quick else 1
        model, related = open_cloze(self.words), load_relations(str(ENGLISH_RELATIONS), KINDS)
        paths = sorted(data.glob(HELD_OUT))
        grounds = {}
        for number, path in enumerate(paths):
            progress("reading", number, len(paths))
            ground = find_cloze_places(
                path, model, related, paragraphs=MAX_PARAGRAPHS // share, places=MAX_PLACES // share
            )
            if ground.learns.any() and not ground.learns.all():
                grounds[path.name.partition(".")[0]] = ground
        systems, notes = self._systems()
        found: dict[str, dict[str, Figures]] = {}
        for number, (name, extractor) in enumerate(systems.items()):
            progress(name, number, len(systems))
            found[name] = {domain: evaluate_system(extractor, ground) for domain, ground in grounds.items()}
            found[name][MEAN] = _mean_figures(list(found[name].values()))
        return ExperimentResult(
            rows=[row for name, figures in found.items() for row in figure_rows(name, figures)],
            claims=list(figure_claims(found)),
            notes=[*NOTES, *notes],
            details={"figures": found},
            places=2,
        )

    def _systems(self) -> tuple[Mapping[str, FeatureExtractor], Sequence[str]]:
        """Return the systems, and what is to be said of those that are missing."""
        models, notes = kenlm_models()
        described: dict[str, dict[str, Any]] = {
            OURS: {"@disambig_extractors": "disambig.WordsInContext.v1", "words": str(self.words)},
            COUNTS: {"@disambig_extractors": "disambig.ContextProbabilities.v1", "counts": str(self.counts)},
        }
        for name, path in models.items():
            described[name] = {"@disambig_extractors": "variance_svm.KenLM.v1", "path": path}
        return {name: resolve({"it": config})["it"] for name, config in described.items()}, notes


NOTES = (
    "right: the word that stands there has the highest score; rank: its place, the mean of places that tie; "
    "loss: minus the log of its probability, times 100.",
    "Each system is weighed in each domain by half of the paragraphs and asked about the others. The counted "
    "text holds none of them, and the model of words in context was not learned from them.",
)


def kenlm_models() -> tuple[Mapping[str, str], Sequence[str]]:
    """Return KenLM's models by name, and why there are none.

    Raises
    ------
    UserError
        D743 for a file of settings that cannot be read.
    """
    if find_spec("kenlm") is None:
        return {}, ["KenLM is left out: it needs pip install 'disambig[kenlm]'."]
    named = os.environ.get(SETTINGS)
    try:
        models = dict(json.loads(Path(named).read_text(encoding="utf8")).get("kenlm", {})) if named else {}
    except (OSError, ValueError, TypeError, AttributeError) as problem:
        raise UserError("D743", path=named, problem=problem) from problem
    if not models:
        return {}, [f"KenLM is left out: the file that {SETTINGS} names holds no models under kenlm."]
    return models, []


def evaluate_system(extractor: FeatureExtractor, ground: ClozePlaces) -> Figures:
    """Return the figures of one system in one domain."""
    batch = transform_candidates(extractor, ground)
    learner = resolve({"it": {"@disambig_learners": "variance_svm.ConditionalLogit.v1"}})["it"]
    scorer = learner.fit(batch.take(np.flatnonzero(ground.learns))).scorer
    test = np.flatnonzero(~ground.learns)
    part = batch.take(test)
    own = ground.instances.take(test).own
    assert own is not None
    return list_figures(scorer.scores(part), own.offsets)


def transform_candidates(extractor: FeatureExtractor, ground: ClozePlaces) -> CandidateBatch:
    """Return the attributes of all candidates, those of extractors that know groups alone among them."""
    every, instances = Group("cloze", ()), ground.instances
    if getattr(extractor, "describes", "") != "group":
        return extractor.transform(ground.view, instances, every).batch
    own, groups = instances.own, ground.groups()
    assert own is not None
    fitted = extractor.fit(ground.view, instances, list(groups))
    values = np.zeros((len(own.texts), 1), np.float32)
    for group, rows in groups.items():
        zeros = np.zeros(len(rows), np.int32)
        part = Instances(instances.positions[rows], instances.lengths[rows], zeros, zeros.copy())
        found = fitted.transform(ground.view, part, group).batch
        at = own.offsets[rows][:, None] + np.arange(len(group.candidates))
        values[at, 0] = found.scores(np.ones(1)).reshape(at.shape)
    columns = Columns(np.array([-1], np.int32), np.zeros(1, np.int32), ("KenLM",), ["KenLM"])
    return DenseLists(values, own.offsets, instances.costs(every), columns)


def list_figures(scores: Floats, offsets: NDArray[np.int64]) -> Figures:
    """Return how the first candidate of each list fares, on average."""
    sizes = np.diff(offsets)
    first = scores[offsets[:-1]]
    above = np.add.reduceat(scores > np.repeat(first, sizes), offsets[:-1])
    ties = np.add.reduceat(scores == np.repeat(first, sizes), offsets[:-1]) - 1
    most = np.maximum.reduceat(scores, offsets[:-1])
    total = np.add.reduceat(np.exp(scores - np.repeat(most, sizes)), offsets[:-1])
    ranks = 1 + above + ties / 2
    return {
        "n": len(first),
        "candidates": float(sizes.mean()),
        "right": 100 * float((ranks == 1).mean()),
        "rank": float(ranks.mean()),
        "loss": 100 * float((most + np.log(total) - first).mean()),
    }


def _mean_figures(found: Sequence[Figures]) -> Figures:
    mean = {name: float(np.mean([each[name] for each in found])) for name in found[0]}
    return {**mean, "n": sum(int(each["n"]) for each in found)}


def figure_rows(system: str, found: Mapping[str, Figures]) -> list[ResultRow]:
    """Return the figures of one system, the mean first."""
    return [
        ResultRow(system, f"{domain}: {name}", None, found[domain][name], int(found[domain]["n"]))
        for domain in (MEAN, *(domain for domain in found if domain != MEAN))
        for name in ("right", "rank", "loss")
    ]


def figure_claims(found: Mapping[str, Mapping[str, Figures]]) -> list[Claim]:
    """Return whether the model loses less than each other system, in the mean and in how many domains."""
    ours, said = found[OURS], []
    for name, theirs in found.items():
        if name == OURS:
            continue
        domains = [domain for domain in ours if domain != MEAN]
        better = sum(ours[domain]["loss"] < theirs[domain]["loss"] for domain in domains)
        evidence = (
            f"{ours[MEAN]['loss']:.2f} and {theirs[MEAN]['loss']:.2f}, less in {better} of {len(domains)}"
        )
        holds = ours[MEAN]["loss"] < theirs[MEAN]["loss"]
        said.append(Claim(f"{OURS} lose less than {name}", holds, evidence))
    return said
