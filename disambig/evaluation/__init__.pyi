from .assessment import (
    add_assessment as add_assessment,
    assess_model as assess_model,
    assess_on_texts as assess_on_texts,
    assessment_line as assessment_line,
    no_gain_notes as no_gain_notes,
    why_untested as why_untested,
)
from .comparison import (
    SharedDecisions as SharedDecisions,
    compare as compare,
    on_labelled as on_labelled,
    on_lists as on_lists,
    on_texts as on_texts,
)
from .curve import (
    curve_of_labelled as curve_of_labelled,
    curve_of_texts as curve_of_texts,
)
from .group_figures import (
    figures as figures,
)
from .labelled import (
    cross_validate as cross_validate,
    decide as decide,
    evaluate_labelled as evaluate_labelled,
    evaluate_lists as evaluate_lists,
    list_lines as list_lines,
)
from .mistakes import (
    LEAST_FLAGS as LEAST_FLAGS,
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
from .senseval import (
    credit as credit,
    judge_senseval as judge_senseval,
    model_answers as model_answers,
    most_frequent as most_frequent,
    score as score,
)
from .side_by_side import (
    SharedTestSet as SharedTestSet,
    SystemDecisions as SystemDecisions,
    flagged as flagged,
    judge as judge,
    limits as limits,
)
from .unseen_text import (
    MOST_FLAGS as MOST_FLAGS,
    evaluate as evaluate,
    rewrite as rewrite,
    substitute as substitute,
)
