"""Sentences that are cut into words and tagged: batches to learn from, and tags of words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from disambig.api import Instances, TokenView, UserError
from disambig.api.batches import SequenceRows
from disambig.api.features import TokenContext, WordClasses
from disambig.api.text import SpacyTokens

from .task import Tags, words_of

Tagged = Sequence[tuple[Sequence[str], Sequence[str]]]


def check(sentences: Tagged) -> None:
    """Refuse a sentence that has not one tag for each word, or an empty one (UserError D791)."""
    for number, (words, tags) in enumerate(sentences, 1):
        if len(words) != len(tags) or not all(words) or not all(tags):
            raise UserError("D791", number=number, words=len(words), tags=len(tags))


def tags_of(sentences: Tagged) -> tuple[str, ...]:
    """Return the tags that occur, in alphabetical order.

    Raises
    ------
    UserError
        D790 for sentences without words, D791 for one that has not one tag for each word or an empty one.
    """
    check(sentences)
    found = sorted({tag for _, tags in sentences for tag in tags})
    if not found:
        raise UserError("D790")
    return tuple(found)


def view_of(sentences: Tagged, tokenisation: SpacyTokens) -> TokenView:
    """Return the view of the words of sentences, one document each."""
    return tokenisation.of_sentences(words for words, _ in sentences)


def instances_of(view: TokenView, sentences: Tagged, task: Tags) -> Instances:
    """Return one instance a word; what is observed is its tag, -1 for one that the task does not have."""
    number = {tag: i for i, tag in enumerate(task.tags)}
    gold = [number.get(tag, -1) for _, tags in sentences for tag in tags]
    positions = words_of(view)
    n = len(positions)
    return Instances(positions, np.ones(n, np.int32), np.zeros(n, np.int32), np.array(gold, np.int32))


def batch_of(
    sentences: Tagged,
    tags: Sequence[str],
    extractor: TokenContext | None = None,
    *,
    classes: WordClasses | None = None,
) -> tuple[SequenceRows, TokenContext]:
    """Return a batch of tagged sentences, and the extractor: a new one, fitted on them, where none is given.

    Parameters
    ----------
    sentences : sequence of (words, tags)
    tags : sequence of str
        The labels. A word with another tag has no right label: every one costs something.
    extractor : TokenContext, optional
    classes : WordClasses, optional
        What a new extractor knows of words besides.

    Raises
    ------
    UserError
        D791 for a sentence that has not one tag for each word, or an empty one.
    """
    view, instances, task = _read(sentences, tags)
    fitted = extractor or TokenContext(classes=classes).fit(view, instances, task.groups)
    batch = fitted.transform(view, instances, task.groups[0]).batch
    assert isinstance(batch, SequenceRows)
    return batch, fitted


def context_of(
    sentences: Tagged, tags: Sequence[str], *, least: int = 1, classes: WordClasses | None = None
) -> TokenContext:
    """Return an extractor of the features that occur in tagged sentences `least` times or more.

    Raises
    ------
    UserError
        D791 for a sentence that has not one tag for each word, or an empty one.
    """
    view, instances, task = _read(sentences, tags)
    return TokenContext(least=least, classes=classes).fit(view, instances, task.groups)


def _read(sentences: Tagged, tags: Sequence[str]) -> tuple[TokenView, Instances, Tags]:
    """Return tagged sentences as a view, its tokens with their tags, and the task of these tags."""
    check(sentences)
    task = Tags(tags=tuple(tags))
    view = view_of(sentences, SpacyTokens())
    return view, instances_of(view, sentences, task), task
