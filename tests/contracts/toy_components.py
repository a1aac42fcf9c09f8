"""The components of a toy model, for tests of training."""

from __future__ import annotations

from typing import Any

from toy_learners import Constant, Perceptron
from toy_plugin import NearbyWords, Pairs

from disambig.text import Words


def toy_components(task: Any = None, **changes: Any) -> dict[str, Any]:
    """Return the components of a model of confusion sets; `changes` replaces some of them."""
    return {
        "task": task or Pairs(),
        "tokenisation": Words(),
        "extractors": {"near": NearbyWords()},
        "learner": Perceptron(),
        "baseline": Constant(),
    } | changes
