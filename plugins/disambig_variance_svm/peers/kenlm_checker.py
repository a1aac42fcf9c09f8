"""KenLM as a checker: the candidates of given models, decided by the probability of the sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from disambig.api.evaluation import Edit, edits_of, text_stretches
from disambig.api.judges import JudgedScores, Scored
from disambig.api.text import view_of_texts

from ..learners.baselines import SumLM
from .kenlm import NAME, KenLM


@dataclass(frozen=True, slots=True)
class KenLMChecker:
    """A language model in the place of what models have learned.

    It finds and protects what they do; whatever makes a sentence more probable is proposed, as sure as the
    difference of the log10 probabilities. No word, where that is a candidate, is the sentence without one.
    Its limits are for others to set.

    Attributes
    ----------
    models : tuple of Model
        Their tasks are its own.
    kenlm : KenLM
    """

    models: tuple[Any, ...]
    kenlm: KenLM
    name: str = "KenLM"

    @property
    def tasks(self) -> tuple[str, ...]:
        """Tasks of the models."""
        return tuple(model.task.name for model in self.models)

    def edits(self, texts: Sequence[str]) -> list[list[Edit]]:
        """Return all that makes a sentence more probable.

        Raises
        ------
        UserError
            D740 to D742 (see `KenLM`).
        """
        found: list[list[Edit]] = []
        for stretch in text_stretches(texts):
            decisions = []
            for model in self.models:
                view = view_of_texts(stretch, model.tokenisation, protected=True)
                fitted = self.kenlm.fit(view, model.instances(view), model.task.groups)
                decisions.append(with_scores(model, fitted).decide(view).without_empty())
            found += edits_of(decisions, stretch)
        return found


class MoreProbable:
    """The judge of it: whatever scores higher than what stands there is flagged, but for its variants."""

    def judge(self, scored: Scored, *, flags_per_1000: float | None = None) -> JudgedScores:
        """Return the best candidate of each instance; probabilities are its lead over the observed one."""
        n, k = len(scored.observed), len(scored.group.candidates)
        scores = np.asarray(scored.scores, np.float64).reshape(n, k)
        rows, observed = np.arange(n), np.asarray(scored.observed)
        chosen = scores.argmax(axis=1) if n else np.empty(0, np.int64)
        ordered = np.sort(scores, axis=1)
        same = np.array([[scored.group.same(i, j) for j in range(k)] for i in range(k)], bool)
        known = np.asarray(scored.found).reshape(n, k)[rows, chosen] > 0
        return JudgedScores(
            chosen=chosen,
            margins=ordered[:, -1] - ordered[:, -2] if k > 1 else np.full(n, np.inf),
            probabilities=scores[rows, chosen] - scores[rows, observed],
            flagged=~same[observed, chosen] & known,
            said=np.ones(n, bool),
        )


def with_scores(model: Any, kenlm: KenLM) -> Any:
    """Return a model that finds what `model` does and decides by a language model."""
    return replace(
        model,
        extractors=(kenlm,),
        baseline=SumLM(patterns=[NAME]),
        scorers=(),
        shared=None,
        judge=MoreProbable(),
    )
