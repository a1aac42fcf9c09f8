from .diagnostics import (
    MIN_BASELINE_EXAMPLES as MIN_BASELINE_EXAMPLES,
    NO_GAIN as NO_GAIN,
    ON_FITTED as ON_FITTED,
    baseline_warnings as baseline_warnings,
    sanity_baseline as sanity_baseline,
)
from .examples import (
    ELSEWHERE as ELSEWHERE,
    HASH_FOLDS as HASH_FOLDS,
    OTHER as OTHER,
    PARTS as PARTS,
    SHIELDED as SHIELDED,
    UNSURE as UNSURE,
    ErrorCorpus as ErrorCorpus,
    TextExamples as TextExamples,
    dataset_report as dataset_report,
    document_fold as document_fold,
    explain_empty_part as explain_empty_part,
    report_line as report_line,
    split as split,
)
from .fitting import (
    EMPTY_CANDIDATE as EMPTY_CANDIDATE,
    FitsFolds as FitsFolds,
    balanced_sample as balanced_sample,
    bias_column as bias_column,
    check_scores as check_scores,
    fit as fit,
    fit_folds as fit_folds,
    mean_cost as mean_cost,
    restore_bias as restore_bias,
    to_accepted_storage as to_accepted_storage,
)
from .from_config import (
    TrainingPlan as TrainingPlan,
    check_error_files as check_error_files,
    config_path as config_path,
    lists_with_costs as lists_with_costs,
    nothing_named as nothing_named,
    plugin_configs as plugin_configs,
    read_error_corpus as read_error_corpus,
    read_plan as read_plan,
    read_texts as read_texts,
    run as run,
    split_lists as split_lists,
    train_candidates as train_candidates,
    train_lists as train_lists,
)
from .labelled_dataset import (
    LabelledDataset as LabelledDataset,
    TaskPlaces as TaskPlaces,
    as_task_decides as as_task_decides,
    document_numbers as document_numbers,
    label_instances as label_instances,
    learns_labels as learns_labels,
    right_candidates as right_candidates,
    seen_elsewhere as seen_elsewhere,
    whole_domains as whole_domains,
)
from .resampling import (
    FoldResampling as FoldResampling,
    HeldOutCalibration as HeldOutCalibration,
    HeldOutResampling as HeldOutResampling,
)
from .resolved_config import (
    Parts as Parts,
    ResolvedConfig as ResolvedConfig,
)
from .second_look import (
    fit_second_look as fit_second_look,
)
from .trainer import (
    FittedExtractor as FittedExtractor,
    is_significantly_better as is_significantly_better,
    train as train,
    train_by as train_by,
    train_dataset as train_dataset,
    train_examples as train_examples,
    train_labelled as train_labelled,
)
