"""Repeating a paper's tables: what an experiment gives, samples, learning curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.experiments.cache import cached as cached
    from disambig.experiments.learning import Draw as Draw
    from disambig.experiments.learning import Outcomes as Outcomes
    from disambig.experiments.learning import System as System
    from disambig.experiments.learning import hits_of as hits_of
    from disambig.experiments.learning import joined as joined
    from disambig.experiments.learning import learn_all as learn_all
    from disambig.experiments.left_out import with_left_out as with_left_out
    from disambig.experiments.paragraphs import counts_around as counts_around
    from disambig.experiments.paragraphs import paragraphs as paragraphs
    from disambig.experiments.paragraphs import text_lines as text_lines
    from disambig.experiments.parts import InParts as InParts
    from disambig.experiments.parts import in_parts as in_parts
    from disambig.experiments.protocol import Claim as Claim
    from disambig.experiments.protocol import Panel as Panel
    from disambig.experiments.protocol import Progress as Progress
    from disambig.experiments.protocol import Result as _ExperimentResult
    from disambig.experiments.protocol import Row as Row

    ExperimentResult = _ExperimentResult
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
