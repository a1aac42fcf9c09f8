"""``gao2006.headwords``: the gain of head word bigrams over word bigrams, for each learner (section 5.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from disambig.api.experiments import Claim, ExperimentResult, Progress, ResultRow
from disambig.api.measures import paired_bootstrap

from .adaptation import (
    BACKGROUND,
    BLASSO,
    CER,
    DOMAINS,
    F_BOOSTING,
    OF_THE_PAPER,
    AdaptationResults,
    ConversionFeatures,
    DomainLists,
    conversion_outcomes,
    corpus_files,
    load_domain_lists,
    rerank_lists,
)

SYSTEMS = {name: name for name in OF_THE_PAPER}
WITHOUT, WITH = "word n-grams", "and head words"


@dataclass(frozen=True, slots=True)
class Gao2006Headwords:
    """Each learner with and without head words, with 8,000 sentences of each domain."""

    title: ClassVar[str] = "Gao, Suzuki and Yu 2006, section 5.3: bigrams of head words, CER in %"
    description: ClassVar[str] = "kana to kanji: rerankers with and without bigrams of head words"
    needs: ClassVar[tuple[str, ...]] = corpus_files([*BACKGROUND, *(domain.name for domain in DOMAINS)])

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Train in all domains; with `quick` on a few sentences."""
        names = [domain.name for domain in DOMAINS]
        rates: dict[tuple[str, str, str], float] = {}
        gains, overlaps, rows = {}, {}, []
        for number, part in enumerate(load_domain_lists(data, names, quick=quick, progress=progress)):
            progress("learning", number, len(names))
            results = {}
            for setting, heads in ((WITHOUT, False), (WITH, True)):
                results[setting] = AdaptationResults()
                rerank_lists(part.train, part.dev, part.test, SYSTEMS, results[setting], heads=heads)
            overlaps[part.domain] = shared_errors(part)
            for system in SYSTEMS:
                for setting, result in results.items():
                    rate, n = 100 * part.test.error_rate(result.texts[system]), len(part.test.references)
                    rates[part.domain, system, setting] = rate
                    rows.append(ResultRow(f"{part.domain}, {system}", setting, None, rate, n))
            gains[part.domain] = _gain(part, results)
        shares = ", ".join(f"{name} {share:.0%}" for name, share in overlaps.items())
        note = (
            f"{'a few' if quick else '8,000'} training sentences; share of the frequent head word bigrams "
            f"whose words are always adjacent: {shares} (the paper: 25 to 47 %)"
        )
        return ExperimentResult(rows, headword_claims(rates, gains, names), [note], places=2)


def headword_claims(
    rates: Mapping[tuple[str, str, str], float], gains: Mapping[str, str], names: list[str]
) -> list[Claim]:
    """Return the paper's claims about head words, from the error rates in % by domain, learner and setting.

    `gains` describes the gain in each of the domains, `names`.
    """

    def gap(name: str, setting: str) -> float:
        return rates[name, F_BOOSTING, setting] - rates[name, BLASSO, setting]

    changes = [rates[name, BLASSO, WITHOUT] - rates[name, BLASSO, WITH] for name in names]
    return [
        Claim(
            "head words widen the gap between BLasso and F-Boosting in every domain",
            all(gap(name, WITH) > gap(name, WITHOUT) for name in names),
            "; ".join(f"{name} {gap(name, WITHOUT):+.3f} to {gap(name, WITH):+.3f}" for name in names),
        ),
        Claim(
            "head words lower BLasso's error, if only slightly",
            float(np.mean(changes)) > 0,
            f"{float(np.mean(changes)):+.3f} points on average; " + "; ".join(gains.values()),
        ),
    ]


def _gain(part: DomainLists, results: Mapping[str, AdaptationResults]) -> str:
    """Return the effect of head words on BLasso in one domain, with its p-value."""
    texts, references = (results[setting].texts[BLASSO] for setting in (WITH, WITHOUT)), part.test.references
    at = paired_bootstrap(CER, *(conversion_outcomes(chosen, references) for chosen in texts))
    return f"{part.domain} {100 * at.difference:+.3f} (p = {at.p:.2g})"


def shared_errors(part: DomainLists) -> float:
    """Return the share of head word bigrams that are also word bigrams at every occurrence in the lists."""
    features = ConversionFeatures.from_lists(part.train.lists, heads=True)
    names, groups = features.train.columns.names, features.train.columns.groups
    heads = features.train.columns.group_names.index("headword bigrams")
    totals = np.asarray(features.train.rows.sum(axis=0)).ravel()  # type: ignore[attr-defined]
    adjoining = {
        str(names[i]): totals[i] for i in np.flatnonzero(groups != heads).tolist() if " " in str(names[i])
    }
    headword_columns = np.flatnonzero(groups == heads).tolist()
    n_shared = sum(adjoining.get(str(names[i]), 0) >= totals[i] for i in headword_columns)
    return n_shared / max(len(headword_columns), 1)
