from .diagnostics import (
    LEAST as LEAST,
)
from .diagnostics import (
    baseline_warnings as baseline_warnings,
)
from .diagnostics import (
    sanity_baseline as sanity_baseline,
)
from .examples import (
    ELSEWHERE as ELSEWHERE,
)
from .examples import (
    HASH_FOLDS as HASH_FOLDS,
)
from .examples import (
    OTHER as OTHER,
)
from .examples import (
    PARTS as PARTS,
)
from .examples import (
    SHIELDED as SHIELDED,
)
from .examples import (
    UNSURE as UNSURE,
)
from .examples import (
    ErrorCorpus as ErrorCorpus,
)
from .examples import (
    TextExamples as TextExamples,
)
from .examples import (
    dataset_report as dataset_report,
)
from .examples import (
    document_fold as document_fold,
)
from .examples import (
    report_line as report_line,
)
from .examples import (
    split as split,
)
from .examples import (
    why_empty as why_empty,
)
from .fitting import (
    EMPTY_CANDIDATE as EMPTY_CANDIDATE,
)
from .fitting import (
    FitsFolds as FitsFolds,
)
from .fitting import (
    balanced_sample as balanced_sample,
)
from .fitting import (
    bias_column as bias_column,
)
from .fitting import (
    check_scores as check_scores,
)
from .fitting import (
    fit as fit,
)
from .fitting import (
    fit_folds as fit_folds,
)
from .fitting import (
    mean_cost as mean_cost,
)
from .fitting import (
    restore_bias as restore_bias,
)
from .fitting import (
    to_accepted_storage as to_accepted_storage,
)
from .from_config import (
    SOURCES as SOURCES,
)
from .from_config import (
    TrainingPlan as TrainingPlan,
)
from .from_config import (
    check_error_files as check_error_files,
)
from .from_config import (
    config_path as config_path,
)
from .from_config import (
    nothing_named as nothing_named,
)
from .from_config import (
    plugin_configs as plugin_configs,
)
from .from_config import (
    read_error_corpus as read_error_corpus,
)
from .from_config import (
    read_plan as read_plan,
)
from .from_config import (
    read_texts as read_texts,
)
from .from_config import (
    run as run,
)
from .labelled_dataset import (
    LabelledDataset as LabelledDataset,
)
from .labelled_dataset import (
    TaskPlaces as TaskPlaces,
)
from .labelled_dataset import (
    as_task_decides as as_task_decides,
)
from .labelled_dataset import (
    document_numbers as document_numbers,
)
from .labelled_dataset import (
    label_instances as label_instances,
)
from .labelled_dataset import (
    learns_labels as learns_labels,
)
from .labelled_dataset import (
    right_candidates as right_candidates,
)
from .labelled_dataset import (
    seen_elsewhere as seen_elsewhere,
)
from .labelled_dataset import (
    whole_domains as whole_domains,
)
from .lists import (
    lists_with_costs as lists_with_costs,
)
from .lists import (
    split_lists as split_lists,
)
from .lists import (
    train_candidates as train_candidates,
)
from .lists import (
    train_lists as train_lists,
)
from .resampling import (
    FoldResampling as FoldResampling,
)
from .resampling import (
    HeldOutCalibration as HeldOutCalibration,
)
from .resampling import (
    HeldOutResampling as HeldOutResampling,
)
from .second_look import (
    fit_second_look as fit_second_look,
)
from .trainer import (
    FittedExtractor as FittedExtractor,
)
from .trainer import (
    train as train,
)
from .trainer import (
    train_by as train_by,
)
from .trainer import (
    train_examples as train_examples,
)
from .trainer import (
    train_labelled as train_labelled,
)
from .trainer import (
    train_marked as train_marked,
)
from .trainer import (
    with_error_rule as with_error_rule,
)
