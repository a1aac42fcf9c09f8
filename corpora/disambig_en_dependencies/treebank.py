"""Read UD English EWT, and tag its training part with taggers that have not seen the sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from disambig_random_subspace.tagger import fill_in_tags, train_tagger

from disambig.formats import read_conllu
from disambig.models import Model, load

GENRES = ("answers", "newsgroup", "reviews", "weblog", "email")
FOLDS = 5
Sentence = tuple[list[str], list[str], list[int], list[str]]
"""Words, tags, heads (-1 for the root) and relations."""


def read_treebank(data: Path, split: str, genres: Sequence[str] = GENRES) -> Iterator[Sentence]:
    """Yield the sentences of a part of EWT, with gold tags; the root's head is -1."""
    for genre in genres:
        for sentence in read_conllu(data / "labelled" / "ewt" / f"{genre}.{split}.conllu.xz"):
            columns = list(zip(*sentence.words, strict=True))
            words, tags, heads, relations = (list(columns[i]) for i in (1, 4, 6, 7))
            yield words, tags, [int(head) - 1 for head in heads], relations


def retag(model: Model, sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences with the tags that a tagger predicts."""
    tagged = fill_in_tags(model, [(words, [()] * len(words)) for words, *_ in sentences])
    return [(words, tags, *rest) for (words, tags), (_, _, *rest) in zip(tagged, sentences, strict=True)]


def jackknife(
    train: Sequence[Sentence], dev: Sequence[Sentence], progress: Callable[[str, int, int], None]
) -> list[Sentence]:
    """Return the training sentences, each tagged by a tagger trained on the other folds.

    The shipped tagger knows these sentences: its tags are better here than on new text, and a parser trained
    with them would trust them too much. Folds are runs of sentences, so that a document is in one fold.
    """
    classes = load("tag").extractors[0].classes  # type: ignore[attr-defined]
    bounds = [len(train) * i // (4 * FOLDS) for i in range(4 * FOLDS + 1)]
    blocks = list(pairwise(bounds))
    retagged: list[Sentence] = list(train)
    calibration = [(words, tags) for words, tags, *_ in dev]
    for fold in range(FOLDS):
        progress("tagging", fold, FOLDS)
        fold_blocks = blocks[fold::FOLDS]
        others = [
            sentence for block in blocks if block not in fold_blocks for sentence in train[slice(*block)]
        ]
        model = train_tagger(
            [(words, tags) for words, tags, *_ in others], calibration, name="fold", classes=classes
        )
        for block in fold_blocks:
            retagged[slice(*block)] = retag(model, train[slice(*block)])
    return retagged
