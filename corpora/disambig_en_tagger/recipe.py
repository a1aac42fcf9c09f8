"""The recipe of the tagger: a slow teacher tags text for a fast learner.

1. Words of plain text are clustered by neighbouring words (`by_neighbours`).
2. A first tagger is trained on the tagged sentences. It tags the plain text; words are clustered by these
   tags and by their capitals.
3. A teacher, a network over the states of an encoder (`teacher`), is trained on the tagged sentences. It
   fills in the missing tags of NOAD-MASC (which has the parts of speech of content words) and CRAFT (whose
   conventions differ), and tags sentences of the plain text.
4. The tagger is trained on the tagged sentences, each used twice, and on those of the teacher.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from disambig_random_subspace.experiments import craft_partly, noad_partly
from disambig_random_subspace.tagger import Partly, predict_tags, token_views, train_tagger
from numpy.typing import NDArray
from teacher import LayerReader, Network, Teacher

from disambig.api import Model, TokenView
from disambig.api.experiments import Progress
from disambig.api.features import WordClasses, learn_classes, learn_usage
from disambig.features import CLASS, SHAPE

Sentences = Sequence[tuple[Sequence[str], Sequence[str]]]
MODERN = ("essays", "guides", "encyclopedic", "manuals", "mixed")
OTHERS = ("government", "health", "technical", "textbooks", "science", "speeches", "fiction")
WORDS = {**dict.fromkeys(MODERN, 2_000_000), **dict.fromkeys(OTHERS, 700_000)}
"""Maximum number of tokens that are read from each domain."""
NEIGHBOUR_CLASSES = {"n_words": 50_000, "sizes": (128, 512)}
"""Settings of the classes by neighbouring words."""
CRAFT_SENTENCES = 5_000
SEED = 1
PERCEPTRON = {"@disambig_learners": "random_subspace.StructuredPerceptron.v1"}
SHAPES = [(SHAPE, -1, SHAPE, 0), (SHAPE, 0, SHAPE, 1)]
"""Pairs of features: the shape of a word with that of each neighbour."""


def subspaces(n: int, passes: int) -> dict[str, Any]:
    """Return the config of a learner over random subspaces, each without half of the features."""
    return {
        "@disambig_learners": "random_subspace.RandomSubspaces.v1",
        "n_subspaces": n,
        "removal_rate": 0.5,
        "base": {**PERCEPTRON, "passes": passes},
    }


FIRST_LEARNER = subspaces(8, 5)
LEARNER = {**PERCEPTRON, "passes": 4}
PLAIN_SHARE, SHORTEST, LONGEST = 0.06, 3, 60
"""Share of the sentences of plain text that the teacher tags, and their least and greatest length."""
NEAR = (2, 4)
"""Classes of neighbouring words that the teacher sees: the coarse ones by tags, and those by capitals."""


@dataclass(frozen=True, slots=True)
class TaggerData:
    """Training data besides the tagged sentences, independent of them."""

    views: list[TokenView]  # plain text
    by_neighbours: WordClasses  # its words clustered by neighbouring words
    partly: list[Partly]  # (words, tags that each may have)


def load_data(data: Path, progress: Progress) -> TaggerData:
    """Read plain text and partially tagged corpora from the data directory."""
    views = []
    for number, (domain, max_words) in enumerate(WORDS.items()):
        progress(f"reading {domain}", number, len(WORDS))
        views += list(token_views(data / f"english/{domain}.train.txt.xz", max_words))
    progress("classes by neighbours", 0, 1)
    by_neighbours = learn_classes((view.hashes for view in views), **NEIGHBOUR_CLASSES)
    progress("corpora tagged in part", 0, 1)
    craft = list(craft_partly(data))
    sample = np.random.default_rng(SEED).choice(len(craft), CRAFT_SENTENCES, replace=False)
    return TaggerData(views, by_neighbours, [*noad_partly(data), *(craft[i] for i in np.sort(sample))])


def plain_sentences(views: Sequence[TokenView]) -> Iterator[list[str]]:
    """Yield a random sample of the sentences of plain text."""
    rng = np.random.default_rng(SEED)
    for view in views:
        starts, ends = view.starts.tolist(), view.ends.tolist()
        for first, last in pairwise(view.sentences.tolist()):
            if rng.random() > PLAIN_SHARE:
                continue
            places = [i for i in range(first, last) if ends[i] > starts[i]]
            if SHORTEST <= len(places) <= LONGEST:
                text = view.texts[int(view.document_indices(np.array(places[:1]))[0])]
                words = [text[starts[i] : ends[i]] for i in places]
                if all(word.strip() for word in words):
                    yield words


@dataclass(frozen=True, slots=True)
class UntaggedSentences:
    """Sentences for the teacher to tag, with the states of the encoder."""

    reader: LayerReader
    sentences: list[Partly]  # (words, tags that each may have)
    states: NDArray[np.float16]  # (n_words, width)


def read_untagged_sentences(tagger_data: TaggerData, encoder: Path, progress: Progress) -> UntaggedSentences:
    """Read the partially tagged sentences and a sample of plain text with the encoder."""
    plain = [(words, [()] * len(words)) for words in plain_sentences(tagger_data.views)]
    sentences = [*tagger_data.partly, *plain]
    progress(f"encoder: {len(sentences):,} sentences", 0, 1)
    reader = LayerReader(encoder)
    return UntaggedSentences(reader, sentences, reader.read([words for words, _ in sentences]))


def with_usage(by_neighbours: WordClasses, usage: WordClasses) -> WordClasses:
    """Return both classes, with the features that help: coarse classes two words away, all others nearby."""
    joined = by_neighbours.joined_with(usage)
    fine = [CLASS + g for g in range(joined.depth)]
    coarse, capitals = fine.pop(by_neighbours.depth), fine[-1]
    near = [(attribute, place, -1, 0) for attribute in fine for place in (-1, 0, 1)]
    far = [(coarse, place, -1, 0) for place in (-2, 2)]
    return replace(joined, chosen=np.array([*near, *far, (capitals, 0, SHAPE, 0), *SHAPES], np.int64))


def train_tagger_by_recipe(
    train: Sentences, dev: Sentences, tagger_data: TaggerData, untagged: UntaggedSentences,
    *, progress: Progress, **settings: Any,
) -> Model:  # fmt: skip
    """Return the tagger trained on tagged sentences and on those of the teacher.

    `settings`: see `train_tagger`.
    """
    classes = learn_word_classes(train, dev, tagger_data, progress)
    progress("encoder: tagged sentences", 0, 1)
    states = untagged.reader.read([words for words, _ in train])
    teacher = Teacher(classes, NEAR, Network()).fit(train, states, progress)
    progress("teacher tags", 0, 1)
    more = list(teacher.tag(untagged.sentences, untagged.states))
    progress("tagger", 0, 1)
    options = {"learner": LEARNER, "classes": classes, "more": more, **settings}
    return train_tagger(train, dev, progress=progress, **options)


def learn_word_classes(
    train: Sentences, dev: Sentences, tagger_data: TaggerData, progress: Progress
) -> WordClasses:
    """Return the classes of words by their neighbours, by tags of a first tagger, and by capitals."""
    progress("first tagger", 0, 1)
    first = train_tagger(train, dev, name="first", learner=FIRST_LEARNER, classes=tagger_data.by_neighbours)
    progress("tagging plain text", 0, 1)
    n_tags = len(first.task.groups[0].candidates)
    usage = learn_usage(((view, predict_tags(first, view)) for view in tagger_data.views), n_tags)
    return with_usage(tagger_data.by_neighbours, usage)
