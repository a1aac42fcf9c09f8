from .conllu import (
    KEY as KEY,
    SENTENCE_LIMIT as SENTENCE_LIMIT,
    ConlluFormat as ConlluFormat,
    ConlluSentence as ConlluSentence,
    ConlluToken as ConlluToken,
    conllu_cuts as conllu_cuts,
    conllu_documents as conllu_documents,
    escaped as escaped,
    parse_document as parse_document,
    read_conllu as read_conllu,
    sentences as sentences,
)
from .corrected import (
    AppliedEdit as AppliedEdit,
    M2Format as M2Format,
    applied_edits as applied_edits,
    apply_records as apply_records,
    corrected_text as corrected_text,
    split_tokens as split_tokens,
)
from .docbin import (
    SpacyFormat as SpacyFormat,
    docbin_documents as docbin_documents,
)
from .documents import (
    FORMAT_NAMES as FORMAT_NAMES,
    SUFFIXES as SUFFIXES,
    Document as Document,
    Input as Input,
    Kind as Kind,
    SkippedFiles as SkippedFiles,
    UnreadableDocument as UnreadableDocument,
    decode_line as decode_line,
    escape_unencodable as escape_unencodable,
    files_by_suffix as files_by_suffix,
    find_inputs as find_inputs,
    lines_in as lines_in,
    read_as_text_note as read_as_text_note,
    read_lines as read_lines,
    text_cuts as text_cuts,
    text_problem as text_problem,
    unsupported_error as unsupported_error,
)
from .examples import (
    Labelled as Labelled,
    place_at_mark as place_at_mark,
    remove_marks as remove_marks,
)
from .fixes import (
    FLAG_LABELS as FLAG_LABELS,
    KINDS as KINDS,
    Clean as Clean,
    Fix as Fix,
    FlagReading as FlagReading,
    fix_kind as fix_kind,
    paragraph_digest as paragraph_digest,
    read_clean as read_clean,
    read_fixes as read_fixes,
    read_flag_readings as read_flag_readings,
)
from .html import (
    JobPart as JobPart,
    escape as escape,
    page_head as page_head,
    parts_page as parts_page,
)
from .jsonl import (
    JsonlFormat as JsonlFormat,
    to_json as to_json,
)
from .labelled import (
    ExampleReader as ExampleReader,
    ExampleSource as ExampleSource,
    JsonLines as JsonLines,
    MarkedTables as MarkedTables,
    NoadMasc as NoadMasc,
    ReaderTraits as ReaderTraits,
    Senseval as Senseval,
    find_reader as find_reader,
    read_labelled as read_labelled,
)
from .nbest import (
    NBestList as NBestList,
    format_lines as format_lines,
    list_instances as list_instances,
    name_error_place as name_error_place,
    parse_line as parse_line,
    read_nbest as read_nbest,
    to_candidate_lists as to_candidate_lists,
)
from .noad import (
    BREAKS as BREAKS,
    read_document as read_document,
    read_map as read_map,
    read_noad as read_noad,
)
from .readers import (
    FIELD as FIELD,
    read as read,
    read_all as read_all,
)
from .record_schema import (
    RECORD_VERSIONS as RECORD_VERSIONS,
    SCHEMA_NAME as SCHEMA_NAME,
    arrow_schema as arrow_schema,
    record_schema as record_schema,
    record_schema_text as record_schema_text,
)
from .results import (
    AnnotatedDocument as AnnotatedDocument,
    count_words as count_words,
    flagged_records as flagged_records,
    one_line_text as one_line_text,
    records as records,
)
from .senseval import (
    SenseInstance as SenseInstance,
    Sensemap as Sensemap,
    Weights as Weights,
    parse_instances as parse_instances,
    read_answers as read_answers,
    read_context as read_context,
    read_key as read_key,
    read_sensemap as read_sensemap,
    read_senseval as read_senseval,
    replace_entities as replace_entities,
)
from .tables import (
    csv_cuts as csv_cuts,
    decision_columns as decision_columns,
    escape_formula as escape_formula,
    pyarrow as pyarrow,
    unescape_formula as unescape_formula,
)
from .writers import (
    BINARY as BINARY,
    FORMATS as FORMATS,
    LANGUAGE_FORMATS as LANGUAGE_FORMATS,
    FlagsOnlyFormat as FlagsOnlyFormat,
    Format as Format,
    check_inputs as check_inputs,
    check_output as check_output,
    check_suffix as check_suffix,
    guess_format as guess_format,
    make_format as make_format,
    only_flags as only_flags,
)
