"""What this plugin brings; nothing heavy is imported before it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from disambig.api import hookimpl

Register = Callable[[str, Callable[..., Any]], None]


@hookimpl  # type: ignore[untyped-decorator]
def disambig_register_kernels(register: Register) -> None:
    from .kernels.linear import Linear
    from .kernels.nonlinear import Gaussian, Polynomial

    register("kernel_rls.Gaussian.v1", Gaussian)
    register("kernel_rls.Linear.v1", Linear)
    register("kernel_rls.Polynomial.v1", Polynomial)


@hookimpl  # type: ignore[untyped-decorator]
def disambig_register_learners(register: Register) -> None:
    from .rls.learners import RLSC, RLSCComb, RLSCLin
    from .svm import SVMComb, SVMLin

    register("kernel_rls.RLSC.v1", RLSC)
    register("kernel_rls.RLSCComb.v1", RLSCComb)
    register("kernel_rls.RLSCLin.v1", RLSCLin)
    register("kernel_rls.SVMComb.v1", SVMComb)
    register("kernel_rls.SVMLin.v1", SVMLin)


@hookimpl  # type: ignore[untyped-decorator]
def disambig_register_experiments(register: Register) -> None:
    from .experiments.curves import Curves
    from .experiments.genres import Genres
    from .experiments.table1 import Table1
    from .experiments.table2 import Table2

    register("popescu2004.curves.v1", Curves)
    register("popescu2004.genres.v1", Genres)
    register("popescu2004.table1.v1", Table1)
    register("popescu2004.table2.v1", Table2)


@hookimpl  # type: ignore[untyped-decorator]
def disambig_register_tasks(register: Register) -> None:
    from .senses.task import Senses

    register("kernel_rls.Senses.v1", Senses)
