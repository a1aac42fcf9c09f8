"""What compiled functions are made of; its names bring Numba: import them in ``*kernels.py`` alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.compiling import add_eight as add_eight
    from disambig.compiling import compiled as compiled
    from disambig.compiling import eight_products as eight_products
    from disambig.decode.chain_kernels import best_path as best_path
    from disambig.decode.chain_kernels import k_best_paths as k_best_paths
    from disambig.decode.chain_kernels import max_marginals as max_marginals
    from disambig.decode.chain_sums_kernels import shared_sums as shared_sums
    from disambig.decode.hypergraph_kernels import best_edges as best_edges
    from disambig.decode.hypergraph_kernels import inside_outside as inside_outside
    from disambig.engine import use_numba as use_numba
    from disambig.language_models.lookup_kernels import back_off_of as back_off_of
    from disambig.language_models.lookup_kernels import empty_state as empty_state
    from disambig.language_models.lookup_kernels import score_word as score_word
    from disambig.language_models.lookup_kernels import seen_word as seen_word
    from disambig.language_models.lookup_kernels import shorter_state as shorter_state
    from disambig.language_models.lookup_kernels import start_state as start_state
    from disambig.language_models.lookup_kernels import state_after as state_after
    from disambig.language_models.lookup_kernels import state_behind as state_behind
    from disambig.language_models.lookup_kernels import word_log_probability as word_log_probability
    from disambig.text.hash_kernels import ORDER_STEP as ORDER_STEP
    from disambig.text.hash_kernels import fmix64 as fmix64
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
