from .annotation import (
    HIGHEST_RATE as HIGHEST_RATE,
)
from .annotation import (
    ModelSet as ModelSet,
)
from .annotation import (
    RequestedRates as RequestedRates,
)
from .annotation import (
    annotate as annotate,
)
from .annotation import (
    annotate_separately as annotate_separately,
)
from .annotation import (
    check_lists as check_lists,
)
from .annotation import (
    decide_lists as decide_lists,
)
from .annotation import (
    detected_languages as detected_languages,
)
from .annotation import (
    protect_foreign as protect_foreign,
)
from .annotation import (
    protect_words as protect_words,
)
from .annotation import (
    rates_for_precision as rates_for_precision,
)
from .annotation import (
    task_rates as task_rates,
)
from .annotation import (
    unused_writing as unused_writing,
)
from .annotation import (
    with_writing as with_writing,
)
from .documents import (
    BATCH as BATCH,
)
from .documents import (
    PIECE as PIECE,
)
from .documents import (
    annotate_documents as annotate_documents,
)
from .documents import (
    batch_documents as batch_documents,
)
from .documents import (
    cut_pieces as cut_pieces,
)
from .documents import (
    join_pieces as join_pieces,
)
from .model import (
    BLOCK as BLOCK,
)
from .model import (
    Model as Model,
)
from .model import (
    decide_together as decide_together,
)
from .model import (
    evidence_name as evidence_name,
)
from .model import (
    iterate_features as iterate_features,
)
from .model_card import (
    card as card,
)
from .scorers import (
    LinearScorer as LinearScorer,
)
from .scorers import (
    NoPreference as NoPreference,
)
from .sources import (
    Annotate as Annotate,
)
from .sources import (
    AnnotatorSource as AnnotatorSource,
)
from .sources import (
    ModelSource as ModelSource,
)
from .sources import (
    annotator_languages as annotator_languages,
)
from .sources import (
    with_sets as with_sets,
)
from .sources import (
    wrap_annotator as wrap_annotator,
)
from .standalone import (
    StandaloneModel as StandaloneModel,
)
from .standalone import (
    is_standalone as is_standalone,
)
from .standalone import (
    load_standalone as load_standalone,
)
from .standalone import (
    standalone_card as standalone_card,
)
from .standalone import (
    stored_format as stored_format,
)
from .storage import (
    PRECISION_FILE as PRECISION_FILE,
)
from .storage import (
    absolute_paths as absolute_paths,
)
from .storage import (
    check_target as check_target,
)
from .storage import (
    load as load,
)
from .storage import (
    load_model as load_model,
)
from .storage import (
    read_precision as read_precision,
)
from .storage import (
    relative_paths as relative_paths,
)
from .storage import (
    save_model as save_model,
)
from .storage import (
    stack as stack,
)
from .storage import (
    unstack as unstack,
)
from .storage import (
    write_precision as write_precision,
)
from .verification import (
    TextEdit as TextEdit,
)
from .verification import (
    apply_edits as apply_edits,
)
from .verification import (
    touches_edit as touches_edit,
)
from .verification import (
    verify_flags as verify_flags,
)
