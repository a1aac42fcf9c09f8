"""Building blocks of compiled functions; they import Numba, so use them in ``*kernels.py`` modules only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.api._renamed import renamed_names
from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.decode import best_edges as best_edges
    from disambig.decode import best_path as best_path
    from disambig.decode import inside_outside as inside_outside
    from disambig.decode import k_best_paths as k_best_paths
    from disambig.decode import max_marginals as max_marginals
    from disambig.decode import shared_sums as shared_sums
    from disambig.jit import add_eight as add_eight
    from disambig.jit import compiled as compiled
    from disambig.jit import eight_products as eight_products
    from disambig.language_models import back_off_weight as back_off_weight
    from disambig.language_models import empty_state as empty_state
    from disambig.language_models import score_word as score_word
    from disambig.language_models import seen_word as seen_word
    from disambig.language_models import shorter_state as shorter_state
    from disambig.language_models import start_state as start_state
    from disambig.language_models import state_after as state_after
    from disambig.language_models import state_behind as state_behind
    from disambig.language_models import word_log_probability as word_log_probability
    from disambig.runtime import use_numba as use_numba
    from disambig.text import ORDER_STEP as ORDER_STEP
    from disambig.text import fmix64 as fmix64
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__, renamed_names(__name__))
