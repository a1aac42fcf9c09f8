from .data import (
    VARIABLE as VARIABLE,
)
from .data import (
    cache_directory as cache_directory,
)
from .data import (
    cached as cached,
)
from .data import (
    counts_around as counts_around,
)
from .data import (
    paragraphs as paragraphs,
)
from .data import (
    text_lines as text_lines,
)
from .data_sets import (
    DataFile as DataFile,
)
from .data_sets import (
    DataSet as DataSet,
)
from .data_sets import (
    Download as Download,
)
from .data_sets import (
    data_advice as data_advice,
)
from .data_sets import (
    data_set as data_set,
)
from .data_sets import (
    data_sets as data_sets,
)
from .data_sets import (
    default_data_directory as default_data_directory,
)
from .data_sets import (
    read_manifest as read_manifest,
)
from .document import (
    fill as fill,
)
from .document import (
    main as main,
)
from .fetching import (
    Fetcher as Fetcher,
)
from .fetching import (
    digest_members as digest_members,
)
from .fetching import (
    file_difference as file_difference,
)
from .learning import (
    CurveOutcome as CurveOutcome,
)
from .learning import (
    Draw as Draw,
)
from .learning import (
    LearningSystem as LearningSystem,
)
from .learning import (
    Outcomes as Outcomes,
)
from .learning import (
    count_hits as count_hits,
)
from .learning import (
    join_blocks as join_blocks,
)
from .learning import (
    learn_all as learn_all,
)
from .learning import (
    with_left_out as with_left_out,
)
from .plots import (
    has_plot as has_plot,
)
from .plots import (
    plot_result as plot_result,
)
from .results import (
    Claim as Claim,
)
from .results import (
    Experiment as Experiment,
)
from .results import (
    ExperimentResult as ExperimentResult,
)
from .results import (
    Panel as Panel,
)
from .results import (
    ResultRow as ResultRow,
)
from .results import (
    as_json as as_json,
)
from .results import (
    from_json as from_json,
)
from .results import (
    markdown as markdown,
)
from .results import (
    result_lines as result_lines,
)
from .results import (
    table as table,
)
