"""Register the entries of this plugin; their modules are imported on first use."""

from __future__ import annotations

from disambig.api import Register, hookimpl


@hookimpl
def disambig_register_tokenisations(register: Register) -> None:
    register("variance_svm.NormalisedWords.v1", ".pronoun_it.task:NormalisedWords")


@hookimpl
def disambig_register_extractors(register: Register) -> None:
    register("variance_svm.FillerCounts.v1", ".pronoun_it.fillers:FillerCounts")
    register("variance_svm.ItHabits.v1", ".pronoun_it.frame_model:ItHabits")
    register("variance_svm.ItPatterns.v1", ".pronoun_it.patterns:ItPatterns")
    register("variance_svm.KenLM.v1", ".external_systems.kenlm:KenLM")
    register("variance_svm.NgramRatio.v1", ".external_systems.ngram_ratio:NgramRatio")
    register("variance_svm.PrepositionHeads.v1", ".prepositions.task:PrepositionHeads")
    register("variance_svm.PrepositionNetwork.v1", ".prepositions.task:PrepositionNetwork")
    register("variance_svm.PrepositionOdds.v1", ".prepositions.task:PrepositionOdds")


@hookimpl
def disambig_register_tasks(register: Register) -> None:
    register("variance_svm.It.v1", ".pronoun_it.task:It")
    register("variance_svm.Preposition.v1", ".prepositions.task:Preposition")
    register("variance_svm.Spelling.v1", ".spelling:Spelling")


@hookimpl
def disambig_register_learners(register: Register) -> None:
    register("variance_svm.ConditionalLogit.v1", ".learners.conditional_logit:ConditionalLogit")
    register("variance_svm.SumLM.v1", ".learners.baselines:SumLM")
    register("variance_svm.KSVM.v1", ".learners.multiclass_svm:KSVM")
    register("variance_svm.Majority.v1", ".learners.baselines:Majority")
    register("variance_svm.OneVersusAll.v1", ".learners.multiclass_svm:OneVersusAll")
    register("variance_svm.VarianceSVM.v1", ".learners.variance_svm:VarianceSVM")


@hookimpl
def disambig_register_experiments(register: Register) -> None:
    register("bergsma2010.domains.v1", ".experiments.domains:Bergsma2010Domains")
    register("bergsma2010.peers.v1", ".experiments.external:Bergsma2010Peers")
    register("bergsma2010.table1.v1", ".experiments.table1:Bergsma2010Table1")
    register("bergsma2010.table2.v1", ".experiments.table2:Bergsma2010Table2")
    register("bergsma2010.table3.v1", ".experiments.table3:Bergsma2010Table3")
    register("people.mistakes.v1", ".experiments.people:PeopleMistakes")
    register("people.mistakes_dev.v1", ".experiments.people:PeopleDevelopmentMistakes")
