from .structured_perceptron import (
    StructuredPerceptron as StructuredPerceptron,
)
from .task import (
    TagTask as TagTask,
)
from .task import (
    distinct_tags as distinct_tags,
)
from .task import (
    make_batch as make_batch,
)
from .training import (
    PLAIN as PLAIN,
)
from .training import (
    Partly as Partly,
)
from .training import (
    fill_in_tags as fill_in_tags,
)
from .training import (
    predict_tags as predict_tags,
)
from .training import (
    token_views as token_views,
)
from .training import (
    train_tagger as train_tagger,
)
