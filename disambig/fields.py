"""Fields with a default: what a part declares or, where it does not, what its contract says.

The one place where a part is asked for what it may lack (see `disambig.types`).
"""

from __future__ import annotations

from typing import Any

from disambig.errors import broken
from disambig.types import (
    Between,
    Decides,
    ExtractorOptions,
    FeatureExtractor,
    Judge,
    JudgeOptions,
    Learner,
    LearnerOptions,
    Task,
    TaskOptions,
)


def field_of(part: object, options: type, name: str) -> Any:
    """Return a field of a part, or what its options say where it does not declare it."""
    return getattr(part, name, vars(options)[name])


def decides(task: Task) -> Decides:
    """Return what a task decides.

    Raises
    ------
    UserError
        D414 where it declares something else than a `Decides`.
    """
    found = field_of(task, TaskOptions, "decides")
    if not isinstance(found, Decides):
        name = type(task).__name__
        raise broken(f"the task {name}", f"decides is {found!r}", "a Decides(...)")
    return found


def metric(task: Task) -> tuple[str, str | None]:
    """Return the measure that a task's decisions serve, and the candidate that it is about."""
    name, candidate = field_of(task, TaskOptions, "metric")
    return str(name), candidate


def concerns(task: Task) -> str:
    """Return the kind of mistakes that a task's flags are."""
    return str(field_of(task, TaskOptions, "concerns"))


def folders(part: type | Task | FeatureExtractor) -> tuple[str, ...]:
    """Return the settings of a task or an extractor, or of a class of them, that may name folders."""
    return tuple(field_of(part, TaskOptions, "folders"))


def requires(extractor: FeatureExtractor) -> tuple[str, ...]:
    """Return the layers that an extractor needs."""
    return tuple(field_of(extractor, ExtractorOptions, "requires"))


def rows_are_shared(extractor: FeatureExtractor) -> bool:
    """Tell whether an extractor's rows say nothing of the candidates."""
    return bool(field_of(extractor, ExtractorOptions, "rows_are_shared"))


def describes(extractor: FeatureExtractor) -> str:
    """Return whose candidates an extractor can describe."""
    return str(field_of(extractor, ExtractorOptions, "describes"))


def cross_fits(extractor: FeatureExtractor) -> bool:
    """Tell whether an extractor learns from labels."""
    return bool(field_of(extractor, ExtractorOptions, "cross_fit"))


def needs_training(learner: Learner) -> bool:
    """Tell whether a learner looks at the examples."""
    return bool(field_of(learner, LearnerOptions, "needs_training"))


def judged_between(judge: Judge) -> tuple[Between, ...]:
    """Return what the tasks that a judge is for may decide between."""
    return tuple(field_of(judge, JudgeOptions, "between"))


def learns_mistakes(judge: Judge) -> bool:
    """Tell whether a judge learns from mistakes that people made."""
    return bool(field_of(judge, JudgeOptions, "learns_mistakes"))


def sees_beside(judge: Judge) -> bool:
    """Tell whether a judge looks at the words before and after a place."""
    return bool(field_of(judge, JudgeOptions, "sees_beside"))


def sees_parts(judge: Judge) -> bool:
    """Tell whether a judge looks at what each group of features adds to a score."""
    return bool(field_of(judge, JudgeOptions, "sees_parts"))


def takes(learner: Learner) -> tuple[type, ...]:
    """Return the storages that a learner learns from; none: any."""
    return tuple(field_of(learner, LearnerOptions, "takes"))
