"""Configs of small models, from the names of their components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Component = str | tuple[str, Mapping[str, Any]]
"""The registered name of a component, or this name and its settings."""


def model_config(
    task: Component | None,
    extractors: Mapping[str, Component],
    learner: Component | None = "disambig.NoPreference.v1",
    baseline: Component | None = "disambig.NoPreference.v1",
    tokenisation: Component = "disambig.words.v1",
) -> dict[str, Any]:
    """Return the config of a model; sections that are None are left out."""
    config = {
        "task": task and section("tasks", task),
        "tokenisation": section("tokenisations", tokenisation),
        "extractors": {key: section("extractors", extractor) for key, extractor in extractors.items()},
        "learner": learner and section("learners", learner),
        "baseline": baseline and section("learners", baseline),
    }
    return {key: value for key, value in config.items() if value is not None}


def section(kind: str, component: Component) -> dict[str, Any]:
    """Return the section of a component of a registry kind."""
    name, settings = (component, {}) if isinstance(component, str) else component
    return {f"@disambig_{kind}": name, **settings}
