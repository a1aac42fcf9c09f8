from .components import (
    OF_TAG as OF_TAG,
)
from .components import (
    OF_WORD as OF_WORD,
)
from .estimator import (
    NAMES as NAMES,
)
from .estimator import (
    RandomSubspaceClassifier as RandomSubspaceClassifier,
)
from .topics import (
    TopicTask as TopicTask,
)
