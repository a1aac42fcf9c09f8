"""What this plugin brings; nothing heavy is imported before it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from disambig.api import hookimpl

Register = Callable[[str, Callable[..., Any]], None]


@hookimpl  # type: ignore[untyped-decorator]
def disambig_register_tasks(register: Register) -> None:
    from .tagging.task import Tags
    from .topic import Topic

    register("random_subspace.Tags.v1", Tags)
    register("random_subspace.Topic.v1", Topic)


@hookimpl  # type: ignore[untyped-decorator]
def disambig_register_learners(register: Register) -> None:
    from .linear.confidence_weighted import ConfidenceWeighted
    from .linear.margin_learners import SGD, PassiveAggressive, Perceptron
    from .random_subspaces import RandomSubspaces
    from .tagging.structured_perceptron import StructuredPerceptron

    register("random_subspace.ConfidenceWeighted.v1", ConfidenceWeighted)
    register("random_subspace.PassiveAggressive.v1", PassiveAggressive)
    register("random_subspace.Perceptron.v1", Perceptron)
    register("random_subspace.RandomSubspaces.v1", RandomSubspaces)
    register("random_subspace.SGD.v1", SGD)
    register("random_subspace.StructuredPerceptron.v1", StructuredPerceptron)


@hookimpl  # type: ignore[untyped-decorator]
def disambig_register_experiments(register: Register) -> None:
    from .experiments.figure5 import Figure5
    from .experiments.figure6 import Figure6
    from .experiments.table1 import Table1
    from .experiments.table2 import Table2

    register("sogaard2012.figure5.v1", Figure5)
    register("sogaard2012.figure6.v1", Figure6)
    register("sogaard2012.table1.v1", Table1)
    register("sogaard2012.table2.v1", Table2)
