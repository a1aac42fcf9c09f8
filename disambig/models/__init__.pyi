from .annotation import (
    HIGHEST_RATE as HIGHEST_RATE,
    ModelSet as ModelSet,
    RequestedRates as RequestedRates,
    annotate as annotate,
    annotate_separately as annotate_separately,
    check_lists as check_lists,
    decide_lists as decide_lists,
    detected_languages as detected_languages,
    protect_foreign as protect_foreign,
    protect_words as protect_words,
    rates_for_precision as rates_for_precision,
    task_rates as task_rates,
    unused_writing as unused_writing,
    with_writing as with_writing,
)
from .documents import (
    BATCH_CHARACTERS as BATCH_CHARACTERS,
    PIECE_CHARACTERS as PIECE_CHARACTERS,
    annotate_documents as annotate_documents,
    batch_documents as batch_documents,
    cut_pieces as cut_pieces,
    join_pieces as join_pieces,
)
from .model import (
    BLOCK as BLOCK,
    Model as Model,
    decide_together as decide_together,
    evidence_name as evidence_name,
    iterate_features as iterate_features,
)
from .model_card import (
    card as card,
)
from .scorers import (
    LinearScorer as LinearScorer,
    NoPreference as NoPreference,
)
from .sources import (
    Annotate as Annotate,
    AnnotatorSource as AnnotatorSource,
    ModelSource as ModelSource,
    annotator_languages as annotator_languages,
    nearest_correcting as nearest_correcting,
    with_sets as with_sets,
    wrap_annotator as wrap_annotator,
)
from .standalone import (
    StandaloneModel as StandaloneModel,
    is_standalone as is_standalone,
    load_standalone as load_standalone,
    standalone_card as standalone_card,
    stored_format as stored_format,
)
from .storage import (
    PRECISION_FILE as PRECISION_FILE,
    absolute_paths as absolute_paths,
    check_target as check_target,
    load as load,
    load_model as load_model,
    read_precision as read_precision,
    relative_paths as relative_paths,
    save_model as save_model,
    stack as stack,
    unstack as unstack,
    write_precision as write_precision,
)
from .verification import (
    DroppedFlag as DroppedFlag,
    TextEdit as TextEdit,
    apply_edits as apply_edits,
    touches_edit as touches_edit,
    verify_flags as verify_flags,
)
