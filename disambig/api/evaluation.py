"""Figures of decisions, whether they differ, and systems side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
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

    flag_limits = _flag_limits
    most_frequent_senses = _most_frequent_senses
    senseval_credit = _senseval_credit
    senseval_score = _senseval_score
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
