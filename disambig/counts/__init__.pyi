from .build import (
    BuildOptions as BuildOptions,
)
from .build import (
    Progress as Progress,
)
from .build import (
    PrunedChunks as PrunedChunks,
)
from .build import (
    batches as batches,
)
from .build import (
    build_table as build_table,
)
from .build import (
    count_texts as count_texts,
)
from .build import (
    header_info as header_info,
)
from .build import (
    make_counter as make_counter,
)
from .build import (
    merge_headers as merge_headers,
)
from .build import (
    merge_ngrams as merge_ngrams,
)
from .build import (
    merge_tables as merge_tables,
)
from .build import (
    merged_partitions as merged_partitions,
)
from .build import (
    ngram_numbers as ngram_numbers,
)
from .build import (
    prune_table as prune_table,
)
from .build import (
    slice_places as slice_places,
)
from .build import (
    write_counter as write_counter,
)
from .counter import (
    MEMORY as MEMORY,
)
from .counter import (
    NgramCounter as NgramCounter,
)
from .counter import (
    ngram_kinds as ngram_kinds,
)
from .importing import (
    CountReader as CountReader,
)
from .importing import (
    import_table as import_table,
)
from .index import (
    CountRanks as CountRanks,
)
from .index import (
    Span as Span,
)
from .index import (
    bits_for as bits_for,
)
from .index import (
    write_index as write_index,
)
from .inputs import (
    TextFiles as TextFiles,
)
from .inputs import (
    count_files as count_files,
)
from .inputs import (
    count_format as count_format,
)
from .inputs import (
    normal_words as normal_words,
)
from .inputs import (
    paragraphs as paragraphs,
)
from .inputs import (
    size as size,
)
from .layout import (
    COMPACT as COMPACT,
)
from .layout import (
    EXACT as EXACT,
)
from .layout import (
    KEY_PARTS as KEY_PARTS,
)
from .layout import (
    PATTERN as PATTERN,
)
from .layout import (
    RECORD_FORMS as RECORD_FORMS,
)
from .layout import (
    SMALL as SMALL,
)
from .layout import (
    Record as Record,
)
from .layout import (
    rounded_ranks as rounded_ranks,
)
from .layout import (
    rounded_values as rounded_values,
)
from .lookup_kernels import (
    find_slot as find_slot,
)
from .lookup_kernels import (
    rank_at as rank_at,
)
from .runs import (
    SLICES as SLICES,
)
from .runs import (
    Counted as Counted,
)
from .runs import (
    DiskRun as DiskRun,
)
from .runs import (
    Merge as Merge,
)
from .runs import (
    Merged as Merged,
)
from .runs import (
    Run as Run,
)
from .runs import (
    RunFile as RunFile,
)
from .runs import (
    describe_least_counts as describe_least_counts,
)
from .runs import (
    least_counts as least_counts,
)
from .runs import (
    spans as spans,
)
from .runs import (
    sum_sorted_keys as sum_sorted_keys,
)
from .table import (
    AS_THEY_STAND as AS_THEY_STAND,
)
from .table import (
    CountTable as CountTable,
)
from .table import (
    describe_table as describe_table,
)
from .table import (
    ngram_words as ngram_words,
)
from .table import (
    open_table as open_table,
)
from .writer import (
    StoredKeys as StoredKeys,
)
from .writer import (
    entries as entries,
)
from .writer import (
    finish_table as finish_table,
)
from .writer import (
    record_form as record_form,
)
from .writer import (
    refuse_existing as refuse_existing,
)
from .writer import (
    write_table as write_table,
)
