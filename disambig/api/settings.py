"""Validation of settings: constraints for the fields of components."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.settings import (
        ABOVE_ZERO as ABOVE_ZERO,
        COUNT as COUNT,
        DECODER as DECODER,
        NON_NEGATIVE as NON_NEGATIVE,
        NON_NEGATIVE_COUNT as NON_NEGATIVE_COUNT,
        SVM_C as SVM_C,
        Constraint as Constraint,
        choice as choice,
        is_number as is_number,
        is_whole as is_whole,
        real_number as real_number,
        validate_settings as validate_settings,
        whole_number as whole_number,
        whole_number_between as whole_number_between,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
