"""Features of tokens and places: context, head words and word classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.api._renamed import renamed_names
from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.features import WORD_KINDS as WORD_KINDS
    from disambig.features import Cloze as Cloze
    from disambig.features import ContextPlaces as ContextPlaces
    from disambig.features import Headwords as Headwords
    from disambig.features import KnownNgrams as KnownNgrams
    from disambig.features import MissingWordOdds as MissingWordOdds
    from disambig.features import Occurrences as Occurrences
    from disambig.features import PartsOfSpeech as PartsOfSpeech
    from disambig.features import TokenContext as TokenContext
    from disambig.features import Vectors as Vectors
    from disambig.features import WordClasses as WordClasses
    from disambig.features import WordNetwork as WordNetwork
    from disambig.features import WordsInContext as WordsInContext
    from disambig.features import WordVectors as WordVectors
    from disambig.features import columns_named as columns_named
    from disambig.features import context_vectors as context_vectors
    from disambig.features import count_known as count_known
    from disambig.features import count_vocabulary as count_vocabulary
    from disambig.features import gaps_in as gaps_in
    from disambig.features import kept as kept
    from disambig.features import known_ngrams_from_state as known_ngrams_from_state
    from disambig.features import learn_classes as learn_classes
    from disambig.features import learn_cloze as learn_cloze
    from disambig.features import learn_usage as learn_usage
    from disambig.features import learn_vectors as learn_vectors
    from disambig.features import one_score as one_score
    from disambig.features import open_cloze as open_cloze
    from disambig.features import own_lists as own_lists
    from disambig.features import score_candidates as score_candidates
    from disambig.features import transform_checked as transform_checked
    from disambig.features.candidate_ngrams import as_features as as_features
    from disambig.files import read_stored as read_stored
    from disambig.files import write_stored as write_stored
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__, renamed_names(__name__))
