"""Build the pack of English senses: train, prune, cross-validate over documents and write the card.

    python corpora/disambig_en_sense/build.py DATA

DATA is a directory with ``labelled/noad-masc/noad-masc.tar.xz``, MASC with the senses of the New Oxford
American Dictionary, and ``english/DOMAIN.train.txt.xz``, plain text for word vectors. A model is trained for
every word (lemma and part of speech) with at least 50 labelled occurrences.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from pathlib import Path

import numpy as np
from card import write_card
from cross_validation import cross_validate, document_folds, genre_folds, most_frequent
from numpy.typing import NDArray

from disambig.api.features import Vectors, learn_vectors
from disambig.config import read_config, resolve
from disambig.experiments import PackFigures, log_progress, text_lines
from disambig.formats import Labelled, read_noad
from disambig.models import Model, save_model
from disambig.text import Tokenisation, TokenView, hash_word, view_of_texts
from disambig.training import train_labelled
from disambig.type_aliases import Progress, no_progress

HOME = Path(__file__).parent
FIGURES = PackFigures(HOME, write_card)
ARCHIVE = "labelled/noad-masc/noad-masc.tar.xz"
VERSION = "0.3.0"
MIN_EXAMPLES = 50
"""Minimum number of labelled occurrences of a word that gets a model."""
MIN_EXAMPLES_OF_REST = 10
"""Minimum number for a word whose most frequent sense is stored, for use on request."""
MAX_EXAMPLES = 1500
"""Maximum number of training occurrences per word (see `cap_examples`)."""
FOLDS = 5
MIN_MARGIN = 0.7
"""No decision is made if the best sense is less than twice as probable as the next one (log-odds)."""


class CachedViews:
    """A tokenisation that returns precomputed views of a fixed set of texts."""

    def __init__(self, tokenisation: Tokenisation, texts: Sequence[str]) -> None:
        self.name = tokenisation.name
        self._number = {text: i for i, text in enumerate(texts)}
        self._view = view_of_texts(list(texts), tokenisation)

    def __call__(self, texts: Sequence[str]) -> TokenView:
        """Return the view of some of the texts."""
        return self._view.take(np.array([self._number[text] for text in texts]))


VECTOR_WORDS = {
    "fiction": 3_000_000,
    "essays": 3_000_000,
    "encyclopedic": 2_000_000,
    "textbooks": 1_500_000,
    "guides": 1_000_000,
    "speeches": 1_000_000,
    "science": 700_000,
    "government": 500_000,
    "manuals": 500_000,
    "health": 500_000,
}
"""Number of words from the beginning of each domain; the domain that contains MASC is not used."""
AT_ONCE = 5_000
"""Number of paragraphs that are tokenised at a time."""
N_WORDS, DIMENSIONS = 40_000, 48


@cache
def vectors(data: Path) -> Vectors:
    """Return the vectors of the most frequent words of ``english/DOMAIN.train.txt.xz``."""
    return learn_vectors(_words(data), n_words=N_WORDS, dimensions=DIMENSIONS)


def _words(data: Path) -> Iterator[NDArray[np.uint64]]:
    """Yield the hashes of the words of plain text."""
    tokens = resolve({"tokens": {"@disambig_tokenisations": "disambig.spacy_tokens.v1"}})["tokens"]
    for domain, max_words in VECTOR_WORDS.items():
        seen, lines = 0, text_lines(data / "english" / f"{domain}.train.txt.xz")
        while seen < max_words and (paragraphs := list(islice(lines, AT_ONCE))):
            view = view_of_texts([line.strip() for line in paragraphs], tokens)
            seen += len(view)
            yield view.hashes


MIN_WEIGHT_SHARE = 0.05
"""Columns whose weights are all below this share of the word's largest weight are dropped."""


def prune_weights(model: Model) -> Model:
    """Return the model without the columns of each word whose weights are small.

    The mean weight of a column over the senses is subtracted first, because what all senses share does not
    affect the choice.
    """
    scorers = []
    for scorer in model.scorers:
        if scorer is None:
            scorers.append(None)
            continue
        k, d = len(scorer.bias), len(scorer.columns)
        weights = scorer.weights.reshape(k, d)
        weights = weights - weights.mean(axis=0)
        size = np.abs(weights).max(axis=0, initial=0.0)
        kept = size >= MIN_WEIGHT_SHARE * size.max(initial=0.0)
        half = weights[:, kept].astype(np.float16)
        scorers.append(replace(scorer, columns=scorer.columns[kept], weights=half.ravel()))
    return replace(model, scorers=tuple(scorers))


def material(data: Path, *, minimum: int = MIN_EXAMPLES) -> list[Labelled]:
    """Return the labelled occurrences of all words that have at least `minimum` of them."""
    every = [example for example in read_noad(data / ARCHIVE).labelled() if not example.word.endswith(".x")]
    often = Counter(example.word for example in every)
    return [example for example in every if often[example.word] >= minimum]


def train_model(
    examples: Sequence[Labelled],
    word_vectors: Vectors,
    *,
    learned: int = 1,
    tokenisation: Tokenisation | None = None,
    progress: Progress = no_progress,
) -> Model:
    """Train on examples as the pack is trained, with vectors of words from plain text.

    For words with fewer than `learned` examples, only the most frequent sense is stored.
    """
    config = read_config(HOME / "sense.cfg")
    config["task"] |= {"learned": learned}
    config["task"] |= resolve({"task": config["task"]})["task"].learn_settings(cap_examples(examples))
    parts = resolve(config)
    parts["tokenisation"] = tokenisation or parts["tokenisation"]
    parts["extractors"]["company"] = replace(parts["extractors"]["company"], vectors=word_vectors)
    model = train_labelled(
        parts,
        cap_examples(examples),
        name="disambig_en_sense/sense",
        version=VERSION,
        config=dict(config),
        least_margin=MIN_MARGIN,
        progress=progress,
    )
    selection: dict[str, float] = {"least": MIN_EXAMPLES, "most": MAX_EXAMPLES, "rest": MIN_EXAMPLES_OF_REST}
    selection["pruned below"] = MIN_WEIGHT_SHARE
    return prune_weights(replace(model, provenance=model.provenance | {"selection": selection}))


def cap_examples(examples: Sequence[Labelled]) -> list[Labelled]:
    """Return at most `MAX_EXAMPLES` examples of each word, from documents in the order of their hashes.

    This order is arbitrary but fixed, so that no genre or source is preferred.
    """
    kept: Counter[str] = Counter()
    kept_examples = []
    for example in sorted(examples, key=lambda example: (hash_word(example.document), example.start)):
        if kept[example.word] < MAX_EXAMPLES:
            kept[example.word] += 1
            kept_examples.append(example)
    return kept_examples


def build(data: Path) -> None:
    """Train the pack's model on all examples."""
    examples = material(data, minimum=MIN_EXAMPLES_OF_REST)
    model = train_model(examples, vectors(data), learned=MIN_EXAMPLES, progress=log_progress)
    save_model(model, HOME / "models" / "sense", force=True)


def score(data: Path) -> None:
    """Cross-validate over documents and over genres, and write the figures into the card."""
    examples = material(data)
    tokens = resolve({"tokens": read_config(HOME / "sense.cfg")["tokenisation"]})["tokens"]
    texts = dict.fromkeys(example.text for example in examples)
    learn = partial(train_model, word_vectors=vectors(data), tokenisation=CachedViews(tokens, list(texts)))
    by_document = document_folds(examples, FOLDS)
    for name, folds in (("cross_validation", by_document), ("genres_left_out", genre_folds(examples))):
        FIGURES.add({name: cross_validate(examples, folds, learn, progress=log_progress)})

    # words without a model of their own
    learned_words = {example.word for example in examples}
    every = material(data, minimum=MIN_EXAMPLES_OF_REST)
    rest = [example for example in every if example.word not in learned_words]
    FIGURES.add({"most_frequent_of_the_rest": most_frequent(rest, by_document)})


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help=f"directory with {ARCHIVE}")
    parser.add_argument("--score", action="store_true", help="cross-validate only")
    options = parser.parse_args()
    if not options.score:
        build(options.data)
    score(options.data)


if __name__ == "__main__":
    main()
