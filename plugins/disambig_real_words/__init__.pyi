from .phrases import (
    ENGLISH_PHRASES as ENGLISH_PHRASES,
)
from .phrases import (
    PhraseTable as PhraseTable,
)
from .phrases import (
    read_phrases as read_phrases,
)
from .places import (
    ZERO as ZERO,
)
from .places import (
    insertion_lists as insertion_lists,
)
from .places import (
    model_word_ids as model_word_ids,
)
from .relations import (
    ENGLISH_RELATIONS as ENGLISH_RELATIONS,
)
from .relations import (
    KINDS as KINDS,
)
from .relations import (
    MAX_WORDS as MAX_WORDS,
)
from .relations import (
    WordRelations as WordRelations,
)
from .relations import (
    is_word as is_word,
)
from .relations import (
    load_relations as load_relations,
)
from .relations import (
    read_relations as read_relations,
)
from .relations import (
    write_relations as write_relations,
)
from .running_text import (
    layout_lines as layout_lines,
)
from .sounds import (
    ENGLISH_SOUNDS as ENGLISH_SOUNDS,
)
from .sounds import (
    SURE as SURE,
)
from .sounds import (
    SUREST as SUREST,
)
from .sounds import (
    ArticleSound as ArticleSound,
)
from .sounds import (
    log_odds as log_odds,
)
from .sounds import (
    log_odds_after as log_odds_after,
)
from .sounds import (
    read_sounds as read_sounds,
)
from .sounds import (
    sound_keys as sound_keys,
)
from .tasks import (
    Article as Article,
)
from .tasks import (
    Doubled as Doubled,
)
from .tasks import (
    Form as Form,
)
from .tasks import (
    Slip as Slip,
)
