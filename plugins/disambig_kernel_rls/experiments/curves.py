"""``popescu2004.curves``: accuracy by the number of training examples per word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api.arrays import Floats
from disambig.api.evaluation import wilcoxon
from disambig.api.experiments import Claim, ExperimentResult, Panel, Progress, ResultRow

from . import systems
from .senseval import MFS, SENSEVAL_2, SIGNIFICANCE, TAGS, SensevalSample, read_edition
from .trials import FeatureCache, FeatureRows, Index, WordOccurrences, decide_senses, is_right, most_frequent

SIZES = (5, 10, 25, 50, 100, 200)
"""Maximum numbers of training examples per word; the last point uses all examples."""
DRAWS = 5
QUICK_DRAWS = 2
LIN, COMB, SVM, IMPROVED = "RLSC-LIN", "RLSC-COMB", "SVM-COMB", "COMB, improved"
SYSTEMS = {LIN: systems.RLSC_LIN, COMB: systems.RLSC_COMB, SVM: systems.SVM_COMB, IMPROVED: systems.IMPROVED}
CLASSES = {
    "words of fewer than 100": (0, 100),
    "words of 100 to 149": (100, 150),
    "words of 150 and more": (150, 1 << 30),
}
"""Ranges of the number of training examples per word."""
ALL = "all"


@dataclass(frozen=True, slots=True)
class Popescu2004Curves:
    """RLSC and SVM with fewer training examples."""

    title: ClassVar[str] = (
        "Word senses: accuracy in % with at most so many training examples a word (Senseval-2, any key)"
    )
    description: ClassVar[str] = "word senses: accuracy of RLSC, improved RLSC and SVM by number of examples"
    needs: ClassVar[tuple[str, ...]] = SENSEVAL_2.needs

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Draw examples of each word and train on them; with `quick` for a fifth of the words."""
        progress("reading Senseval-2", 0, 1)
        sample = read_edition(SENSEVAL_2, data, quick=quick)
        draws = QUICK_DRAWS if quick else DRAWS
        shares_by_system = training_shares(sample, draws, progress=progress)
        groups, n_words = sample.occurrences.instances.groups, len(sample.occurrences.words)
        n_examples, tests = (
            np.bincount(groups[part], minlength=n_words) for part in (sample.train, sample.test)
        )
        rows, panels = [], []
        for name, members in word_classes(n_examples).items():
            curve_data = name, shares_by_system, members, n_examples, tests
            rows += curve_rows(*curve_data)
            panels.append(curve_panel(*curve_data))
        notes = [
            f"{len(n_examples)} words, {n_examples.sum():,} training and {tests.sum():,} test instances; "
            f"{draws} draws, in each of which a larger size contains the smaller ones; a word with fewer "
            "examples gives all it has; accuracy is over test instances, ± the standard deviation over draws",
            "vocabularies come from the whole training part; p is from Wilcoxon's signed-rank test across "
            "words",
            TAGS,
            systems.MIXTURE,
            *sample.notes,
        ]
        details: dict[str, Any] = {}
        for name, shares in shares_by_system.items():
            means = np.round(100 * shares.mean(axis=2), 2).T.tolist()  # of each size, by word
            details[name] = dict(zip(map(str, (*SIZES, ALL)), means, strict=True))
        details |= {"words": list(sample.occurrences.words), "training examples": n_examples.tolist()}
        claims = curve_claims(shares_by_system, n_examples, tests)
        return ExperimentResult(rows, claims, notes, details, panels)


def training_shares(sample: SensevalSample, draws: int, *, progress: Progress) -> dict[str, Floats]:
    """Return the accuracy of each system, shape ``(n_words, n_sizes + 1, draws)``."""
    occurrences = sample.occurrences
    cache = FeatureCache(occurrences, sample.train)
    features = {name: cache.features(system)[0] for name, system in SYSTEMS.items()}
    shape = (len(occurrences.words), len(SIZES) + 1, draws)
    shares_by_system = {name: np.empty(shape) for name in (MFS, *SYSTEMS)}
    for word in range(shape[0]):
        progress("learning", word, shape[0])
        train, test = (occurrences.select_word(word, part) for part in (sample.train, sample.test))
        done: dict[tuple[int, int], dict[str, float]] = {}
        for draw in range(draws):
            order = np.random.default_rng((4, word, draw)).permutation(train)
            for place, maximum in enumerate((*SIZES, len(train))):
                size = min(maximum, len(train))
                key = (draw if size < len(train) else 0, size)
                if key not in done:
                    done[key] = _shares(occurrences, features, np.sort(order[:size]), test)
                for name, share in done[key].items():
                    shares_by_system[name][word, place, draw] = share
    return shares_by_system


def _shares(
    occurrences: WordOccurrences, features: Mapping[str, FeatureRows], train: Index, test: Index
) -> dict[str, float]:
    """Return the accuracy of each system on one word after training on `train`."""
    chosen = {MFS: most_frequent(occurrences, train, test)}
    for name, system in SYSTEMS.items():
        chosen[name] = decide_senses(system, features[name], occurrences, train, test)
    return {name: float(is_right(occurrences, test, senses).mean()) for name, senses in chosen.items()}


def word_classes(n_examples: NDArray[np.int64]) -> dict[str, NDArray[np.bool_]]:
    """Return which words are in each class: all words, then the size classes that are not empty."""
    classes = {"": np.ones(len(n_examples), bool)}
    for name, (low, high) in CLASSES.items():
        members = (n_examples >= low) & (n_examples < high)
        if members.any():
            classes[name] = members
    return classes


def _sizes(members: NDArray[np.bool_], n_examples: NDArray[np.int64]) -> list[int]:
    """Return the indices of the sizes that some word of a class exceeds, and the index of "all"."""
    return [place for place, size in enumerate(SIZES) if size < n_examples[members].max()] + [len(SIZES)]


def _accuracy(shares: Floats, members: NDArray[np.bool_], tests: NDArray[np.int64]) -> Floats:
    """Return the accuracy over the test instances of some words, in %, shape ``(n_sizes + 1, draws)``."""
    weights = tests[members] / tests[members].sum()
    return np.asarray(100 * np.einsum("w,wsd->sd", weights, shares[members]))


def curve_rows(
    name: str,
    shares_by_system: Mapping[str, Floats],
    members: NDArray[np.bool_],
    n_examples: NDArray[np.int64],
    tests: NDArray[np.int64],
) -> list[ResultRow]:
    """Return the rows of a class of words: the accuracy of each system at each size."""
    rows = []
    for system, shares in shares_by_system.items():
        accuracy = _accuracy(shares, members, tests)
        for place in _sizes(members, n_examples):
            setting = ALL if place == len(SIZES) else str(SIZES[place])
            spread = None if place == len(SIZES) else float(accuracy[place].std())
            label = f"{system}, {name}" if name else system
            mean, n = float(accuracy[place].mean()), int(tests[members].sum())
            rows.append(ResultRow(label, setting, None, mean, n, spread))
    return rows


def curve_claims(
    shares_by_system: Mapping[str, Floats], n_examples: NDArray[np.int64], tests: NDArray[np.int64]
) -> list[Claim]:
    """Return the expectations of the curves; the one on the improved system was added after a first run."""
    every = np.ones(len(n_examples), bool)
    accuracy = {
        name: _accuracy(shares, every, tests).mean(axis=1) for name, shares in shares_by_system.items()
    }
    words = {name: shares.mean(axis=2) for name, shares in shares_by_system.items()}
    names = [*map(str, SIZES), ALL]

    def compared(first: str, second: str, start: int = 0) -> str:
        return ", ".join(
            f"{names[place]}: {accuracy[first][place] - accuracy[second][place]:+.2f} "
            f"(p = {wilcoxon(words[first][:, place], words[second][:, place]):.2g})"
            for place in range(start, len(names))
        )

    frequent = [
        accuracy[COMB][place] > accuracy[MFS][place]
        and wilcoxon(words[COMB][:, place], words[MFS][:, place]) < SIGNIFICANCE
        for place in range(SIZES.index(10), len(names))
    ]
    maximum = list(word_classes(n_examples).values())[-1]
    curve = _accuracy(shares_by_system[COMB], maximum, tests).mean(axis=1)
    half = SIZES.index(100)
    p = wilcoxon(words[COMB][maximum][:, -1], words[COMB][maximum][:, half])
    return [
        Claim(
            f"{COMB} is above the most frequent sense from 10 examples on (p < {SIGNIFICANCE})",
            all(frequent),
            compared(COMB, MFS, SIZES.index(10)),
        ),
        Claim(
            f"{COMB} is above {LIN} at every size",
            bool((accuracy[COMB] > accuracy[LIN]).all()),
            compared(COMB, LIN),
        ),
        Claim(
            f"{COMB} is not worse than {SVM} at every size",
            bool((accuracy[COMB] >= accuracy[SVM]).all()),
            compared(COMB, SVM),
        ),
        Claim(
            f"{IMPROVED} is above {COMB} at every size",
            bool((accuracy[IMPROVED] > accuracy[COMB]).all()),
            compared(IMPROVED, COMB),
        ),
        Claim(
            f"{COMB} still gains from more than 100 examples, on the words with the most examples (p < "
            f"{SIGNIFICANCE})",
            bool(curve[-1] > curve[half]) and p < SIGNIFICANCE,
            f"{int(maximum.sum())} words: {curve[half]:.2f} with 100, {curve[-1]:.2f} with all, p = {p:.2g}",
        ),
    ]


def curve_panel(
    name: str,
    shares_by_system: Mapping[str, Floats],
    members: NDArray[np.bool_],
    n_examples: NDArray[np.int64],
    tests: NDArray[np.int64],
) -> Panel:
    """Return the plot of a class of words, with each size at the mean number of examples per word."""
    places = _sizes(members, n_examples)
    used = [float(np.minimum(n_examples[members], maximum).mean()) for maximum in (*SIZES, n_examples.max())]
    lines = {}
    for system, shares in shares_by_system.items():
        accuracy = _accuracy(shares, members, tests).mean(axis=1)
        lines[system] = [(used[place], float(accuracy[place])) for place in places]
    title = f"{name or 'all words'} ({int(members.sum())})"
    return Panel(title, "training examples a word, mean", "accuracy, %", lines, logarithmic=True)
