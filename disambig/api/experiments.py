"""Experiments that repeat the tables of a paper: results, samples and learning curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.api._renamed import renamed_names
from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.experiments import Claim as Claim
    from disambig.experiments import Draw as Draw
    from disambig.experiments import ExperimentResult as _ExperimentResult
    from disambig.experiments import LearningSystem as LearningSystem
    from disambig.experiments import Outcomes as Outcomes
    from disambig.experiments import Panel as Panel
    from disambig.experiments import ResultRow as ResultRow
    from disambig.experiments import cached as cached
    from disambig.experiments import count_hits as count_hits
    from disambig.experiments import counts_around as counts_around
    from disambig.experiments import join_blocks as join_blocks
    from disambig.experiments import learn_all as learn_all
    from disambig.experiments import paragraphs as paragraphs
    from disambig.experiments import text_lines as text_lines
    from disambig.experiments import with_left_out as with_left_out
    from disambig.jobs import HasParts as HasParts
    from disambig.jobs import run_parts as run_parts
    from disambig.type_aliases import Progress as Progress

    ExperimentResult = _ExperimentResult
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__, renamed_names(__name__))
