"""Word n-gram models: estimating and mixing them; what compiled functions ask of them is in `kernels`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.language_models.arpa import to_arpa as to_arpa
    from disambig.language_models.arrays import NgramArrays as NgramArrays
    from disambig.language_models.entropy import CrossEntropy as CrossEntropy
    from disambig.language_models.entropy import cross_entropy as cross_entropy
    from disambig.language_models.entropy import perplexity as perplexity
    from disambig.language_models.entropy import sentence_scores as sentence_scores
    from disambig.language_models.estimation import estimate as estimate
    from disambig.language_models.mixture import Mixture as Mixture
    from disambig.language_models.mixture import adapt as adapt
    from disambig.language_models.model import LanguageModel as LanguageModel
    from disambig.language_models.sentences import Sentences as Sentences
    from disambig.language_models.sentences import words_of_lines as words_of_lines
    from disambig.language_models.sentences import words_of_texts as words_of_texts
    from disambig.language_models.stored import load_language_model as load_language_model
    from disambig.language_models.stored import load_mixture as load_mixture
    from disambig.language_models.stored import save_language_model as save_language_model
    from disambig.language_models.stored import save_mixture as save_mixture
    from disambig.language_models.vocabulary import Vocabulary as Vocabulary
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
