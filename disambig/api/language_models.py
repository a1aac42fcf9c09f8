"""Word n-gram models: estimation and mixtures; functions for compiled code are in `disambig.api.kernels`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.language_models import (
        CrossEntropy as CrossEntropy,
        LanguageModel as LanguageModel,
        Mixture as Mixture,
        NgramArrays as NgramArrays,
        Sentences as Sentences,
        WordVocabulary as WordVocabulary,
        adapt as adapt,
        cross_entropy as cross_entropy,
        estimate as estimate,
        load_language_model as load_language_model,
        load_mixture as load_mixture,
        perplexity as perplexity,
        save_language_model as save_language_model,
        save_mixture as save_mixture,
        sentence_scores as sentence_scores,
        to_arpa as to_arpa,
        words_of_lines as words_of_lines,
        words_of_texts as words_of_texts,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
