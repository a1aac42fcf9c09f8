"""Figures of decisions, significance of differences, and side-by-side comparison of systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.api._renamed import renamed_names
from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.checking import ModelChecker as _ModelChecker
    from disambig.checking import decisions_to_edits as decisions_to_edits
    from disambig.checking import sweep_rates as sweep_rates
    from disambig.checking import text_stretches as _text_stretches
    from disambig.evaluation import MistakeTrial as _MistakeTrial
    from disambig.evaluation import ProposedEdit as ProposedEdit
    from disambig.evaluation import ProposesEdits as ProposesEdits
    from disambig.evaluation import SharedTestSet as SharedTestSet
    from disambig.evaluation import SystemDecisions as SystemDecisions
    from disambig.evaluation import compare_trials as compare_trials
    from disambig.evaluation import credit as _senseval_credit
    from disambig.evaluation import flagged as flagged
    from disambig.evaluation import judge as judge
    from disambig.evaluation import limit_for as limit_for
    from disambig.evaluation import limits as _flag_limits
    from disambig.evaluation import mistake_figures as _mistake_figures
    from disambig.evaluation import most_frequent as _most_frequent_senses
    from disambig.evaluation import score as _senseval_score
    from disambig.metrics import chi_squared as chi_squared
    from disambig.metrics import mcnemar as mcnemar
    from disambig.metrics import wilcoxon as wilcoxon

    MistakeTrial = _MistakeTrial
    ModelChecker = _ModelChecker
    flag_limits = _flag_limits
    mistake_figures = _mistake_figures
    most_frequent_senses = _most_frequent_senses
    senseval_credit = _senseval_credit
    senseval_score = _senseval_score
    text_stretches = _text_stretches
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__, renamed_names(__name__))
