from .baseline import (
    Baseline as Baseline,
    flag_identity as flag_identity,
    new_baseline as new_baseline,
    number_fingerprints as number_fingerprints,
    read_baseline as read_baseline,
    sentence_around as sentence_around,
)
from .changes import (
    Changes as Changes,
    Repositories as Repositories,
    Repository as Repository,
    open_bare_repository as open_bare_repository,
)
from .document_words import DocumentWords as DocumentWords
from .files import (
    PACKAGE_FOLDERS as PACKAGE_FOLDERS,
    SUFFIXES as SUFFIXES,
    find_files as find_files,
    has_checked_suffix as has_checked_suffix,
    read_text as read_text,
    unified_diff as unified_diff,
    write_text as write_text,
)
from .flags import (
    CheckedText as CheckedText,
    Flag as Flag,
    HiddenSpan as HiddenSpan,
    TextLines as TextLines,
    apply_corrections as apply_corrections,
    find_flags as find_flags,
    most_certain as most_certain,
    read_directives as read_directives,
    select_compatible as select_compatible,
    select_fitting as select_fitting,
    unused_directive as unused_directive,
)
from .linter import CheckRun as CheckRun, run as run
from .live import (
    CONTEXT_WORDS as CONTEXT_WORDS,
    MAX_CONTEXT_PARTS as MAX_CONTEXT_PARTS,
    FlagCandidate as FlagCandidate,
    LiveText as LiveText,
    ParagraphCutter as ParagraphCutter,
    flag_candidates as flag_candidates,
    markup_reader as markup_reader,
)
from .loading import (
    CheckerCache as CheckerCache,
    CorrectingAnnotator as CorrectingAnnotator,
    check as check,
    correct as correct,
    correcting_source as correcting_source,
    load_checker as load_checker,
    selectable_names as selectable_names,
)
from .model_checker import (
    RATES as RATES,
    ModelChecker as ModelChecker,
    decisions_to_edits as decisions_to_edits,
    sweep_rates as sweep_rates,
    text_stretches as text_stretches,
)
from .reports import (
    FORMATS as FORMATS,
    WITH_EVIDENCE as WITH_EVIDENCE,
    WITH_OUTCOMES as WITH_OUTCOMES,
    ReportedFlag as ReportedFlag,
    RunSummary as RunSummary,
    flag_line as flag_line,
    flag_question as flag_question,
    left_flags_line as left_flags_line,
    make_report as make_report,
    path_in_repository as path_in_repository,
)
from .stable_corrections import (
    Recheck as Recheck,
    StableSource as StableSource,
    fixed_point_flags as fixed_point_flags,
    stable_decisions as stable_decisions,
    stable_edits as stable_edits,
    stable_flags as stable_flags,
)
