"""``bergsma2010.domains``: when a prior learned in other domains helps.

The paper suggests weights from other domains as guidance, but does not test it (section 6). Here each domain
in turn is the new one, with a few labelled examples and with weights learned from all other domains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import DenseBlocks, LinearScorer, Words
from disambig.api.counts import NgramCounts
from disambig.api.evaluation import mcnemar
from disambig.api.experiments import (
    Claim,
    ExperimentResult,
    Progress,
    ResultRow,
    count_hits,
    join_blocks,
    text_lines,
)
from disambig.api.features import transform_checked
from disambig.api.training import split

from ..learners.baselines import SumLM
from ..learners.variance_svm import VarianceSVM
from ..plain_text import DOMAINS, HELD_OUT, find_files
from ..prepositions.task import Preposition
from .learning_curves import check_parts

Hits = NDArray[np.bool_]
PLAIN, PRIOR, NEAR, POOLED = "VAR-SVM", "VAR-SVM, prior", "CS-SVM, prior", "VAR-SVM, pooled"
SYSTEMS = (PLAIN, PRIOR, NEAR, POOLED)
AS_IS, SUM = "other domains' weights", "SumLM"
SIZES = (10, 100, 1000)
DRAWS = {10: 5, 100: 3, 1000: 2}
POOLED_DRAWS = 1
"""Pooled training is the most expensive and varies least between draws."""
OTHERS, OTHERS_DEV = 500, 150
"""Examples from each other domain for training and for tuning."""
QUICK_OTHERS, QUICK_DOMAINS = 150, 2
"""The same for training in a quick run, and the number of new domains."""
DEV, TEST = 1000, 3000
TOLERANCE = 0.2
"""Difference in accuracy, in points, up to which two systems count as equally good."""


@dataclass(frozen=True, slots=True)
class Bergsma2010Domains:
    """Preposition selection in each domain, with and without a prior learned in the others."""

    title: ClassVar[str] = "A prior from other domains"
    description: ClassVar[str] = "prepositions: SVMs with priors from other domains, with 10 to 1K examples"
    needs: ClassVar[tuple[str, ...]] = HELD_OUT

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Run with each domain as the new one; with `quick` two domains, 10 and 100 examples."""
        read = {}
        for number, (name, path) in enumerate(zip(DOMAINS, find_files(data, HELD_OUT), strict=True)):
            progress("reading", number, len(DOMAINS))
            read[name] = domain_batches(path, few=quick)
        hits_by_domain: dict[str, dict[str, dict[int, list[Hits]]]] = {}
        names = DOMAINS[:QUICK_DOMAINS] if quick else DOMAINS
        for number, name in enumerate(names):
            progress(f"learning {name}", number, len(names))
            others = [read[other] for other in DOMAINS if other != name]
            hits_by_domain[name] = run_trials(
                read[name], others, sizes=SIZES[:2] if quick else SIZES, quick=quick
            )
        return ExperimentResult(
            rows=list(domain_rows(hits_by_domain)),
            claims=domain_claims(hits_by_domain),
            notes=[
                "The counts are those of the pack, made from training text of all domains: only the "
                "examples of the new domain are new to the learner, not its n-grams.",
                "Train, dev and test come from different paragraphs; each system's C is chosen on up to "
                f"{DEV:,} examples of the new domain, whatever the training size.",
                f"The other domains give up to {OTHERS:,} examples each; all domains have the same weight "
                "in means.",
                "VAR-SVM, prior: the variance of the difference from the prior is penalised, so the mean of "
                "the 3- to 5-gram weights stays free; CS-SVM, prior: the squared difference of each is.",
                "McNemar's test is over the test examples of all domains, on the first draw. Leads are "
                "means over all draws; the lead over VAR-SVM, pooled, which is drawn once, is that of "
                "the first draw.",
            ],
            details={"pairs": domain_pairs(hits_by_domain)},
        )


def domain_batches(path: Path, *, few: bool = False) -> dict[str, DenseBlocks]:
    """Return examples of a domain, ``train``, ``dev`` and ``test``, from different paragraphs."""
    texts = split(text_lines(path))
    task, extractor = Preposition(), NgramCounts(counts="disambig_en")
    rng = np.random.default_rng(0)
    maximum = {"train": 3 * SIZES[-1], "dev": 300 if few else DEV, "test": 1000 if few else TEST}
    batches = {}
    for part, size in maximum.items():
        view = Words()(texts[part])
        instances = task.instances(view)
        chosen = rng.permutation(len(instances))[:size]
        batch = transform_checked(extractor, view, instances.take(chosen), task.groups[0]).batch
        assert isinstance(batch, DenseBlocks)
        batches[part] = batch
    uses = {"to learn from": "train", "to tune on": "dev", "to test on": "test"}
    check_parts(path, "a preposition", {use: len(batches[part].values) for use, part in uses.items()})
    return batches


def run_trials(
    domain: Mapping[str, DenseBlocks],
    others: Sequence[Mapping[str, DenseBlocks]],
    *,
    sizes: Sequence[int],
    quick: bool = False,
) -> dict[str, dict[int, list[Hits]]]:
    """Return which test examples each system gets right, by training size and draw; size 0 if it has none."""
    maximum = QUICK_OTHERS if quick else OTHERS
    pooled = join_blocks([first(other["train"], maximum) for other in others])
    tuning = join_blocks([first(other["dev"], OTHERS_DEV) for other in others])
    other_scorer = VarianceSVM().fit(pooled, dev=tuning).scorer
    dev, test = domain["dev"], domain["test"]
    assert isinstance(other_scorer, LinearScorer)
    weights: Any = other_scorer.weights
    hits: dict[str, dict[int, list[Hits]]] = {system: {} for system in SYSTEMS}
    hits[AS_IS] = {0: [count_hits(other_scorer.scores(test), test)]}
    hits[SUM] = {0: [count_hits(SumLM().fit(test).scorer.scores(test), test)]}
    n = len(domain["train"].values)
    for size in (size for size in sizes if size <= n):
        for draw in range(2 if quick else DRAWS[size]):
            chosen = np.random.default_rng((size, draw)).choice(n, size, replace=False)
            sample = domain["train"].take(np.sort(chosen))
            learners = {
                PLAIN: (VarianceSVM(), sample),
                PRIOR: (VarianceSVM(prior=weights), sample),
                NEAR: (VarianceSVM(prior=weights, variance=()), sample),
            }
            if draw < POOLED_DRAWS:
                learners[POOLED] = (VarianceSVM(), join_blocks([pooled, sample]))
            for system, (learner, examples) in learners.items():
                scores = learner.fit(examples, dev=dev).scorer.scores(test)
                hits[system].setdefault(size, []).append(count_hits(scores, test))
    return hits


def first(batch: DenseBlocks, n: int) -> DenseBlocks:
    """Return the first n examples."""
    return batch.take(np.arange(min(n, len(batch.values))))


def domain_rows(hits_by_domain: Mapping[str, Mapping[str, Mapping[int, list[Hits]]]]) -> Iterator[ResultRow]:
    """Yield the mean over domains of each system and size, then each domain's own figures."""
    for system in (SUM, AS_IS, *SYSTEMS):
        for size in (0, *SIZES):
            by_domain = [domain[system][size] for domain in hits_by_domain.values() if size in domain[system]]
            if by_domain:
                draws = min(len(draw_hits) for draw_hits in by_domain)
                means = [
                    100 * np.mean([draw_hits[draw].mean() for draw_hits in by_domain])
                    for draw in range(draws)
                ]
                n = sum(len(draw_hits[0]) for draw_hits in by_domain)
                yield ResultRow(system, str(size or ""), None, float(np.mean(means)), n, _spread(means))
    for system in (SUM, AS_IS, *SYSTEMS):
        for name, domain in hits_by_domain.items():
            for size, draw_hits in domain[system].items():
                shares = [100 * float(hit.mean()) for hit in draw_hits]
                setting = f"{name} {size:,}" if size else name
                yield ResultRow(
                    system, setting, None, float(np.mean(shares)), len(draw_hits[0]), _spread(shares)
                )


def domain_pairs(
    hits_by_domain: Mapping[str, Mapping[str, Mapping[int, list[Hits]]]],
) -> dict[str, dict[str, Any]]:
    """Return, for each size and rival, the prior's mean lead in points, the domains it won, and p.

    p comes from the first draw, and so does the lead over `POOLED`, which is drawn once. Other leads are
    means over all draws.
    """
    compared: dict[str, dict[str, Any]] = {}
    for size in SIZES:
        names = [name for name, domain in hits_by_domain.items() if size in domain[NEAR]]
        for rival in (PLAIN, AS_IS, PRIOR, POOLED) if names else ():
            leads, ours, theirs = {}, [], []
            for name in names:
                near, other = (
                    hits_by_domain[name][NEAR][size],
                    hits_by_domain[name][rival][0 if rival == AS_IS else size],
                )
                near = near[:POOLED_DRAWS] if rival == POOLED else near
                means = [np.mean([hit.mean() for hit in draw_hits]) for draw_hits in (near, other)]
                leads[name] = 100 * float(means[0] - means[1])
                ours.append(near[0])
                theirs.append(other[0])
            compared[f"{rival}, {size}"] = {
                "rival": rival,
                "size": size,
                "lead": float(np.mean(list(leads.values()))),
                "domains_ahead": sum(lead > 0 for lead in leads.values()),
                "domains": len(names),
                "p": mcnemar(np.concatenate(ours), np.concatenate(theirs)),
                "leads": leads,
            }
    return compared


CLAIMS = {
    PLAIN: "with {} examples a prior (CS-SVM) is better than none (VAR-SVM)",
    AS_IS: "with {} examples of the domain the prior is better than the unchanged weights of the other "
    "domains",
    PRIOR: "with {} examples all weights near the prior are better than a free mean (VAR-SVM, prior)",
    POOLED: "with {} examples the prior is not worse than pooling (within 0.2 point)",
}


def domain_claims(hits_by_domain: Mapping[str, Mapping[str, Mapping[int, list[Hits]]]]) -> list[Claim]:
    """Return the claims with their evidence; a system is better only if p < 0.05."""
    claims = []
    for at in domain_pairs(hits_by_domain).values():
        better = at["lead"] > 0 and at["p"] < 0.05
        draws = "first draw" if at["rival"] == POOLED else "all draws"
        evidence = (
            f"{at['lead']:+.2f} points, ahead in {at['domains_ahead']} of {at['domains']} domains ({draws}), "
            f"McNemar p = {at['p']:.2g} (first draw)"
        )
        holds = at["lead"] >= -TOLERANCE if at["rival"] == POOLED else better
        claims.append(Claim(CLAIMS[at["rival"]].format(f"{at['size']:,}"), holds, evidence))
    return claims


def _spread(values: Sequence[Any]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None
