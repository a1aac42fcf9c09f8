from ._kernels import find_slot as find_slot, rank_at as rank_at
from .build import (
    BuildOptions as BuildOptions,
    PrunedChunks as PrunedChunks,
    TableOptions as TableOptions,
    batches as batches,
    build_table as build_table,
    count_texts as count_texts,
    header_info as header_info,
    make_counter as make_counter,
    merge_headers as merge_headers,
    merge_ngrams as merge_ngrams,
    merge_tables as merge_tables,
    ngram_numbers as ngram_numbers,
    prune_table as prune_table,
    refuse_no_ngrams as refuse_no_ngrams,
    slice_places as slice_places,
    write_counter as write_counter,
)
from .counter import MEMORY as MEMORY, NgramCounter as NgramCounter, ngram_kinds as ngram_kinds
from .file import (
    COMPACT as COMPACT,
    EXACT as EXACT,
    KEY_PARTS as KEY_PARTS,
    PATTERN as PATTERN,
    RECORD_FORMS as RECORD_FORMS,
    SMALL as SMALL,
    Record as Record,
    describe_least_counts as describe_least_counts,
    least_counts as least_counts,
    rounded_ranks as rounded_ranks,
    rounded_values as rounded_values,
)
from .importing import CountReader as CountReader, import_table as import_table
from .inputs import (
    TextFiles as TextFiles,
    count_files as count_files,
    count_format as count_format,
    normalise_words as normalise_words,
    paragraphs as paragraphs,
    parse_size as parse_size,
)
from .runs import (
    SLICES as SLICES,
    Counted as Counted,
    DiskRun as DiskRun,
    Merge as Merge,
    Merged as Merged,
    Run as Run,
    RunFile as RunFile,
    spans as spans,
    sum_sorted_keys as sum_sorted_keys,
)
from .table import (
    UNSPLIT_TOKENISATIONS as UNSPLIT_TOKENISATIONS,
    CountTable as CountTable,
    describe_table as describe_table,
    ngram_words as ngram_words,
    open_table as open_table,
)
from .writer import (
    CountRanks as CountRanks,
    Span as Span,
    StoredKeys as StoredKeys,
    bits_for as bits_for,
    entries as entries,
    finish_table as finish_table,
    record_form as record_form,
    refuse_existing as refuse_existing,
    write_index as write_index,
    write_table as write_table,
)
