from .structured_perceptron import (
    StructuredPerceptron as StructuredPerceptron,
)
from .task import (
    TagTask as TagTask,
    distinct_tags as distinct_tags,
    make_batch as make_batch,
)
from .training import (
    PLAIN as PLAIN,
    Partly as Partly,
    fill_in_tags as fill_in_tags,
    predict_tags as predict_tags,
    token_views as token_views,
    train_tagger as train_tagger,
)
