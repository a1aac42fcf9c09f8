"""What this plugin brings; nothing heavy is imported before it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from disambig.api import hookimpl

Register = Callable[[str, Callable[..., Any]], None]


@hookimpl  # type: ignore[untyped-decorator]
def disambig_register_tokenisations(register: Register) -> None:
    from .it.normalised import NormalisedWords

    register(NormalisedWords.name, NormalisedWords)


@hookimpl  # type: ignore[untyped-decorator]
def disambig_register_extractors(register: Register) -> None:
    from .it.fillers import FillerCounts
    from .peers.kenlm import KenLM
    from .peers.ratio import NgramRatio

    register("variance_svm.FillerCounts.v1", FillerCounts)
    register("variance_svm.KenLM.v1", KenLM)
    register("variance_svm.NgramRatio.v1", NgramRatio)


@hookimpl  # type: ignore[untyped-decorator]
def disambig_register_tasks(register: Register) -> None:
    from .it.task import It
    from .preposition import Preposition
    from .spelling import Spelling

    register("variance_svm.It.v1", It)
    register("variance_svm.Preposition.v1", Preposition)
    register("variance_svm.Spelling.v1", Spelling)


@hookimpl  # type: ignore[untyped-decorator]
def disambig_register_learners(register: Register) -> None:
    from .baselines import Majority, SumLM
    from .conditional_logit import ConditionalLogit
    from .k_svm import KSVM
    from .one_versus_all import OneVersusAll
    from .variance_svm import VarianceSVM

    register("variance_svm.ConditionalLogit.v1", ConditionalLogit)
    register("variance_svm.SumLM.v1", SumLM)
    register("variance_svm.KSVM.v1", KSVM)
    register("variance_svm.Majority.v1", Majority)
    register("variance_svm.OneVersusAll.v1", OneVersusAll)
    register("variance_svm.VarianceSVM.v1", VarianceSVM)


@hookimpl  # type: ignore[untyped-decorator]
def disambig_register_experiments(register: Register) -> None:
    from .experiments.domains import Domains
    from .experiments.peers import Peers
    from .experiments.table1 import Table1
    from .experiments.table2 import Table2
    from .experiments.table3 import Table3

    register("bergsma2010.domains.v1", Domains)
    register("bergsma2010.peers.v1", Peers)
    register("bergsma2010.table1.v1", Table1)
    register("bergsma2010.table2.v1", Table2)
    register("bergsma2010.table3.v1", Table3)
