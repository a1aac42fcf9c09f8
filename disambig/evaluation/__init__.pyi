from .comparison import (
    SharedDecisions as SharedDecisions,
    SharedTestSet as SharedTestSet,
    SystemDecisions as SystemDecisions,
    add_assessment as add_assessment,
    assess_model as assess_model,
    assess_on_texts as assess_on_texts,
    assessment_line as assessment_line,
    compare as compare,
    flagged as flagged,
    judge as judge,
    limits as limits,
    no_gain_notes as no_gain_notes,
    on_labelled as on_labelled,
    on_lists as on_lists,
    on_texts as on_texts,
    why_untested as why_untested,
)
from .curve import (
    curve_of_labelled as curve_of_labelled,
    curve_of_texts as curve_of_texts,
)
from .labelled import (
    credit as credit,
    cross_validate as cross_validate,
    decide as decide,
    evaluate_labelled as evaluate_labelled,
    evaluate_lists as evaluate_lists,
    judge_senseval as judge_senseval,
    list_lines as list_lines,
    model_answers as model_answers,
    most_frequent as most_frequent,
    score as score,
)
from .mistakes import (
    MIN_FLAGS as MIN_FLAGS,
    PER_1000 as PER_1000,
    READ_LABELS as READ_LABELS,
    MistakeTrial as MistakeTrial,
    ProposedEdit as ProposedEdit,
    ProposesEdits as ProposesEdits,
    compare_trials as compare_trials,
    corrects as corrects,
    limit_for as limit_for,
    measure_precision as measure_precision,
    mistake_figures as mistake_figures,
    precision_by_rule as precision_by_rule,
    share_at as share_at,
    touches as touches,
)
from .plots import (
    check_plot as check_plot,
    plot_curve as plot_curve,
    plot_rates as plot_rates,
    plot_reliability as plot_reliability,
    plot_settings as plot_settings,
)
from .unseen_text import (
    MAX_FLAGS as MAX_FLAGS,
    evaluate as evaluate,
    figures as figures,
    rewrite as rewrite,
    substitute as substitute,
)
