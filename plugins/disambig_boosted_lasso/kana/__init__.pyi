from ._lattice_kernels import (
    HIRAGANA as HIRAGANA,
)
from ._lattice_kernels import (
    KATAKANA as KATAKANA,
)
from ._lattice_kernels import (
    letter as letter,
)
from .adaptation import (
    cross_fit_lists as cross_fit_lists,
)
from .adaptation import (
    fold_blocks as fold_blocks,
)
from .adaptation import (
    learn_reranker as learn_reranker,
)
from .adaptation import (
    split_sentences as split_sentences,
)
from .characters import (
    LETTERS as LETTERS,
)
from .characters import (
    full_width as full_width,
)
from .characters import (
    has_kanji as has_kanji,
)
from .characters import (
    hiragana_number as hiragana_number,
)
from .characters import (
    is_kana as is_kana,
)
from .characters import (
    is_native as is_native,
)
from .characters import (
    is_reading as is_reading,
)
from .characters import (
    learn_spelling as learn_spelling,
)
from .characters import (
    normalise_kana as normalise_kana,
)
from .characters import (
    to_katakana as to_katakana,
)
from .class_bigram import (
    TOKEN as TOKEN,
)
from .class_bigram import (
    ClassBigram as ClassBigram,
)
from .conversion import (
    CONVERTER as CONVERTER,
)
from .conversion import (
    Conversion as Conversion,
)
from .conversion import (
    ConverterLocation as ConverterLocation,
)
from .conversion import (
    format_lines as format_lines,
)
from .conversion import (
    locate_converter as locate_converter,
)
from .converter import (
    Converter as Converter,
)
from .converter import (
    ConverterSettings as ConverterSettings,
)
from .converter import (
    build_lexicon_tables as build_lexicon_tables,
)
from .converter import (
    converter_fingerprint as converter_fingerprint,
)
from .converter import (
    is_converter as is_converter,
)
from .converter import (
    language_model_sentences as language_model_sentences,
)
from .converter import (
    list_domains as list_domains,
)
from .converter import (
    load_in_domain as load_in_domain,
)
from .converter import (
    save_domain as save_domain,
)
from .decoding import (
    LatticeDecoder as LatticeDecoder,
)
from .decoding import (
    build_ngram_tables as build_ngram_tables,
)
from .lexicon import (
    LONGEST as LONGEST,
)
from .lexicon import (
    KanaLexicon as KanaLexicon,
)
from .lexicon import (
    ReadingTrie as ReadingTrie,
)
from .lexicon import (
    general_usage as general_usage,
)
from .lexicon import (
    language_model_word as language_model_word,
)
from .lexicon import (
    reading_usage as reading_usage,
)
from .lexicon import (
    sudachi_lexicon as sudachi_lexicon,
)
from .lexicon import (
    unseen_weights as unseen_weights,
)
from .lexicon import (
    with_voiced_readings as with_voiced_readings,
)
from .segmentation import (
    SegmentedText as SegmentedText,
)
from .segmentation import (
    apply_overrides as apply_overrides,
)
from .segmentation import (
    join_readings as join_readings,
)
from .segmentation import (
    read_rules as read_rules,
)
from .segmentation import (
    read_segmented as read_segmented,
)
from .segmentation import (
    segment_lines as segment_lines,
)
from .segmentation import (
    write_segmented as write_segmented,
)
from .spoken_numbers import (
    COSTS as COSTS,
)
from .spoken_numbers import (
    IN_DIGITS as IN_DIGITS,
)
from .spoken_numbers import (
    IN_KANJI as IN_KANJI,
)
from .spoken_numbers import (
    STYLE as STYLE,
)
from .spoken_numbers import (
    WORD as WORD,
)
from .spoken_numbers import (
    find_spoken_numbers as find_spoken_numbers,
)
from .spoken_numbers import (
    in_kanji as in_kanji,
)
from .spoken_numbers import (
    number_log_prob as number_log_prob,
)
from .spoken_numbers import (
    write_spoken_number as write_spoken_number,
)
from .task import (
    KanaKanji as KanaKanji,
)
