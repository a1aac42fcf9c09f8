"""The public API for plugins, in two tiers.

The names of this module are the first tier: the about 40 names that an author needs first (hooks, protocols
of entries, instances, batches, models). The second tier, names for special purposes, is in the modules of
`SUBMODULES`, one for each purpose.

Names are imported on first use, and type checkers know all of them (see `disambig.lazy_names`). To add a
name, add a line under ``if TYPE_CHECKING:``, usually in a submodule, and one in the reference
(``plugins/README.md``).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from disambig.lazy_names import lazy_names

SUBMODULES = (
    "arrays",
    "batches",
    "commands",
    "components",
    "counts",
    "decoding",
    "evaluation",
    "experiments",
    "features",
    "formats",
    "judges",
    "kernels",
    "language_models",
    "measures",
    "packs",
    "runners",
    "settings",
    "tasks",
    "text",
    "training",
)

if TYPE_CHECKING:
    from disambig.config import resolve as resolve
    from disambig.data import (
        CandidateFinder as CandidateFinder,
        Columns as Columns,
        CrossedRows as CrossedRows,
        Decisions as Decisions,
        DenseBlocks as DenseBlocks,
        Group as Group,
        GroupedInstances as GroupedInstances,
        Instances as Instances,
        SparseRows as SparseRows,
    )
    from disambig.decode import Enumerated as Enumerated
    from disambig.errors import UserError as UserError, nearest_first as nearest_first
    from disambig.experiments import Experiment as Experiment
    from disambig.features import StatelessExtractor as StatelessExtractor, by_group as by_group
    from disambig.hookspecs import Register as Register, hookimpl as hookimpl
    from disambig.models import (
        LinearScorer as LinearScorer,
        Model as Model,
        annotate as annotate,
        load as _load_model,
    )
    from disambig.settings import fitted_field as fitted_field
    from disambig.spacy.factory import component_factory as component_factory, label_factory as label_factory
    from disambig.text import Tokenisation as Tokenisation, TokenView as TokenView, Words as Words
    from disambig.training import train as train
    from disambig.types import (
        Arrays as Arrays,
        CandidateBatch as CandidateBatch,
        Decides as Decides,
        DecisionRule as DecisionRule,
        Decoder as Decoder,
        FeatureExtractor as FeatureExtractor,
        Features as Features,
        Fitted as Fitted,
        Kernel as Kernel,
        Learner as Learner,
        Scorer as Scorer,
        Task as Task,
    )

    load_model = _load_model
else:

    def _find_in_submodules(name: str) -> Any:
        """Return a submodule or a name of the second tier, which older plugins import from here."""
        if name in SUBMODULES:
            return import_module(f"{__name__}.{name}")
        for submodule in SUBMODULES:
            module = import_module(f"{__name__}.{submodule}")
            if name in module.__all__:
                return getattr(module, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    __getattr__, __dir__, __all__ = lazy_names(__name__, _find_in_submodules)
