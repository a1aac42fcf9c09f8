"""Features of tokens and places: context, head words and word classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.features import (
        WORD_KINDS as WORD_KINDS,
        Cloze as Cloze,
        ContextPlaces as ContextPlaces,
        Headwords as Headwords,
        KnownNgrams as KnownNgrams,
        MissingWordOdds as MissingWordOdds,
        Occurrences as Occurrences,
        PartsOfSpeech as PartsOfSpeech,
        TokenContext as TokenContext,
        Vectors as Vectors,
        WordClasses as WordClasses,
        WordNetwork as WordNetwork,
        WordsInContext as WordsInContext,
        WordVectors as WordVectors,
        columns_named as columns_named,
        context_vectors as context_vectors,
        count_known as count_known,
        count_vocabulary as count_vocabulary,
        distinguishing_ngrams as distinguishing_ngrams,
        known_ngrams_from_state as known_ngrams_from_state,
        learn_classes as learn_classes,
        learn_cloze as learn_cloze,
        learn_usage as learn_usage,
        learn_vectors as learn_vectors,
        load_gaps as load_gaps,
        one_score as one_score,
        open_cloze as open_cloze,
        require_lists as require_lists,
        score_candidates as score_candidates,
        tagged_batch as tagged_batch,
        tagged_instances as tagged_instances,
        transform_checked as transform_checked,
    )
    from disambig.features.candidate_lists import as_features as as_features
    from disambig.files import read_stored as read_stored, write_stored as write_stored
    from disambig.types import FeatureEvidence as FeatureEvidence
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
