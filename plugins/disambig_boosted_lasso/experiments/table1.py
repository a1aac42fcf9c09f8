"""``gao2006.table1``: kana-to-kanji conversion in other domains, with language models and reranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from disambig.api.experiments import Claim, ExperimentResult, Progress, ResultRow, no_progress, run_parts
from disambig.api.language_models import cross_entropy
from disambig.api.measures import paired_bootstrap

from ..kana.converter import Converter, language_model_sentences
from ..kana.lexicon import sudachi_lexicon
from .adaptation import (
    ALL_LEARNERS,
    BACKGROUND,
    BASELINE,
    BLASSO,
    BOOSTING,
    CER,
    DOMAINS,
    F_BOOSTING,
    FSLR,
    LISTS,
    MAP,
    PAPER_STEPS,
    SETTINGS,
    SIZES,
    AdaptationResults,
    ConversionDomain,
    ConversionLists,
    adapt_every_way,
    add_words,
    conversion_error_rate,
    conversion_outcomes,
    corpus_files,
    read_background,
    read_domain,
    read_segmented_cached,
)

SIGNIFICANCE = 0.01


def table1_claims(tried: Sequence[DomainResults]) -> list[Claim]:
    """Return the claims of one panel with their figures."""
    places = [(result, size) for result in tried for size in result.by_size]
    large = [(result, size) for result, size in places if size >= 8_000] or places
    if tried[0].panel == ONE_LEXICON:
        of_panel = [_at_steps(places), _in_every_domain(f"{MAP} beats the baseline", places, MAP, BASELINE)]
    else:
        of_panel = [
            _in_every_domain(f"{ALL_LEARNERS} is better than {MAP}", places, ALL_LEARNERS, MAP),
            _in_every_domain(f"{ALL_LEARNERS} is better than {BLASSO}", places, ALL_LEARNERS, BLASSO),
            _over_domains(places, ALL_LEARNERS, MAP),
        ]
    return [
        *(
            _in_every_domain(f"{name} beats {MAP} at 8K and 72K in every domain", large, name, MAP)
            for name in (BOOSTING, BLASSO)
        ),
        _on_average(places, BLASSO, BOOSTING),
        _over_domains(places, BLASSO, BOOSTING),
        _on_average(places, BLASSO, F_BOOSTING),
        _on_average(places, FSLR, BOOSTING),
        _in_every_domain(f"{BLASSO} beats the {BASELINE.lower()}", places, BLASSO, BASELINE),
        *of_panel,
    ]


def _in_every_domain(
    statement: str, places: Sequence[tuple[DomainResults, int]], better: str, worse: str
) -> Claim:
    won = [result.rate(better, size) < result.rate(worse, size) for result, size in places]
    lost = [
        f"{result.domain.name} {size:,}: {result.rate(better, size):.2f} and {result.rate(worse, size):.2f}"
        for (result, size), right in zip(places, won, strict=True)
        if not right
    ]
    evidence = f"{sum(won)} of {len(won)}" + (f"; not {'; '.join(lost)}" if lost else "")
    return Claim(statement, all(won), evidence)


def _at_steps(places: Sequence[tuple[DomainResults, int]]) -> Claim:
    """Compare BLasso with Boosting at the paper's numbers of steps."""
    n, lost = 0, []
    for result, size in places:
        for step in PAPER_STEPS:
            blasso, boosting = (
                result.by_size[size].details[name]["by steps"][str(step)]["CER"]
                for name in (BLASSO, BOOSTING)
            )
            n += 1
            if blasso >= boosting:
                place = f"{result.domain.name} {size:,}, {step:,} steps"
                lost.append(f"{place}: {blasso:.2f} and {boosting:.2f}")
    evidence = f"{n - len(lost)} of {n}" + (f"; not {'; '.join(lost)}" if lost else "")
    steps = ", ".join(f"{step:,}" for step in PAPER_STEPS)
    return Claim(f"{BLASSO} beats {BOOSTING} after {steps} steps", not lost, evidence)


def _on_average(places: Sequence[tuple[DomainResults, int]], better: str, worse: str) -> Claim:
    first, second = (
        float(np.mean([result.rate(name, size) for result, size in places])) for name in (better, worse)
    )
    return Claim(
        f"{better} is better than {worse} on average", first < second, f"{first:.3f} and {second:.3f}"
    )


def _over_domains(places: Sequence[tuple[DomainResults, int]], better: str, worse: str) -> Claim:
    """Compare two systems over all domains and sizes; a sentence is one unit for all sizes."""
    texts: dict[str, list[str]] = {better: [], worse: []}
    references: list[str] = []
    units: list[int] = []
    number: dict[tuple[int, int], int] = {}
    for result, size in places:
        references += result.references
        sentences = ((id(result), i) for i in range(len(result.references)))
        units += [number.setdefault(sentence, len(number)) for sentence in sentences]
        for name, chosen in texts.items():
            chosen += result.by_size[size].texts[name]
    first, second = (conversion_outcomes(texts[name], references, units=units) for name in (better, worse))
    comparison = paired_bootstrap(CER, first, second)
    low, high = (100 * bound for bound in comparison.interval)
    evidence = (
        f"{100 * comparison.first:.3f} and {100 * comparison.second:.3f}, p = {comparison.p:.2g}, "
        f"difference {low:.3f} to {high:.3f} (95 %, {comparison.n_units:,} sentences, resampled)"
    )
    return Claim(
        f"{better} is better than {worse} over all domains and sizes (p < {SIGNIFICANCE})",
        comparison.difference > 0 and comparison.p < SIGNIFICANCE,
        evidence,
    )


PAPER: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "Encarta": {
        BASELINE: (10.24,) * 3, MAP: (9.60, 8.64, 7.98), BOOSTING: (9.82, 8.54, 7.53),
        BLASSO: (9.18, 8.04, 7.20),
    },
    "Shincho": {
        BASELINE: (12.18,) * 3, MAP: (11.86, 11.15, 10.76), BOOSTING: (11.91, 11.09, 10.25),
        BLASSO: (11.79, 10.73, 9.64),
    },
}  # fmt: skip
"""CER in % with 800, 8,000 and 72,000 sentences, for the paper's domains with a similar one here."""
QUICK_SIZES = (400,)
ONE_LEXICON, OWN_WORDS = "one lexicon", "own words"
"""The panels: as in the paper, all systems have the same words and choose from the baseline's lists; and MAP
alone has the words of the domain, and makes lists of its own."""


@dataclass(frozen=True, slots=True)
class Gao2006Table1:
    """Baseline, MAP adaptation and reranking in each domain and for each size."""

    title: ClassVar[str] = (
        "Gao, Suzuki and Yu 2006, table 1: kana to kanji in another domain, CER in % (paper / ours)"
    )
    description: ClassVar[str] = "kana to kanji in other domains: MAP, boosting and the boosted lasso"
    needs: ClassVar[tuple[str, ...]] = corpus_files([*BACKGROUND, *(domain.name for domain in DOMAINS)])

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Adapt to all domains; with `quick` with a few sentences."""
        return run_parts(self, data=data, quick=quick, progress=progress)

    def parts(self, *, data: Path, quick: bool, progress: Progress) -> list[str]:
        """Segment all text, which is cached, and return the names of panels and domains."""
        names = [*BACKGROUND, *(domain.name for domain in DOMAINS)]
        for number, name in enumerate(names):
            progress("cutting text into words", number, len(names))
            for part in ("", ".heldout"):
                read_segmented_cached(data / f"japanese/{name}{part}.txt.xz", no_progress, quick=quick)
        return [f"{panel}, {domain.name}" for panel in (ONE_LEXICON, OWN_WORDS) for domain in DOMAINS]

    def part(self, name: str, *, data: Path, quick: bool, progress: Progress) -> DomainResults:
        """Adapt to one domain with each size, in one panel."""
        panel, _, domain_name = name.partition(", ")
        domain = next(candidate for candidate in DOMAINS if candidate.name == domain_name)
        progress(f"adapting to {name}", 0, 1)
        parts = read_domain(data, domain.name, no_progress, quick=quick)
        text = read_background(data, no_progress, quick=quick)
        dictionary = None if quick else sudachi_lexicon()
        if panel == ONE_LEXICON:
            others = [read_domain(data, other.name, no_progress, quick=quick).train for other in DOMAINS]
            dictionary = add_words(dictionary, others)
        converter = Converter.learn(text, settings=SETTINGS, dictionary=dictionary)
        dev, test = (ConversionLists.from_text(converter, part) for part in (parts.dev, parts.test))
        sentences = language_model_sentences(parts.test, converter.model.vocabulary, converter.settings)
        by_size = {
            size: adapt_every_way(converter, parts, dev, test, size, one_lexicon=panel == ONE_LEXICON)
            for size in (QUICK_SIZES if quick else domain.sizes)
        }
        entropy = cross_entropy(converter.model, sentences).per_word
        return DomainResults(domain, entropy, test.references, by_size, panel)

    def joined(self, results: Mapping[str, DomainResults], *, quick: bool) -> ExperimentResult:
        """Combine the results of the domains."""
        panels = {
            panel: [result for result in results.values() if result.panel == panel]
            for panel in (ONE_LEXICON, OWN_WORDS)
        }
        rows, claims, details = [], [], {}
        for panel, tried in panels.items():
            rows += [row for result in tried for row in table1_rows(result)]
            claims += [replace(claim, claim=f"{panel}: {claim.claim}") for claim in table1_claims(tried)]
            details[panel] = {result.domain.name: result.details() for result in tried}
        return ExperimentResult(rows, claims, table1_notes(panels[ONE_LEXICON]), details, places=2)


@dataclass(frozen=True, slots=True)
class DomainResults:
    """Results of a domain."""

    domain: ConversionDomain
    entropy: float  # entropy of its test sentences under the background model, in bits per word
    references: list[str]  # its test sentences
    by_size: dict[int, AdaptationResults]  # results by number of training sentences
    panel: str = OWN_WORDS  # `ONE_LEXICON` or `OWN_WORDS`

    def rate(self, system: str, size: int) -> float:
        """Return the character error rate of a system in %."""
        return 100 * conversion_error_rate(self.by_size[size].texts[system], self.references)

    def details(self) -> dict[str, Any]:
        """Return further figures as plain values."""
        return {
            "entropy": round(self.entropy, 3),
            "test sentences": len(self.references),
            "test characters": sum(map(len, self.references)),
            "sizes": {
                str(size): {
                    "systems": {
                        name: {"CER": round(self.rate(name, size), 3), **results.details.get(name, {})}
                        for name in results.texts
                    },
                    "oracle CER": {name: round(100 * rate, 3) for name, rate in results.oracles.items()},
                }
                for size, results in self.by_size.items()
            },
        }


def table1_rows(tried: DomainResults) -> list[ResultRow]:
    """Return the error rates of a domain in one panel; in that of the paper, with the paper's figures."""
    rows = []
    like = tried.domain.like if tried.panel == ONE_LEXICON else ""
    systems = next(iter(tried.by_size.values())).texts
    n = len(tried.references)
    for system in systems:
        published = PAPER.get(like, {}).get(system)
        for size in tried.by_size:
            paper = published[SIZES.index(size)] if published and size in SIZES else None
            name = f"{tried.panel}: {tried.domain.name}, {system}"
            rows.append(ResultRow(name, str(size), paper, tried.rate(system, size), n))
    for size, results in tried.by_size.items():
        for name, rate in results.oracles.items():
            system = f"{tried.panel}: {tried.domain.name}, best of 20, {name}"
            rows.append(ResultRow(system, str(size), None, 100 * rate, n))
    return sorted(rows, key=lambda row: row.system.partition(", best of 20")[1] != "")


def table1_notes(tried: Sequence[DomainResults]) -> list[str]:
    """Return notes that readers of the figures need."""
    entropies = ", ".join(f"{result.domain.name} {result.entropy:.2f}" for result in tried)
    return [
        f"{ONE_LEXICON}: as in the paper. The lexicon of all systems has the words of the background, of the "
        "dictionary and of the training text of all domains; those that the background model has not seen "
        "share the probability of unknown words. All systems choose from the 20 best of the baseline; "
        f"{MAP} takes the one whose words the adapted model gives the highest probability. This compares "
        "ways to learn",
        f"{OWN_WORDS}: {MAP} alone has the words of the domain, and makes its own lists; the rerankers "
        "choose from lists without these words. This compares what a user gets from each",
        "background: livedoor and wikinews (the paper: 36 million words of a newspaper), with Sudachi's "
        "dictionary as the lexicon; readings are SudachiPy's, with a table of corrections",
        f"cross entropy of the test sentences under the background model, in bits per word: {entropies} "
        "(the paper: 7.69 to 9.40)",
        "the paper's figures are next to the most similar domain (Encarta: wikipedia, Shincho: novels); "
        "there is no counterpart here to its Yomiuri and TuneUp, nor in the paper to our dialogue and law",
        "training sentences are spread evenly over a domain's documents; MAP's weight, the number of "
        "steps and Boosting's smoothing are chosen on held-out documents other than those tested",
        f"{MAP}, {BLASSO}: training lists, of at most {LISTS:,} sentences, come from language models "
        "adapted to the other four fifths",
    ]
