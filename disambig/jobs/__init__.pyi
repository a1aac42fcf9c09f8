from .counting import (
    JobPlace as JobPlace,
    build_in_job as build_in_job,
    merge_in_job as merge_in_job,
)
from .experiment_parts import (
    HasParts as HasParts,
    SavedParts as SavedParts,
    run_parts as run_parts,
    run_parts_on_workers as run_parts_on_workers,
)
from .job import (
    JobLimits as JobLimits,
    JobReport as JobReport,
    ShardWork as ShardWork,
    bisect_failure as bisect_failure,
    merge as merge,
    parts_format as parts_format,
    run_job as run_job,
)
from .manifest import (
    LAYOUT as LAYOUT,
    NAME as NAME,
    check_directory as check_directory,
    clear as clear,
    default_shard_size as default_shard_size,
    is_running as is_running,
    load_manifest as load_manifest,
    locked as locked,
    plan_shards as plan_shards,
)
from .records import (
    ShardRecord as ShardRecord,
    Totals as Totals,
    count_totals as count_totals,
    is_whole as is_whole,
    load_record as load_record,
    record_path as record_path,
    save_record as save_record,
    status as status,
    totals_from_plain as totals_from_plain,
    verify as verify,
)
from .runners import (
    LOCAL as LOCAL,
    EngineOptions as EngineOptions,
    InProcessRunner as InProcessRunner,
    ItemQueue as ItemQueue,
    LogMessage as LogMessage,
    PendingItem as PendingItem,
    ProcessRunner as ProcessRunner,
    Transport as Transport,
    delay_interrupts as delay_interrupts,
    leave_out_current_directory as leave_out_current_directory,
    local_runner as local_runner,
    log_message as log_message,
    logger_levels as logger_levels,
    make_runner as make_runner,
    memory_usage as memory_usage,
)
from .stream import (
    annotate_stream as annotate_stream,
    rerank as rerank,
)
from .work import (
    DescribesWork as DescribesWork,
    Function as Function,
    PersistentPool as PersistentPool,
    ProgressCallback as ProgressCallback,
    ProgressCounter as ProgressCounter,
    Runner as Runner,
    RunOptions as RunOptions,
    Work as Work,
    WorkOutcome as WorkOutcome,
    ignore_progress as ignore_progress,
    last_line as last_line,
    persistent_runner as persistent_runner,
)
