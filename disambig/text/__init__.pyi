from .characters import (
    CODE_SIGNS as CODE_SIGNS,
    HIDDEN as HIDDEN,
    OPAQUE as OPAQUE,
    SPOKEN_CONSONANT as SPOKEN_CONSONANT,
    SPOKEN_VOWEL as SPOKEN_VOWEL,
    visible_width as visible_width,
)
from .documents import (
    PROTECTED as PROTECTED,
    align_tokens as align_tokens,
    connected_spans as connected_spans,
    protected_layer as protected_layer,
    protected_spans as protected_spans,
    view_of_docs as view_of_docs,
    view_of_texts as view_of_texts,
)
from .kernels import ORDER_STEP as ORDER_STEP, PLACE as PLACE, fmix64 as fmix64
from .languages import (
    LANGUAGE_NAMES as LANGUAGE_NAMES,
    NO_LANGUAGE as NO_LANGUAGE,
    ForeignParagraph as ForeignParagraph,
    describe_foreign as describe_foreign,
    find_foreign_paragraphs as find_foreign_paragraphs,
    foreign_layer as foreign_layer,
    foreign_to_all as foreign_to_all,
)
from .similarity import common_prefix as common_prefix, edit_distance as edit_distance
from .spacy_tokens import (
    SpacyTokens as SpacyTokens,
    content_words as content_words,
    spacy_docs as spacy_docs,
    stem_layer as stem_layer,
)
from .tokenisations import (
    Web1T as Web1T,
    Words as Words,
    check_tokens as check_tokens,
    check_view as check_view,
    normalised as normalised,
    tokenisation_named as tokenisation_named,
)
from .view import (
    END_HASH as END_HASH,
    GAP as GAP,
    GAP_HASH as GAP_HASH,
    LONGEST_PASSAGE as LONGEST_PASSAGE,
    MASK as MASK,
    MAX_ORDER as MAX_ORDER,
    MURMUR_MULTIPLIER as MURMUR_MULTIPLIER,
    NOTHING as NOTHING,
    ORDER as ORDER,
    PLACES as PLACES,
    SENTENCE_END as SENTENCE_END,
    SENTENCE_START as SENTENCE_START,
    START_HASH as START_HASH,
    UNKNOWN as UNKNOWN,
    WORD_SEED as WORD_SEED,
    ReadsDocs as ReadsDocs,
    Tokenisation as Tokenisation,
    TokenView as TokenView,
    fmix as fmix,
    hash_word as hash_word,
    hash_words as hash_words,
    ngram_keys as ngram_keys,
    paragraph_offsets as paragraph_offsets,
    passage_offsets as passage_offsets,
    top_bits_directory as top_bits_directory,
)
