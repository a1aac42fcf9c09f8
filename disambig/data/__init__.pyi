from .batches import (
    CrossedRows as CrossedRows,
)
from .batches import (
    DenseBlocks as DenseBlocks,
)
from .batches import (
    DenseLists as DenseLists,
)
from .batches import (
    JoinedColumns as JoinedColumns,
)
from .batches import (
    JoinedRows as JoinedRows,
)
from .batches import (
    SparseRows as SparseRows,
)
from .columns import (
    Columns as Columns,
)
from .columns import (
    CrossedColumns as CrossedColumns,
)
from .columns import (
    candidate_names as candidate_names,
)
from .columns import (
    join_columns as join_columns,
)
from .columns import (
    numbered as numbered,
)
from .columns import (
    own_columns as own_columns,
)
from .conversions import (
    convert as convert,
)
from .conversions import (
    has_own_labels as has_own_labels,
)
from .conversions import (
    join_crossed as join_crossed,
)
from .conversions import (
    normalised as normalised,
)
from .conversions import (
    restricted as restricted,
)
from .conversions import (
    stack_batches as stack_batches,
)
from .conversions import (
    used_columns as used_columns,
)
from .decisions import (
    Alternative as Alternative,
)
from .decisions import (
    Decisions as Decisions,
)
from .decisions import (
    OverlapResolution as OverlapResolution,
)
from .decisions import (
    Predictions as Predictions,
)
from .decisions import (
    ScoreBatch as ScoreBatch,
)
from .decisions import (
    candidate_gloss as candidate_gloss,
)
from .decisions import (
    excerpt as excerpt,
)
from .decisions import (
    follow_case as follow_case,
)
from .decisions import (
    join_resolutions as join_resolutions,
)
from .decisions import (
    replacement as replacement,
)
from .edits import (
    record_edit as record_edit,
)
from .finder import (
    CandidateFinder as CandidateFinder,
)
from .finder import (
    apart as apart,
)
from .finder import (
    empty_places as empty_places,
)
from .finder import (
    find_examples as find_examples,
)
from .finder import (
    find_instances as find_instances,
)
from .finder import (
    glued as glued,
)
from .finder import (
    hash_candidates as hash_candidates,
)
from .finder import (
    hash_distinct_candidates as hash_distinct_candidates,
)
from .finder import (
    neighbour_words as neighbour_words,
)
from .finder import (
    word_tokens as word_tokens,
)
from .groups import (
    Group as Group,
)
from .groups import (
    confusion_set as confusion_set,
)
from .groups import (
    read_confusion_sets as read_confusion_sets,
)
from .instances import (
    CandidateLists as CandidateLists,
)
from .instances import (
    CandidateTable as CandidateTable,
)
from .instances import (
    CandidateWords as CandidateWords,
)
from .instances import (
    GroupedInstances as GroupedInstances,
)
from .instances import (
    Instances as Instances,
)
from .instances import (
    Interned as Interned,
)
from .instances import (
    distinct_texts as distinct_texts,
)
from .instances import (
    join_texts as join_texts,
)
from .instances import (
    take_texts as take_texts,
)
from .precision import (
    ARROW as ARROW,
)
from .precision import (
    EXAMPLES as EXAMPLES,
)
from .precision import (
    LEVELS as LEVELS,
)
from .precision import (
    PUT_IN as PUT_IN,
)
from .precision import (
    SHARE as SHARE,
)
from .precision import (
    TAKEN_OUT as TAKEN_OUT,
)
from .precision import (
    PrecisionEstimate as PrecisionEstimate,
)
from .precision import (
    PrecisionPoint as PrecisionPoint,
)
from .precision import (
    PrecisionTable as PrecisionTable,
)
from .precision import (
    edit_kind as edit_kind,
)
from .precision import (
    ignore_entries as ignore_entries,
)
from .precision import (
    pair_to_ignore as pair_to_ignore,
)
from .precision import (
    parse_share as parse_share,
)
from .precision import (
    plain_entry as plain_entry,
)
from .precision import (
    unordered_pair as unordered_pair,
)
from .segments import (
    Ragged as Ragged,
)
from .segments import (
    as_index as as_index,
)
from .segments import (
    join_offsets as join_offsets,
)
from .segments import (
    lengths as lengths,
)
from .segments import (
    maxima as maxima,
)
from .segments import (
    minibatch as minibatch,
)
from .segments import (
    offsets_from_sizes as offsets_from_sizes,
)
from .segments import (
    row_owners as row_owners,
)
from .segments import (
    row_ranks as row_ranks,
)
from .segments import (
    take_rows as take_rows,
)
from .segments import (
    unique_inverse as unique_inverse,
)
from .spellings import (
    PackedStrings as PackedStrings,
)
from .spellings import (
    strings_from_state as strings_from_state,
)
from .structured import (
    ChainLayout as ChainLayout,
)
from .structured import (
    PartRows as PartRows,
)
from .structured import (
    SequenceRows as SequenceRows,
)
from .structured import (
    run_starts as run_starts,
)
from .vocabulary import (
    HashVocabulary as HashVocabulary,
)
from .writing import (
    WORDS_PER_MISTAKE as WORDS_PER_MISTAKE,
)
from .writing import (
    check_writing as check_writing,
)
from .writing import (
    mistakes_per_1000 as mistakes_per_1000,
)
