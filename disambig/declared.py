"""What a part may declare of itself, and what stands where it does not; read by `disambig.fields`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Where = Literal["words", "tokens", "sentences", "documents", "items"]
Between = Literal["words", "labels", "own"]
Concern = Literal["grammar", "confusion", "repetition", "other"]
"""Kinds of mistakes: of grammar, one word written for another, a word written twice, none of these."""


@dataclass(frozen=True, slots=True)
class Decides:
    """What a task decides: its one declared value.

    Attributes
    ----------
    where : str
        ``"words"``: a word or more, or an empty place between two; ``"tokens"``: single tokens, of which an
        example may name any; ``"sentences"``, ``"documents"``: these as a whole; ``"items"``: things outside
        any text, such as n-best lists, which a reader brings.
    between : str
        ``"words"``: the words of a group, of which one may stand in the text; ``"labels"``: labels of a
        group, nothing of which stands there; ``"own"``: candidates of each instance's own (`Instances.own`).
    together : bool
        Whether the decisions of a sentence are taken together, so that none may be cut off.
    """

    where: Where = "words"
    between: Between = "words"
    together: bool = False


class TaskOptions:
    """Fields that a task may declare; the values here stand where it does not."""

    decides: Decides = Decides()
    """What the task decides; by default words or empty places, between the words of a group."""
    metric: tuple[str, str | None] = ("accuracy", None)
    """The measure that decisions are to serve, and the candidate that it is about, if it is about one."""
    concerns: Concern = "other"
    """The kind of mistakes that its flags are, for whoever shows them by kind."""
    folders: Sequence[str] = ()
    """Settings that may name a folder or file it reads: a saved model names it by its place beside it."""


class ExtractorOptions:
    """Fields that an extractor may declare; the values here stand where it does not."""

    requires: Sequence[str] = ()
    """Layers that a view must have."""
    rows_are_shared: bool = False
    """Whether the rows say nothing of the candidates (`CrossedRows`): found once for all groups."""
    cross_fit: bool = False
    """Whether `fit` learns from the labels: then examples are described out of fold."""
    folders: Sequence[str] = ()
    """As of a task."""
    describes: str = "any"
    """Whose candidates it knows: ``"group"``, ``"own"`` (lists of each instance's own), or ``"any"``."""


class LearnerOptions:
    """Fields that a learner may declare; the values here stand where it does not."""

    needs_training: bool = True
    """False where `fit` ignores the examples (an unsupervised sum)."""
    takes: tuple[type, ...] = ()
    """Storages of a batch that it learns from, the best first; others are converted. None: any batch."""


class JudgeOptions:
    """Fields that a judge may declare; the values here stand where it does not."""

    between: tuple[Between, ...] = ("words", "labels", "own")
    """What the tasks that it is for may decide between."""
    learns_mistakes: bool = False
    """Whether it learns from mistakes that people made (`HasMistakes`), where there are some."""
    sees_beside: bool = False
    """Whether it looks at the words before and after a place of a text (``Scored.beside``)."""
    sees_parts: bool = False
    """Whether it looks at what each group of features adds to a score (``Scored.parts``)."""
