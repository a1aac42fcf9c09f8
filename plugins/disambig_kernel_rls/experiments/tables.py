"""``popescu2004.table1`` and ``popescu2004.table2``: RLSC and support vector machines on Senseval-2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from disambig.api.evaluation import mcnemar
from disambig.api.experiments import Claim, ExperimentResult, Progress, ResultRow

from . import systems
from .senseval import (
    SENSEVAL_2,
    SystemResults,
    compare_systems,
    evaluate_editions,
    leave_one_out_accuracies,
    system_details,
    table_rows,
    timing_note,
)

COMB, LIN, IMPROVED, ALL = "RLSC-COMB", "RLSC-LIN", "COMB, improved", "COMB, all kernels"
COMB_MARKED, IMPROVED_MARKED = (f"{name}, marked phrasal verbs" for name in ("COMB", IMPROVED))
TABLE1_SYSTEMS = {
    LIN: systems.RLSC_LIN,
    COMB: systems.RLSC_COMB,
    **systems.OPTIONS,
    IMPROVED: systems.IMPROVED,
    ALL: systems.ALL,
    **systems.MARKED,
}
_BOUNDARIES = systems.LOCAL | {"boundaries": True}
REJECTED = {
    f"{LIN}, boundary words": systems.RLSC_LIN.with_extractors(_BOUNDARIES),
    f"{COMB}, boundary words": systems.RLSC_COMB.with_extractors(_BOUNDARIES),
    "COMB, tag kernel, equal weights": systems.RLSC_COMB.with_extractors(systems.TAGS),
    f"{IMPROVED}, no boundary words": systems.IMPROVED.with_extractors(systems.LOCAL),
}
"""Settings that are worse than those of the systems by leave-one-out on the training part."""
BY_LEAVE_ONE_OUT = {
    name: system
    for name, system in (TABLE1_SYSTEMS | REJECTED).items()
    if system.extractors and not system.multiwords
}
"""The systems that are also evaluated by leave-one-out on the training part."""
LEAVE_ONE_OUT_NOTE = (
    "'leave-one-out': share of the training instances of Senseval-2 that are decided correctly (any of "
    "an instance's senses) by the model trained on all others of the word, with the same n lambda; "
    "vocabularies, idf and weights chosen for a word come from all of them, which flatters weights "
    "chosen by leave-one-out; rows without other figures are settings that it rejected"
)
REQUIRED = {
    COMB: 65.6,
    "COMB, tags within 1 token": 65.6,
    COMB_MARKED: 65.6,
    IMPROVED: 67.0,
    IMPROVED_MARKED: 67.0,
}
"""Required scores on all words: the paper's figure for our readings of it, and the goal for improvements."""
QUICK_NOTE = "claims about a figure for all words, such as the paper's 65.6, are left out: a fifth were tried"


@dataclass(frozen=True, slots=True)
class Popescu2004Table1:
    """RLSC on the English lexical sample."""

    title: ClassVar[str] = "Popescu 2004, table 1: Senseval lexical sample, score in % (paper / ours)"
    description: ClassVar[str] = "word senses: RLSC-LIN, RLSC-COMB and its improvements on Senseval-2"
    needs: ClassVar[tuple[str, ...]] = SENSEVAL_2.needs

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Train every system on every word; with `quick` on a fifth of the words."""
        sample, results, scores, notes = evaluate_editions(
            TABLE1_SYSTEMS, data, quick=quick, progress=progress
        )
        left_out = leave_one_out_accuracies(sample, BY_LEAVE_ONE_OUT, progress=progress)
        fine = {name: figures["fine"][0] for name, figures in scores[SENSEVAL_2.name].items()}
        rows = [*table_rows(scores)]
        for name, share in left_out.items():
            rows.append(ResultRow(name, "leave-one-out", None, share, sample.n_train))
        notes = [*notes, *systems.RECIPE, LEAVE_ONE_OUT_NOTE, timing_note(results)] + [QUICK_NOTE] * quick
        claims = table1_claims(results, fine, quick=quick)
        return ExperimentResult(rows, claims, notes, system_details(sample, results))


def table1_claims(
    results: Mapping[str, SystemResults], fine: Mapping[str, float], *, quick: bool = False
) -> list[Claim]:
    """Return the claims on the required scores, the paper's claim, and the gain of each improvement.

    With `quick`, comparisons with figures for all words are left out.
    """
    return [
        *(
            Claim(
                f"{name} reaches {minimum} (Senseval-2, fine-grained)",
                fine[name] >= minimum,
                f"{fine[name]:.2f}",
            )
            for name, minimum in ({} if quick else REQUIRED).items()
        ),
        compare_systems(f"{COMB} is above {LIN}", results, fine, COMB, LIN, significant=False),
        *(
            compare_systems(f"{name} is above {COMB} (p < 0.05)", results, fine, name, COMB, significant=True)
            for name in (*systems.OPTIONS, IMPROVED, ALL, COMB_MARKED)
        ),
        compare_systems(
            f"{IMPROVED_MARKED} is above {IMPROVED} (p < 0.05)",
            *(results, fine, IMPROVED_MARKED, IMPROVED),
            significant=True,
        ),
    ]


LARGE_C = 100.0
"""C of the additional rows with less regularisation."""
TABLE2_SYSTEMS = {
    "RLSC-LIN": systems.RLSC_LIN,
    "SVM-LIN": systems.SVM_LIN,
    "SVM-LIN, C = 100": systems.SVM_LIN.with_learner("kernel_rls.SVMLin.v1", C=LARGE_C),
    "RLSC-COMB": systems.RLSC_COMB,
    "SVM-COMB": systems.SVM_COMB,
    "SVM-COMB, C = 100": systems.SVM_COMB.with_learner("kernel_rls.SVMComb.v1", C=LARGE_C),
}


@dataclass(frozen=True, slots=True)
class Popescu2004Table2:
    """SVM and RLSC with the same kernels."""

    title: ClassVar[str] = "Popescu 2004, table 2: Senseval lexical sample, score in % (paper / ours)"
    description: ClassVar[str] = (
        "word senses: SVM-LIN and SVM-COMB beside RLSC with the same kernels, on Senseval-2"
    )
    needs: ClassVar[tuple[str, ...]] = SENSEVAL_2.needs

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Train every system on every word; with `quick` on a fifth of the words."""
        sample, results, scores, notes = evaluate_editions(
            TABLE2_SYSTEMS, data, quick=quick, progress=progress
        )
        fine = {name: figures["fine"][0] for name, figures in scores[SENSEVAL_2.name].items()}
        notes = [
            *notes,
            "C is 1, scikit-learn's default, unless stated otherwise; the paper does not give its value",
            timing_note(results),
        ]
        rows, claims = table_rows(scores), table2_claims(results, fine)
        return ExperimentResult(rows, claims, notes, system_details(sample, results))


def table2_claims(results: Mapping[str, SystemResults], fine: Mapping[str, float]) -> list[Claim]:
    """Return the paper's claims about both kernels, also against SVMs with a larger C."""
    claims = []
    for kernel in ("LIN", "COMB"):
        ours = f"RLSC-{kernel}"
        for rival in (f"SVM-{kernel}", f"SVM-{kernel}, C = 100"):
            p = mcnemar(results[ours].right, results[rival].right)
            evidence = f"{fine[ours]:.2f} and {fine[rival]:.2f}, p = {p:.2g}"
            claim = f"{ours} is not worse than {rival} with the same kernel"
            claims.append(Claim(claim, fine[ours] >= fine[rival], evidence))
    return [
        *claims,
        compare_systems(
            "RLSC-COMB is above SVM-COMB (p < 0.05)", results, fine, "RLSC-COMB", "SVM-COMB", significant=True
        ),
    ]
