from .assessment import (
    assess_model as assess_model,
)
from .assessment import (
    assess_on_texts as assess_on_texts,
)
from .assessment import (
    assessment_line as assessment_line,
)
from .assessment import (
    why_untested as why_untested,
)
from .comparison import (
    SharedDecisions as SharedDecisions,
)
from .comparison import (
    compare as compare,
)
from .comparison import (
    on_labelled as on_labelled,
)
from .comparison import (
    on_lists as on_lists,
)
from .comparison import (
    on_texts as on_texts,
)
from .curve import (
    curve_of_labelled as curve_of_labelled,
)
from .curve import (
    curve_of_texts as curve_of_texts,
)
from .group_figures import (
    figures as figures,
)
from .labelled import (
    cross_validate as cross_validate,
)
from .labelled import (
    decide as decide,
)
from .labelled import (
    evaluate_labelled as evaluate_labelled,
)
from .lists import (
    evaluate_lists as evaluate_lists,
)
from .lists import (
    list_lines as list_lines,
)
from .mistakes import (
    LEAST_FLAGS as LEAST_FLAGS,
)
from .mistakes import (
    PER_1000 as PER_1000,
)
from .mistakes import (
    READ_LABELS as READ_LABELS,
)
from .mistakes import (
    MistakeTrial as MistakeTrial,
)
from .mistakes import (
    ProposedEdit as ProposedEdit,
)
from .mistakes import (
    ProposesEdits as ProposesEdits,
)
from .mistakes import (
    compare_trials as compare_trials,
)
from .mistakes import (
    corrects as corrects,
)
from .mistakes import (
    limit_for as limit_for,
)
from .mistakes import (
    measure_precision as measure_precision,
)
from .mistakes import (
    mistake_figures as mistake_figures,
)
from .mistakes import (
    precision_by_rule as precision_by_rule,
)
from .mistakes import (
    share_at as share_at,
)
from .mistakes import (
    touches as touches,
)
from .plots import (
    check_plot as check_plot,
)
from .plots import (
    plot_curve as plot_curve,
)
from .plots import (
    plot_rates as plot_rates,
)
from .plots import (
    plot_reliability as plot_reliability,
)
from .plots import (
    plot_settings as plot_settings,
)
from .senseval import (
    credit as credit,
)
from .senseval import (
    judge_senseval as judge_senseval,
)
from .senseval import (
    model_answers as model_answers,
)
from .senseval import (
    most_frequent as most_frequent,
)
from .senseval import (
    score as score,
)
from .side_by_side import (
    SharedTestSet as SharedTestSet,
)
from .side_by_side import (
    SystemDecisions as SystemDecisions,
)
from .side_by_side import (
    flagged as flagged,
)
from .side_by_side import (
    judge as judge,
)
from .side_by_side import (
    limits as limits,
)
from .unseen_text import (
    MOST_FLAGS as MOST_FLAGS,
)
from .unseen_text import (
    evaluate as evaluate,
)
from .unseen_text import (
    rewrite as rewrite,
)
from .unseen_text import (
    substitute as substitute,
)
