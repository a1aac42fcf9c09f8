"""Measures: how good decisions are, and whether two systems differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.measures.bootstrap import Paired as Paired
    from disambig.measures.bootstrap import bootstrap_interval as bootstrap_interval
    from disambig.measures.bootstrap import paired_bootstrap as paired_bootstrap
    from disambig.measures.contract import AddsUp as AddsUp
    from disambig.measures.contract import CostsTexts as CostsTexts
    from disambig.measures.contract import Measure as Measure
    from disambig.measures.contract import Reweighs as Reweighs
    from disambig.measures.named import measure_named as measure_named
    from disambig.measures.outcomes import Outcomes as Outcomes
    from disambig.measures.texts import costs_of as costs_of
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
