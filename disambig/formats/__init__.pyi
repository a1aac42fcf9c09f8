from .conllu import (
    KEY as KEY,
)
from .conllu import (
    SENTENCE_LIMIT as SENTENCE_LIMIT,
)
from .conllu import (
    ConlluFormat as ConlluFormat,
)
from .conllu import (
    ConlluSentence as ConlluSentence,
)
from .conllu import (
    ConlluToken as ConlluToken,
)
from .conllu import (
    conllu_cuts as conllu_cuts,
)
from .conllu import (
    conllu_documents as conllu_documents,
)
from .conllu import (
    escaped as escaped,
)
from .conllu import (
    parse_document as parse_document,
)
from .conllu import (
    read_conllu as read_conllu,
)
from .conllu import (
    sentences as sentences,
)
from .corrected import (
    AppliedEdit as AppliedEdit,
)
from .corrected import (
    M2Format as M2Format,
)
from .corrected import (
    applied_edits as applied_edits,
)
from .corrected import (
    corrected_text as corrected_text,
)
from .corrected import (
    split_tokens as split_tokens,
)
from .docbin import (
    SpacyFormat as SpacyFormat,
)
from .docbin import (
    docbin_documents as docbin_documents,
)
from .documents import (
    NAMES as NAMES,
)
from .documents import (
    SUFFIXES as SUFFIXES,
)
from .documents import (
    Document as Document,
)
from .documents import (
    Input as Input,
)
from .documents import (
    Kind as Kind,
)
from .documents import (
    UnreadableDocument as UnreadableDocument,
)
from .documents import (
    decode_line as decode_line,
)
from .documents import (
    escape_unencodable as escape_unencodable,
)
from .documents import (
    find_inputs as find_inputs,
)
from .documents import (
    lines_in as lines_in,
)
from .documents import (
    read_as_text_note as read_as_text_note,
)
from .documents import (
    read_lines as read_lines,
)
from .documents import (
    suffix_counts as suffix_counts,
)
from .documents import (
    text_problem as text_problem,
)
from .documents import (
    unsupported_error as unsupported_error,
)
from .examples import (
    Labelled as Labelled,
)
from .examples import (
    place_at_mark as place_at_mark,
)
from .examples import (
    remove_marks as remove_marks,
)
from .fixes import (
    FLAG_LABELS as FLAG_LABELS,
)
from .fixes import (
    KINDS as KINDS,
)
from .fixes import (
    Clean as Clean,
)
from .fixes import (
    Fix as Fix,
)
from .fixes import (
    FlagReading as FlagReading,
)
from .fixes import (
    fix_kind as fix_kind,
)
from .fixes import (
    paragraph_digest as paragraph_digest,
)
from .fixes import (
    read_clean as read_clean,
)
from .fixes import (
    read_fixes as read_fixes,
)
from .fixes import (
    read_flag_readings as read_flag_readings,
)
from .html import (
    JobPart as JobPart,
)
from .html import (
    escape as escape,
)
from .html import (
    parts_page as parts_page,
)
from .jsonl import (
    JsonlFormat as JsonlFormat,
)
from .jsonl import (
    to_json as to_json,
)
from .labelled import (
    ExampleReader as ExampleReader,
)
from .labelled import (
    ExampleSource as ExampleSource,
)
from .labelled import (
    JsonLines as JsonLines,
)
from .labelled import (
    MarkedTables as MarkedTables,
)
from .labelled import (
    NoadMasc as NoadMasc,
)
from .labelled import (
    ReaderTraits as ReaderTraits,
)
from .labelled import (
    Senseval as Senseval,
)
from .labelled import (
    find_reader as find_reader,
)
from .labelled import (
    read_labelled as read_labelled,
)
from .nbest import (
    NBestList as NBestList,
)
from .nbest import (
    format_lines as format_lines,
)
from .nbest import (
    list_instances as list_instances,
)
from .nbest import (
    name_error_place as name_error_place,
)
from .nbest import (
    parse_line as parse_line,
)
from .nbest import (
    read_nbest as read_nbest,
)
from .nbest import (
    to_candidate_lists as to_candidate_lists,
)
from .noad import (
    BREAKS as BREAKS,
)
from .noad import (
    read_document as read_document,
)
from .noad import (
    read_map as read_map,
)
from .noad import (
    read_noad as read_noad,
)
from .readable import (
    one_line_text as one_line_text,
)
from .readers import (
    FIELD as FIELD,
)
from .readers import (
    read as read,
)
from .readers import (
    read_all as read_all,
)
from .record_schema import (
    RECORD_VERSIONS as RECORD_VERSIONS,
)
from .record_schema import (
    SCHEMA_NAME as SCHEMA_NAME,
)
from .record_schema import (
    arrow_schema as arrow_schema,
)
from .record_schema import (
    record_schema as record_schema,
)
from .record_schema import (
    record_schema_text as record_schema_text,
)
from .results import (
    AnnotatedDocument as AnnotatedDocument,
)
from .results import (
    count_words as count_words,
)
from .results import (
    flagged_records as flagged_records,
)
from .results import (
    records as records,
)
from .senseval import (
    SenseInstance as SenseInstance,
)
from .senseval import (
    Sensemap as Sensemap,
)
from .senseval import (
    Weights as Weights,
)
from .senseval import (
    parse_instances as parse_instances,
)
from .senseval import (
    read_answers as read_answers,
)
from .senseval import (
    read_context as read_context,
)
from .senseval import (
    read_key as read_key,
)
from .senseval import (
    read_sensemap as read_sensemap,
)
from .senseval import (
    read_senseval as read_senseval,
)
from .senseval import (
    replace_entities as replace_entities,
)
from .tables import (
    csv_cuts as csv_cuts,
)
from .tables import (
    decision_columns as decision_columns,
)
from .tables import (
    escape_formula as escape_formula,
)
from .tables import (
    pyarrow as pyarrow,
)
from .tables import (
    unescape_formula as unescape_formula,
)
from .writers import (
    BINARY as BINARY,
)
from .writers import (
    FORMATS as FORMATS,
)
from .writers import (
    LANGUAGE_FORMATS as LANGUAGE_FORMATS,
)
from .writers import (
    FlagsOnlyFormat as FlagsOnlyFormat,
)
from .writers import (
    Format as Format,
)
from .writers import (
    check_inputs as check_inputs,
)
from .writers import (
    check_output as check_output,
)
from .writers import (
    guess_format as guess_format,
)
from .writers import (
    make_format as make_format,
)
from .writers import (
    only_flags as only_flags,
)
from .writers import (
    unknown_suffix as unknown_suffix,
)
