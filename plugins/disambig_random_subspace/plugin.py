"""What this plugin brings, and where it is: nothing is imported before it is used."""

from __future__ import annotations

from disambig.api import Register, hookimpl


@hookimpl
def disambig_register_tasks(register: Register) -> None:
    register("random_subspace.Tags.v1", ".tagging.task:Tags")
    register("random_subspace.Topic.v1", ".topic:Topic")


@hookimpl
def disambig_register_learners(register: Register) -> None:
    register("random_subspace.ConfidenceWeighted.v1", ".linear.confidence_weighted:ConfidenceWeighted")
    register("random_subspace.PassiveAggressive.v1", ".linear.margin_learners:PassiveAggressive")
    register("random_subspace.Perceptron.v1", ".linear.margin_learners:Perceptron")
    register("random_subspace.RandomSubspaces.v1", ".random_subspaces:RandomSubspaces")
    register("random_subspace.SGD.v1", ".linear.margin_learners:SGD")
    register("random_subspace.StructuredPerceptron.v1", ".tagging.structured_perceptron:StructuredPerceptron")


@hookimpl
def disambig_register_experiments(register: Register) -> None:
    register("sogaard2012.figure5.v1", ".experiments.figure5:Figure5")
    register("sogaard2012.figure6.v1", ".experiments.figure6:Figure6")
    register("sogaard2012.table1.v1", ".experiments.table1:Table1")
    register("sogaard2012.table2.v1", ".experiments.table2:Table2")
