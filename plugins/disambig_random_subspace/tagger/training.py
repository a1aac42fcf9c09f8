"""Training of a tagger: word classes from plain text, partially and completely tagged sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import FeatureExtractor, Learner, Model, Scorer, TokenView, UserError, Words, resolve
from disambig.api.arrays import minibatch
from disambig.api.decoding import ChainScorer
from disambig.api.experiments import Progress, no_progress, text_lines
from disambig.api.features import TokenContext, WordClasses, learn_classes
from disambig.api.judges import ScoreBatch
from disambig.api.text import SpacyTokens
from disambig.api.training import ResolvedConfig, train_by

from .task import Tagged, distinct_tags, fit_context, make_batch, word_positions

DOMAINS = ("fiction", "government", "health", "mixed", "science", "speeches", "technical", "textbooks")
"""Domains that the shipped classes and published figures use; a data directory may contain others."""
PLAIN = tuple(f"english/{domain}.train.txt.xz" for domain in DOMAINS)
WORDS_A_FILE = 4_000_000
"""Maximum number of words read per file, so that none outweighs the others."""
_LINES, _FEW_LINES = 10_000, 1_000


def learn_word_classes(
    files: Sequence[Path],
    *,
    maximum: int = WORDS_A_FILE,
    n_words: int = 20_000,
    sizes: Sequence[int] | None = None,
    progress: Progress = no_progress,
) -> WordClasses:
    """Learn word classes from the first words of each file.

    Raises D458 if there is too little text; the errors of `text_lines` for a file.

    At most `maximum` words are read per file; see `learn_classes` for `n_words` and `sizes`.
    """

    def words() -> Iterator[NDArray[np.uint64]]:
        for number, path in enumerate(files):
            progress("reading plain text", number, len(files))
            lines, size = text_lines(path), 0
            while size < maximum and (texts := list(islice(lines, _LINES))):
                view = Words()(texts)
                size += len(view)
                yield view.hashes
        progress("learning word classes", 0, 1)

    if sizes is None:
        return learn_classes(words(), n_words=n_words)
    return learn_classes(words(), n_words=n_words, sizes=sizes)


def token_views(path: Path, maximum: int) -> Iterator[TokenView]:
    """Yield the first tokens of a file, `maximum` or slightly more, in views of some paragraphs each."""
    lines, size = text_lines(path), 0
    tokens = SpacyTokens()
    while size < maximum and (texts := list(islice(lines, _FEW_LINES))):
        view = tokens(texts)
        size += len(view)
        yield view


def predict_tags(model: Model, view: TokenView) -> NDArray[np.int64]:
    """Return the tag number that the tagger `model` assigns to each token except sentence boundaries."""
    scorer, extractor = model.scorers[0], model.extractors[0]
    assert isinstance(scorer, ChainScorer) and isinstance(extractor, TokenContext)
    rows, sequences = extractor.rows(view, word_positions(view))
    edges = np.flatnonzero(np.diff(sequences, prepend=-1, append=len(view) + 1))
    return scorer.decode(rows, edges.astype(np.int64))


Partly = tuple[Sequence[str], Sequence[Collection[str]]]
"""Words, and the possible tags of each; an empty collection means unknown."""
_AT_ONCE = 2_000


def fill_in_tags(model: Model, sentences: Iterable[Partly]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield words and tags of sentences; the tagger `model` chooses among the possible tags of each word.

    Tags that the tagger does not know are ignored; a word without known tags may have any tag.
    """
    scorer, extractor = model.scorers[0], model.extractors[0]
    assert isinstance(scorer, ChainScorer) and isinstance(extractor, TokenContext)
    tags = model.task.groups[0].candidates
    number = {tag: i for i, tag in enumerate(tags)}
    for batch_sentences in minibatch(sentences, _AT_ONCE):
        # the observed tag has no effect here, so any tag will do
        batch, _ = make_batch(
            [(words, [tags[0]] * len(words)) for words, _ in batch_sentences], tags, extractor
        )
        allowed = np.zeros(batch.costs.shape, bool)
        tags_of_words = chain.from_iterable(possible for _, possible in batch_sentences)
        for row, possible_tags in enumerate(tags_of_words):
            allowed[row, [number[tag] for tag in possible_tags if tag in number]] = True
        labels = iter(scorer.best_among(batch, allowed).tolist())
        for words, _ in batch_sentences:
            yield list(words), [tags[next(labels)] for _ in words]


LEARNER: Mapping[str, Any] = {"@disambig_learners": "random_subspace.StructuredPerceptron.v1", "passes": 8}


def train_tagger(
    train: Tagged,
    dev: Tagged,
    *,
    name: str,
    version: str = "0.1.0",
    language: str = "en",
    learner: Mapping[str, Any] = LEARNER,
    classes: WordClasses | None = None,
    least: float = 0.0,
    more: Tagged = (),
    times: int = 2,
    seldom: int = 3,
    progress: Progress = no_progress,
) -> Model:
    """Train the model of a tagger.

    Parameters
    ----------
    train : sequence of (words, tags)
        Sentences to train on; their tags are the tag set.
    dev : sequence of (words, tags)
        Sentences to calibrate probabilities on, using the words with known tags.
    language : str
        Code of the language, whose spaCy tokeniser splits plain texts; "" for any language.
    learner : mapping
        Section of the config.
    classes : WordClasses, optional
        Word classes from plain text: they help with words that are not in the sentences.
    least : float
        Weights with a smaller absolute value are dropped. Above 0, weights are also rounded
        to 64ths, which halves the size of the model; with 0 the model is unchanged.
    more : sequence of (words, tags)
        Further sentences with less reliable tags, which must be among those of `train`.
    times : int
        Number of times that `train` is repeated for each time that `more` is seen.
    seldom : int
        Minimum number of occurrences in `more` for a feature that is not in `train`.
    progress : callable, optional

    Raises
    ------
    UserError
        D790 to D792 for invalid sentences.
    """
    train, dev, more = list(train), list(dev), list(more)
    tags = distinct_tags(train)
    config: dict[str, Any] = {
        "task": {"@disambig_tasks": "random_subspace.Tags.v1", "tags": list(tags)},
        "tokenisation": {"@disambig_tokenisations": "disambig.spacy_tokens.v1"},
        "extractors": {"context": {"@disambig_extractors": "disambig.TokenContext.v1"}},
        "learner": dict(learner),
        "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
        "judge": {"@disambig_judges": "disambig.Labels.v1"},
    }
    if language != "en":
        config["task"]["language"] = language
        config["tokenisation"]["language"] = language or "xx"
    plan = TaggedSentences(train, dev, tags, classes, least, more, times if more else 1, seldom)
    options: dict[str, Any] = {"name": name, "version": version, "config": config, "progress": progress}
    model = train_by(plan, resolve(config), **options)
    return replace(model, extractors=plan.extractors)


@dataclass(eq=False)
class TaggedSentences:
    """A `Resampling` of tagged sentences: some for training, others for the decision rule.

    For its parameters see `train_tagger`; `tags` is the tag set.
    """

    train: Tagged
    dev: Tagged
    tags: Sequence[str]
    classes: WordClasses | None
    least: float
    more: Tagged = ()
    times: int = 1
    seldom: int = 1
    extractors: tuple[FeatureExtractor, ...] = ()

    def prepare(self, parts: ResolvedConfig, progress: Progress) -> TaggedSentences:
        """Count features."""
        progress("features", 0, 1)
        extractor = fit_context(self.train, self.tags, classes=self.classes)
        if self.more:
            others = fit_context(self.more, self.tags, minimum=self.seldom, classes=self.classes)
            extractor = extractor.joined_with(others)
        sentences = [*list(self.train) * self.times, *self.more]
        self._batch, _ = make_batch(sentences, self.tags, extractor)
        self.extractors = (extractor,)
        return self

    def shared(self, model: Model, learner: object, rng: np.random.Generator) -> Scorer | None:
        """Return None: there is only one group."""
        return None

    def fit(
        self, model: Model, learner: Learner, group: int, rng: np.random.Generator
    ) -> tuple[Scorer, dict[str, Any]]:
        """Train, and then drop small weights if asked for."""
        fitted = learner.fit(self._batch)
        scorer: Any = fitted.scorer
        if self.least > 0:
            scorer = scorer.pruned(self.least).rounded()
            kept = np.diff(scorer.begins) > 0
            (extractor,) = self.extractors
            assert isinstance(extractor, TokenContext)
            scorer, self.extractors = scorer.only(kept), (extractor.only(kept),)
        n_words, n_more = (sum(len(words) for words, _ in sentences) for sentences in (self.train, self.more))
        return scorer, {"examples": n_words, **({"more": n_more} if n_more else {}), **fitted.report}

    def calibration_data(self, model: Model, rng: np.random.Generator) -> TaggedSentences:
        """Score the words of the development sentences whose tags are known."""
        (extractor,) = self.extractors
        assert isinstance(extractor, TokenContext)
        dev_batch, _ = make_batch(self.dev, self.tags, extractor)
        is_known = dev_batch.costs.min(axis=1, initial=1.0) == 0
        if not is_known.any():
            raise UserError("D790", purpose="calibrate probabilities on, with tags of the training sentences")
        scorer = model.scorers[0]
        assert scorer is not None
        scores = scorer.scores(dev_batch).reshape(dev_batch.costs.shape)[is_known]
        gold = dev_batch.costs[is_known].argmin(axis=1).astype(np.int32)
        # words with unknown tags count as wrong for every candidate
        self._right = np.zeros(len(is_known), bool)
        self._right[is_known] = scores.argmax(axis=1) == gold
        self.task, self.rng = model.task, rng
        nothing = np.zeros(scores.size, np.int32)
        offsets = np.arange(len(gold) + 1, dtype=np.int64) * len(self.tags)
        cost = dev_batch.costs[is_known].ravel()
        group = model.task.groups[0]
        self._scored = ScoreBatch.from_group(group, 0, offsets, scores.ravel(), gold, nothing, nothing, cost)
        return self

    @property
    def n_words(self) -> int:
        """Number of words in the development sentences."""
        return len(self._right)

    def scored(self, group: int, *, maximum: int | None = None) -> ScoreBatch:
        """Return the scores of the words with known tags."""
        return self._scored

    def provenance(self, model: Model) -> dict[str, Any]:
        """Return counts, and the number of correctly tagged words in the development sentences."""
        n_words = sum(len(words) for words, _ in self.train)
        right, n = int(self._right.sum()), len(self._right)
        return {
            "examples": {"labelled": n_words, "documents": len(self.train), "train_words": n_words},
            "notes": [f"{right / n:.2%} of {n:,} words of the development text are right"],
        }
