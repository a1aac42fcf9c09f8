from .counting import (
    JobPlace as JobPlace,
)
from .counting import (
    build_in_job as build_in_job,
)
from .counting import (
    merge_in_job as merge_in_job,
)
from .experiment_parts import (
    HasParts as HasParts,
)
from .experiment_parts import (
    run_parts as run_parts,
)
from .experiment_parts import (
    run_parts_on_workers as run_parts_on_workers,
)
from .job import (
    JobLimits as JobLimits,
)
from .job import (
    JobReport as JobReport,
)
from .job import (
    ShardWork as ShardWork,
)
from .job import (
    bisect_failure as bisect_failure,
)
from .job import (
    run_job as run_job,
)
from .manifest import (
    LAYOUT as LAYOUT,
)
from .manifest import (
    NAME as NAME,
)
from .manifest import (
    check_directory as check_directory,
)
from .manifest import (
    clear as clear,
)
from .manifest import (
    is_running as is_running,
)
from .manifest import (
    load_manifest as load_manifest,
)
from .manifest import (
    locked as locked,
)
from .manifest import (
    plan_shards as plan_shards,
)
from .output import (
    merge as merge,
)
from .output import (
    parts_format as parts_format,
)
from .processes import (
    LogMessage as LogMessage,
)
from .processes import (
    ProcessRunner as ProcessRunner,
)
from .processes import (
    delay_interrupts as delay_interrupts,
)
from .processes import (
    leave_out_current_directory as leave_out_current_directory,
)
from .processes import (
    log_message as log_message,
)
from .processes import (
    logger_levels as logger_levels,
)
from .processes import (
    memory_usage as memory_usage,
)
from .queue import (
    ItemQueue as ItemQueue,
)
from .queue import (
    PendingItem as PendingItem,
)
from .queue import (
    Transport as Transport,
)
from .records import (
    ShardRecord as ShardRecord,
)
from .records import (
    Totals as Totals,
)
from .records import (
    count_totals as count_totals,
)
from .records import (
    is_whole as is_whole,
)
from .records import (
    load_record as load_record,
)
from .records import (
    record_path as record_path,
)
from .records import (
    save_record as save_record,
)
from .records import (
    status as status,
)
from .records import (
    totals_from_plain as totals_from_plain,
)
from .records import (
    verify as verify,
)
from .runners import (
    LOCAL as LOCAL,
)
from .runners import (
    EngineOptions as EngineOptions,
)
from .runners import (
    InProcessRunner as InProcessRunner,
)
from .runners import (
    local_runner as local_runner,
)
from .runners import (
    make_runner as make_runner,
)
from .stream import (
    annotate_stream as annotate_stream,
)
from .stream import (
    rerank as rerank,
)
from .work import (
    DescribesWork as DescribesWork,
)
from .work import (
    Function as Function,
)
from .work import (
    PersistentPool as PersistentPool,
)
from .work import (
    ProgressCallback as ProgressCallback,
)
from .work import (
    ProgressCounter as ProgressCounter,
)
from .work import (
    Runner as Runner,
)
from .work import (
    Work as Work,
)
from .work import (
    WorkOutcome as WorkOutcome,
)
from .work import (
    ignore_progress as ignore_progress,
)
from .work import (
    last_line as last_line,
)
from .work import (
    persistent_runner as persistent_runner,
)
