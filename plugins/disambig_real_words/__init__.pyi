from .phrases import (
    ENGLISH_PHRASES as ENGLISH_PHRASES,
    PhraseTable as PhraseTable,
    read_phrases as read_phrases,
)
from .places import (
    ZERO as ZERO,
    insertion_lists as insertion_lists,
    model_word_ids as model_word_ids,
)
from .relations import (
    COMPILED_KINDS as COMPILED_KINDS,
    ENGLISH_RELATIONS as ENGLISH_RELATIONS,
    KINDS as KINDS,
    MAX_WORDS as MAX_WORDS,
    WordRelations as WordRelations,
    compile_relations as compile_relations,
    is_word as is_word,
    load_relations as load_relations,
    read_relations as read_relations,
    write_relations as write_relations,
)
from .running_text import (
    layout_lines as layout_lines,
)
from .sounds import (
    ENGLISH_SOUNDS as ENGLISH_SOUNDS,
    MAX_LOG_ODDS as MAX_LOG_ODDS,
    MAX_NUMBER_LOG_ODDS as MAX_NUMBER_LOG_ODDS,
    ArticleSound as ArticleSound,
    log_odds as log_odds,
    log_odds_after as log_odds_after,
    read_sounds as read_sounds,
    sound_keys as sound_keys,
)
from .tasks import (
    Article as Article,
    Doubled as Doubled,
    Form as Form,
    Slip as Slip,
)
