"""Features of tokens and places: what stands around them, head words, classes of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.features.cloze.counting import count_vocabulary as count_vocabulary
    from disambig.features.cloze.extractor import WordsInContext as WordsInContext
    from disambig.features.cloze.learning import learn_cloze as learn_cloze
    from disambig.features.cloze.locate import open_cloze as open_cloze
    from disambig.features.cloze.model import Cloze as Cloze
    from disambig.features.cloze.states import Places as Places
    from disambig.features.cloze.states import scores_of as scores_of
    from disambig.features.cloze.states import states_at as states_at
    from disambig.features.gaps.extractor import GapOdds as GapOdds
    from disambig.features.gaps.extractor import gaps_in as gaps_in
    from disambig.features.headwords.extractor import Headwords as Headwords
    from disambig.features.headwords.parts_of_speech import WORD_KINDS as WORD_KINDS
    from disambig.features.headwords.parts_of_speech import PartsOfSpeech as PartsOfSpeech
    from disambig.features.lists.as_rows import as_features as as_features
    from disambig.features.lists.as_rows import columns_named as columns_named
    from disambig.features.lists.as_rows import own_lists as own_lists
    from disambig.features.lists.counting import Occurrences as Occurrences
    from disambig.features.lists.counting import counts_of as counts_of
    from disambig.features.lists.counting import kept as kept
    from disambig.features.lists.known import KnownNgrams as KnownNgrams
    from disambig.features.lists.known import known_of as known_of
    from disambig.features.network.word_network import WordNetwork as WordNetwork
    from disambig.features.one_score import one_score as one_score
    from disambig.features.stored import read_stored as read_stored
    from disambig.features.stored import write_stored as write_stored
    from disambig.features.tokens.token_context import TokenContext as TokenContext
    from disambig.features.tokens.word_classes import WordClasses as WordClasses
    from disambig.features.tokens.word_classes_learning import learn_classes as learn_classes
    from disambig.features.tokens.word_usage_learning import learn_usage as learn_usage
    from disambig.features.vectors.known import Vectors as Vectors
    from disambig.features.vectors.learning import learn_vectors as learn_vectors
    from disambig.features.vectors.word_vectors import WordVectors as WordVectors
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
