"""Flags that are right often enough: decisions with what was measured of their model, less the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from disambig.data.decisions import Decisions, replacement
from disambig.data.trust import Trust
from disambig.model.annotate import decide_each
from disambig.model.model import Model
from disambig.model.one_place import settle
from disambig.types import Flags

MOST = 1000.0
"""A rate of flags per 1,000 words at which models flag all that they ever do."""


def annotate_trusted(
    texts: Sequence[str],
    models: Sequence[Model],
    trust: Mapping[str, Trust],
    *,
    least: float,
    flags_per_1000: Mapping[str, float],
) -> list[Decisions]:
    """Decide as `disambig.model.annotate.annotate` does, with those flags alone that are trusted enough.

    Parameters
    ----------
    trust : mapping of str to Trust
        Of each task; one without any flags nothing.
    least : float
        Share of flags that are right, at least; see `Trust`.
    flags_per_1000 : mapping of str to float
        As `rates_for` returns them.
    """
    found = []
    for decisions in decide_each(texts, models, flags_per_1000=flags_per_1000):
        known = trust.get(decisions.task)
        flagged = decisions.flagged.copy()
        for i in np.flatnonzero(flagged).tolist():
            text = texts[int(decisions.documents[i])]
            start, end = int(decisions.starts[i]), int(decisions.ends[i])
            meant = replacement(decisions.candidates_of(i)[decisions.chosen[i]], text, start, end)
            sure = float(decisions.probabilities[i])
            flagged[i] = known is not None and known.of(text[start:end], meant, sure).share >= least
        found.append(replace(decisions, flagged=flagged, trust=known))
    return settle(found, texts)


def rates_for(models: Sequence[Model], trust: Mapping[str, Trust], least: float) -> dict[str, float]:
    """Return a rate of flags for each task at which it raises all that are trusted enough, and few more.

    A task of which no flag is gets 0.
    """
    rates = {}
    for model in models:
        assert isinstance(model.judge, Flags)
        known = trust.get(model.task.name)
        probability = None if known is None else known.least_for(least)
        rate = 0.0
        if probability is not None:
            rate = model.judge.flags_per_1000 or 1.0
            while rate < MOST and model.judge.limit(rate) >= probability:
                rate *= 2
        rates[model.task.name] = min(rate, MOST)
    return rates
