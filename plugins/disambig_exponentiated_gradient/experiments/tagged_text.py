"""Tagged sentences of a newspaper and of the web, as batches with the core's features of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.api import Group, Instances, TokenView
from disambig.api.batches import SequenceRows
from disambig.api.features import TokenContext
from disambig.api.formats import read_conllu
from disambig.api.text import SpacyTokens
from disambig_exponentiated_gradient.treebank.corpora import penn_sections

EWT = "labelled/ewt/*.conllu.xz"
GENRES = ("answers", "newsgroup", "reviews", "weblog", "email")
SPLITS = ("train", "dev", "test")
_FORM, _XPOS = 1, 4
"""Columns of CoNLL-U."""
Sentence = tuple[list[str], list[str]]
"""Words and their tags."""


def web(data: Path, genres: Sequence[str] = GENRES, splits: Sequence[str] = SPLITS) -> list[Sentence]:
    """Return sentences of the English Web Treebank with their Penn tags."""
    paths = [data / EWT.replace("*", f"{genre}.{split}") for genre in genres for split in splits]
    return [
        ([word[_FORM] for word in sentence.words], [word[_XPOS] for word in sentence.words])
        for path in paths
        for sentence in read_conllu(path)
    ]


def newspaper(data: Path) -> list[Sentence]:
    """Return the sentences of the sample of the Wall Street Journal."""
    return [
        (tree.words(), tree.tags())
        for files in penn_sections(data).values()
        for trees in files.values()
        for tree in trees
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Tagset:
    """What a batch is made with: the features that occur in the sentences learned from, and their tags."""

    tags: tuple[str, ...]
    extractor: TokenContext

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> Tagset:
        """Fit the features on sentences."""
        tags = tuple(sorted({tag for _, tags in sentences for tag in tags}))
        view, instances = _read(sentences, tags)
        return cls(tags, TokenContext().fit(view, instances, (Group("tag", tags),)))

    def batch(self, sentences: Sequence[Sentence]) -> SequenceRows:
        """Return sentences as sequences; of a word whose tag is not known every label costs something."""
        view, instances = _read(sentences, self.tags)
        batch = self.extractor.transform(view, instances, Group("tag", self.tags)).batch
        assert isinstance(batch, SequenceRows)
        return batch


def hits(found: NDArray[np.int64], batch: SequenceRows) -> NDArray[np.bool_]:
    """Return for each word whether its label is right."""
    return np.asarray(batch.costs[np.arange(len(found)), found] == 0)


def _read(sentences: Sequence[Sentence], tags: Sequence[str]) -> tuple[TokenView, Instances]:
    number = {tag: i for i, tag in enumerate(tags)}
    view = SpacyTokens().of_sentences(words for words, _ in sentences)
    positions = np.flatnonzero(view.ends > view.starts)
    gold = np.array([number.get(tag, -1) for _, own in sentences for tag in own], np.int32)
    n = len(positions)
    return view, Instances(positions, np.ones(n, np.int32), np.zeros(n, np.int32), gold)
