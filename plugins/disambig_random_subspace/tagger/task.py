"""Task *tag*: the part of speech of every token; and batches of tokenised sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Decides, Group, Instances, TokenView, UserError
from disambig.api.batches import SequenceRows
from disambig.api.features import TokenContext, WordClasses, tagged_batch, tagged_instances


@dataclass(frozen=True, kw_only=True)
class TagTask:
    """Assign one tag of a tag set to each token; the tags of a sentence are decided jointly.

    Parameters
    ----------
    tags : sequence of str
        The tag set, for example that of the Penn Treebank.
    name, language : str

    Raises
    ------
    UserError
        D792 for tags that are fewer than two, empty or repeated.
    """

    tags: Sequence[str]
    name: str = "tag"
    language: str = "en"
    decides: ClassVar[Decides] = Decides("tokens", "labels", together=True)

    def __post_init__(self) -> None:
        tags = list(self.tags)
        if isinstance(self.tags, str) or len(tags) < 2 or len(set(tags)) < len(tags) or "" in tags:
            raise UserError("D792", tags=self.tags)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group: the tag set."""
        return (Group("tag", tuple(self.tags)),)

    def instances(self, view: TokenView) -> Instances:
        """Return every token of `view` except the boundaries of sentences."""
        positions = word_positions(view)
        n = len(positions)
        return Instances(positions, np.ones(n, np.int32), np.zeros(n, np.int32), np.full(n, -1, np.int32))


def word_positions(view: TokenView) -> NDArray[np.int64]:
    """Return the tokens of a view that are not boundaries of sentences, shape ``(n_words,)``."""
    return np.flatnonzero(view.ends > view.starts)


Tagged = Sequence[tuple[Sequence[str], Sequence[str]]]


def check_sentences(sentences: Tagged) -> None:
    """Raise an error for a sentence that does not have one tag per word, or is empty (UserError D791)."""
    for number, sentence in enumerate(sentences, 1):
        if len(sentence) != 2 or any(isinstance(part, str) for part in sentence):
            raise UserError("D791", number=number, problem="is not a pair of words and tags")
        words, tags = sentence
        texts = all(isinstance(text, str) and text for text in (*words, *tags))
        if len(words) != len(tags) or not texts:
            problem = f"has {len(words):,} words and {len(tags):,} tags"
            raise UserError("D791", number=number, problem=problem)


def distinct_tags(sentences: Tagged) -> tuple[str, ...]:
    """Return the tags that occur, in alphabetical order.

    Raises D790 for sentences without words, D791 for one that does not have one tag per word or is empty.
    """
    check_sentences(sentences)
    distinct = sorted({tag for _, tags in sentences for tag in tags})
    if not distinct:
        raise UserError("D790", purpose="learn from")
    return tuple(distinct)


def make_batch(
    sentences: Tagged,
    tags: Sequence[str],
    extractor: TokenContext | None = None,
    *,
    classes: WordClasses | None = None,
) -> tuple[SequenceRows, TokenContext]:
    """Return a batch of tagged sentences, and the extractor: by default a new one, fitted on them.

    Raises D791 for a sentence that does not have one tag per word, or is empty.

    A word with a tag that is not in `tags` has no right label: all labels have a cost. `classes` are for a
    new extractor.
    """
    check_sentences(sentences)
    return tagged_batch(sentences, tags, extractor or TokenContext(classes=classes))


def fit_context(
    sentences: Tagged, tags: Sequence[str], *, minimum: int = 1, classes: WordClasses | None = None
) -> TokenContext:
    """Return an extractor of the features that occur at least `minimum` times in tagged sentences.

    Raises D791 for a sentence that does not have one tag per word, or is empty.
    """
    check_sentences(sentences)
    view, instances = tagged_instances(sentences, tags)
    task = TagTask(tags=tags)
    return TokenContext(least=minimum, classes=classes).fit(view, instances, task.groups)
