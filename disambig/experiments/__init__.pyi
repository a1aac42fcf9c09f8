from .data import (
    EWT as EWT,
    EWT_GENRES as EWT_GENRES,
    EWT_SPLITS as EWT_SPLITS,
    VARIABLE as VARIABLE,
    cache_directory as cache_directory,
    cached as cached,
    counts_around as counts_around,
    ewt_sentences as ewt_sentences,
    file_digest as file_digest,
    paragraphs as paragraphs,
    text_lines as text_lines,
)
from .data_sets import (
    DataFile as DataFile,
    DataSet as DataSet,
    Download as Download,
    data_advice as data_advice,
    data_set as data_set,
    data_sets as data_sets,
    default_data_directory as default_data_directory,
    read_manifest as read_manifest,
)
from .document import (
    fill as fill,
    main as main,
)
from .fetching import (
    Fetcher as Fetcher,
    digest_members as digest_members,
    file_difference as file_difference,
)
from .learning import (
    CurveOutcome as CurveOutcome,
    Draw as Draw,
    LearningSystem as LearningSystem,
    Outcomes as Outcomes,
    count_hits as count_hits,
    join_blocks as join_blocks,
    learn_all as learn_all,
    with_left_out as with_left_out,
)
from .plots import (
    has_plot as has_plot,
    plot_result as plot_result,
)
from .results import (
    Claim as Claim,
    Experiment as Experiment,
    ExperimentResult as ExperimentResult,
    Panel as Panel,
    ResultRow as ResultRow,
    as_json as as_json,
    check_experiment as check_experiment,
    check_result as check_result,
    from_json as from_json,
    markdown as markdown,
    result_lines as result_lines,
    table as table,
)
