"""Measures of the quality of decisions, and tests of whether two systems differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.api._renamed import renamed_names
from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.metrics import AddsUp as AddsUp
    from disambig.metrics import CostsTexts as CostsTexts
    from disambig.metrics import Measure as Measure
    from disambig.metrics import Outcomes as Outcomes
    from disambig.metrics import Paired as Paired
    from disambig.metrics import Reweighs as Reweighs
    from disambig.metrics import bootstrap_interval as bootstrap_interval
    from disambig.metrics import measure_named as measure_named
    from disambig.metrics import paired_bootstrap as paired_bootstrap
    from disambig.metrics import text_costs as text_costs
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__, renamed_names(__name__))
