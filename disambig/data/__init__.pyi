from .batches import (
    CrossedRows as CrossedRows,
    DenseBlocks as DenseBlocks,
    DenseLists as DenseLists,
    JoinedRows as JoinedRows,
    SparseRows as SparseRows,
)
from .columns import (
    Columns as Columns,
    CrossedColumns as CrossedColumns,
    JoinedColumns as JoinedColumns,
    LazySequence as LazySequence,
    PackedStrings as PackedStrings,
    candidate_names as candidate_names,
    join_columns as join_columns,
    numbered as numbered,
    own_columns as own_columns,
    strings_from_state as strings_from_state,
)
from .conversions import (
    convert as convert,
    has_own_labels as has_own_labels,
    join_crossed as join_crossed,
    normalised as normalised,
    restricted as restricted,
    stack_batches as stack_batches,
    used_columns as used_columns,
)
from .decisions import (
    Alternative as Alternative,
    Decisions as Decisions,
    OverlapResolution as OverlapResolution,
    Predictions as Predictions,
    ScoreBatch as ScoreBatch,
    candidate_gloss as candidate_gloss,
    excerpt as excerpt,
    follow_case as follow_case,
    replacement as replacement,
)
from .edits import (
    edited_text as edited_text,
    record_edit as record_edit,
    surrounding_space as surrounding_space,
)
from .finder import (
    CandidateFinder as CandidateFinder,
    apart as apart,
    check_certain_mistakes as check_certain_mistakes,
    empty_places as empty_places,
    find_certain_mistakes as find_certain_mistakes,
    find_examples as find_examples,
    find_instances as find_instances,
    glued as glued,
    hash_candidates as hash_candidates,
    hash_distinct_candidates as hash_distinct_candidates,
    neighbour_words as neighbour_words,
    word_tokens as word_tokens,
)
from .groups import (
    Group as Group,
    confusion_set as confusion_set,
    read_confusion_sets as read_confusion_sets,
)
from .ignore_lists import (
    ARROW as ARROW,
    IGNORE_ENTRY as IGNORE_ENTRY,
    check_entry as check_entry,
    ignore_entries as ignore_entries,
    pair_to_ignore as pair_to_ignore,
    plain_word as plain_word,
    read_ignore_list as read_ignore_list,
)
from .instances import (
    CandidateLists as CandidateLists,
    CandidateTable as CandidateTable,
    CandidateWords as CandidateWords,
    GroupedInstances as GroupedInstances,
    Instances as Instances,
    Interned as Interned,
    distinct_texts as distinct_texts,
    join_texts as join_texts,
    take_texts as take_texts,
)
from .precision import (
    EXAMPLES as EXAMPLES,
    LEVELS as LEVELS,
    PUT_IN as PUT_IN,
    SHARE as SHARE,
    TAKEN_OUT as TAKEN_OUT,
    WORDS_PER_MISTAKE as WORDS_PER_MISTAKE,
    PrecisionEstimate as PrecisionEstimate,
    PrecisionPoint as PrecisionPoint,
    PrecisionTable as PrecisionTable,
    check_writing as check_writing,
    edit_kind as edit_kind,
    mistakes_per_1000 as mistakes_per_1000,
    parse_share as parse_share,
    unordered_pair as unordered_pair,
)
from .segments import (
    HashVocabulary as HashVocabulary,
    Ragged as Ragged,
    as_index as as_index,
    join_offsets as join_offsets,
    lengths as lengths,
    maxima as maxima,
    minibatch as minibatch,
    offsets_from_sizes as offsets_from_sizes,
    row_owners as row_owners,
    row_ranks as row_ranks,
    take_rows as take_rows,
    unique_inverse as unique_inverse,
)
from .structured import (
    ChainLayout as ChainLayout,
    PartRows as PartRows,
    SequenceRows as SequenceRows,
    run_starts as run_starts,
)
