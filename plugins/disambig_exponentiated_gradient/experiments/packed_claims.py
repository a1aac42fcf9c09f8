"""Figures and claims of ``collins2005.packed``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from disambig.api.experiments import Claim, Panel, Row
from disambig.api.measures import Outcomes, Paired, paired_bootstrap
from disambig.api.tasks import CandidateLists
from disambig_exponentiated_gradient.treebank.measures import BracketF1
from disambig_exponentiated_gradient.treebank.parseval import Parseval
from disambig_exponentiated_gradient.treebank.tree import Tree
from disambig_exponentiated_gradient.treebank.writing import one_line

from .packed_systems import COST, LEARNED, LOG, PCFG, PERCEPTRON

Trees = Sequence[Tree | None]
FIGURES = ("F1", "precision", "recall", "exact")


def rows_of(treebank: str, gold: Sequence[Tree], found: Mapping[str, Trees]) -> list[Row]:
    """Return the figures of all systems on one treebank."""
    rows = []
    for system, trees in found.items():
        counts = Parseval.of(gold, trees)
        for figure in FIGURES:
            value = 100 * float(getattr(counts, figure.lower()))
            rows.append(Row(f"{treebank}, {system}", figure, None, value, len(gold)))
    return rows


def compared(gold: Sequence[Tree], first: Trees, second: Trees) -> Paired:
    """Return F1 of two systems side by side: how much the second one is better, by drawing sentences anew."""
    references = [one_line(tree) for tree in gold]

    def outcomes(trees: Trees) -> Outcomes:
        texts = [["" if tree is None else one_line(tree)] for tree in trees]
        return Outcomes.of_lists(CandidateLists.of(texts), references=references)

    return paired_bootstrap(BracketF1(), outcomes(first), outcomes(second))


def claims_of(
    pairs: Mapping[str, Mapping[tuple[str, str], Paired]], paths: Mapping[str, Mapping[str, Sequence[float]]]
) -> list[Claim]:
    """Return what is said of packed training.

    Parameters
    ----------
    pairs : mapping
        By treebank: of two systems, how much the second is better.
    paths : mapping
        Of ``courses``.
    """
    beyond = [each[PCFG, COST] for each in pairs.values()] + [each[PCFG, LOG] for each in pairs.values()]
    beside = [each[PERCEPTRON, COST] for each in pairs.values()]
    losses = [each[LOG, COST] for each in pairs.values()]
    gaps = {name: path["gap"] for name, path in paths.items() if name.endswith("online")}
    return [
        Claim(
            "packed training beats the PCFG, with either loss on each treebank (p < 0.05)",
            all(each.difference > 0 and each.p < 0.05 for each in beyond),
            _said(pairs, [(PCFG, COST), (PCFG, LOG)]),
        ),
        Claim(
            "packed EG with costs is no worse than the averaged perceptron on the same charts",
            not any(each.difference < 0 and each.p < 0.05 for each in beside),
            _said(pairs, [(PERCEPTRON, COST)]),
        ),
        Claim(
            "the log loss is no better than the cost-sensitive hinge",
            not any(each.difference < 0 and each.p < 0.05 for each in losses),
            _said(pairs, [(LOG, COST)]),
        ),
        Claim(
            "online it converges in about ten passes: a relative gap of 5 % or less after ten",
            all(gap[min(10, len(gap)) - 1] <= 0.05 for gap in gaps.values()),
            "; ".join(f"{name}: {gap[min(10, len(gap)) - 1]:.3g}" for name, gap in gaps.items()),
        ),
    ]


def _said(pairs: Mapping[str, Mapping[tuple[str, str], Paired]], which: Sequence[tuple[str, str]]) -> str:
    said = []
    for treebank, each in pairs.items():
        for first, second in which:
            at = each[first, second]
            said.append(f"{treebank}, {second} {100 * at.difference:+.2f} beside {first} (p = {at.p:.2g})")
    return "; ".join(said)


def compared_pairs(gold: Sequence[Tree], found: Mapping[str, Trees]) -> dict[tuple[str, str], Paired]:
    """Return all pairs of systems that the claims are about."""
    which = [(PCFG, system) for system in LEARNED] + [(PERCEPTRON, COST), (PERCEPTRON, LOG), (LOG, COST)]
    return {(a, b): compared(gold, found[a], found[b]) for a, b in which}


def panels_of(paths: Mapping[str, Mapping[str, Sequence[float]]], by_grammar: float) -> list[Panel]:
    """Return objectives, gaps and F1 by epoch."""

    def line(name: str, key: str) -> list[tuple[float, float]]:
        values = np.asarray(paths[name][key], float)
        return [(float(i + 1), float(value)) for i, value in enumerate(values)]

    first = COST
    objectives = {
        f"{key}, {updates}": [(x, y / 1000) for x, y in line(f"{first}, {updates}", key)]
        for updates in ("online", "batch")
        for key in ("primal", "dual")
    }
    top = 3.0 * max(y for name, each in objectives.items() if name.startswith("dual") for _, y in each)
    objectives = {name: [(x, min(y, top)) for x, y in each] for name, each in objectives.items()}
    f1 = {name: line(name, "F1") for name in paths if name.endswith("online")}
    last = max(len(each) for each in f1.values())
    f1[PCFG] = [(1.0, by_grammar), (float(last), by_grammar)]
    return [
        Panel(f"{first}: objective and its dual", "epochs", "thousands (cut off above)", objectives),
        Panel(
            "relative gap",
            "epochs",
            "%",
            {name: [(x, 100 * min(y, 1.0)) for x, y in line(name, "gap")] for name in paths},
        ),
        Panel("F1 on development sentences", "epochs", "%", f1),
    ]
