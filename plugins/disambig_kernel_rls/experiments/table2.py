"""``popescu2004.table2``: support vector machines with the kernels of RLSC-LIN and RLSC-COMB."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from disambig.api.evaluation import mcnemar
from disambig.api.experiments import Claim, ExperimentResult, Progress

from .. import systems
from .editions import SENSEVAL_2
from .scored import Tried, against, details_of, seconds_of
from .tables import rows_of, run_all

LARGER = 100.0
"""C of the rows that ask whether less regularisation makes the difference."""
SYSTEMS = {
    "RLSC-LIN": systems.RLSC_LIN,
    "SVM-LIN": systems.SVM_LIN,
    "SVM-LIN, C = 100": systems.SVM_LIN.learned_by("kernel_rls.SVMLin.v1", C=LARGER),
    "RLSC-COMB": systems.RLSC_COMB,
    "SVM-COMB": systems.SVM_COMB,
    "SVM-COMB, C = 100": systems.SVM_COMB.learned_by("kernel_rls.SVMComb.v1", C=LARGER),
}


@dataclass(frozen=True, slots=True)
class Table2:
    """SVM beside RLSC, with the same kernels."""

    title: ClassVar[str] = "Popescu 2004, table 2: Senseval lexical sample, score in % (paper / ours)"
    description: ClassVar[str] = (
        "word senses: SVM-LIN and SVM-COMB beside RLSC with the same kernels, on Senseval-2"
    )
    needs: ClassVar[tuple[str, ...]] = SENSEVAL_2.needs

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Learn every word with every system; with `quick` a fifth of the words."""
        sample, found, scores, notes = run_all(SYSTEMS, data, quick=quick, progress=progress)
        fine = {name: each["fine"][0] for name, each in scores[SENSEVAL_2.name].items()}
        return ExperimentResult(
            rows_of(scores),
            claims_of(found, fine),
            [
                *notes,
                "C is 1, scikit-learn's default, where nothing else is said; the paper does not give its own",
                seconds_of(found),
            ],
            details_of(sample, found),
        )


def claims_of(found: Mapping[str, Tried], fine: Mapping[str, float]) -> list[Claim]:
    """Return the paper's claim about either kernel, and against a larger C."""
    claims = []
    for kernel in ("LIN", "COMB"):
        ours = f"RLSC-{kernel}"
        claims += [
            no_worse(f"{ours} is no worse than {rival} with the same kernel", found, fine, ours, rival)
            for rival in (f"SVM-{kernel}", f"SVM-{kernel}, C = 100")
        ]
    return [
        *claims,
        against("RLSC-COMB is above SVM-COMB (p < 0.05)", found, fine, "RLSC-COMB", "SVM-COMB", sure=True),
    ]


def no_worse(
    claim: str, found: Mapping[str, Tried], fine: Mapping[str, float], ours: str, rival: str
) -> Claim:
    """Claim that a system scores at least as high as another."""
    p = mcnemar(found[ours].right, found[rival].right)
    return Claim(claim, fine[ours] >= fine[rival], f"{fine[ours]:.2f} and {fine[rival]:.2f}, p = {p:.2g}")
