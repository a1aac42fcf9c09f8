"""Validation of settings: constraints for the fields of components."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.settings import ABOVE_ZERO as ABOVE_ZERO
    from disambig.settings import COUNT as COUNT
    from disambig.settings import DECODER as DECODER
    from disambig.settings import NON_NEGATIVE as NON_NEGATIVE
    from disambig.settings import NON_NEGATIVE_COUNT as NON_NEGATIVE_COUNT
    from disambig.settings import SVM_C as SVM_C
    from disambig.settings import Constraint as Constraint
    from disambig.settings import choice as choice
    from disambig.settings import is_number as is_number
    from disambig.settings import is_whole as is_whole
    from disambig.settings import real_number as real_number
    from disambig.settings import validate_settings as validate_settings
    from disambig.settings import whole_number as whole_number
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
