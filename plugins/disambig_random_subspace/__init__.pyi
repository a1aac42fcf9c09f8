from .components import (
    OF_TAG as OF_TAG,
    OF_WORD as OF_WORD,
)
from .estimator import (
    NAMES as NAMES,
    RandomSubspaceClassifier as RandomSubspaceClassifier,
)
from .topics import (
    TopicTask as TopicTask,
)
