"""The fake models of the integration tests as the checker of a server."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from fake_models import FakeModel, annotate_texts

from disambig.checking import CorrectingAnnotator as Loaded
from disambig.server import ServerChecker

TEXT = "It lasted during 1997 to 2001. It was a quite place."
"""The fake models flag two words of it."""
calls: list[int] = []
"""Number of texts in each call of the models."""


@dataclass(frozen=True)
class Fake(FakeModel):
    """A fake model whose candidates are all equally probable."""

    concerns: str = "other"

    @property
    def task(self):
        return SimpleNamespace(name=self.name, concerns=self.concerns)

    def candidate_probabilities(self, decisions):
        return np.full(len(decisions.scores), 1 / max(1, int(np.diff(decisions.offsets).max(initial=1))))


class FakeChecker(ServerChecker):
    """Runs the fake models; at a rate of 0 they flag nothing."""

    def annotate(self, options):
        def run(texts):
            calls.append(len(texts))
            results = annotate_texts(texts)
            for decisions in results:
                decisions.flagged[:] &= options.rates.get(decisions.task, 1.0) > 0
            return results

        return run


def fake_checker(*, least=None, **settings):
    calls.clear()
    kinds = {"preposition": "grammar", "spelling": "confusion"}
    models = {name: Fake(name, concerns=kind) for name, kind in kinds.items()}
    return FakeChecker(loaded(models, least), dict.fromkeys(models, 1.0), **settings)


def loaded(models, least=None):
    return Loaded(tuple(models.values()), {}, least=least)
