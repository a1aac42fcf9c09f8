"""What the paper says of table 1, and what we add, as claims that hold or do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from disambig.api.experiments import Claim
from disambig.api.measures import paired_bootstrap

from .adaptation import BASELINE, BLASSO, BOOSTING, BOTH, F_BOOSTING, FSLR, MAP
from .reranking import CER, Listed

if TYPE_CHECKING:
    from .table1 import Tried

P = 0.01


def claims_of(tried: Sequence[Tried]) -> list[Claim]:
    """Return each claim with the figures that say so."""
    large = [(each, size) for each in tried for size in each.found if size >= 8_000]
    every = [(each, size) for each in tried for size in each.found]
    return [
        _everywhere(f"{BOOSTING} beats {MAP} at 8K and 72K in every domain", large or every, BOOSTING, MAP),
        _everywhere(f"{BLASSO} beats {MAP} at 8K and 72K in every domain", large or every, BLASSO, MAP),
        _on_average(every, BLASSO, BOOSTING),
        _over_all(every, BLASSO, BOOSTING),
        _on_average(every, BLASSO, F_BOOSTING),
        _on_average(every, FSLR, BOOSTING),
        _everywhere(f"all rerankers beat the {BASELINE.lower()}", every, BLASSO, BASELINE),
        _everywhere(f"{BOTH} is better than {MAP}", every, BOTH, MAP),
        _everywhere(f"{BOTH} is better than {BLASSO}", every, BOTH, BLASSO),
        _over_all(every, BOTH, MAP),
    ]


def _everywhere(said: str, places: Sequence[tuple[Tried, int]], better: str, worse: str) -> Claim:
    won = [each.rate(better, size) < each.rate(worse, size) for each, size in places]
    lost = [
        f"{each.domain.name} {size:,}: {each.rate(better, size):.2f} and {each.rate(worse, size):.2f}"
        for (each, size), right in zip(places, won, strict=True)
        if not right
    ]
    evidence = f"{sum(won)} of {len(won)}" + (f"; not {'; '.join(lost)}" if lost else "")
    return Claim(said, all(won), evidence)


def _on_average(places: Sequence[tuple[Tried, int]], better: str, worse: str) -> Claim:
    first, second = (
        float(np.mean([each.rate(name, size) for each, size in places])) for name in (better, worse)
    )
    return Claim(
        f"{better} is better than {worse} on average", first < second, f"{first:.3f} and {second:.3f}"
    )


def _over_all(places: Sequence[tuple[Tried, int]], better: str, worse: str) -> Claim:
    """Compare two systems over all domains and sizes; a sentence is one unit for all sizes."""
    texts: dict[str, list[str]] = {better: [], worse: []}
    references: list[str] = []
    units: list[int] = []
    firsts = {id(each): first for each, first in _first_units(places)}
    for each, size in places:
        references += each.test.references
        units += range(firsts[id(each)], firsts[id(each)] + len(each.test.references))
        for name, some in texts.items():
            some += each.found[size].texts[name]
    every = Listed(places[0][0].test.lists, references)
    first, second = (every.outcomes(texts[name], units=units) for name in (better, worse))
    at = paired_bootstrap(CER, first, second)
    low, high = (100 * bound for bound in at.interval)
    evidence = (
        f"{100 * at.first:.3f} and {100 * at.second:.3f}, p = {at.p:.2g}, difference {low:.3f} to {high:.3f} "
        f"(95 %, {at.n_units:,} sentences, drawn anew)"
    )
    return Claim(
        f"{better} is better than {worse} over all domains and sizes (p < {P})",
        at.difference > 0 and at.p < P,
        evidence,
    )


def _first_units(places: Sequence[tuple[Tried, int]]) -> Iterator[tuple[Tried, int]]:
    """Yield each domain with the number of its first sentence among all."""
    first = 0
    for each in {id(each): each for each, _ in places}.values():
        yield each, first
        first += len(each.test.references)
