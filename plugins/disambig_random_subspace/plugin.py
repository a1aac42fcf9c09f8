"""Hooks of the plugin: names and modules of its entries, which are imported on first use."""

from __future__ import annotations

from disambig.api import Register, hookimpl


@hookimpl
def disambig_register_tasks(register: Register) -> None:
    register("random_subspace.Tags.v1", ".tagger.task:TagTask")
    register("random_subspace.Topic.v1", ".topics:TopicTask")


@hookimpl
def disambig_register_learners(register: Register) -> None:
    register("random_subspace.ConfidenceWeighted.v1", ".learners.linear:ConfidenceWeighted")
    register("random_subspace.PassiveAggressive.v1", ".learners.linear:PassiveAggressive")
    register("random_subspace.Perceptron.v1", ".learners.linear:Perceptron")
    register("random_subspace.RandomSubspaces.v1", ".learners.random_subspaces:RandomSubspaces")
    register("random_subspace.SGD.v1", ".learners.linear:SGD")
    register("random_subspace.StructuredPerceptron.v1", ".tagger.structured_perceptron:StructuredPerceptron")


@hookimpl
def disambig_register_experiments(register: Register) -> None:
    register("sogaard2012.figure5.v1", ".experiments.figures:Sogaard2012Figure5")
    register("sogaard2012.figure6.v1", ".experiments.figures:Sogaard2012Figure6")
    register("sogaard2012.table1.v1", ".experiments.table1:Sogaard2012Table1")
    register("sogaard2012.table2.v1", ".experiments.table2:Sogaard2012Table2")
