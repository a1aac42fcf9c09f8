"""What this plugin brings, and where it is: nothing is imported before it is used."""

from __future__ import annotations

from disambig.api import Register, hookimpl
from disambig.api.commands import RegisterCommand


@hookimpl
def disambig_register_learners(register: Register) -> None:
    register("boosted_lasso.AveragedPerceptron.v1", ".baselines.perceptron:AveragedPerceptron")
    register("boosted_lasso.BLasso.v1", ".stagewise.fixed_steps:BLasso")
    register("boosted_lasso.Boosting.v1", ".stagewise.boosting:Boosting")
    register("boosted_lasso.FBoosting.v1", ".stagewise.fixed_steps:FBoosting")
    register("boosted_lasso.FSLR.v1", ".stagewise.fixed_steps:FSLR")
    register("boosted_lasso.PairwiseL2.v1", ".baselines.pairwise:PairwiseL2")


@hookimpl
def disambig_register_tasks(register: Register) -> None:
    register("boosted_lasso.KanaKanji.v1", ".kana.task:KanaKanji")


@hookimpl
def disambig_register_commands(register: RegisterCommand) -> None:
    register("boosted_lasso.adapt.v1", ".commands.adapt:adapt", "Adapt the conversion of kana to your text.")
    register("boosted_lasso.convert.v1", ".commands.convert:convert", "Convert kana to kanji.")


@hookimpl
def disambig_register_experiments(register: Register) -> None:
    register("gao2006.english.v1", ".experiments.english:English")
    register("gao2006.figures.v1", ".experiments.figures:Figures")
    register("gao2006.headwords.v1", ".experiments.headwords:Headwords")
    register("gao2006.table1.v1", ".experiments.table1:Table1")
