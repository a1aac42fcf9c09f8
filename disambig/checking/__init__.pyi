from .baseline import (
    Baseline as Baseline,
)
from .baseline import (
    flag_identity as flag_identity,
)
from .baseline import (
    new_baseline as new_baseline,
)
from .baseline import (
    number_fingerprints as number_fingerprints,
)
from .baseline import (
    read_baseline as read_baseline,
)
from .baseline import (
    sentence_around as sentence_around,
)
from .changes import (
    Changes as Changes,
)
from .changes import (
    Repositories as Repositories,
)
from .changes import (
    Repository as Repository,
)
from .document_words import (
    DocumentWords as DocumentWords,
)
from .files import (
    PACKAGE_FOLDERS as PACKAGE_FOLDERS,
)
from .files import (
    SUFFIXES as SUFFIXES,
)
from .files import (
    find_files as find_files,
)
from .files import (
    has_checked_suffix as has_checked_suffix,
)
from .files import (
    read_text as read_text,
)
from .files import (
    unified_diff as unified_diff,
)
from .files import (
    write_text as write_text,
)
from .flags import (
    CheckedText as CheckedText,
)
from .flags import (
    Flag as Flag,
)
from .flags import (
    HiddenSpan as HiddenSpan,
)
from .flags import (
    TextLines as TextLines,
)
from .flags import (
    choose as choose,
)
from .flags import (
    corrected as corrected,
)
from .flags import (
    find_flags as find_flags,
)
from .flags import (
    plain_word as plain_word,
)
from .flags import (
    read_directives as read_directives,
)
from .flags import (
    surest as surest,
)
from .flags import (
    unused_directive as unused_directive,
)
from .linter import (
    CheckRun as CheckRun,
)
from .linter import (
    run as run,
)
from .live import (
    FAR as FAR,
)
from .live import (
    REACH as REACH,
)
from .live import (
    FlagCandidate as FlagCandidate,
)
from .live import (
    LiveText as LiveText,
)
from .live import (
    ParagraphCutter as ParagraphCutter,
)
from .live import (
    flag_candidates as flag_candidates,
)
from .live import (
    markup_reader as markup_reader,
)
from .loading import (
    CorrectingAnnotator as CorrectingAnnotator,
)
from .loading import (
    correcting_source as correcting_source,
)
from .loading import (
    load_checker as load_checker,
)
from .loading import (
    selectable_names as selectable_names,
)
from .model_checker import (
    RATES as RATES,
)
from .model_checker import (
    ModelChecker as ModelChecker,
)
from .model_checker import (
    decisions_to_edits as decisions_to_edits,
)
from .model_checker import (
    sweep_rates as sweep_rates,
)
from .model_checker import (
    text_stretches as text_stretches,
)
from .reports import (
    FORMATS as FORMATS,
)
from .reports import (
    WITH_EVIDENCE as WITH_EVIDENCE,
)
from .reports import (
    WITH_OUTCOMES as WITH_OUTCOMES,
)
from .reports import (
    ReportedFlag as ReportedFlag,
)
from .reports import (
    RunSummary as RunSummary,
)
from .reports import (
    flag_line as flag_line,
)
from .reports import (
    left_flags_line as left_flags_line,
)
from .reports import (
    make_report as make_report,
)
from .reports import (
    path_in_repository as path_in_repository,
)
from .stable_corrections import (
    StableSource as StableSource,
)
from .stable_corrections import (
    settled_flags as settled_flags,
)
from .stable_corrections import (
    stable_decisions as stable_decisions,
)
from .stable_corrections import (
    stable_edits as stable_edits,
)
from .stable_corrections import (
    stable_flags as stable_flags,
)
from .texts import (
    check as check,
)
from .texts import (
    correct as correct,
)
