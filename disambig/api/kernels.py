"""Building blocks of compiled functions; they import Numba, so use them in ``*kernels.py`` modules only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.decode import (
        best_edges as best_edges,
        best_path as best_path,
        inside_outside as inside_outside,
        k_best_paths as k_best_paths,
        max_marginals as max_marginals,
        shared_sums as shared_sums,
    )
    from disambig.jit import (
        add_eight as add_eight,
        compiled as compiled,
        compiled_in_place as compiled_in_place,
        eight_products as eight_products,
    )
    from disambig.language_models import (
        back_off_weight as back_off_weight,
        empty_state as empty_state,
        score_word as score_word,
        seen_word as seen_word,
        shorter_state as shorter_state,
        start_state as start_state,
        state_after as state_after,
        state_behind as state_behind,
        word_log_probability as word_log_probability,
    )
    from disambig.runtime import use_numba as use_numba
    from disambig.text import ORDER_STEP as ORDER_STEP, fmix64 as fmix64
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
