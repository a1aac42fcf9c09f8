from ._lattice_kernels import (
    HIRAGANA as HIRAGANA,
    KATAKANA as KATAKANA,
    letter as letter,
)
from .adaptation import (
    adapt_converter as adapt_converter,
    cross_fit_lists as cross_fit_lists,
    fold_blocks as fold_blocks,
    learn_reranker as learn_reranker,
    split_sentences as split_sentences,
)
from .characters import (
    LETTERS as LETTERS,
    full_width as full_width,
    has_kanji as has_kanji,
    hiragana_number as hiragana_number,
    is_kana as is_kana,
    is_native as is_native,
    is_reading as is_reading,
    learn_spelling as learn_spelling,
    normalise_kana as normalise_kana,
    to_katakana as to_katakana,
)
from .class_bigram import (
    TOKEN as TOKEN,
    ClassBigram as ClassBigram,
)
from .conversion import (
    CONVERTER as CONVERTER,
    Conversion as Conversion,
    ConverterLocation as ConverterLocation,
    KanaKanji as KanaKanji,
    format_lines as format_lines,
    locate_converter as locate_converter,
)
from .converter import (
    Converter as Converter,
    ConverterSettings as ConverterSettings,
    build_lexicon_tables as build_lexicon_tables,
    converter_fingerprint as converter_fingerprint,
    is_converter as is_converter,
    language_model_sentences as language_model_sentences,
    list_domains as list_domains,
    load_in_domain as load_in_domain,
    save_domain as save_domain,
)
from .decoding import (
    LatticeDecoder as LatticeDecoder,
    build_ngram_tables as build_ngram_tables,
)
from .lexicon import (
    LONGEST as LONGEST,
    KanaLexicon as KanaLexicon,
    ReadingTrie as ReadingTrie,
    general_usage as general_usage,
    language_model_word as language_model_word,
    reading_usage as reading_usage,
    sudachi_lexicon as sudachi_lexicon,
    unseen_weights as unseen_weights,
    with_voiced_readings as with_voiced_readings,
)
from .segmentation import (
    SegmentedText as SegmentedText,
    apply_overrides as apply_overrides,
    join_readings as join_readings,
    read_rules as read_rules,
    read_segmented as read_segmented,
    segment_lines as segment_lines,
    write_segmented as write_segmented,
)
from .spoken_numbers import (
    COSTS as COSTS,
    IN_DIGITS as IN_DIGITS,
    IN_KANJI as IN_KANJI,
    STYLE as STYLE,
    WORD as WORD,
    find_spoken_numbers as find_spoken_numbers,
    in_kanji as in_kanji,
    number_log_prob as number_log_prob,
    write_spoken_number as write_spoken_number,
)
