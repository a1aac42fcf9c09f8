"""Measures of the quality of decisions, and tests of whether two systems differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.metrics import (
        AddsUp as AddsUp,
        CostsTexts as CostsTexts,
        Measure as Measure,
        Outcomes as Outcomes,
        Paired as Paired,
        Reweighs as Reweighs,
        bootstrap_interval as bootstrap_interval,
        measure_named as measure_named,
        paired_bootstrap as paired_bootstrap,
        text_costs as text_costs,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
