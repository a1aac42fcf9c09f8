from .characters import (
    HIDDEN as HIDDEN,
)
from .characters import (
    SPOKEN_CONSONANT as SPOKEN_CONSONANT,
)
from .characters import (
    SPOKEN_VOWEL as SPOKEN_VOWEL,
)
from .characters import (
    visible_width as visible_width,
)
from .documents import (
    PROTECTED as PROTECTED,
)
from .documents import (
    align_tokens as align_tokens,
)
from .documents import (
    connected_spans as connected_spans,
)
from .documents import (
    protected_layer as protected_layer,
)
from .documents import (
    protected_spans as protected_spans,
)
from .documents import (
    view_of_docs as view_of_docs,
)
from .documents import (
    view_of_texts as view_of_texts,
)
from .gerunds import (
    begins_gerund_subject as begins_gerund_subject,
)
from .hashing import (
    GAP as GAP,
)
from .hashing import (
    GAP_HASH as GAP_HASH,
)
from .hashing import (
    MASK as MASK,
)
from .hashing import (
    MAX_ORDER as MAX_ORDER,
)
from .hashing import (
    MURMUR_MULTIPLIER as MURMUR_MULTIPLIER,
)
from .hashing import (
    NOTHING as NOTHING,
)
from .hashing import (
    ORDER as ORDER,
)
from .hashing import (
    PLACES as PLACES,
)
from .hashing import (
    UNKNOWN as UNKNOWN,
)
from .hashing import (
    WORD_SEED as WORD_SEED,
)
from .hashing import (
    fmix as fmix,
)
from .hashing import (
    hash_word as hash_word,
)
from .hashing import (
    hash_words as hash_words,
)
from .hashing import (
    ngram_keys as ngram_keys,
)
from .hashing import (
    top_bits_directory as top_bits_directory,
)
from .kernels import (
    ORDER_STEP as ORDER_STEP,
)
from .kernels import (
    PLACE as PLACE,
)
from .kernels import (
    fmix64 as fmix64,
)
from .languages import (
    LANGUAGE_NAMES as LANGUAGE_NAMES,
)
from .languages import (
    ForeignParagraph as ForeignParagraph,
)
from .languages import (
    describe_foreign as describe_foreign,
)
from .languages import (
    find_foreign_paragraphs as find_foreign_paragraphs,
)
from .languages import (
    foreign_layer as foreign_layer,
)
from .languages import (
    foreign_to_all as foreign_to_all,
)
from .named_tokenisations import (
    tokenisation_named as tokenisation_named,
)
from .spacy_tokens import (
    SpacyTokens as SpacyTokens,
)
from .spacy_tokens import (
    content_words as content_words,
)
from .spacy_tokens import (
    stem_layer as stem_layer,
)
from .spacy_tokens import (
    tokeniser as tokeniser,
)
from .tokenisations import (
    Web1T as Web1T,
)
from .tokenisations import (
    Words as Words,
)
from .tokenisations import (
    normalised as normalised,
)
from .view import (
    END_HASH as END_HASH,
)
from .view import (
    SENTENCE_END as SENTENCE_END,
)
from .view import (
    SENTENCE_START as SENTENCE_START,
)
from .view import (
    START_HASH as START_HASH,
)
from .view import (
    ReadsDocs as ReadsDocs,
)
from .view import (
    Tokenisation as Tokenisation,
)
from .view import (
    TokenView as TokenView,
)
from .view import (
    paragraph_offsets as paragraph_offsets,
)
