"""Figures of decisions, whether they differ, and systems side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.evaluation.mistakes.checkers import Models as _ModelChecker
    from disambig.evaluation.mistakes.checkers import edits_of as edits_of
    from disambig.evaluation.mistakes.checkers import stretches as _text_stretches
    from disambig.evaluation.mistakes.comparison import compare_trials as compare_trials
    from disambig.evaluation.mistakes.edits import Checker as Checker
    from disambig.evaluation.mistakes.edits import Edit as Edit
    from disambig.evaluation.mistakes.figures import figures as _mistake_figures
    from disambig.evaluation.mistakes.rates import over_rates as over_rates
    from disambig.evaluation.mistakes.trial import Trial as _MistakeTrial
    from disambig.evaluation.mistakes.trial import limit_for as limit_for
    from disambig.evaluation.senseval.scorer import credit as _senseval_credit
    from disambig.evaluation.senseval.scorer import most_frequent as _most_frequent_senses
    from disambig.evaluation.senseval.scorer import score as _senseval_score
    from disambig.evaluation.side_by_side import Ground as Ground
    from disambig.evaluation.side_by_side import Judged as Judged
    from disambig.evaluation.side_by_side import flagged as flagged
    from disambig.evaluation.side_by_side import judge as judge
    from disambig.evaluation.side_by_side import limits as _flag_limits
    from disambig.measures.significance import chi_squared as chi_squared
    from disambig.measures.significance import mcnemar as mcnemar
    from disambig.measures.significance import wilcoxon as wilcoxon

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
