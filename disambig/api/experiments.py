"""Experiments that repeat the tables of a paper: results, samples and learning curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.experiments import (
        EWT as EWT,
        EWT_GENRES as EWT_GENRES,
        EWT_SPLITS as EWT_SPLITS,
        Claim as Claim,
        Draw as Draw,
        ExperimentResult as _ExperimentResult,
        LearningSystem as LearningSystem,
        Outcomes as Outcomes,
        Panel as Panel,
        ResultRow as ResultRow,
        cached as cached,
        count_hits as count_hits,
        counts_around as counts_around,
        ewt_sentences as ewt_sentences,
        join_blocks as join_blocks,
        learn_all as learn_all,
        paragraphs as paragraphs,
        text_lines as text_lines,
        with_left_out as with_left_out,
    )
    from disambig.jobs import HasParts as HasParts, run_parts as run_parts
    from disambig.type_aliases import Progress as Progress, no_progress as no_progress

    ExperimentResult = _ExperimentResult
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
