"""Register the entries of this plugin; their modules are imported on first use."""

from __future__ import annotations

from disambig.api import Register, hookimpl


@hookimpl
def disambig_register_kernels(register: Register) -> None:
    register("kernel_rls.Gaussian.v1", ".rls.kernel_functions:GaussianKernel")
    register("kernel_rls.Linear.v1", ".rls.kernel_functions:LinearKernel")
    register("kernel_rls.Polynomial.v1", ".rls.kernel_functions:PolynomialKernel")


@hookimpl
def disambig_register_learners(register: Register) -> None:
    register("kernel_rls.RLSC.v1", ".rls.learners:RLSC")
    register("kernel_rls.RLSCComb.v1", ".rls.learners:RLSCComb")
    register("kernel_rls.RLSCLin.v1", ".rls.learners:RLSCLin")
    register("kernel_rls.SVMComb.v1", ".rls.learners:SVMComb")
    register("kernel_rls.SVMLin.v1", ".rls.learners:SVMLin")


@hookimpl
def disambig_register_experiments(register: Register) -> None:
    register("popescu2004.curves.v1", ".experiments.curves:Popescu2004Curves")
    register("popescu2004.genres.v1", ".experiments.genres:Popescu2004Genres")
    register("popescu2004.table1.v1", ".experiments.tables:Popescu2004Table1")
    register("popescu2004.table2.v1", ".experiments.tables:Popescu2004Table2")


@hookimpl
def disambig_register_tasks(register: Register) -> None:
    register("kernel_rls.Senses.v1", ".senses.task:SenseTask")
