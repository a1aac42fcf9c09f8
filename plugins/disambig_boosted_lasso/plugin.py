"""Hooks of the plugin: names and modules of its entries, which are imported on first use."""

from __future__ import annotations

from disambig.api import Register, hookimpl
from disambig.api.commands import RegisterCommand


@hookimpl
def disambig_register_learners(register: Register) -> None:
    register("boosted_lasso.AveragedPerceptron.v1", ".learners.baselines:AveragedPerceptron")
    register("boosted_lasso.BLasso.v1", ".learners.stagewise:BLasso")
    register("boosted_lasso.Boosting.v1", ".learners.stagewise:Boosting")
    register("boosted_lasso.FBoosting.v1", ".learners.stagewise:FBoosting")
    register("boosted_lasso.FSLR.v1", ".learners.stagewise:FSLR")
    register("boosted_lasso.PairwiseL2.v1", ".learners.baselines:PairwiseL2")


@hookimpl
def disambig_register_models(register: Register) -> None:
    register("boosted_lasso.Converter.v1", ".kana.converter:Converter")


@hookimpl
def disambig_register_tasks(register: Register) -> None:
    register("boosted_lasso.KanaKanji.v1", ".kana.conversion:KanaKanji")


@hookimpl
def disambig_register_commands(register: RegisterCommand) -> None:
    register("boosted_lasso.adapt.v1", ".kana.commands:adapt", "Adapt the conversion of kana to your text.")
    register("boosted_lasso.convert.v1", ".kana.commands:convert", "Convert kana to kanji.")


@hookimpl
def disambig_register_experiments(register: Register) -> None:
    register("gao2006.english.v1", ".experiments.english:Gao2006English")
    register("gao2006.figures.v1", ".experiments.figures:Gao2006Figures")
    register("gao2006.headwords.v1", ".experiments.headwords:Gao2006Headwords")
    register("gao2006.table1.v1", ".experiments.table1:Gao2006Table1")
