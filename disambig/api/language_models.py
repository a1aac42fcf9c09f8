"""Word n-gram models: estimation and mixtures; functions for compiled code are in `disambig.api.kernels`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.api._renamed import renamed_names
from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.language_models import CrossEntropy as CrossEntropy
    from disambig.language_models import LanguageModel as LanguageModel
    from disambig.language_models import Mixture as Mixture
    from disambig.language_models import NgramArrays as NgramArrays
    from disambig.language_models import Sentences as Sentences
    from disambig.language_models import WordVocabulary as WordVocabulary
    from disambig.language_models import adapt as adapt
    from disambig.language_models import cross_entropy as cross_entropy
    from disambig.language_models import estimate as estimate
    from disambig.language_models import load_language_model as load_language_model
    from disambig.language_models import load_mixture as load_mixture
    from disambig.language_models import perplexity as perplexity
    from disambig.language_models import save_language_model as save_language_model
    from disambig.language_models import save_mixture as save_mixture
    from disambig.language_models import sentence_scores as sentence_scores
    from disambig.language_models import to_arpa as to_arpa
    from disambig.language_models import words_of_lines as words_of_lines
    from disambig.language_models import words_of_texts as words_of_texts
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__, renamed_names(__name__))
