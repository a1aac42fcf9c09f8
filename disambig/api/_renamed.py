"""Deprecated names of the API: they still work in this release and warn."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

RENAMED: dict[str, dict[str, str]] = {
    "disambig.api": {"Finder": "CandidateFinder", "Judge": "DecisionRule", "no_setting": "fitted_field"},
    "disambig.api.commands": {"blocks": "line_blocks", "results": "open_results"},
    "disambig.api.components": {"Piped": "BatchComponent", "Universal": "UniversalTags"},
    "disambig.api.counts": {"columns_of": "ngram_columns"},
    "disambig.api.decoding": {"structures_of": "structured_examples"},
    "disambig.api.evaluation": {
        "Checker": "ProposesEdits",
        "Edit": "ProposedEdit",
        "Ground": "SharedTestSet",
        "Judged": "SystemDecisions",
        "edits_of": "decisions_to_edits",
        "over_rates": "sweep_rates",
    },
    "disambig.api.experiments": {
        "InParts": "HasParts",
        "Row": "ResultRow",
        "System": "LearningSystem",
        "hits_of": "count_hits",
        "in_parts": "run_parts",
        "joined": "join_blocks",
    },
    "disambig.api.features": {
        "GapOdds": "MissingWordOdds",
        "Places": "ContextPlaces",
        "counts_of": "count_known",
        "gaps_in": "load_gaps",
        "kept": "distinguishing_ngrams",
        "known_of": "known_ngrams_from_state",
        "scores_of": "score_candidates",
        "states_at": "context_vectors",
    },
    "disambig.api.formats": {"ReaderOptions": "ReaderTraits", "Source": "ExampleSource"},
    "disambig.api.judges": {"Flags": "RaisesFlags", "Scored": "ScoreBatch"},
    "disambig.api.kernels": {"back_off_of": "back_off_weight"},
    "disambig.api.language_models": {"Vocabulary": "WordVocabulary"},
    "disambig.api.measures": {"costs_of": "text_costs"},
    "disambig.api.packs": {"home_of": "model_folder"},
    "disambig.api.runners": {
        "Describes": "DescribesWork",
        "Outcome": "WorkOutcome",
        "Said": "LogMessage",
        "Stays": "PersistentPool",
        "Tell": "ProgressCallback",
        "Told": "ProgressCounter",
        "interrupts_put_off": "delay_interrupts",
        "listened_to": "logger_levels",
        "nothing": "ignore_progress",
    },
    "disambig.api.training": {"Learned": "FittedExtractor", "mark": "label_instances"},
}


def renamed_names(module: str, otherwise: Callable[[str], Any] | None = None) -> Callable[[str], Any]:
    """Return a `__getattr__` that finds the old names of a module of the API.

    Parameters
    ----------
    module : str
        Its name, a key of `RENAMED`.
    otherwise : callable, optional
        Asked for all other names; without it they raise AttributeError.
    """
    names = RENAMED.get(module, {})

    def get(name: str) -> Any:
        if name in names:
            new = names[name]
            # 1: this function, 2: the lazy getter, 3: the plugin that asks
            warnings.warn(f"{module}.{name} is now called {new}", DeprecationWarning, stacklevel=3)
            return getattr(import_module(module), new)
        if otherwise is not None:
            return otherwise(name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return get
