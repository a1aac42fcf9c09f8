"""Figures of decisions, significance of differences, and side-by-side comparison of systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.checking import (
        ModelChecker as _ModelChecker,
        decisions_to_edits as decisions_to_edits,
        sweep_rates as sweep_rates,
        text_stretches as _text_stretches,
    )
    from disambig.evaluation import (
        MistakeTrial as _MistakeTrial,
        ProposedEdit as ProposedEdit,
        ProposesEdits as ProposesEdits,
        SharedTestSet as SharedTestSet,
        SystemDecisions as SystemDecisions,
        compare_trials as compare_trials,
        credit as _senseval_credit,
        flagged as flagged,
        judge as judge,
        limit_for as limit_for,
        limits as _flag_limits,
        mistake_figures as _mistake_figures,
        most_frequent as _most_frequent_senses,
        score as _senseval_score,
    )
    from disambig.metrics import chi_squared as chi_squared, mcnemar as mcnemar, wilcoxon as wilcoxon

    MistakeTrial = _MistakeTrial
    ModelChecker = _ModelChecker
    flag_limits = _flag_limits
    mistake_figures = _mistake_figures
    most_frequent_senses = _most_frequent_senses
    senseval_credit = _senseval_credit
    senseval_score = _senseval_score
    text_stretches = _text_stretches
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
