"""Lists of tag sequences: the best of a chain model that has not seen the sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Group, Instances, UserError, resolve
from disambig.api.batches import SequenceRows
from disambig.api.experiments import Progress
from disambig.api.features import TokenContext
from disambig.api.formats import read_conllu
from disambig.api.tasks import CandidateLists, CandidateWords
from disambig.api.text import SpacyTokens

from .english_rows import Seen

EWT = "labelled/ewt/*.conllu.xz"
GENRES = ("answers", "newsgroup", "reviews", "weblog", "email")
TAGGER = "random_subspace.StructuredPerceptron.v1"
PASSES = 5
K = 20
FOLDS, BLOCK = 5, 250
AROUND = 3
"""Places on each side of one where candidates differ that n-grams of four tags reach."""
TAGS, LEXICAL = 0, 1
"""Entries of `Seen.words`: tags alone; tags with words and with their neighbours."""
_FORM, _XPOS = 1, 4
_GAP, _START, _END = "|", "<s>", "</s>"
Tagged = tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Tagger:
    """A chain model: features of words, crossed with tags, and pairs of tags.

    Attributes
    ----------
    context : TokenContext
    scorer : ChainScorer
        Gives the k best.
    tags : tuple of str
    n : int
        Sentences that it learned from.
    """

    context: TokenContext
    scorer: Any
    tags: tuple[str, ...]
    n: int

    @classmethod
    def learned(cls, sentences: Sequence[Tagged], tags: tuple[str, ...]) -> Tagger:
        """Return a tagger that learned from sentences, by a learner that the registry names."""
        batch, context = _rows(sentences, tags, None)
        config = {"learner": {"@disambig_learners": TAGGER, "passes": PASSES}}
        return cls(context, resolve(config)["learner"].fit(batch).scorer, tags, len(sentences))

    def best(self, sentences: Sequence[Tagged], k: int = K) -> list[tuple[NDArray[Any], NDArray[np.int64]]]:
        """Return scores and tags, as numbers, of the `k` best sequences of each sentence.

        The weights of a perceptron grow with what it learns from: scores are those for each sentence of it,
        so that taggers of folds and of all sentences mean the same by them.
        """
        batch, _ = _rows(sentences, self.tags, self.context)
        return [(scores / self.n, paths) for scores, paths in self.scorer.k_best(batch, k)]


def sentences_of(data: Path, split: str, *, every: int = 1) -> list[Tagged]:
    """Return words and Penn tags of the sentences of a part of EWT, every so many-th.

    Raises
    ------
    UserError
        D735 for a word without a tag; those of `read_conllu`.
    """
    found: list[Tagged] = []
    for genre in GENRES:
        path = data / EWT.replace("*", f"{genre}.{split}")
        for sentence in read_conllu(path):
            for line, word in zip(sentence.lines, sentence.words, strict=True):
                if word[_XPOS] in ("", "_"):
                    problem = f"word {word[0]} has no tag (column {_XPOS + 1})"
                    raise UserError("D735", path=path, line=line, problem=problem)
            words = [word[_FORM] for word in sentence.words]
            found.append((words, [word[_XPOS] for word in sentence.words]))
    return found[::every]


def tags_in(sentences: Sequence[Tagged]) -> tuple[str, ...]:
    """Return the tags that occur, in alphabetical order."""
    return tuple(sorted({tag for _, tags in sentences for tag in tags}))


def by_folds(sentences: Sequence[Tagged], tags: tuple[str, ...], progress: Progress, *, k: int = K) -> Seen:
    """Return the lists of sentences, each by a tagger that learned from the other folds; fold by fold.

    Folds are dealt `BLOCK` neighbouring sentences at a time: a text lies on one side, nearly, and a genre
    on both.
    """
    parts, fold_of = [], np.arange(len(sentences)) // BLOCK % FOLDS
    for fold in range(FOLDS):
        progress("tagging by folds", fold, FOLDS)
        own = [sentences[i] for i in np.flatnonzero(fold_of == fold).tolist()]
        others = [sentences[i] for i in np.flatnonzero(fold_of != fold).tolist()]
        parts.append(lists_of(own, Tagger.learned(others, tags).best(own, k), tags))
    return Seen.joined(parts)


def lists_of(
    sentences: Sequence[Tagged],
    found: Sequence[tuple[NDArray[Any], NDArray[np.int64]]],
    tags: Sequence[str],
) -> Seen:
    """Return the lists of some sentences: cost is the number of wrong tags.

    Parameters
    ----------
    found : sequence of (scores, tags)
        Shapes ``(k,)`` and ``(k, n_words)``.
    """
    number = {tag: i for i, tag in enumerate(tags)}
    sizes = np.array([len(scores) for scores, _ in found], np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    costs, texts = [], []
    plain: list[list[str]] = []
    lexical: list[list[str]] = []
    for (words, right), (_, paths) in zip(sentences, found, strict=True):
        gold = np.array([number.get(tag, -1) for tag in right])
        costs.append((paths != gold).sum(axis=1))
        near = _near(paths)
        forms = [word.lower() for word in words]
        for path in paths.tolist():
            own = [tags[i] for i in path]
            texts.append(" ".join(own))
            plain.append(_runs(own, near))
            lexical.append(_with_words(own, forms, near))
    lists = CandidateLists(
        offsets,
        texts,
        np.concatenate([scores for scores, _ in found]).astype(np.float64),
        (np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)).astype(np.int32),
        np.concatenate(costs).astype(np.float32),
    )
    return Seen(lists, (CandidateWords.of(plain), CandidateWords.of(lexical)))


def _near(paths: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which places are at most `AROUND` from one where the sequences differ."""
    differ = (paths != paths[0]).any(axis=0)
    return np.convolve(differ, np.ones(2 * AROUND + 1), mode="full")[AROUND : AROUND + len(differ)] > 0


def _runs(tags: Sequence[str], near: NDArray[np.bool_]) -> list[str]:
    """Return the tags of places near a difference, with a mark where some are left out."""
    found: list[str] = []
    for tag, kept in zip(tags, near.tolist(), strict=True):
        if kept:
            found.append(tag)
        elif not found or found[-1] != _GAP:
            found.append(_GAP)
    return found


def _with_words(tags: Sequence[str], forms: Sequence[str], near: NDArray[np.bool_]) -> list[str]:
    """Return what the chain cannot see, tags of neighbours with words, and words with their tags."""
    padded = [_START, *tags, _END]
    found = []
    for i in np.flatnonzero(near).tolist():
        before, own, after = padded[i : i + 3]
        form = forms[i]
        found += [
            f"{form}/{own}",
            f"{before}_{form}/{own}",
            f"{form}/{own}_{after}",
            f"{before}_{form}_{after}",
        ]
    return found


def _rows(
    sentences: Sequence[Tagged], tags: Sequence[str], context: TokenContext | None
) -> tuple[SequenceRows, TokenContext]:
    """Return the rows of words, and the extractor: a new one, fitted on them, where none is given."""
    view = SpacyTokens().of_sentences(words for words, _ in sentences)
    positions = np.flatnonzero(view.ends > view.starts)
    number = {tag: i for i, tag in enumerate(tags)}
    gold = np.array([number.get(tag, -1) for _, own in sentences for tag in own], np.int32)
    n, group = len(positions), Group("tag", tuple(tags))
    instances = Instances(positions, np.ones(n, np.int32), np.zeros(n, np.int32), gold)
    fitted = context or TokenContext().fit(view, instances, (group,))
    batch = fitted.transform(view, instances, group).batch
    assert isinstance(batch, SequenceRows)
    return batch, fitted
