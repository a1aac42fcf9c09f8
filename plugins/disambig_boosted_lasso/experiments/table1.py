"""``gao2006.table1``: kana-to-kanji conversion in other domains, by language model and by reranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from disambig.api.experiments import ExperimentResult, Progress, Row, in_parts
from disambig.api.language_models import cross_entropy

from ..kana.converter import Converter, sentences_of
from ..kana.dictionary import sudachi_lexicon
from .adaptation import BASELINE, BLASSO, BOOSTING, LISTS, MAP, Found, adapt
from .corpora import BACKGROUND, DOMAINS, SIZES, Domain, background, files_of, parts_of
from .reranking import Listed
from .table1_claims import claims_of

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
"""CER in %, of 800, 8,000 and 72,000 sentences, of the domains that have one like them here."""
QUICK_SIZES, QUICK_EVERY, QUICK_DEV, QUICK_TEST = (400,), 20, 200, 300


@dataclass(frozen=True, slots=True)
class Table1:
    """Baseline, MAP and reranking in each domain and at each size."""

    title: ClassVar[str] = (
        "Gao, Suzuki and Yu 2006, table 1: kana to kanji in another domain, CER in % (paper / ours)"
    )
    description: ClassVar[str] = "kana to kanji in other domains: MAP, boosting and the boosted lasso"
    needs: ClassVar[tuple[str, ...]] = files_of([*BACKGROUND, *(domain.name for domain in DOMAINS)])

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Adapt to all domains; with `quick` to a few sentences."""
        return in_parts(self, data=data, quick=quick, progress=progress)

    def parts(self, *, data: Path, quick: bool, progress: Progress) -> list[str]:
        """Cut all text into words, which is kept, and return the names of the domains."""
        names = [*BACKGROUND, *(domain.name for domain in DOMAINS)]
        for number, name in enumerate(names):
            progress("cutting text into words", number, len(names))
            _cut(data, name)
        return [domain.name for domain in DOMAINS]

    def part(self, name: str, *, data: Path, quick: bool, progress: Progress) -> Tried:
        """Adapt to one domain at each size."""
        number, domain = next((i, each) for i, each in enumerate(DOMAINS) if each.name == name)
        progress(f"adapting to {name}", number, len(DOMAINS))
        return try_domain(data, replace(domain, sizes=QUICK_SIZES if quick else domain.sizes), quick)

    def joined(self, found: Mapping[str, Tried], *, quick: bool) -> ExperimentResult:
        """Put the domains' figures together."""
        tried = list(found.values())
        return ExperimentResult(
            [row for each in tried for row in rows_of(each)],
            claims_of(tried),
            notes_of(tried),
            {"domains": {each.domain.name: each.details() for each in tried}},
            places=2,
        )


@dataclass(frozen=True, slots=True)
class Tried:
    """What a domain gave.

    Attributes
    ----------
    domain : Domain
    entropy : float
        Of its test sentences under the background, in bits a word.
    test : Listed
        Its test sentences.
    found : dict of int to Found
        By size.
    """

    domain: Domain
    entropy: float
    test: Listed
    found: dict[int, Found]

    def rate(self, system: str, size: int) -> float:
        """Return the character error rate of a system in %."""
        return 100 * self.test.error_rate(self.found[size].texts[system])

    def details(self) -> dict[str, Any]:
        """Return more figures, as plain values."""
        return {
            "entropy": round(self.entropy, 3),
            "test sentences": len(self.test.references),
            "test characters": self.test.characters,
            "sizes": {
                str(size): {
                    "systems": {
                        name: {"CER": round(self.rate(name, size), 3), **found.about.get(name, {})}
                        for name in found.texts
                    },
                    "oracle CER": {name: round(100 * rate, 3) for name, rate in found.oracles.items()},
                }
                for size, found in self.found.items()
            },
        }


def try_domain(data: Path, domain: Domain, quick: bool) -> Tried:
    """Adapt to one domain at each size."""
    parts = parts_of(data, domain.name, _silent, **({"dev": QUICK_DEV, "test": QUICK_TEST} if quick else {}))
    text = background(data, _silent, every=QUICK_EVERY if quick else 1)
    converter = Converter.learn(text, dictionary=None if quick else sudachi_lexicon())
    dev, test = (Listed.of(converter, part) for part in (parts.dev, parts.test))
    told = sentences_of(parts.test, converter.model.vocabulary, converter.settings)
    entropy = cross_entropy(converter.model, told).per_word
    return Tried(
        domain, entropy, test, {size: adapt(converter, parts, dev, test, size) for size in domain.sizes}
    )


def rows_of(tried: Tried) -> list[Row]:
    """Return the error rates of a domain, the paper's beside them where a domain of its is alike."""
    rows = []
    systems = next(iter(tried.found.values())).texts
    n = len(tried.test.references)
    for system in systems:
        published = PAPER.get(tried.domain.like, {}).get(system)
        for size in tried.found:
            paper = published[SIZES.index(size)] if published and size in SIZES else None
            rows.append(Row(f"{tried.domain.name}, {system}", str(size), paper, tried.rate(system, size), n))
    for size, found in tried.found.items():
        for name, rate in found.oracles.items():
            system = f"{tried.domain.name}, best of 20, {name}"
            rows.append(Row(system, str(size), None, 100 * rate, n))
    return sorted(rows, key=lambda row: row.system.partition(", best of 20")[1] != "")


def notes_of(tried: Sequence[Tried]) -> list[str]:
    """Return what a reader of the figures must know."""
    entropies = ", ".join(f"{each.domain.name} {each.entropy:.2f}" for each in tried)
    return [
        "background: livedoor and wikinews, where the paper has 36 million words of a newspaper, and "
        "Sudachi's dictionary as its lexicon; the input is what SudachiPy reads, with a table of what it "
        "gets wrong",
        f"cross entropy of the test sentences under the background, bits a word: {entropies} (the paper: "
        "7.69 to 9.40)",
        "the paper's figures stand beside the domain that is most like (Encarta: wikipedia, Shincho: "
        "novels); its Yomiuri and TuneUp have none here, our dialogue and law none there",
        "sentences to learn from are spread evenly over a domain's documents; MAP's weight, the number of "
        "steps and Boosting's smoothing are chosen on other held-out documents than those tested",
        f"{MAP}, {BLASSO}: lists to learn from, of {LISTS:,} sentences at most, come of language models "
        "adapted to the other four fifths",
    ]


def _cut(data: Path, name: str) -> None:
    """Cut a corpus into words, for the processes that come after."""
    from .corpora import segmented

    for part in ("", ".heldout"):
        segmented(data / f"japanese/{name}{part}.txt.xz", _silent)


def _silent(*told: Any) -> None:
    """Say nothing."""
